// An event of a large world. Its texts, chances and results are planned when they are first read. Ids and fair prices
// are then retained. Texts are planned again at each read.

import type { EventOutline, PlannedEvent } from '../calendar.ts'
import type { SimEvent, SimListing } from '../model.ts'
import { largeWorldActivity } from '../questions/activity.ts'
import { largeWorldKey } from '../questions/planning.ts'
import type { SharedTexts } from '../questions/question.ts'
import type { LiveMarket, MarketFacts } from './live-market.ts'

interface RetainedEvent extends Pick<SimEvent, 'nativeId' | 'series' | 'isMutuallyExclusive'> {
  readonly markets: readonly RetainedMarket[]
}

interface RetainedMarket extends MarketFacts, Pick<SimListing, 'nativeId' | 'isV2' | 'pair'> {
  /** Null at venue b, where the id determines the tokens. */
  readonly tokens: SimListing['tokens'] | null
}

export interface EventSource {
  readonly seed: number
  planned(event: LazyEvent): PlannedEvent
  /** Called once, before the first use of the plan. Must call `retain`. */
  prepare(event: LazyEvent): void
}

export class LazyEvent implements SimEvent {
  readonly outline: EventOutline
  readonly markets: LiveMarket[]
  isListed = true
  readonly #source: EventSource
  #retained: RetainedEvent | null = null

  constructor(
    outline: EventOutline,
    source: EventSource,
    create: (event: LazyEvent, listing: LazyListing) => LiveMarket,
  ) {
    this.outline = outline
    this.#source = source
    // An array of exact size, because most events have one or two markets.
    this.markets = Array.from({ length: outline.marketCount }, (_, position) =>
      create(this, new LazyListing(this, position)),
    )
  }

  get isPlanned(): boolean {
    return this.#retained !== null
  }

  get retained(): RetainedEvent {
    if (this.#retained === null) this.#source.prepare(this)
    if (this.#retained === null) throw new Error('prepare did not retain the event')
    return this.#retained
  }

  retain(event: RetainedEvent): void {
    this.#retained = event
  }

  retainedAt(position: number): RetainedMarket {
    const market = this.retained.markets[position]
    if (market === undefined) throw new RangeError(`no market ${position}`)
    return market
  }

  listingAt(position: number): SimListing {
    const market = this.#plan.markets[position]
    if (market === undefined) throw new RangeError(`no market ${position}`)
    return market.listing
  }

  activityOf(marketNumber: number): number {
    const { venue, number: eventNumber } = this.outline
    return largeWorldActivity(this.#source.seed, { venue, number: marketNumber, eventNumber })
  }

  get #plan(): PlannedEvent {
    // The ids of the event must be known before its texts are read.
    if (this.#retained === null) this.#source.prepare(this)
    return this.#source.planned(this)
  }

  get #shared(): SharedTexts {
    const { slot, venue, eventIndex } = this.outline
    return slot.variant.sharedTexts(venue, eventIndex)
  }

  /** Null unless all cycles share the series. */
  get sharedSeries(): string | null {
    return this.#shared.series ?? null
  }
  get venue() {
    return this.outline.venue
  }
  get number() {
    return this.outline.number
  }
  get topic() {
    return this.outline.slot.family.topic
  }
  get createdMs() {
    return this.outline.times.createdMs
  }
  get endMs() {
    return this.outline.times.closeMs
  }
  get nativeId() {
    return this.retained.nativeId
  }
  get isMutuallyExclusive() {
    return this.retained.isMutuallyExclusive
  }
  get series() {
    return this.#shared.series ?? this.retained.series
  }
  get seriesTitle() {
    return this.#shared.seriesTitle ?? this.#plan.event.seriesTitle
  }
  get category() {
    return this.#shared.category ?? this.#plan.event.category
  }
  get tags() {
    return this.#shared.tags ?? this.#plan.event.tags
  }
  get game() {
    return this.#shared.game === null ? null : this.#plan.event.game
  }
  get title() {
    return this.#plan.event.title
  }
  get subtitle() {
    return this.#plan.event.subtitle
  }
  get description() {
    return this.#plan.event.description
  }
}

export class LazyListing implements SimListing {
  readonly #event: LazyEvent
  readonly #position: number

  constructor(event: LazyEvent, position: number) {
    this.#event = event
    this.#position = position
  }

  get retained(): RetainedMarket {
    return this.#event.retainedAt(this.#position)
  }

  get plain(): SimListing {
    return this.#event.listingAt(this.#position)
  }

  get venue() {
    return this.#event.venue
  }
  get index() {
    return this.#event.outline.marketIndex + this.#position
  }
  get number() {
    return this.#event.outline.marketNumber + this.#position
  }
  get chanceKey() {
    return largeWorldKey(this.venue, this.number)
  }
  get activity() {
    return this.#event.activityOf(this.number)
  }
  get createdMs() {
    return this.#event.outline.times.createdMs
  }
  get openMs() {
    return this.#event.outline.times.openMs
  }
  get closeMs() {
    return this.#event.outline.times.closeMs
  }
  get determineMs() {
    return this.#event.outline.times.determineMs
  }
  get resolveMs() {
    return this.#event.outline.times.resolveMs
  }
  get nativeId() {
    return this.retained.nativeId
  }
  get isV2() {
    return this.retained.isV2
  }
  get tokens() {
    return this.retained.tokens ?? this.plain.tokens
  }
  get uuid() {
    return this.plain.uuid
  }
  get slug() {
    return this.plain.slug
  }
  get outcomes() {
    return this.plain.outcomes
  }
  get question() {
    return this.plain.question
  }
  get shortTitle() {
    return this.plain.shortTitle
  }
  get noShortTitle() {
    return this.plain.noShortTitle
  }
  get rules() {
    return this.plain.rules
  }
  get rulesSecondary() {
    return this.plain.rulesSecondary
  }
  get strike() {
    return this.plain.strike
  }
  get sportsMarketType() {
    return this.plain.sportsMarketType
  }
  get line() {
    return this.plain.line
  }
  get payout() {
    return this.plain.payout
  }
  get questionKey() {
    return this.plain.questionKey
  }
  get pair() {
    return this.retained.pair
  }
}

export function plainListing(listing: SimListing): SimListing {
  return listing instanceof LazyListing ? listing.plain : listing
}
