// Writes the leader's log. The items of one event-loop tick, or of ticks within a millisecond, become one batch per
// shard. Unacknowledged batches are retained up to a limit and sent again after a failure. Above the limit, a shard's
// batches are dropped, and its next batch announces the missing numbers. Nothing is written after another engine has
// taken the lease.

import { type Clock, pause } from '../clock.ts'
import { MsgpackWriter } from '../msgpack-writer.ts'
import type { Log } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import { encodeBatch } from './batch.ts'
import type { ShardPosition } from './checkpoint.ts'
import { type ClusterLog, clusterBatchBytesMax, idOfBatch, type ShardName } from './cluster-log.ts'

/** Maximum bytes of unacknowledged batches over all shards. */
export const windowBytesMax = 64 * 1_024 * 1_024
/** Maximum bytes of the newest batches that are retained for readers that miss a batch. */
export const retainedBytesMax = 8 * 1_024 * 1_024
/** Ticks within this time after the last batch share the next batch. */
export const gatherMs = 1
const HEADER_BYTES_MAX = 1_024
const RETRY_MS = 250
/** After a failure, batches are sent in groups of this size. Each group must be acknowledged before the next is sent. */
const RESEND_BATCHES = 64

export interface ItemPosition {
  readonly channel: string
  readonly offset: number
}

interface WriterParts<Item> {
  readonly log: ClusterLog
  readonly epoch: string
  readonly term: number
  readonly clock: Clock
  readonly logger: Log
  readonly metrics: Metrics
  readonly encode: (to: MsgpackWriter, item: Item) => void
  readonly missing: (fromBatch: number) => Item
  /** Resolves to whether this engine still leads. Rejects while the answer is unknown. */
  readonly isLeading: () => Promise<boolean>
  /** Called once when this engine has lost the lease. */
  readonly onDeposed: () => void
  /** Default: {@link windowBytesMax}. */
  readonly windowBytes?: number
}

export class LogWriter<Item> {
  readonly #parts: WriterParts<Item>
  readonly #shards = new Map<ShardName, ShardWriter<Item>>()
  readonly #dirty = new Set<ShardWriter<Item>>()
  readonly #batches: Count
  readonly #bytes: Count
  readonly #dropped: Count
  readonly #retained = new Map<string, Uint8Array>()
  #retainedBytes = 0
  readonly #refused: Count
  #isPlanned = false
  #flushedAtMs = Number.NEGATIVE_INFINITY
  #isOver = false
  #held = 0

