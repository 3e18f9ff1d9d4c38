import { createHash } from 'node:crypto'
import type { BookSide } from '../../../engine/events.ts'
import {
  DAY_MS,
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  USD_ZERO,
} from '../../../engine/units.ts'
import type {
  SimEvent,
  SimListing,
  SimMarket,
  SimStatus,
  SimTeam,
  SimTrade,
  World,
} from '../../../engine/venues/simulator/model.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'
import { HandMovedWorld, ManualBook } from './manual-book.ts'
import { eventWith, listingWith } from './sim-plan.ts'

/** Converts dollars or contracts to micros, as in `price(0.41)`. */
export const price = (dollars: number): PriceMicros => priceMicros(Math.round(dollars * 1e6))
export const size = (contracts: number): SizeMicros => sizeMicros(Math.round(contracts * 1e6))

export interface StubMarket extends SimMarket {
  readonly book: ManualBook
  readonly trades: SimTrade[]
  updatedMs: TimeMs
}

/** A world of venue a that changes only when a test calls its methods. */
export class StubWorld extends HandMovedWorld<StubMarket> implements World {
  constructor(clock: ManualClock) {
    super(clock, 'a')
  }

  marketOfToken(token: string): { market: StubMarket; outcomeIndex: 0 | 1 } | null {
    for (const market of this.marketList) {
      if (market.listing.tokens[0] === token) return { market, outcomeIndex: 0 }
      if (market.listing.tokens[1] === token) return { market, outcomeIndex: 1 }
    }
    return null
  }

  teams(): readonly { readonly league: string; readonly team: SimTeam }[] {
    return [
      { league: 'nfl', team: BEARS },
      { league: 'nfl', team: LIONS },
    ]
  }

  /** An event with `count` open markets, each with a small two-sided book. */
  addEvent(
    count: number,
    fields: Partial<SimEvent> = {},
    listing: Partial<SimListing> = {},
  ): SimEvent {
    const number = 500 + this.eventList.length
    const event: SimEvent = { ...eventOf(number, this.startedMs), ...fields, markets: [] }
    this.eventList.push(event)
    for (let position = 0; position < count; position += 1) this.#addMarket(event, listing)
    return event
  }

  /** Changes levels of a market's book, and notifies listeners once. */
  setLevels(market: StubMarket, ...levels: readonly [BookSide, number, number][]): void {
    const changes = levels.map(([side, at, amount]) => ({
      side,
      price: price(at),
      size: size(amount),
    }))
    const previousSizes = changes.map((change) => market.book.apply(change))
    market.updatedMs = this.nowMs()
    this.tell({ kind: 'levels', market, changes, previousSizes, atMs: this.nowMs() })
  }

  /** Fills a taker's order against the best level of a market's book. */
  trade(market: StubMarket, fields: Partial<SimTrade> & { contracts?: number } = {}): SimTrade {
    const { contracts = 5, ...rest } = fields
    const number = this.tradeList.length
    const best = market.book.asks[0]
    const trade: SimTrade = {
      id: `trade ${number}`,
      txHash: `0x${createHash('sha256').update(`tx ${number}`).digest('hex').slice(0, 63)}1`,
      market,
      outcomeIndex: 0,
      side: 'buy',
      price: best?.price ?? price(0.5),
      size: size(contracts),
      atMs: this.nowMs(),
      taker: walletOf(number * 10),
      makers: [
        { wallet: walletOf(number * 10 + 1), size: size(contracts - 1) },
        { wallet: walletOf(number * 10 + 2), size: size(1) },
      ],
      ...rest,
    }
    market.trades.push(trade)
    this.tradeList.push(trade)
    market.lastTrade = trade
    market.updatedMs = this.nowMs()
    const left = sizeMicros((best?.size ?? 0) - trade.size)
    const changes =
      best === undefined ? [] : [{ side: 'ask' as const, price: best.price, size: left }]
    const previousSizes = changes.map((change) => market.book.apply(change))
    this.tell({ kind: 'trade', market, trade, changes, previousSizes, atMs: this.nowMs() })
    return trade
  }

