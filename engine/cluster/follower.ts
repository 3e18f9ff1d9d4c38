// Reads all shards of the log behind a checkpoint and hands on every batch once, in order: repeats, batches of a deposed
// engine and of earlier epochs are left out and counted; what is missing is asked of the engine, which keeps its newest batches.
// What it has no longer, what is unreadable or of a later epoch is a fault, after which nothing more is handed on.

import type { Clock } from '../clock.ts'
import type { Metrics } from '../process/metrics.ts'
import { type Batch, decodeBatch, type RawItem } from './batch.ts'
import type { CheckpointHeader, ShardPlace } from './checkpoint.ts'
import {
  type ClusterLog,
  type Delivered,
  idOfBatch,
  marketShards,
  type ShardName,
  type StopReading,
} from './log.ts'

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
const SWAP_MS = 500
const HELD_MAX = 64
/** While the engine is asked for what is missing. */
const HELD_BEYOND_MAX = 8_192
/** How often the log is asked for its newest batches, to find that the last ones never came. */
const HEAD_LOOK_MS = 1_000
/** The log may have a batch for so long before it must have come. */
const HEAD_LATE_MS = 4_000
/** Without a batch of the leader for so long, batches of a lower term mean that it is gone. */
const LEADER_LOST_MS = 2_000
/** How often a start looks whether it is over. */
const READY_LOOK_MS = 5
/** Batches from before the checkpoint that are read again, for streams that resume. */
const RECALLED_BATCHES = 4_096
/** What the log has not given back by then is gone: streams that need it are told so. */
const RECALL_MS_MAX = 1_500

interface Place {
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
  readonly #places: readonly Place[]
  readonly #readings: StopReading[] = []
  #stopTimer: (() => void) | null = null
  #isOver = false
  #heardAtMs: number
  #lookedAtMs = 0
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
    this.#heardAtMs = parts.clock.monotonicMs()
    const placeOf = (shard: ShardName): ShardPlace =>
      parts.from.shards.find((place) => place.shard === shard) ?? { shard, sequence: 0, batch: 0 }
    // One that the checkpoint does not name is read from its first batch.
    this.#places = marketShards.map((name) => {
      const { shard, sequence: from, batch } = placeOf(name)
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
  get heardAtMs(): number {
    return this.#heardAtMs
  }

  /** Batches that the log has and this reader has not, as far as both know. */
  get behind(): number {
    let count = 0
    for (const { behind, head, sequence } of this.#places) {
      count += Math.max(0, behind, head - sequence)
    }
    return count
  }

