// Updates that were not written to the tape, until a `lost` item states them.

import type { VenueKey } from '../../engine/ids.ts'
import { joinOffsets } from '../../engine/tape/batch.ts'
import type { Lost, LostCause } from '../../engine/tape/lost.ts'
import type { GatheredBatch } from '../../storage/tape/batcher.ts'

export class TapeLosses {
  readonly #venues = new Map<VenueKey, Lost>()

  /** Adds a batch that was dropped. */
  addBatch({ venue, firstUs, lastUs, offsets, rows }: GatheredBatch, cause: LostCause): void {
    this.add(venue, { cause, fromUs: firstUs, toUs: lastUs, offsets, rows })
  }

  /** Adds a loss. It is joined to the one that waits, whose cause remains. */
  add(venue: VenueKey, loss: Lost): void {
    const waiting = this.#venues.get(venue)
    this.#venues.set(venue, waiting === undefined ? loss : joined(waiting, loss))
  }

  /** Returns the losses, which the caller writes. */
  take(): readonly (readonly [VenueKey, Lost])[] {
    const taken = [...this.#venues]
    this.#venues.clear()
    return taken
  }
}

function joined(one: Lost, other: Lost): Lost {
  return {
    cause: one.cause,
    fromUs: Math.min(one.fromUs, other.fromUs),
    toUs: Math.max(one.toUs, other.toUs),
    offsets: joinOffsets([...one.offsets, ...other.offsets]),
    rows: one.rows === null || other.rows === null ? null : one.rows + other.rows,
  }
}
