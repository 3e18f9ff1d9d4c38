// One event as readers see it: its listing, and the sums of its markets as of now.

import type { NativeEventId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketStatus } from '../../engine/market/market.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { EventSummary, EventTable } from '../../storage/contract/storage.ts'
import type { EventView, MarketView } from '../views.ts'
import type { EventColumns } from './event-columns.ts'

/** Where an event and its markets are looked up. */
export interface EventSources {
  readonly table: EventTable
  readonly columns: EventColumns
  readonly platform: (venue: VenueKey) => string
  /** A market and its 24-hour volume. */
  readonly market: (number: MarketNumber) => MarketView | null
  readonly volume24h: (number: MarketNumber) => number
}

/** An event that markets name, whether or not its own listing is known yet. */
export class NamedEvent {
  /** Of this run: larger than any before, never used again. */
  readonly number: number
  readonly venue: VenueKey
  readonly nativeId: NativeEventId
  readonly markets = new Set<MarketNumber>()
  view: ListedEvent | null = null
  /** The fingerprint of the stored details; null: not known in this run. */
  fingerprint: number | null = null
  /** The venue's time of change of the stored listing, as far as this run knows. */
  changedAtMs: TimeMs | null = null

  constructor(number: number, venue: VenueKey, nativeId: NativeEventId) {
    this.number = number
    this.venue = venue
    this.nativeId = nativeId
  }
}

/** An event with its listing. */
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

  /** One pass that keeps the best so far: events have thousands of markets. */
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

/** More volume first, equal ones by number. */
function isBefore(
  number: MarketNumber,
  volume: number,
  other: { readonly number: MarketNumber; readonly volume: number },
): boolean {
  return volume === other.volume ? number < other.number : volume > other.volume
}