  changeTick(market: StubMarket, newTick: number): void {
    const oldTick = market.tickMicros
    market.tickMicros = price(newTick)
    this.tell({ kind: 'tick', market, oldTick, newTick: market.tickMicros, atMs: this.nowMs() })
  }

  setStatus(
    market: StubMarket,
    status: SimStatus,
    kind: 'opened' | 'closed' | 'determined' | 'resolved',
  ): void {
    market.status = status
    this.tell({ kind, market, atMs: this.nowMs() })
  }

  #addMarket(event: SimEvent, fields: Partial<SimListing>): void {
    const index = this.marketList.length
    const book = new ManualBook()
    const at = this.startedMs
    const market: StubMarket = {
      listing: { ...listingOf(index, at), ...fields },
      event,
      status: 'open',
      tickMicros: price(0.01),
      lastTrade: null,
      volumeTotal: USD_ZERO,
      volume24h: USD_ZERO,
      volumeTotalContracts: SIZE_ZERO,
      volume24hContracts: SIZE_ZERO,
      openInterest: size(12.5),
      updatedMs: at,
      book,
      fairPrice: () => price(0.4),
      trades: [],
    }
    for (const [side, each, amount] of START_LEVELS) {
      book.apply({ side, price: price(each), size: size(amount) })
    }
    event.markets.push(market)
    this.marketList.push(market)
  }
}

export function marketAt(world: StubWorld, index: number): StubMarket {
  const market = world.markets('a')[index]
  if (market === undefined) throw new RangeError(`no market ${index}`)
  return market
}

export const BEARS: SimTeam = {
  name: 'Chicago Bears',
  location: 'Chicago',
  nickname: 'Bears',
  polymarketCode: 'chi',
  kalshiCode: 'CHI',
}
export const LIONS: SimTeam = {
  name: 'Detroit Lions',
  location: 'Detroit',
  nickname: 'Lions',
  polymarketCode: 'det',
  kalshiCode: 'DET',
}

const START_LEVELS = [
  ['bid', 0.4, 100],
  ['bid', 0.39, 50.5],
  ['ask', 0.42, 80],
  ['ask', 0.45, 10],
] as const

function eventOf(number: number, at: TimeMs): SimEvent {
  return eventWith({
    ...{ venue: 'a', number, nativeId: `event-${number}` },
    ...{ series: 'series-one', seriesTitle: 'Series One', title: `Event ${number}` },
    ...{ description: 'What decides.', category: 'Crypto', tags: ['Crypto', 'Bitcoin'] },
    ...{ topic: 'crypto', createdMs: timeMs(at - 10 * DAY_MS), endMs: timeMs(at + 5 * DAY_MS) },
  })
}

function listingOf(index: number, at: TimeMs): SimListing {
  const closeMs = timeMs(at + 5 * DAY_MS)
  const token = (number: number) => `7${String(number).padStart(76, '0')}`
  return listingWith({
    ...{ venue: 'a', index, number: 9_000 + index, aroundMs: at },
    nativeId: `0x${createHash('sha256').update(`condition ${index}`).digest('hex')}`,
    ...{ chanceKey: `condition ${index}`, slug: `market-${index}` },
    tokens: [token(2 * index), token(2 * index + 1)],
    ...{ question: `Will "${index}" happen?`, shortTitle: `${index}` },
    ...{ rules: 'It happens when it happens.', closeMs, determineMs: closeMs, resolveMs: closeMs },
    ...{ createdMs: timeMs(at - 10 * DAY_MS), openMs: timeMs(at - 9 * DAY_MS) },
  })
}

function walletOf(number: number): SimTrade['taker'] {
  const digits = createHash('sha256').update(`wallet ${number}`).digest('hex').slice(0, 40)
  return { address: `0x${digits}`, name: `name ${number}`, pseudonym: `Pseudonym ${number}` }
}
