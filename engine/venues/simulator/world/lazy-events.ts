// The events of a large world. An event is planned when its texts, chances or ids are first read, together with the
// events of the same questions on the other venue, because their prices depend on each other.

import type { Calendar, EventOutline, PlannedEvent } from '../calendar.ts'
import type { SimVenue } from '../model.ts'
import { eventNumbersIn } from '../questions/identity.ts'
import { cycleNumbers } from '../questions/planning.ts'
import { fairPricesOf } from './fair-price.ts'
import { type EventSource, LazyEvent, LazyListing } from './lazy-event.ts'
import { LiveMarket, type MarketFacts, type RunContext } from './live-market.ts'

export class LazyEvents implements EventSource {
  readonly seed: number
  readonly #context: RunContext
  readonly #eventNumbered: Calendar['eventNumbered']
  readonly #onPlanned: (event: LazyEvent) => void
  readonly #listed = { a: new Map<number, LazyEvent>(), b: new Map<number, LazyEvent>() }
  /** Listed events of venue b by series. Events whose series is not known yet have the key ''. */
  #bySeries: Map<string, Set<LazyEvent>> | null = null

  constructor(options: {
    context: RunContext
    eventNumbered: Calendar['eventNumbered']
    onPlanned: (event: LazyEvent) => void
  }) {
    this.seed = options.context.seed
    this.#context = options.context
    this.#eventNumbered = options.eventNumbered
    this.#onPlanned = options.onPlanned
  }

  add(outline: EventOutline): LazyEvent | null {
    const listed = this.#listed[outline.venue]
    if (listed.has(outline.number)) return null
    const event = this.#create(outline)
    listed.set(outline.number, event)
    if (outline.venue === 'b' && this.#bySeries !== null) addBySeries(this.#bySeries, event)
    return event
  }

  addUnlisted(outline: EventOutline): LazyEvent {
    const event = this.#create(outline)
    event.isListed = false
    return event
  }

  drop(event: LazyEvent): void {
    event.isListed = false
    this.#listed[event.venue].delete(event.number)
    this.#bySeries?.get(seriesKey(event))?.delete(event)
  }

  numbered(venue: SimVenue, number: number): LazyEvent | null {
    return this.#listed[venue].get(number) ?? null
  }

  /** Listed events that may have an id, or a market with an id or token. */
  candidates(venue: SimVenue, id: string): readonly LazyEvent[] {
    if (venue === 'a')
      return eventNumbersIn(id).flatMap((number) => this.numbered('a', number) ?? [])
    const series = id.split('-', 1)[0] ?? ''
    this.#bySeries ??= this.#seriesIndex()
    return [...(this.#bySeries.get(series) ?? []), ...(this.#bySeries.get('') ?? [])]
  }

  planCandidates(venue: SimVenue, id: string): void {
    for (const event of this.candidates(venue, id)) if (!event.isPlanned) this.prepare(event)
    if (venue === 'a') return
    this.#bySeries?.delete(id.split('-', 1)[0] ?? '')
    this.#bySeries?.delete('')
  }

  planned({ venue, number }: LazyEvent): PlannedEvent {
    const planned = this.#eventNumbered(venue, number)
    if (planned === null) throw new RangeError(`no event ${number}`)
    return planned
  }

  prepare(event: LazyEvent): void {
    const planned = this.planned(event)
    const fairs = fairPricesOf(this.seed, planned, event.outline.times)
    const { nativeId, series, isMutuallyExclusive } = planned.event
    event.retain({
      ...{ nativeId, series, isMutuallyExclusive },
      markets: planned.markets.flatMap(({ listing, prior }, position) => {
        const fair = fairs[position]
        if (fair === undefined) return []
        const { nativeId, isV2, pair } = listing
        const tokens = event.venue === 'a' ? listing.tokens : null
        return [{ nativeId, isV2, pair, tokens, prior, fair }]
      }),
    })
    this.#onPlanned(event)
    const other = event.venue === 'a' ? 'b' : 'a'
    for (const number of cycleNumbers(event.number)) {
      const partner = this.numbered(other, number)
      if (partner !== null && !partner.isPlanned) this.prepare(partner)
    }
  }

  #create(outline: EventOutline): LazyEvent {
    const context = this.#context
    return new LazyEvent(outline, this, (event, listing) => {
      return new LiveMarket({ listing, event, factsOf, context })
    })
  }

  #seriesIndex(): Map<string, Set<LazyEvent>> {
    const index = new Map<string, Set<LazyEvent>>()
    for (const event of this.#listed.b.values()) if (!event.isPlanned) addBySeries(index, event)
    return index
  }
}

function addBySeries(index: Map<string, Set<LazyEvent>>, event: LazyEvent): void {
  const series = seriesKey(event)
  const events = index.get(series)
  if (events === undefined) index.set(series, new Set([event]))
  else events.add(event)
}

const seriesKey = ({ sharedSeries }: LazyEvent): string => sharedSeries ?? ''

function factsOf({ listing }: LiveMarket): MarketFacts {
  if (listing instanceof LazyListing) return listing.retained
  throw new TypeError('no market of a large world')
}
