// Load for benches from the simulated world, with a seed and a manual clock. Messages are rendered as each venue sends
// them to one connection that subscribes to every market. The world's final books are the expected state of a bench.

import type { Level } from '../engine/events.ts'
import { nativeMarketId, outcomeId } from '../engine/ids.ts'
import type { MarketListing } from '../engine/market/market.ts'
import { seededRandom } from '../engine/random.ts'
import { SIZE_ZERO } from '../engine/units.ts'
import { Calendar } from '../engine/venues/simulator/calendar.ts'
import { Faults } from '../engine/venues/simulator/faults.ts'
import {
  deltaMessage,
  marketFields,
  snapshotMessage,
  tradeMessage,
} from '../engine/venues/simulator/kalshi/messages.ts'
import type {
  SimMarket,
  SimTrade,
  SimVenue,
  WorldChange,
} from '../engine/venues/simulator/model.ts'
import { bookFrame, MarketFrames } from '../engine/venues/simulator/polymarket/frames.ts'
import { SimulatedWorld } from '../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../test/support/fakes/manual-clock.ts'
import { listing } from '../test/support/worlds/builders.ts'

const STEP_MS = 20
const RATE = 2_000
/** Id of the load's only subscription at Kalshi. */
const SID = 1

export interface SimFrame {
  readonly venue: SimVenue
  readonly text: string
}

export interface SimLoad {
  readonly markets: readonly SimMarket[]
  readonly snapshots: readonly SimFrame[]
  /** Messages after the snapshots, in order. The sequence numbers of venue b continue. */
  readonly frames: readonly SimFrame[]
  readonly trades: readonly SimTrade[]
}

type BookChange = Extract<WorldChange, { kind: 'levels' | 'trade' }>

/** Runs a world until `frameCount` frames are rendered. Omits markets that close during that time. */
export function simLoad(options: {
  readonly seed: number
  readonly marketsPerVenue: number
  readonly frameCount: number
}): SimLoad {
  const { seed, marketsPerVenue, frameCount } = options
  const clock = new ManualClock()
  const world = new SimulatedWorld({
    seed,
    messagesPerSecond: RATE,
    gapsPerMinute: 0,
    plan: new Calendar({ seed, marketsPerVenue }),
    faults: new Faults([], seededRandom('bench faults', seed)),
    clock,
    random: seededRandom('bench world', seed),
  })
  const all = [...world.markets('a'), ...world.markets('b')]
  const open = all.filter(({ status }) => status === 'open')
  const wire = new Wire(open)
  world.onChange((change) => wire.tell(change))
  while (wire.frames.length < frameCount) {
    clock.advance(STEP_MS)
    world.step()
  }
  const { snapshots, frames, trades } = wire
  const markets = open.filter((market) => market.status === 'open')
  return { markets, snapshots, frames, trades }
}

class Wire {
  readonly snapshots: SimFrame[] = []
  readonly frames: SimFrame[] = []
  readonly trades: SimTrade[] = []
  readonly #polymarket = new Map<SimMarket, MarketFrames>()
  readonly #kalshi = new Map<SimMarket, string>()
  #seq = 0

  constructor(markets: readonly SimMarket[]) {
    for (const market of markets) {
      if (market.listing.venue === 'a') {
        this.#polymarket.set(market, new MarketFrames(market))
        const books = `[${bookFrame(market, 0)},${bookFrame(market, 1)}]`
        this.snapshots.push({ venue: 'a', text: books })
      } else {
        const fields = marketFields(market)
        this.#kalshi.set(market, fields)
        const body = snapshotMessage(market, { fields, isYesPriced: false })
        this.snapshots.push({ venue: 'b', text: this.#numbered('orderbook_snapshot', body) })
      }
    }
  }

  tell(change: WorldChange): void {
    if (change.kind !== 'levels' && change.kind !== 'trade') return
    const frames = this.#polymarket.get(change.market)
    const fields = this.#kalshi.get(change.market)
    if (frames === undefined && fields === undefined) return
    if (change.kind === 'trade') this.trades.push(change.trade)
    if (frames !== undefined) this.#tellPolymarket(frames, change)
    if (fields !== undefined) this.#tellKalshi(fields, change)
  }

  #tellPolymarket(frames: MarketFrames, change: BookChange): void {
    const send = (text: string) => this.frames.push({ venue: 'a', text })
    frames.note(change.changes, change.previousSizes)
    if (change.kind === 'levels') {
      send(frames.priceChange(change.changes, change.atMs))
      return
    }
    send(bookFrame(change.market, 0))
    send(bookFrame(change.market, 1))
    send(frames.lastTradePrice(change.trade))
  }

  #tellKalshi(fields: string, change: BookChange): void {
    for (const [position, level] of change.changes.entries()) {
      const previous = change.previousSizes[position] ?? SIZE_ZERO
      const form = { fields, previous, atMs: change.atMs, isYesPriced: false }
      const body = deltaMessage(level, form)
      if (body !== null) {
        this.frames.push({ venue: 'b', text: this.#numbered('orderbook_delta', body) })
      }
    }
    if (change.kind !== 'trade') return
    const text = `{"type":"trade","sid":${SID + 1},"seq":0,"msg":${tradeMessage(change.trade)}}`
    this.frames.push({ venue: 'b', text })
  }

  #numbered(type: string, body: string): string {
    this.#seq += 1
    return `{"type":"${type}","sid":${SID},"seq":${this.#seq},"msg":${body}}`
  }
}

/** A market of the world, as a connector lists it. */
export function listingOf({ listing: sim, event }: SimMarket): MarketListing {
  const [first, second] = sim.venue === 'a' ? sim.tokens : [sim.nativeId, `${sim.nativeId}:no`]
  return listing(sim.nativeId, {
    venue: sim.venue,
    nativeId: nativeMarketId(sim.nativeId),
    slug: sim.slug,
    question: sim.question,
    outcomes: [
      { label: sim.outcomes[0], id: outcomeId(first) },
      { label: sim.outcomes[1], id: outcomeId(second) },
    ],
    category: event.category,
    tags: event.tags,
  })
}

/** A book as one line of text, best levels first, in micros. */
export function bookLine(
  id: string,
  { bids, asks }: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
): string {
  const side = (levels: readonly Level[]) =>
    levels.map(({ price, size }) => `${price}:${size}`).join(',')
  return `${id} ${side(bids)} | ${side(asks)}`
}
