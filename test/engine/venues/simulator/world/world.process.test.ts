import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { MICROS, timeMs } from '../../../../../engine/units.ts'
import { Calendar } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import type {
  SimBook,
  SimFault,
  SimMarket,
  WorldChange,
} from '../../../../../engine/venues/simulator/model.ts'
import {
  messageCost,
  type Plan,
  SimulatedWorld,
} from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { NOON, planMany, planMarket, planOf } from '../../../../support/worlds/sim-plan.ts'

const MINUTE_MS = 60_000

function makeWorld(
  options: { plan?: Plan; rate?: number; faults?: readonly SimFault[]; seed?: number } = {},
) {
  const clock = new ManualClock(NOON)
  const seed = options.seed ?? 7
  const world = new SimulatedWorld({
    seed,
    messagesPerSecond: options.rate ?? 1_000,
    plan: options.plan ?? planOf(planMany(60)),
    faults: new Faults(options.faults ?? [], seededRandom('faults', seed)),
    clock,
    random: seededRandom('world', seed),
  })
  const run = (ms: number): void => {
    for (let elapsed = 0; elapsed < ms; elapsed += 20) {
      clock.advance(20)
      world.step()
    }
  }
  return { clock, world, run }
}

/** Reference implementation of a book, with two maps of sizes. */
class TwinBook {
  readonly bid = new Map<number, number>()
  readonly ask = new Map<number, number>()

  constructor(book: SimBook) {
    for (const { price, size } of book.bids) this.bid.set(price, size)
    for (const { price, size } of book.asks) this.ask.set(price, size)
  }

  apply(change: Extract<WorldChange, { kind: 'levels' | 'trade' }>): void {
    change.changes.forEach(({ side, price, size }, index) => {
      assert.equal(this[side].get(price) ?? 0, change.previousSizes[index], 'the previous size')
      if (size === 0) this[side].delete(price)
      else this[side].set(price, size)
    })
    const taken = change.changes.reduce((sum, { size }, index) => {
      return sum + (change.previousSizes[index] ?? 0) - size
    }, 0)
    if (change.kind === 'trade') assert.equal(taken, change.trade.size, 'the fill')
  }

  assertEquals(book: SimBook): void {
    const sorted = (side: Map<number, number>, sign: number) =>
      [...side].sort(([left], [right]) => sign * (left - right))
    const levels = (list: SimBook['bids']) => list.map(({ price, size }) => [price, size])
    assert.deepEqual(levels(book.bids), sorted(this.bid, -1))
    assert.deepEqual(levels(book.asks), sorted(this.ask, 1))
    assert.equal(book.bestBid, book.bids[0]?.price ?? null)
    assert.equal(book.bestAsk, book.asks[0]?.price ?? null)
  }
}

function watchTwins(world: SimulatedWorld): Map<SimMarket, TwinBook> {
  const references = new Map<SimMarket, TwinBook>()
  for (const market of [...world.markets('a'), ...world.markets('b')]) {
    if (market.status === 'open') references.set(market, new TwinBook(market.book))
  }
  world.onChange((change) => {
    if (change.kind === 'opened') references.set(change.market, new TwinBook(change.market.book))
    if (change.kind !== 'levels' && change.kind !== 'trade') return
    references.get(change.market)?.apply(change)
    const { bestBid, bestAsk } = change.market.book
    assert.ok(bestBid === null || bestAsk === null || bestBid < bestAsk, 'not crossed')
    assert.ok((bestBid ?? 1) > 0 && (bestAsk ?? 1) < MICROS, 'no bid at 0, no ask at 1')
    for (const { price } of change.changes) {
      if (change.kind === 'levels') assert.equal(price % 1_000, 0)
    }
  })
  return references
}

test('produces the same books as a reference implementation over 10,000 actions', () => {
  const { world, run } = makeWorld({ rate: 5_000 })
  const references = watchTwins(world)
  let changes = 0
  world.onChange(() => {
    changes += 1
  })
  run(8_000)
  assert.ok(changes > 10_000, `${changes} changes`)
  for (const [market, reference] of references) reference.assertEquals(market.book)
})

test('creates quotes at multiples of the tick size and near the fair price', () => {
  const { world, run } = makeWorld({ rate: 5_000 })
  run(5_000)
  for (const market of [...world.markets('a'), ...world.markets('b')]) {
    const { bids, asks, bestBid, bestAsk } = market.book
    for (const { price, size } of [...bids, ...asks]) {
      assert.equal(price % market.tickMicros, 0)
      assert.equal(size % 10_000, 0, 'two decimals')
    }
    assert.ok(bids.length <= 61 && asks.length <= 61)
    const fair = market.fairPrice(world.nowMs())
    if (bestBid !== null) assert.ok(bestBid < fair + 8 * market.tickMicros)
    if (bestAsk !== null) assert.ok(bestAsk > fair - 8 * market.tickMicros)
  }
})

test('sends messages within 10 % of the configured rate, from 1 to 20,000 per second', () => {
  for (const [rate, ms] of [
    [1, 600_000],
    [50, 60_000],
    [20_000, 5_000],
  ] as const) {
    const { world, run } = makeWorld({ rate })
    let messages = 0
    world.onChange((change) => {
      messages += messageCost(change)
    })
    run(ms)
    const perSecond = messages / (ms / 1_000)
    assert.ok(Math.abs(perSecond / rate - 1) < 0.1, `${perSecond} instead of ${rate}`)
  }
})

