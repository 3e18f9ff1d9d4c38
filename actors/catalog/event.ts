// One event for readers: its listing and the current sums of its markets.

import type { NativeEventId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketStatus } from '../../engine/market/market.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { EventSummary, EventTable } from '../../storage/contract/storage.ts'
import type { EventView, MarketView } from '../views.ts'
import type { EventColumns } from './event-columns.ts'

export interface EventSources {
  readonly table: EventTable
  readonly columns: EventColumns
  readonly platform: (venue: VenueKey) => string
  readonly market: (number: MarketNumber) => MarketView | null
  readonly volume24h: (number: MarketNumber) => number
}

/** An event that markets reference, with or without its own listing. */
export class NamedEvent {
  /** Unique in this run: ascending, never reused. */
  readonly number: number
  readonly venue: VenueKey
  readonly nativeId: NativeEventId
  readonly markets = new Set<MarketNumber>()
  view: ListedEvent | null = null
  /** Fingerprint of the stored details; null: unknown in this run. */
  fingerprint: number | null = null
  /** The venue's change time of the stored listing; null: unknown in this run. */
  changedAtMs: TimeMs | null = null

  constructor(number: number, venue: VenueKey, nativeId: NativeEventId) {
    this.number = number
    this.venue = venue
    this.nativeId = nativeId
  }
}

export class ListedEvent implements EventView {
  readonly #named: NamedEvent
  readonly #sources: EventSources
  readonly summary: EventSummary

  constructor(named: NamedEvent, summary: EventSummary, sources: EventSources) {
    this.#named = named
    this.#sources = sources
    this.summary = summary
  }

  get platform(): string {
    return this.#sources.platform(this.summary.venue)
  }

  get status(): MarketStatus {
    return this.#sources.columns.status(this.#named.number)
  }

  get marketCount(): number {
    return this.#sources.columns.marketCount(this.#named.number)
  }

  get volume24h(): UsdMicros {
    return this.#sources.columns.volume24h(this.#named.number)
  }

  get volumeTotal(): UsdMicros {
    return this.#sources.columns.volumeTotal(this.#named.number)
  }

  description(): string | null {
    const { venue, nativeId } = this.summary
    return this.#sources.table.details(venue, nativeId)?.description ?? null
  }

  /** Single pass that holds only the best so far: events have thousands of markets. */
  markets(limit: number): MarketView[] {
    const { volume24h, market } = this.#sources
    const best: { readonly number: MarketNumber; readonly volume: number }[] = []
    for (const number of this.#named.markets) {
      const volume = volume24h(number)
      const last = best[best.length - 1]
      if (best.length === limit && (last === undefined || !isBefore(number, volume, last))) continue
      if (best.length === limit) best.pop()
      let position = best.length
      for (; position > 0; position -= 1) {
        const before = best[position - 1]
        if (before === undefined || !isBefore(number, volume, before)) break
      }
      best.splice(position, 0, { number, volume })
    }
    return best.flatMap(({ number }) => market(number) ?? [])
  }
}

/** Higher volume first, then by number. */
function isBefore(
  number: MarketNumber,
  volume: number,
  other: { readonly number: MarketNumber; readonly volume: number },
): boolean {
  return volume === other.volume ? number < other.number : volume > other.volume
}
