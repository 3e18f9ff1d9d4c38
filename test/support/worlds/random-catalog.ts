// A catalogue with seeded random changes. An index in Maps replaces the search thread.

import { Catalog } from '../../../actors/catalog/catalog.ts'
import type { SearchIndex } from '../../../actors/catalog/lists.ts'
import { System } from '../../../actors/system.ts'
import type { EventFilter, MarketFilter } from '../../../actors/views.ts'
import { nativeEventId } from '../../../engine/ids.ts'
import {
  type EventListing,
  type MarketListing,
  type MarketNumber,
  RESOLUTION_STATUSES,
} from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Random } from '../../../engine/random.ts'
import { DAY_MS, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { MarketSummary } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import {
  eventListing,
  listing,
  marketParts,
  NAMES,
  NOON,
  recordingPublisher,
  trade,
} from './builders.ts'

const RETENTION_DAYS = 30
const TITLES = ['Élection in Bogotá', 'Bog standard', 'elections of 2026', 'Rain or shine', 'a b']
const TAGS = ['Sports', 'sports', 'NFL', 'Crypto', 'x|y']

export const ANY_MARKET: MarketFilter = {
  venue: null,
  status: null,
  resolution: null,
  tags: [],
  category: null,
  eventSlug: null,
  volume24hMin: null,
  createdFromMs: null,
  createdToMs: null,
  volumeTotalMin: null,
  phase: null,
  among: null,
}

export const ANY_EVENT: EventFilter = {
  volumeTotalMin: null,
  venue: null,
  status: null,
  search: null,
  tags: [],
  category: null,
  volume24hMin: null,
}

/** Matches a substring of the question, and returns the newest market first, unlike any order of the catalogue. */
export class FakeIndex implements SearchIndex {
  readonly texts = new Map<MarketNumber, string>()
  finds = 0

  put(number: MarketNumber, { question }: MarketSummary, eventTitle: string | null): void {
    this.texts.set(number, `${question} ${eventTitle ?? ''}`)
  }

  remove(number: MarketNumber): void {
    this.texts.delete(number)
  }

  async find(text: string): Promise<Uint32Array> {
    this.finds += 1
    const found = [...this.texts].filter(([, terms]) => terms.includes(text))
    return Uint32Array.from(found, ([number]) => number).reverse()
  }
}

export function emptyCatalog(storage = openMemoryStorage(), names = NAMES) {
  const clock = new ManualClock()
  const { publisher, updates } = recordingPublisher()
  const metrics = new Metrics()
  const held = { mustHold: false }
  const system = new System({ clock, log: silentLog, metrics, mustHold: () => held.mustHold })
  const { parts } = marketParts({ publisher, storage })
  const index = new FakeIndex()
  const catalog = new Catalog({ names, clock, system, storage, index, market: parts })
  return { catalog, clock, storage, index, updates, metrics, publisher, held }
}

export class RandomCatalog {
  readonly opened = emptyCatalog()
  readonly catalog = this.opened.catalog
  readonly index = this.opened.index
  readonly clock = this.opened.clock
  readonly events = new Map<string, EventListing>()
  readonly #random: Random
  #names = 0
  #trades = 0

  constructor(random: Random, marketCount: number) {
    this.#random = random
    for (let index = 0; index < marketCount; index += 1) this.#list()
  }

  #one<Value>(values: readonly Value[]): Value {
    const value = values[this.#random.below(values.length)]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  }

  #chance(oneIn: number): boolean {
    return this.#random.below(oneIn) === 0
  }

  /** Lists a new or known market in one of a few events, with random properties. */
  #list(name = `m${this.#names++}`): void {
    const venue = Number(name.slice(1)) % 2 === 0 ? ('a' as const) : ('b' as const)
    const eventName = `E${this.#random.below(12)}`
    const event = this.#event(eventName, venue)
    const isUnopened = this.#chance(8)
    const status = isUnopened
      ? 'closed'
      : this.#one(['open', 'open', 'closed', 'resolved'] as const)
    const time = () => (this.#chance(5) ? null : timeMs(NOON - this.#random.below(50) * DAY_MS))
    const set: Partial<MarketListing> = {
      venue,
      status,
      isUnopened,
      resolutionStatus:
        status === 'resolved' ? status : this.#one([null, 'none', 'proposed', 'disputed'] as const),
      question: `Will ${name} ${this.#one(['rain', 'shine'])}?`,
      event: this.#chance(10) ? null : event.nativeId,
      eventSlug: this.#chance(10) ? null : event.slug,
      category: this.#one([null, 'Politics', 'politics', 'Culture']),
      tags: TAGS.filter(() => this.#chance(3)),
      volume24h: usdMicros(this.#random.below(6) * 1_000_000),
      volumeTotal: this.#chance(5) ? null : usdMicros(this.#random.below(9) * 10_000_000),
      createdAtMs: time(),
      closeAtMs: time(),
    }
    this.catalog.take({ markets: [listing(name, set)], events: [event] })
  }

  #event(name: string, venue: 'a' | 'b'): EventListing {
    const nativeId = nativeEventId(`event-${name}`)
    const existing = this.events.get(`${venue}${nativeId}`)
    if (existing !== undefined && !this.#chance(10)) return existing
    const event = eventListing(name, {
      venue,
      title: `${this.#one(TITLES)} ${name}`,
      category: this.#one([null, 'Politics', 'CULTURE']),
      tags: TAGS.filter(() => this.#chance(3)),
      series: this.#one([null, 'KXRAIN', 'kxrain']),
    })
    this.events.set(`${venue}${nativeId}`, event)
    return event
  }

  stir(): void {
    const markets = [...this.catalog.markets(null)]
    const some = markets.length === 0 ? null : this.#one(markets)
    if (some === null || this.#chance(4)) return this.#list()
    const { venue, nativeId } = some.ref
    if (this.#chance(2)) return this.#list(nativeId)
    if (this.#chance(12)) {
      this.catalog.removeOld(NOON, RETENTION_DAYS, 1 + this.#random.below(3))
      return
    }
    const times = { venueTimeMs: NOON, receivedAtMs: NOON }
    if (this.#chance(3)) {
      const status = this.#one(['open', 'closed', 'resolved'] as const)
      const event = { kind: 'marketStatus', venue, market: nativeId, status, ...times } as const
      this.catalog.entryOfNative(venue, nativeId)?.send({ ...event, settlementPrice: null })
      return
    }
    this.#trades += 1
    const size = sizeMicros((1 + this.#random.below(20)) * 1_000_000)
    const message = trade(nativeId, `t${this.#trades}`, { venue, size })
    this.catalog.entryOfNative(venue, nativeId)?.send(message)
  }

  marketFilter(): MarketFilter {
    const numbers = [...this.catalog.markets(null)].map(({ ref }) => ref.number)
    const maybe = <Value>(value: () => Value): Value | null => (this.#chance(4) ? value() : null)
    return {
      venue: maybe(() => this.#one(['a', 'b'] as const)),
      status: maybe(() => this.#one(['open', 'closed', 'resolved'] as const)),
      resolution: maybe(() => this.#one(RESOLUTION_STATUSES)),
      tags: maybe(() => [this.#one([...TAGS, 'none'])]) ?? [],
      category: maybe(() => this.#one(['POLITICS', 'culture', 'none'])),
      eventSlug: maybe(() => `EVENT-e${this.#random.below(13)}`),
      volume24hMin: maybe(() => usdMicros(this.#random.below(6) * 1_000_000)),
      volumeTotalMin: maybe(() => usdMicros(this.#random.below(9) * 10_000_000)),
      createdFromMs: maybe(() => timeMs(NOON - this.#random.below(50) * DAY_MS)),
      createdToMs: maybe(() => timeMs(NOON - this.#random.below(50) * DAY_MS)),
      phase: maybe(() =>
        this.#one(['unopened', 'open', 'closed', 'settled', 'ended', 'any'] as const),
      ),
      among: maybe(() => {
        const markets = numbers.filter(() => this.#chance(2))
        return { key: markets.join(), markets: [...markets.reverse(), 1_000_000, ...markets] }
      }),
    }
  }

  eventFilter(): EventFilter {
    const maybe = <Value>(value: () => Value): Value | null => (this.#chance(4) ? value() : null)
    const terms = ['bogota', 'ELECTION', 'élec', '2026', 'e1', 'e', 'a', 'rai sh', '!?', 'bo bog']
    return {
      venue: maybe(() => this.#one(['a', 'b'] as const)),
      status: maybe(() => this.#one(['open', 'closed', 'resolved'] as const)),
      search: maybe(() => this.#one(terms)),
      tags: maybe(() => [this.#one([...TAGS, 'none'])]) ?? [],
      category: maybe(() => this.#one(['politics', 'culture', 'none'])),
      volume24hMin: maybe(() => usdMicros(this.#random.below(20) * 1_000_000)),
      volumeTotalMin: maybe(() => usdMicros(this.#random.below(40) * 1_000_000)),
    }
  }
}