test('limits the step after a long pause to the messages of a quarter of a second', () => {
  const { world, clock } = makeWorld({ rate: 1_000 })
  let messages = 0
  world.onChange((change) => {
    messages += messageCost(change)
  })
  clock.advance(3_600_000)
  world.step()
  assert.ok(messages >= 250 && messages < 400, `${messages} messages`)
})

test('publishes the same changes when seed, start and clock are equal', () => {
  const published = (seed: number): string[] => {
    const { world, run } = makeWorld({ seed, faults: ['empty_book', 'tick_size', 'one_sided'] })
    const lines: string[] = []
    world.onChange((change) => {
      const levels = change.kind === 'levels' || change.kind === 'trade' ? change.changes : []
      const id = change.kind === 'trade' ? change.trade.id : ''
      lines.push(JSON.stringify([change.kind, change.market.listing.nativeId, levels, id]))
    })
    run(5_000)
    return lines
  }
  const first = published(1)
  assert.ok(first.length > 500)
  assert.deepEqual(published(1), first)
  assert.notDeepEqual(published(2), first)
})

test('creates, opens, closes, determines and resolves a market in this order', () => {
  const at = (minutes: number) => timeMs(NOON + minutes * MINUTE_MS)
  const young = planMarket(100, {
    listing: {
      createdMs: at(1),
      openMs: at(2),
      closeMs: at(3),
      determineMs: at(4),
      resolveMs: at(5),
    },
  })
  const { world, run, clock } = makeWorld({ plan: planOf(planMany(4), [young]), rate: 200 })
  const references = watchTwins(world)
  const published: (readonly [string, number])[] = []
  world.onChange(({ kind, market, atMs }) => {
    if (market.listing.index === 100 && kind !== 'levels' && kind !== 'trade') {
      published.push([kind, Math.round((atMs - NOON) / MINUTE_MS)])
    }
  })
  run(2.5 * MINUTE_MS)
  const market = world.market('a', young.listing.nativeId)
  assert.ok(market !== null && market.book.bids.length > 0)
  run(3 * MINUTE_MS)
  assert.deepEqual(published, [
    ['created', 1],
    ['opened', 2],
    ['closed', 3],
    ['determined', 4],
    ['resolved', 5],
  ])
  assert.equal(market.book.bids.length, 0)
  assert.equal(references.get(market)?.bid.size, 0, 'the close took every level back')
  assert.equal(market.fairPrice(world.nowMs()), market.listing.payout)
  clock.advance(2 * 86_400_000)
  world.step()
  assert.equal(world.market('a', young.listing.nativeId), null)
  assert.equal(world.marketOfToken(young.listing.tokens[0]), null)
})

test('reports every status change when the clock jumps over several status changes', () => {
  const { world, clock } = makeWorld({ plan: planOf([planMarket(0)]), rate: 10 })
  const published: string[] = []
  world.onChange(({ kind }) => published.push(kind))
  clock.advance(6 * 86_400_000)
  world.step()
  assert.deepEqual(published, ['closed', 'determined', 'resolved'])
})

test('reports no changes while the simulator is paused, and does not send missed changes after the pause', () => {
  const { world, run } = makeWorld()
  let changes = 0
  world.onChange(() => {
    changes += 1
  })
  world.pause()
  run(2_000)
  assert.equal(changes, 0)
  world.resume()
  run(40)
  assert.ok(changes > 0 && changes < 200, `${changes} changes`)
})

test('creates books without arbitrage between the markets of one question or of one exclusive event', () => {
  const calendar = new Calendar({ seed: 3, marketsPerVenue: 200 })
  const { world, run } = makeWorld({ plan: calendar, rate: 50, seed: 3 })
  let [pairs, events] = [0, 0]
  for (let check = 0; check < 30; check += 1) {
    run(MINUTE_MS)
    const asks = ({ book }: SimMarket) => book.bestAsk ?? MICROS
    const bids = ({ book }: SimMarket) => book.bestBid ?? 0
    for (const market of world.markets('a')) {
      const { pair, question } = market.listing
      const other = pair === null ? null : world.market('b', pair.otherNativeId)
      const isPair = pair?.kind === 'same' && market.status === 'open' && other?.status === 'open'
      if (!isPair || other === null) continue
      pairs += 1
      assert.ok(asks(market) >= bids(other) && asks(other) >= bids(market), question)
    }
    for (const { isMutuallyExclusive, markets, title } of world.events('a')) {
      const isOpen = markets.every(({ status }) => status === 'open')
      if (!isMutuallyExclusive || markets.length < 2 || !isOpen) continue
      events += 1
      const least = MICROS - markets.length
      assert.ok(markets.reduce((sum, market) => sum + asks(market), 0) >= least, title)
      assert.ok(markets.reduce((sum, market) => sum + bids(market), 0) <= MICROS, title)
    }
  }
  assert.ok(pairs > 500 && events > 100, `${pairs} pairs, ${events} events`)
})
