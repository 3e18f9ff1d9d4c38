// Reads all shards of the log behind a checkpoint and hands on every batch once, in order: repeats, batches of a deposed
// engine and of earlier epochs are left out and counted; what is missing is asked of the engine, which keeps its newest batches.
// What it has no longer, what is unreadable or of a later epoch is a fault, after which nothing more is handed on.

import type { Clock } from '../clock.ts'
import type { Metrics } from '../process/metrics.ts'
import { type Batch, decodeBatch, type RawItem } from './batch.ts'
import type { CheckpointHeader, ShardPosition } from './checkpoint.ts'
import {
  type ClusterLog,
  type Delivered,
  idOfBatch,
  type LogSubscription,
  marketShards,
  type ShardName,
} from './cluster-log.ts'

/** Why a reader cannot go on from where it stands. */
export type FollowFault =
  /** A number was left out, or the log has what never came. */
  | 'batch_missing'
  /** Another run of the engine, or another engine, leads. */
  | 'new_epoch'
  /** A batch that this version cannot read: gateways are upgraded before the engine. */
  | 'unreadable_batch'
  /** Batches of another leader with a lower term arrive, and none of the leader that is followed. */
  | 'leader_lost'

/** Why a batch was left out. */
type Skipped = 'repeat' | 'deposed'

/** The mirror's side of a reader: it takes what was read. */
export interface FollowSink {
  /** The items of a batch, in order of its shard. A promise: the shard's next batch waits for it. */
  take(shard: ShardName, items: readonly RawItem[]): void | Promise<void>
  /** The items of a batch that the checkpoint contains, or of an earlier epoch. */
  recall(epoch: string, items: readonly RawItem[]): void
  /** Called once. */
  onFault(fault: FollowFault): void
}

/** A batch may come so long after one that follows it. */
const REORDER_MS = 500
const HELD_MAX = 64
/** While the engine is asked for what is missing. */
const HELD_BEYOND_MAX = 8_192
/** How often the log is asked for its newest batches, to find that the last ones never came. */
const HEAD_POLL_MS = 1_000
/** The log may have a batch for so long before it must have come. */
const HEAD_LATE_MS = 4_000
/** Without a batch of the leader for so long, batches of a lower term mean that it is gone. */
const LEADER_LOST_MS = 2_000
/** How often a start looks whether it is over. */
const READY_POLL_MS = 5
/** Batches from before the checkpoint that are read again, for streams that resume. */
const RECALLED_BATCHES = 4_096
/** What the log has not given back by then is gone: streams that need it are told so. */
const RECALL_MS_MAX = 1_500

interface ShardState {
  readonly shard: ShardName
  /** Of the checkpoint. */
  readonly from: number
  /** Of the newest batch that the checkpoint contains, or that came. */
  sequence: number
  /** Of the newest batch that came at all. */
  delivered: number
  /** The number of the newest batch that was taken. */
  batch: number
  /** Batches that came before one that they follow. */
  readonly held: Map<number, Batch>
  heldSinceMs: number | null
  /** The engine is asked for what is missing. */
  isFilling: boolean
  /** That of the log when it was last asked. */
  head: number
  /** Since when the log has more than came up to a sequence. */
  ahead: { readonly sequence: number; readonly sinceMs: number } | null
  behind: number
}

