// Gathers records of the tape into batches, one per venue, with the codec of the cluster's log.

import type { OffsetRange } from '../../engine/cluster/batch.ts'
import { type CountedChannel, countedChannelOf } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { MsgpackWriter } from '../../engine/msgpack-writer.ts'
import { encodeBatchHead } from '../../engine/tape/batch.ts'
import { hourOf } from '../../engine/tape/layout.ts'
import type { TapeBatch } from '../../engine/tape/writer.ts'
import { type TapeItem, writeTapeItem } from '../records/tape-items.ts'

/** A batch, and the rows that are lost if it is not written. */
export interface GatheredBatch extends TapeBatch {
  readonly venue: VenueKey
  readonly lastUs: number
  readonly rows: number
  readonly offsets: readonly OffsetRange[]
}

export class TapeBatcher {
  readonly #venues = new Map<VenueKey, VenueBatch>()
  readonly #full: GatheredBatch[] = []

  /** Bytes of the records that `take` has not returned. */
  get bytes(): number {
    let bytes = 0
    for (const batch of this.#venues.values()) bytes += batch.bytes
    for (const { values } of this.#full) bytes += values.length
    return bytes
  }

  /** Adds a record. `us`: its publish time in microseconds, above that of the venue's last record. */
  put(venue: VenueKey, us: number, item: TapeItem): void {
    let batch = this.#venues.get(venue)
    if (batch === undefined) {
      batch = new VenueBatch(venue)
      this.#venues.set(venue, batch)
    }
    if (batch.rows > 0 && hourOf(us) !== hourOf(batch.firstUs)) this.#full.push(batch.take())
    batch.put(us, item)
  }

  /** Returns the batches and begins new ones. */
  take(): readonly GatheredBatch[] {
    const taken = this.#full.splice(0)
    for (const batch of this.#venues.values()) if (batch.rows > 0) taken.push(batch.take())
    return taken
  }
}

class VenueBatch {
  readonly #venue: VenueKey
  readonly #writer = new MsgpackWriter()
  readonly #offsets = new Map<CountedChannel, { first: number; last: number }>()
  rows = 0
  firstUs = 0
  #lastUs = 0

  constructor(venue: VenueKey) {
    this.#venue = venue
    this.#writer.begin()
  }

  get bytes(): number {
    return this.#writer.length
  }

  put(us: number, item: TapeItem): void {
    if (this.rows === 0) this.firstUs = us
    this.rows += 1
    this.#lastUs = us
    this.#writer.integer(us)
    writeTapeItem(this.#writer, item)
    if (item.kind !== 'update' || !('offset' in item.update)) return
    const channel = countedChannelOf(item.update.kind)
    if (channel === null) return
    const { offset } = item.update
    const range = this.#offsets.get(channel)
    if (range === undefined) this.#offsets.set(channel, { first: offset, last: offset })
    else range.last = offset
  }

  take(): GatheredBatch {
    const offsets = [...this.#offsets].map(([channel, range]) => ({ channel, ...range }))
    const batch = {
      venue: this.#venue,
      firstUs: this.firstUs,
      lastUs: this.#lastUs,
      rows: this.rows,
      offsets,
      head: encodeBatchHead({ offsets }),
      values: Uint8Array.from(this.#writer.end()),
    }
    this.#writer.begin()
    this.#offsets.clear()
    this.rows = 0
    return batch
  }
}