  constructor(parts: WriterParts<Item>) {
    this.#parts = parts
    const { metrics } = parts
    this.#batches = metrics.count('cluster_batches_total', 'Batches written to the log.')
    this.#bytes = metrics.count('cluster_batch_bytes_total', 'Bytes of batches written to the log.')
    this.#dropped = metrics.count(
      'cluster_lost_batches_total',
      'Batches dropped and announced as missing.',
    )
    this.#refused = metrics.count(
      'cluster_large_items_total',
      'Items too large for a batch, left out.',
    )
    const unacked = 'Bytes of batches that the log has not acknowledged.'
    metrics.gauge('cluster_unacked_bytes', unacked, () => this.#held)
  }

  /** Adds an item to its shard. It is sent at the end of the tick, at most `gatherMs` later. */
  put(name: ShardName, item: Item, position: ItemPosition | null = null): void {
    if (this.#isOver) return
    const shard = this.shard(name)
    shard.put(item, position)
    this.#dirty.add(shard)
    if (this.#isPlanned) return
    this.#isPlanned = true
    const { clock } = this.#parts
    if (clock.monotonicMs() - this.#flushedAtMs >= gatherMs) clock.soon(() => this.flush())
    else clock.after(gatherMs, () => this.flush())
  }

  async open(names: readonly ShardName[]): Promise<void> {
    await Promise.all(names.map((name) => this.shard(name).open()))
  }

  flush(): void {
    this.#isPlanned = false
    this.#flushedAtMs = this.#parts.clock.monotonicMs()
    for (const shard of this.#dirty) shard.flush()
    this.#dirty.clear()
  }

  /** Null if the batch is not retained or never existed. */
  batch(id: string): Uint8Array | null {
    return this.#retained.get(id) ?? null
  }

  #retain({ id, bytes }: Waiting): void {
    this.#retained.set(id, bytes)
    this.#retainedBytes += bytes.length
    for (const [oldest, { length }] of this.#retained) {
      if (this.#retainedBytes <= retainedBytesMax) return
      this.#retained.delete(oldest)
      this.#retainedBytes -= length
    }
  }

  get waiting(): number {
    let count = 0
    for (const shard of this.#shards.values()) count += shard.waiting
    return count
  }

  positions(): readonly ShardPosition[] {
    return [...this.#shards.values()].map((shard) => shard.position)
  }

  /** Resolves when all batches are acknowledged, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.flush()
    const { clock } = this.#parts
    const endsAtMs = clock.monotonicMs() + ms
    while (this.#held > 0 && !this.#isOver && clock.monotonicMs() < endsAtMs) await pause(clock, 10)
  }

  stop(): void {
    this.#isOver = true
  }

  shard(name: ShardName): ShardWriter<Item> {
    let shard = this.#shards.get(name)
    if (shard !== undefined) return shard
    shard = new ShardWriter(name, this.#parts, {
      isOver: () => this.#isOver,
      onBatch: (batch) => this.#retain(batch),
      onHeld: (bytes) => {
        this.#held += bytes
        if (bytes <= 0) return
        this.#batches.inc()
        this.#bytes.inc(bytes)
        if (this.#held > (this.#parts.windowBytes ?? windowBytesMax)) this.#giveUp()
      },
      onRefused: () => this.#refused.inc(),
      onDeposed: () => {
        if (this.#isOver) return
        this.#isOver = true
        this.#parts.onDeposed()
      },
    })
    this.#shards.set(name, shard)
    return shard
  }

  /** Drops the waiting batches of the shard with the most waiting bytes. */
  #giveUp(): void {
    let most: ShardWriter<Item> | null = null
    for (const shard of this.#shards.values()) {
      if (most === null || shard.heldBytes > most.heldBytes) most = shard
    }
    if (most === null) return
    const count = most.giveUp()
    this.#dropped.inc(count)
    const line =
      'the log accepts too few batches: batches are dropped, and gateways reload the state of their markets'
    this.#parts.logger.error({ shard: most.name, batches: count }, line)
  }
}

interface Waiting {
  readonly batch: number
  readonly id: string
  readonly bytes: Uint8Array
}

interface ShardHooks {
  readonly isOver: () => boolean
  readonly onBatch: (batch: Waiting) => void
  /** Called with the difference when the number of unacknowledged bytes changes. */
  readonly onHeld: (bytes: number) => void
  readonly onRefused: () => void
  readonly onDeposed: () => void
}

class ShardWriter<Item> {
  readonly name: ShardName
  readonly #parts: WriterParts<Item>
  readonly #hooks: ShardHooks
  readonly #items = new MsgpackWriter()
  readonly #ranges = new Map<string, { first: number; last: number }>()
  #count = 0
  #batch = 0
  readonly #waiting = new Map<number, Waiting>()
  #missingFrom: number | null = null
  /** Sequence that the next batch must follow. Null: it must be read from the log. */
  #after: number | null = null
  #underWay = 0
  #isRecovering = false
  #acknowledged: { sequence: number; batch: number } = { sequence: 0, batch: 0 }
  heldBytes = 0

  constructor(name: ShardName, parts: WriterParts<Item>, hooks: ShardHooks) {
    this.name = name
    this.#parts = parts
    this.#hooks = hooks
    this.#items.begin()
  }

  /** Must be called before `put`. Rejects with LogError. */
  async open(): Promise<void> {
    this.#after = await this.#parts.log.head(this.name)
    this.#acknowledged = { sequence: this.#after, batch: 0 }
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get position(): ShardPosition {
    return { shard: this.name, ...this.#acknowledged }
  }

  put(item: Item, position: ItemPosition | null): void {
    if (this.#missingFrom !== null && this.#count === 0) this.#putMissing(this.#missingFrom)
    const before = this.#items.length
    this.#parts.encode(this.#items, item)
    const added = this.#items.length - before
    if (this.#items.length > clusterBatchBytesMax - HEADER_BYTES_MAX) {
      const late = Uint8Array.from(this.#items.end().subarray(before))
      this.#close(before)
      if (added > clusterBatchBytesMax - HEADER_BYTES_MAX) {
        // The item cannot be sent. Readers notice the loss by the skipped batch number.
        this.#hooks.onRefused()
        this.#missingFrom ??= this.#batch + 1
        this.#batch += 1
        return
      }
      this.#items.bytes(late)
    }
    this.#count += 1
    if (position !== null) this.#note(position)
  }

  #putMissing(fromBatch: number): void {
    this.#missingFrom = null
    this.#parts.encode(this.#items, this.#parts.missing(fromBatch))
    this.#count += 1
  }

  #note({ channel, offset }: ItemPosition): void {
    const range = this.#ranges.get(channel)
    if (range === undefined) this.#ranges.set(channel, { first: offset, last: offset })
    else range.last = offset
  }

  flush(): void {
    if (this.#count > 0) this.#close(this.#items.length)
  }

  #close(length: number): void {
    const items = this.#items.end().subarray(0, length)
    if (this.#count > 0) {
      this.#batch += 1
      const offsets = [...this.#ranges].map(([channel, range]) => ({ channel, ...range }))
      const { epoch, term } = this.#parts
      const header = { epoch, term, batch: this.#batch, offsets, count: this.#count }
      const id = idOfBatch(epoch, this.name, this.#batch)
      this.#hold({ batch: this.#batch, id, bytes: encodeBatch(header, items) })
    }
    this.#items.begin()
    this.#ranges.clear()
    this.#count = 0
  }

  #hold(waiting: Waiting): void {
    this.#waiting.set(waiting.batch, waiting)
    this.heldBytes += waiting.bytes.length
    this.#hooks.onBatch(waiting)
    if (this.#after === null || this.#isRecovering) void this.#recover()
    else this.#send(waiting)
    this.#hooks.onHeld(waiting.bytes.length)
  }

  #send(waiting: Waiting): void {
    const { after, done } = this.#sent(waiting)
    done.then(
      (sequence) => {
        this.#underWay -= 1
        this.#onAcknowledged(waiting.batch, sequence)
        // The log has stored the batch, but not at the expected sequence.
        if (sequence !== after + 1) void this.#recover()
      },
      () => {
        this.#underWay -= 1
        void this.#recover()
      },
    )
  }

  #sent(
    { id, bytes }: Waiting,
    isAckedSeparately = false,
  ): { readonly after: number; readonly done: Promise<number> } {
    const { log } = this.#parts
    const after = this.#after ?? 0
    this.#after = after + 1
    this.#underWay += 1
    return { after, done: log.publish(this.name, { bytes, id, after, isAckedSeparately }) }
  }

  #onAcknowledged(batch: number, sequence: number): void {
    const waiting = this.#waiting.get(batch)
    if (waiting !== undefined) {
      this.#waiting.delete(batch)
      this.heldBytes -= waiting.bytes.length
      this.#hooks.onHeld(-waiting.bytes.length)
    }
    if (batch > this.#acknowledged.batch) this.#acknowledged = { sequence, batch }
  }

  giveUp(): number {
    const count = this.#waiting.size
    const [first] = this.#waiting.keys()
    if (first !== undefined) this.#missingFrom ??= first
    this.#waiting.clear()
    this.#hooks.onHeld(-this.heldBytes)
    this.heldBytes = 0
    return count
  }

  /** Reads the log's position and sends the waiting batches in groups until none is left. */
  async #recover(): Promise<void> {
    if (this.#isRecovering || this.#hooks.isOver()) return
    this.#isRecovering = true
    const { log, clock } = this.#parts
    while (!this.#hooks.isOver()) {
      // Waits for running appends, so that none completes after the position is read.
      if (this.#underWay > 0 || log.link === 'down') {
        await pause(clock, RETRY_MS)
        continue
      }
      try {
        // The position is read before the lease. If a new leader writes after this read, the log rejects this writer's
        // batches.
        this.#after = await log.head(this.name)
        if (!(await this.#parts.isLeading())) {
          this.#hooks.onDeposed()
          break
        }
        if (!(await this.#sendAgain())) await pause(clock, RETRY_MS)
        if (this.#waiting.size === 0) break
      } catch {
        await pause(clock, RETRY_MS)
      }
    }
    this.#isRecovering = false
  }

  /**
   * Sends the waiting batches. Stops at the first batch that is stored at an unexpected sequence. Resolves to whether
   * the log accepted any batch.
   */
  async #sendAgain(): Promise<boolean> {
    const all = [...this.#waiting.values()]
    let hasSome = all.length === 0
    for (let from = 0; from < all.length; from += RESEND_BATCHES) {
      if (this.#hooks.isOver()) return hasSome
      // Excludes batches that were dropped since the loop began.
      const some = all
        .slice(from, from + RESEND_BATCHES)
        .filter(({ batch }) => this.#waiting.has(batch))
      const sent = some.map((waiting) => ({ ...waiting, ...this.#sent(waiting, true) }))
      const sequences = await Promise.allSettled(sent.map(({ done }) => done))
      this.#underWay -= sent.length
      let isInSequence = true
      for (const [index, { batch, after }] of sent.entries()) {
        const result = sequences[index]
        if (result?.status === 'fulfilled') {
          this.#onAcknowledged(batch, result.value)
          hasSome = true
        }
        isInSequence &&= result?.status === 'fulfilled' && result.value === after + 1
      }
      if (!isInSequence) return hasSome
    }
    return hasSome
  }
}
