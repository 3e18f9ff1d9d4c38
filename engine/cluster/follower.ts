// Reads all shards of the log after a checkpoint and passes on every batch once, in order. Skips and counts
// repeats, and batches of a deposed engine or of earlier epochs. Requests missing batches from the engine,
// which retains its newest ones. A batch that is not available, unreadable or of a later epoch is a fault,
// which ends the follower.

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

/** Why a follower cannot continue. */
export type FollowFault =
  /** A number is missing, or the log has batches that never arrived. */
  | 'batch_missing'
  /** Another run of the engine, or another engine, leads. */
  | 'new_epoch'
  /** A batch that this version cannot parse: gateways are upgraded before the engine. */
  | 'unreadable_batch'
  /** Batches of another leader with a lower term arrive, and none of the followed leader. */
  | 'leader_lost'

/** Why a batch was skipped. */
type Skipped = 'repeat' | 'deposed'

/** Receives what a follower reads. Implemented by the mirror. */
export interface FollowSink {
  /** The items of a batch, in the order of its shard. The shard's next batch waits for a returned promise. */
  take(shard: ShardName, items: readonly RawItem[]): void | Promise<void>
  /** The items of a batch that the checkpoint contains, or of an earlier epoch. */
  recall(epoch: string, items: readonly RawItem[]): void
  /** Called once. */
  onFault(fault: FollowFault): void
}

/** A batch may arrive this long after one that follows it. */
const REORDER_MS = 500
const HELD_MAX = 64
/** Maximum number of held batches while missing ones are requested from the engine. */
const HELD_BEYOND_MAX = 8_192
/** How often the log's newest sequences are polled, to detect that the last batches never arrived. */
const HEAD_POLL_MS = 1_000
/** The log may have a batch this long before it must have arrived. */
const HEAD_LATE_MS = 4_000
/** Without a batch of the leader for this long, batches of a lower term mean that it is gone. */
const LEADER_LOST_MS = 2_000
/** How often a start checks whether it is complete. */
const READY_POLL_MS = 5
/** Batches from before the checkpoint that are read again, for streams that resume. */
const RECALLED_BATCHES = 4_096
/** Batches that the log has not returned by then are treated as gone. Streams that need them receive a gap. */
const RECALL_MS_MAX = 1_500

interface ShardState {
  readonly shard: ShardName
  /** The checkpoint's sequence. */
  readonly from: number
  /** Sequence of the newest batch that the checkpoint contains, or that arrived. */
  sequence: number
  /** Sequence of the newest batch that arrived at all. */
  delivered: number
  /** Number of the newest batch that was taken. */
  batch: number
  /** Batches that arrived before one that they follow. */
  readonly held: Map<number, Batch>
  heldSinceMs: number | null
  /** Missing batches are being requested from the engine. */
  isFilling: boolean
  /** The log's newest sequence at the last poll. */
  head: number
  /** The sequence beyond which the log has more batches than arrived, and since when. */
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
  /** When a batch of a lower term last arrived, monotonic. */
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
    // A shard that the checkpoint does not contain is read from its first batch.
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

  /** When a batch last arrived, monotonic. */
  get receivedAtMs(): number {
    return this.#receivedAtMs
  }

  /** Batches that the log has and this follower does not, as far as known. */
  get behind(): number {
    let count = 0
    for (const { behind, head, sequence } of this.#shards) {
      count += Math.max(0, behind, head - sequence)
    }
    return count
  }

  /**
   * Starts reading, until stopped. Resolves with true when the log's content as of the start has been read,
   * with false if it ended before.
   */
  async start(): Promise<boolean> {
    const heads = await Promise.all(this.#shards.map(({ shard }) => this.#log.head(shard)))
    if (this.#isOver) return false
    for (const [index, state] of this.#shards.entries()) {
      state.head = heads[index] ?? 0
      // A log that lost its newest batches ends before the checkpoint. A new checkpoint is needed.
      if (state.head < state.from) {
        this.#fail('batch_missing')
        return false
      }
      // Only trades: books are resumed from memory alone.
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

  /** Skips a sequence at which the log has no batch of this cluster. */
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
    // A log that lost its data restarts its sequences at 1, so a batch is recognised by its epoch and
    // number.
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

  /** Requests the batches before the held ones from the engine, one after the other. */
  async #fill(state: ShardState): Promise<void> {
    if (state.isFilling) return
    state.isFilling = true
    while (state.held.size > 0 && !this.#isOver) {
      const number = state.batch + 1
      const bytes = await this.#log
        .request('batch', Buffer.from(idOfBatch(this.#epoch, state.shard, number)))
        .catch(() => null)
      const batch = bytes === null ? null : decodeBatch(bytes)
      // It has arrived in the meantime.
      if (state.batch >= number) continue
      // The next check requests it again.
      if (bytes === null && this.#log.link === 'down') break
      if (batch?.epoch !== this.#epoch || batch.batch !== number) return this.#fail('batch_missing')
      this.#metrics
        .count(
          'cluster_batches_asked_total',
          'Batches missing from the log and requested from the engine.',
        )
        .inc()
      await this.#hand(state, batch)
    }
    state.isFilling = false
  }

  /** Checks for batches that should have arrived. */
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
      // Unknown for now. The next poll follows in a second.
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
    const help = 'Batches of the log that were skipped.'
    this.#metrics.count('cluster_batches_skipped_total', help, { why }).inc()
  }

  #fail(fault: FollowFault): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopTimer?.()
    this.#sink.onFault(fault)
  }
}
