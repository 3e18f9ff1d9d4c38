// Reads all shards of the log after a checkpoint. Passes on each batch once and in order. Skips repeated batches and
// batches of deposed engines, and requests missing batches from the engine.

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

export type FollowFault =
  | 'batch_missing'
  | 'new_epoch'
  /** A batch cannot be decoded. Gateways must be upgraded before the engine. */
  | 'unreadable_batch'
  /** All arriving batches have a lower term than the followed leader. */
  | 'leader_lost'

type Skipped = 'repeat' | 'deposed'

export interface FollowSink {
  /** The shard's next batch waits for the returned promise. */
  take(shard: ShardName, items: readonly RawItem[]): void | Promise<void>
  /** Takes the items of a batch that precedes the checkpoint, for streams that resume. */
  recall(epoch: string, items: readonly RawItem[]): void
  /** Called once. The follower has then ended. */
  onFault(fault: FollowFault): void
}

/** A batch counts as missing if a later batch arrived and this time has passed. */
const REORDER_MS = 500
const HELD_MAX = 64
const HELD_BEYOND_MAX = 8_192
/** Polling the log's newest sequences detects that the last batches did not arrive. */
const HEAD_POLL_MS = 1_000
/** Batches count as missing if the log has had newer batches for this time and none arrived. */
const HEAD_LATE_MS = 4_000
/** The followed leader counts as ended if only batches of a lower term arrive for this time. */
const LEADER_LOST_MS = 2_000
const READY_POLL_MS = 5
const RECALLED_BATCHES = 4_096
/** Time limit for reading the recalled batches. Streams that need an unread batch get a gap. */
const RECALL_MS_MAX = 1_500

interface ShardState {
  readonly shard: ShardName
  /** Sequence up to which the checkpoint contains the shard. */
  readonly from: number
  sequence: number
  delivered: number
  batch: number
  readonly held: Map<number, Batch>
  heldSinceMs: number | null
  isFilling: boolean
  head: number
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
    // A shard that is not in the checkpoint is read from its first batch.
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

  get receivedAtMs(): number {
    return this.#receivedAtMs
  }

  get behind(): number {
    let count = 0
    for (const { behind, head, sequence } of this.#shards) {
      count += Math.max(0, behind, head - sequence)
    }
    return count
  }

  /**
   * Starts reading. Resolves to true when the log is read up to its end at the start. Resolves to false if the follower
   * ended earlier.
   */
  async start(): Promise<boolean> {
    const heads = await Promise.all(this.#shards.map(({ shard }) => this.#log.head(shard)))
    if (this.#isOver) return false
    for (const [index, state] of this.#shards.entries()) {
      state.head = heads[index] ?? 0
      // The log is shorter than at the checkpoint, so it has lost batches. A new checkpoint is needed.
      if (state.head < state.from) {
        this.#fail('batch_missing')
        return false
      }
      // Only trades need earlier batches. Streams of books resume from updates in memory.
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
    // After a loss of data the log's sequences begin at 1 again. Epoch and number therefore identify a batch.
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

  async #fill(state: ShardState): Promise<void> {
    if (state.isFilling) return
    state.isFilling = true
    while (state.held.size > 0 && !this.#isOver) {
      const number = state.batch + 1
      const bytes = await this.#log
        .request('batch', Buffer.from(idOfBatch(this.#epoch, state.shard, number)))
        .catch(() => null)
      const batch = bytes === null ? null : decodeBatch(bytes)
      // The batch has arrived since the request began.
      if (state.batch >= number) continue
      // The next check requests the batch again.
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
      // The log is unreachable. The next poll follows in a second.
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
