import type { BookSide, LevelChange, TradeSide } from '../../../engine/events.ts'
import {
  DAY_MS,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import type {
  SimEvent,
  SimListing,
  SimMarket,
  SimStatus,
  SimTrade,
  World,
} from '../../../engine/venues/simulator/model.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'
import { HandMovedWorld, ManualBook } from './manual-book.ts'
import { eventWith, listingWith } from './sim-plan.ts'

export const cents = (value: number): PriceMicros => priceMicros(Math.round(value * 10_000))
export const contracts = (value: number): SizeMicros => sizeMicros(Math.round(value * 100) * 10_000)

class StubMarket implements SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  readonly book = new ManualBook()
  readonly trades: SimTrade[] = []
  status: SimStatus = 'open'
  tickMicros = cents(1)
  lastTrade: SimTrade | null = null
  readonly volumeTotal = usdMicros(5_000_000_000)
  readonly volume24h = usdMicros(1_000_000_000)
  volumeTotalContracts = contracts(12_345.5)
  volume24hContracts = contracts(345.25)
  openInterest = contracts(4_000)
  readonly updatedMs: TimeMs

  constructor(listing: SimListing, event: SimEvent) {
    this.listing = listing
    this.event = event
    this.updatedMs = listing.openMs
  }

  /** The price varies with time, so that candles differ. */
  fairPrice(atMs: TimeMs): PriceMicros {
    return cents(50 + Math.round(20 * Math.sin(atMs / 7_200_000)))
  }
}

/** A world of venue b that changes only when a test calls its methods. */
export class StubWorld extends HandMovedWorld<StubMarket> implements World {
  constructor(clock: ManualClock) {
    super(clock, 'b')
  }

  marketOfToken(): null {
    return null
  }
  teams(): ReturnType<World['teams']> {
    const teams = new Map<string, ReturnType<World['teams']>[number]>()
    for (const { game } of this.eventList) {
      if (game === null) continue
      for (const team of [game.away, game.home]) {
        teams.set(`${game.league}/${team.kalshiCode}`, { league: game.league, team })
      }
    }
    return [...teams.values()]
  }
  addEvent(nativeId: string, fields: Partial<SimEvent> = {}): SimEvent {
    const nowMs = this.nowMs()
    const event = eventWith({
      ...{ venue: 'b', number: this.eventList.length, nativeId },
      ...{ series: nativeId.split('-')[0] ?? nativeId, seriesTitle: 'Test series' },
      ...{ subtitle: 'Before 2027', tags: ['US Elections'], isMutuallyExclusive: true },
      ...{ createdMs: timeMs(nowMs - 5 * DAY_MS), endMs: timeMs(nowMs + 5 * DAY_MS) },
      ...fields,
    })
    this.eventList.push(event)
    return event
  }

  /** Does not notify listeners. */
  addMarket(event: SimEvent, suffix: string, fields: Partial<SimListing> = {}): StubMarket {
    const market = new StubMarket(
      {
        ...listingOf(`${event.nativeId}-${suffix}`, this.marketList.length, this.nowMs()),
        ...fields,
      },
      event,
    )
    event.markets.push(market)
    this.marketList.push(market)
    return market
  }

  /** `[side, cents, contracts]`. Notifies listeners. */
  setLevels(market: StubMarket, levels: readonly (readonly [BookSide, number, number])[]): void {
    const { changes, previousSizes } = apply(market, levels)
    this.tell({ kind: 'levels', market, changes, previousSizes, atMs: this.nowMs() })
  }

  /** Removes the size of the trade from the book. */
  print(
    market: StubMarket,
    fields: {
      id?: string
      outcomeIndex?: 0 | 1
      side?: TradeSide
      cents?: number
      contracts?: number
    },
    levels: readonly (readonly [BookSide, number, number])[] = [],
  ): SimTrade {
    const wallet = { address: '0x1', name: '', pseudonym: '' }
    const number = String(this.tradeList.length).padStart(12, '0')
    const trade: SimTrade = {
      id: fields.id ?? `00000000-0000-4000-8000-${number}`,
      txHash: '0x2',
      market,
      outcomeIndex: fields.outcomeIndex ?? 0,
      side: fields.side ?? 'buy',
      price: cents(fields.cents ?? 50),
      size: contracts(fields.contracts ?? 10),
      atMs: this.nowMs(),
      taker: wallet,
      makers: [],
    }
    market.trades.push(trade)
    market.lastTrade = trade
    this.tradeList.push(trade)
    const { changes, previousSizes } = apply(market, levels)
    this.tell({ kind: 'trade', market, trade, changes, previousSizes, atMs: trade.atMs })
    return trade
  }

  move(
    market: StubMarket,
    kind: 'created' | 'opened' | 'closed' | 'determined' | 'resolved',
  ): void {
    if (kind !== 'created') market.status = kind === 'opened' ? 'open' : kind
    this.tell({ kind, market, atMs: this.nowMs() })
  }
}

function apply(
  market: StubMarket,
  levels: readonly (readonly [BookSide, number, number])[],
): { changes: LevelChange[]; previousSizes: SizeMicros[] } {
  const changes = levels.map(([side, at, count]) => ({
    side,
    price: cents(at),
    size: contracts(count),
  }))
  const previousSizes = changes.map((change) => market.book.apply(change))
  return { changes, previousSizes }
}

function listingOf(nativeId: string, index: number, nowMs: TimeMs): SimListing {
  const at = (days: number): TimeMs => timeMs(nowMs + days * DAY_MS)
  return listingWith({
    ...{ venue: 'b', index, number: index, nativeId, aroundMs: nowMs },
    uuid: `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`,
    ...{ slug: nativeId.toLowerCase(), question: `Will ${nativeId} happen?` },
    ...{ shortTitle: 'It happens', noShortTitle: 'It does not' },
    rules: 'If it happens, then the market resolves to Yes.',
    ...{ createdMs: at(-5), openMs: at(-4), closeMs: at(3) },
    ...{ determineMs: at(3.5), resolveMs: at(4), questionKey: nativeId },
  })
}