export class Follower {
  readonly #log: ClusterLog
  readonly #clock: Clock
  readonly #metrics: Metrics
  readonly #sink: FollowSink
  readonly #epoch: string
  readonly #term: number
  readonly #shards: readonly ShardState[]
  readonly #subscriptions: LogSubscription[] = []
  #stopTimer: (() => void) | null = null
  #isOver = false
  #receivedAtMs: number
  #polledAtMs = 0
  /** When a batch of a lower term came last, on the monotonic clock. */
  #deposedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: {
    readonly log: ClusterLog
    readonly clock: Clock
    readonly metrics: Metrics
    readonly sink: FollowSink
    readonly from: CheckpointHeader
  }) {
    this.#log = parts.log
    this.#clock = parts.clock
    this.#metrics = parts.metrics
    this.#sink = parts.sink
    this.#epoch = parts.from.epoch
    this.#term = parts.from.term
    this.#receivedAtMs = parts.clock.monotonicMs()
    const positionOf = (shard: ShardName): ShardPosition =>
      parts.from.shards.find((position) => position.shard === shard) ?? {
        shard,
        sequence: 0,
        batch: 0,
      }
    // One that the checkpoint does not name is read from its first batch.
    this.#shards = marketShards.map((name) => {
      const { shard, sequence: from, batch } = positionOf(name)
      const times = { heldSinceMs: null, isFilling: false, ahead: null }
      return {
        shard,
        from,
        sequence: from,
        batch,
        delivered: from,
        held: new Map(),
        head: from,
        behind: 0,
        ...times,
      }
    })
  }

  /** When a batch came last, on the monotonic clock. */
  get receivedAtMs(): number {
    return this.#receivedAtMs
  }

  /** Batches that the log has and this reader has not, as far as both know. */
  get behind(): number {
    let count = 0
    for (const { behind, head, sequence } of this.#shards) {
      count += Math.max(0, behind, head - sequence)
    }
    return count
  }

  /** Reads on until it is stopped. Resolves when it has passed what the log had at the start; false: it has ended before. */
  async start(): Promise<boolean> {
    const heads = await Promise.all(this.#shards.map(({ shard }) => this.#log.head(shard)))
    if (this.#isOver) return false
    for (const [index, state] of this.#shards.entries()) {
      state.head = heads[index] ?? 0
      // A log that lost its newest batches begins behind the checkpoint: the engine says so, or goes on from there.
      if (state.head < state.from) {
        this.#fail('batch_missing')
        return false
      }
      // Books are resumed from memory alone.
      const recalled = state.shard === 'trades' ? RECALLED_BATCHES : 0
      const first = Math.max(1, state.from + 1 - recalled)
      state.delivered = first - 1
      const onBatch = (batch: Delivered) => this.#receive(state, batch)
      const onRefused = (batch: Pick<Delivered, 'sequence' | 'behind'>) => this.#pass(state, batch)
      this.#subscriptions.push(this.#log.read(state.shard, first, { onBatch, onRefused }))
    }
    this.#stopTimer = this.#clock.every(REORDER_MS / 2, () => void this.#check())
    const startedAtMs = this.#clock.monotonicMs()
    return new Promise((resolve) => {
      const stop = this.#clock.every(READY_POLL_MS, () => {
        const isLate = this.#clock.monotonicMs() - startedAtMs > RECALL_MS_MAX
        const isReady = this.#shards.every(({ sequence, delivered }, index) => {
          const head = heads[index] ?? 0
          return delivered >= head || (isLate && sequence >= head)
        })
        if (!isReady && !this.#isOver) return
        stop()
        resolve(!this.#isOver)
      })
    })
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#stopTimer?.()
    await Promise.all(this.#subscriptions.map((subscription) => subscription.stop()))
  }

  /** The log has something at this sequence that is no batch of ours. */
  #pass(state: ShardState, { sequence, behind }: Pick<Delivered, 'sequence' | 'behind'>): void {
    state.behind = behind
    state.delivered = Math.max(state.delivered, sequence)
    state.sequence = Math.max(state.sequence, sequence)
  }

  #receive(state: ShardState, { sequence, bytes, behind }: Delivered): void | Promise<void> {
    if (this.#isOver) return
    state.behind = behind
    state.delivered = Math.max(state.delivered, sequence)
    const batch = decodeBatch(bytes)
    const isOld = sequence <= state.from
    // A log that lost its data counts sequences from 1 again, so a batch is recognised by its epoch and number.
    const isNew =
      batch !== null &&
      batch.term >= this.#term &&
      (batch.epoch !== this.#epoch || batch.batch > state.batch)
    if (isOld && !isNew) {
      if (batch !== null) this.#sink.recall(batch.epoch, batch.items)
      return
    }
    state.sequence = isOld ? sequence : Math.max(state.sequence, sequence)
    if (batch === null) return this.#fail('unreadable_batch')
    if (batch.term < this.#term) return this.#skipDeposed()
    if (batch.epoch !== this.#epoch) return this.#fail('new_epoch')
    if (batch.batch <= state.batch) return this.#skip('repeat')
    this.#receivedAtMs = this.#clock.monotonicMs()
    if (batch.batch > state.batch + 1) return this.#hold(state, batch)
    return this.#hand(state, batch)
  }

  #skipDeposed(): void {
    this.#deposedAtMs = this.#clock.monotonicMs()
    this.#skip('deposed')
  }

  #hold(state: ShardState, batch: Batch): void {
    state.held.set(batch.batch, batch)
    state.heldSinceMs ??= this.#clock.monotonicMs()
    if (state.held.size > HELD_BEYOND_MAX) this.#fail('batch_missing')
    else if (state.held.size > HELD_MAX) void this.#fill(state)
  }

  async #handHeld(state: ShardState): Promise<void> {
    for (;;) {
      const next = state.held.get(state.batch + 1)
      if (next === undefined || this.#isOver) break
      state.held.delete(next.batch)
      state.batch = next.batch
      await this.#sink.take(state.shard, next.items)
    }
    for (const number of state.held.keys()) if (number <= state.batch) state.held.delete(number)
    state.heldSinceMs = state.held.size === 0 ? null : this.#clock.monotonicMs()
  }

  #hand(state: ShardState, batch: Batch): void | Promise<void> {
    state.batch = batch.batch
    const taken = this.#sink.take(state.shard, batch.items)
    if (state.held.size === 0) return taken
    return Promise.resolve(taken).then(() => this.#handHeld(state))
  }

  /** Asks the engine for the batches before those that are held, one after the other. */
  async #fill(state: ShardState): Promise<void> {
    if (state.isFilling) return
    state.isFilling = true
    while (state.held.size > 0 && !this.#isOver) {
      const number = state.batch + 1
      const bytes = await this.#log
        .request('batch', Buffer.from(idOfBatch(this.#epoch, state.shard, number)))
        .catch(() => null)
      const batch = bytes === null ? null : decodeBatch(bytes)
      // It has come after all.
      if (state.batch >= number) continue
      // Asked again by the next look.
      if (bytes === null && this.#log.link === 'down') break
      if (batch?.epoch !== this.#epoch || batch.batch !== number) return this.#fail('batch_missing')
      this.#metrics.count('cluster_batches_asked_total', 'Batches that the log did not give.').inc()
      await this.#hand(state, batch)
    }
    state.isFilling = false
  }

  /** Looks for batches that should have come. */
  async #check(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const isLeaderLost = nowMs - this.#receivedAtMs > LEADER_LOST_MS
    if (isLeaderLost && nowMs - this.#deposedAtMs < LEADER_LOST_MS) return this.#fail('leader_lost')
    for (const state of this.#shards) {
      const { heldSinceMs, ahead, sequence } = state
      if (this.#log.link === 'down') continue
      if (heldSinceMs !== null && nowMs - heldSinceMs > REORDER_MS) void this.#fill(state)
      const isAhead = ahead?.sequence === sequence && nowMs - ahead.sinceMs > HEAD_LATE_MS
      if (isAhead) return this.#fail('batch_missing')
    }
    if (this.#log.link === 'down' || nowMs - this.#polledAtMs < HEAD_POLL_MS) return
    this.#polledAtMs = nowMs
    await Promise.all(this.#shards.map((state) => this.#pollHead(state)))
  }

  async #pollHead(state: ShardState): Promise<void> {
    try {
      state.head = await this.#log.head(state.shard)
    } catch {
      // Not known now: asked again in a second.
      state.ahead = null
      return
    }
    const { sequence } = state
    if (state.head <= sequence) state.ahead = null
    else if (state.ahead?.sequence !== sequence) {
      state.ahead = { sequence, sinceMs: this.#clock.monotonicMs() }
    }
  }

  #skip(why: Skipped): void {
    const help = 'Batches of the log that were left out.'
    this.#metrics.count('cluster_batches_skipped_total', help, { why }).inc()
  }

  #fail(fault: FollowFault): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopTimer?.()
    this.#sink.onFault(fault)
  }
}