  /** Reads on until it is stopped. Resolves when it has passed what the log had at the start; false: it has ended before. */
  async start(): Promise<boolean> {
    const heads = await Promise.all(this.#places.map(({ shard }) => this.#log.head(shard)))
    if (this.#isOver) return false
    for (const [index, place] of this.#places.entries()) {
      place.head = heads[index] ?? 0
      // A log that lost its newest batches begins behind the checkpoint: the engine says so, or goes on from there.
      if (place.head < place.from) {
        this.#fail('batch_missing')
        return false
      }
      // Books are resumed from memory alone.
      const recalled = place.shard === 'trades' ? RECALLED_BATCHES : 0
      const first = Math.max(1, place.from + 1 - recalled)
      place.delivered = first - 1
      const onBatch = (batch: Delivered) => this.#receive(place, batch)
      const onRefused = (batch: Pick<Delivered, 'sequence' | 'behind'>) => this.#pass(place, batch)
      this.#readings.push(this.#log.read(place.shard, first, { onBatch, onRefused }))
    }
    this.#stopTimer = this.#clock.every(SWAP_MS / 2, () => void this.#look())
    const startedAtMs = this.#clock.monotonicMs()
    return new Promise((resolve) => {
      const stop = this.#clock.every(READY_LOOK_MS, () => {
        const isLate = this.#clock.monotonicMs() - startedAtMs > RECALL_MS_MAX
        const isReady = this.#places.every(({ sequence, delivered }, index) => {
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
    await Promise.all(this.#readings.map((reading) => reading.stop()))
  }

  /** The log has something at this sequence that is no batch of ours. */
  #pass(place: Place, { sequence, behind }: Pick<Delivered, 'sequence' | 'behind'>): void {
    place.behind = behind
    place.delivered = Math.max(place.delivered, sequence)
    place.sequence = Math.max(place.sequence, sequence)
  }

  #receive(place: Place, { sequence, bytes, behind }: Delivered): void | Promise<void> {
    if (this.#isOver) return
    place.behind = behind
    place.delivered = Math.max(place.delivered, sequence)
    const batch = decodeBatch(bytes)
    const isOld = sequence <= place.from
    // A log that lost its data counts sequences from 1 again, so a batch is recognised by its epoch and number.
    const isNew =
      batch !== null &&
      batch.term >= this.#term &&
      (batch.epoch !== this.#epoch || batch.batch > place.batch)
    if (isOld && !isNew) {
      if (batch !== null) this.#sink.recall(batch.epoch, batch.items)
      return
    }
    place.sequence = isOld ? sequence : Math.max(place.sequence, sequence)
    if (batch === null) return this.#fail('unreadable_batch')
    if (batch.term < this.#term) return this.#skipDeposed()
    if (batch.epoch !== this.#epoch) return this.#fail('new_epoch')
    if (batch.batch <= place.batch) return this.#skip('repeat')
    this.#heardAtMs = this.#clock.monotonicMs()
    if (batch.batch > place.batch + 1) return this.#hold(place, batch)
    return this.#hand(place, batch)
  }

  #skipDeposed(): void {
    this.#deposedAtMs = this.#clock.monotonicMs()
    this.#skip('deposed')
  }

  #hold(place: Place, batch: Batch): void {
    place.held.set(batch.batch, batch)
    place.heldSinceMs ??= this.#clock.monotonicMs()
    if (place.held.size > HELD_BEYOND_MAX) this.#fail('batch_missing')
    else if (place.held.size > HELD_MAX) void this.#fill(place)
  }

  async #handHeld(place: Place): Promise<void> {
    for (;;) {
      const next = place.held.get(place.batch + 1)
      if (next === undefined || this.#isOver) break
      place.held.delete(next.batch)
      place.batch = next.batch
      await this.#sink.take(place.shard, next.items)
    }
    for (const number of place.held.keys()) if (number <= place.batch) place.held.delete(number)
    place.heldSinceMs = place.held.size === 0 ? null : this.#clock.monotonicMs()
  }

  #hand(place: Place, batch: Batch): void | Promise<void> {
    place.batch = batch.batch
    const taken = this.#sink.take(place.shard, batch.items)
    if (place.held.size === 0) return taken
    return Promise.resolve(taken).then(() => this.#handHeld(place))
  }

  /** Asks the engine for the batches before those that are held, one after the other. */
  async #fill(place: Place): Promise<void> {
    if (place.isFilling) return
    place.isFilling = true
    while (place.held.size > 0 && !this.#isOver) {
      const number = place.batch + 1
      const bytes = await this.#log
        .ask('batch', Buffer.from(idOfBatch(this.#epoch, place.shard, number)))
        .catch(() => null)
      const batch = bytes === null ? null : decodeBatch(bytes)
      // It has come after all.
      if (place.batch >= number) continue
      // Asked again by the next look.
      if (bytes === null && this.#log.link === 'down') break
      if (batch?.epoch !== this.#epoch || batch.batch !== number) return this.#fail('batch_missing')
      this.#metrics.count('cluster_batches_asked_total', 'Batches that the log did not give.').inc()
      await this.#hand(place, batch)
    }
    place.isFilling = false
  }

  /** Looks for batches that should have come. */
  async #look(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const isLeaderGone = nowMs - this.#heardAtMs > LEADER_LOST_MS
    if (isLeaderGone && nowMs - this.#deposedAtMs < LEADER_LOST_MS) return this.#fail('leader_lost')
    for (const place of this.#places) {
      const { heldSinceMs, ahead, sequence } = place
      if (this.#log.link === 'down') continue
      if (heldSinceMs !== null && nowMs - heldSinceMs > SWAP_MS) void this.#fill(place)
      const isAhead = ahead?.sequence === sequence && nowMs - ahead.sinceMs > HEAD_LATE_MS
      if (isAhead) return this.#fail('batch_missing')
    }
    if (this.#log.link === 'down' || nowMs - this.#lookedAtMs < HEAD_LOOK_MS) return
    this.#lookedAtMs = nowMs
    await Promise.all(this.#places.map((place) => this.#lookAtHead(place)))
  }

  async #lookAtHead(place: Place): Promise<void> {
    try {
      place.head = await this.#log.head(place.shard)
    } catch {
      // Not known now: asked again in a second.
      place.ahead = null
      return
    }
    const { sequence } = place
    if (place.head <= sequence) place.ahead = null
    else if (place.ahead?.sequence !== sequence) {
      place.ahead = { sequence, sinceMs: this.#clock.monotonicMs() }
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
