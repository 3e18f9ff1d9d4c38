import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { Arbitrage } from '../../../actors/arbitrage/arbitrage.ts'
import type { OpportunityFilter } from '../../../actors/arbitrage/views.ts'
import { MatchResults } from '../../../actors/matches/match-results.ts'
import { Matches } from '../../../actors/matches/matches.ts'
import type { ArbitrageRefresh, ArbitrageUpdate, FeedState, Level } from '../../../engine/events.ts'
import {
  opportunitiesMax,
  opportunityAgeMsMax,
  opportunityChecksMax,
} from '../../../engine/limits.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  type MarketFees,
  MODEL_UNKNOWN,
} from '../../../engine/market/fees.ts'
import { confirmed } from '../../../engine/matching/search/pair-finder.ts'
import { edgeOf, type Opportunity } from '../../../engine/opportunity.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { DAY_MS, MICROS, sizeMicros, timeMs } from '../../../engine/units.ts'
import { FakeEngine, type FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'
import {
  ask,
  bid,
  change,
  level,
  NOON,
  snapshot,
  storedMarket,
} from '../../support/worlds/builders.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 2_000 : 200

const FREE: MarketFees = {
  now: {
    ...MODEL_UNKNOWN,
    kind: 'none',
    taker: CURVE_ZERO,
    maker: CURVE_ZERO,
    rounding: { fillStepMicros: 10, direction: 'up', orderStepMicros: null },
  },
  next: null,
  waivedUntilMs: null,
}
const ANY: OpportunityFilter = {
  profitMin: 0,
  edgeMin: 0,
  kind: null,
  category: null,
  search: null,
  venue: null,
  daysMax: null,
}
const PAST = {
  fromMs: timeMs(0),
  toMs: timeMs(NOON + DAY_MS),
  after: null,
  order: 'asc',
  limit: 100,
} as const

const boughtIn = ({ contracts, profit, legs }: Opportunity) => ({
  ...{ contracts, profit },
  legs: legs.map(({ outcome, cost, fee, bookSeq }) => ({ outcome, cost, fee, bookSeq })),
})

let clock: ManualClock
let engine: FakeEngine
let matches: Matches
let arbitrage: Arbitrage
let published: ArbitrageUpdate[]
let requested: string[]
let canConfirm: boolean
let storage: ReturnType<typeof openMemoryStorage>
let table: (typeof storage)['opportunities']

describe('arbitrage opportunities', () => {
  beforeEach(() => {
    clock = new ManualClock()
    engine = new FakeEngine(clock)
    matches = new Matches({ clock })
    published = []
    requested = []
    canConfirm = true
    storage = openMemoryStorage()
    table = storage.opportunities
    const { publisher, metrics, catalog } = engine
    arbitrage = new Arbitrage({
      ...{ clock, publisher, metrics, catalog, matches, table },
      bookAgeMsMax: DAY_MS,
      confirm: ({ id, nativeId }) => {
        requested.push(nativeId)
        const market = engine.catalog.byId.get(id.toLowerCase())
        if (canConfirm && market !== undefined) market.confirmedAtMs = clock.nowMs()
      },
    })
    publisher.watch(arbitrage)
    publisher.watch({
      name: 'test',
      onUpdate: (update) => {
        if (update.kind === 'arbitrage') published.push(update)
      },
    })
    arbitrage.start()
  })

  function publishStatus(state: FeedState): void {
    engine.publisher.publish({
      ...{ kind: 'status', venue: 'b', platform: 'venue_b', state, lagMs: null, delayMs: 0 },
      ...{ completeToMs: null, tradesSource: null, reason: null, staleBooks: 0 },
    })
  }

  const events = () =>
    published.map(({ event, reason }) => (reason === null ? event : `${event} ${reason}`))

  function put(market: FakeMarket, bids: readonly Level[], asks: readonly Level[]): void {
    const [bid, ask] = [bids[0]?.price ?? null, asks[0]?.price ?? null]
    market.now = { ...market.now, bid, ask }
    market.replace(bids, asks)
  }

  function pair(bid: number, set: Parameters<typeof pairScore>[1] = {}, score = 95) {
    const a = engine.add('a', { fees: FREE, closeAtMs: timeMs(NOON + DAY_MS) })
    const b = engine.add('b', { venue: 'b', fees: FREE, closeAtMs: timeMs(NOON + 2 * DAY_MS) })
    matches.put(a, b, pairScore(score, set), NOON)
    put(a, [level(0.38, 100)], [level(0.4, 100)])
    put(b, [level(bid, 50)], [level(bid + 0.02, 100)])
    clock.advance(1)
    return { a, b }
  }

  function realPair(fees: MarketFees) {
    const { publisher, catalog } = engine
    engine.add('other')
    const b = engine.add('b', { venue: 'b', fees })
    const { open } = storedMarket({ publisher, storage, nowMs: () => clock.nowMs() }, { fees })
    const actor = open()
    const real = new Arbitrage({
      ...{ clock, publisher, metrics: new Metrics(), matches, table },
      bookAgeMsMax: Number.POSITIVE_INFINITY,
      confirm: () => undefined,
      catalog: {
        byNumber: (number) => (number === actor.ref.number ? actor : catalog.byNumber(number)),
        ...{ marketsOfEvent: () => [], event: () => null },
      },
    })
    publisher.watch(real)
    matches.put(actor, b, pairScore(95), NOON)
    return { actor, b, real }
  }

  const list = (set: Partial<OpportunityFilter> = {}) => {
    const page = arbitrage.list({
      ...{ filter: { ...ANY, ...set }, sortBy: 'profit', pin: null, offset: 0, limit: 10 },
    })
    assert.ok(page !== 'expired')
    return page.opportunities
  }

  test('buys Yes on the cheaper venue and No on the other venue when the prices of a matched pair differ', () => {
    const { b } = pair(0.45)
    const [found] = list()
    assert.deepEqual(
      found?.legs.map(({ market, outcome }) => [market.venue, outcome]),
      [
        ['a', 'Yes'],
        ['b', 'No'],
      ],
    )
    assert.equal(found?.profit, 2_500_000)
    assert.equal(found.contracts, sizeMicros(50_000_000))
    assert.equal(found.closesAtMs, NOON + 2 * DAY_MS)
    put(b, [level(0.3, 50)], [level(0.33, 20)])
    clock.advance(1)
    assert.deepEqual(
      list().map(({ legs, profit }) => [...legs.map(({ outcome }) => outcome), profit]),
      [['No', 'Yes', 1_000_000]],
    )
    assert.deepEqual(events(), ['opened', 'closed prices', 'opened'])
  })

  test('buys the same outcome on both venues when an operator override confirms a pair scored as opposite', () => {
    const read = pairScore(79, {
      ...{ vetoes: ['opposite_side'], inverted: true, outcomeMap: [1, 0] },
    })
    const { a, b } = pair(0.5, read, read.score)
    const legs = [a, b].map((market) => ({ market, outcome: 0 }))
    assert.deepEqual(arbitrage.quote(legs, null), { isPossible: false, reason: 'not_identical' })
    matches.put(a, b, confirmed(read), NOON)
    b.change({ side: 'bid', ...level(0.5, 50) })
    clock.advance(1)
    assert.deepEqual(
      list().map(({ legs, profit }) => [...legs.map(({ outcome }) => outcome), profit]),
      [['Yes', 'Yes', 8_000_000]],
    )
    const quote = arbitrage.quote(legs, null)
    assert.ok(quote.isPossible)
    assert.equal(quote.opportunity.profit, 8_000_000)
  })

  test('opens no opportunity when a pair’s score is below 80, its relation is not identical or its inversion is unknown', () => {
    for (const [score, set] of [
      [79.9, { relation: 'identical' as const }],
      [95, { relation: 'subset' as const }],
      [95, { inverted: null, outcomeMap: null }],
    ] as const) {
      engine.catalog.byId.clear()
      pair(0.9, set, score)
      assert.deepEqual(list(), [])
    }
  })

  test('closes an opportunity with a stated reason when the matched pair ends or one of the two markets closes', () => {
    const { a, b } = pair(0.45)
    matches.remove(a.ref)
    b.change({ side: 'bid', ...level(0.45, 60) })
    clock.advance(1)
    assert.deepEqual(events(), ['opened', 'closed match_changed'])
    matches.put(a, b, pairScore(95), NOON)
    b.change({ side: 'bid', ...level(0.45, 50) })
    clock.advance(1)
    b.summary = { ...b.summary, status: 'closed' }
    clock.advance(250)
    assert.deepEqual(events().slice(2), ['opened', 'closed market_closed'])
  })

  test('closes an opportunity when an operator rejects the matched pair, even if no book changed', () => {
    const { publisher, catalog } = engine
    const results = new MatchResults({
      ...{ matches, publisher, table: storage.matches, nowMs: () => clock.nowMs() },
      market: (number) => catalog.byNumber(number),
    })
    for (const set of [{}, { inverted: true, outcomeMap: [1, 0] as const }]) {
      catalog.byId.clear()
      published.length = 0
      const { a, b } = pair(set.inverted === true ? 0.5 : 0.45, set)
      results.applyOverride({ a: a.ref.number, b: b.ref.number, decision: 'rejected' })
      clock.advance(250)
      assert.deepEqual(events(), ['opened', 'closed match_changed'])
      const legs = [a, b].map((market, index) => ({ market, outcome: index }))
      assert.deepEqual(arbitrage.quote(legs, null), { isPossible: false, reason: 'not_identical' })
    }
  })

  test('applies the new score of a matched pair to the pair’s opportunity within 250 ms', () => {
    const { a, b } = pair(0.45)
    matches.put(a, b, pairScore(85), NOON)
    clock.advance(300)
    assert.equal(list()[0]?.matchScore, 85)
    assert.deepEqual(events(), ['opened', 'changed'])
    matches.put(a, b, pairScore(79), NOON)
    clock.advance(250)
    assert.deepEqual(events(), ['opened', 'changed', 'closed match_changed'])
  })

  test('opens no opportunity from a crossed book until the venue sends a complete snapshot', () => {
    const { actor, b, real } = realPair(FREE)
    const legs = [
      { market: actor, outcome: 1 },
      { market: b, outcome: 0 },
    ]
    const found = () => {
      clock.advance(1)
      const quoted = real.quote(legs, null)
      return [real.ofMarket(b.ref.number).length, quoted.isPossible ? null : quoted.reason]
    }
    put(b, [level(0.38, 100)], [level(0.4, 100)])
    actor.receive(snapshot('m', [level(0.45, 50)], [level(0.47, 50)]))
    assert.deepEqual(found(), [1, null])
    actor.receive(change('m', [bid(0.6, 50)]))
    assert.deepEqual(found(), [0, 'stale_book'])
    actor.receive(snapshot('m', [level(0.45, 50)], [level(0.47, 50)]))
    assert.deepEqual(found(), [1, null])
  })

  test('closes an opportunity and requests a confirmation of the book when a book is older than the maximum age', () => {
    const { a, b } = pair(0.45)
    assert.deepEqual(requested, ['a', 'b'], 'both books are confirmed when the opportunity opens')
    canConfirm = false
    b.isStale = true
    clock.advance(250)
    assert.deepEqual(events(), ['opened', 'closed stale'])
    b.isStale = false
    clock.advance(250)
    assert.equal(list().length, 1)
    b.confirmedAtMs = clock.nowMs()
    a.confirmedAtMs = timeMs(clock.nowMs() + 10 * DAY_MS)
    requested.length = 0
    clock.stall(DAY_MS)
    assert.equal(list().length, 1)
    clock.advance(1)
    assert.deepEqual(
      [list(), arbitrage.ofMarket(a.ref.number)],
      [[], []],
      'the opportunity ends before the next check',
    )
    clock.advance(249)
    assert.deepEqual(events().slice(2), ['opened', 'closed stale'])
    assert.deepEqual([...new Set(requested)], ['b'])
    a.change({ side: 'ask', ...level(0.39, 100) })
    clock.advance(1)
    assert.deepEqual(list(), [], 'the fresh book alone does not open an opportunity')
    const both = [
      { market: a, outcome: 0 },
      { market: b, outcome: 1 },
    ]
    assert.deepEqual(arbitrage.quote(both, null), { isPossible: false, reason: 'stale_book' })
    b.confirmedAtMs = clock.nowMs()
    b.isBehind = true
    b.change({ side: 'bid', ...level(0.45, 45) })
    clock.advance(1)
    assert.deepEqual(list(), [], 'the book has unread changes')
    assert.deepEqual(arbitrage.quote(both, null), { isPossible: false, reason: 'stale_book' })
    b.isBehind = false
    clock.advance(250)
    assert.equal(list().length, 1)
    a.summary = { ...a.summary, fees: FEES_UNKNOWN }
    b.change({ side: 'bid', ...level(0.45, 40) })
    clock.advance(1)
    assert.deepEqual(list(), [])
    assert.deepEqual(arbitrage.quote(both, null), { isPossible: false, reason: 'fee_unknown' })
  })

  test('reopens an opportunity when the venue confirms its stale book, even if no level changed', () => {
    const { a, b } = pair(0.45)
    b.isStale = true
    publishStatus('down')
    clock.advance(1)
    assert.deepEqual(events(), ['opened', 'closed stale'])
    const [c, d] = [engine.add('c', { fees: FREE }), engine.add('d', { venue: 'b', fees: FREE })]
    matches.put(c, d, pairScore(95), NOON)
    put(d, [level(0.3, 50)], [level(0.32, 50)])
    d.isStale = true
    put(c, [level(0.18, 100)], [level(0.2, 100)])
    clock.advance(2_000)
    assert.deepEqual(list(), [])
    for (const market of [b, d]) market.confirm()
    clock.advance(1)
    assert.deepEqual(
      list().map(({ legs }) => legs[0]?.market.number),
      [c.ref.number, a.ref.number],
    )
  })

  test('opens an opportunity within 250 ms when a scheduled fee cut makes it profitable', () => {
    const { a } = pair(0.45)
    const dear = { ...FREE.now, taker: { ...CURVE_ZERO, rateMicros: 900_000 } }
    const sinceMs = timeMs(clock.nowMs() + 60_000)
    const next = { ...FREE.now, sinceMs }
    a.summary = { ...a.summary, fees: { now: dear, next, waivedUntilMs: null } }
    a.change({ side: 'ask', ...level(0.4, 99) })
    clock.advance(1)
    assert.deepEqual(events(), ['opened', 'closed prices'])
    clock.advance(59_000)
    assert.deepEqual(list(), [])
    clock.advance(1_250)
    assert.equal(list()[0]?.profit, 2_500_000)
  })

  test('closes an opportunity when a scheduled fee rise makes it unprofitable, even if no book changed', () => {
    const { a } = pair(0.45)
    const taker = { ...CURVE_ZERO, rateMicros: 900_000 }
    const sinceMs = timeMs(clock.nowMs() + 60_000)
    const next = { ...FREE.now, taker, sinceMs }
    a.summary = { ...a.summary, fees: { ...FREE, next } }
    clock.advance(59_000)
    assert.equal(list().length, 1)
    clock.advance(1_250)
    assert.deepEqual(events(), ['opened', 'closed prices'])
  })

  test('opens an opportunity that was beyond the count limit as soon as another opportunity closes', () => {
    const shared = Array.from({ length: opportunitiesMax }, (_, index) => {
      const a = engine.add(`a${index}`, { fees: FREE })
      const b = engine.add(`b${index}`, { venue: 'b', fees: FREE })
      matches.put(a, b, pairScore(95), NOON)
      put(a, [level(0.38, 100)], [level(0.4, 100)])
      put(b, [level(0.45, 50)], [level(0.47, 100)])
      return a
    })
    clock.advance(100)
    assert.equal(published.length, opportunitiesMax)
    const { a } = pair(0.45)
    clock.advance(1_000)
    assert.deepEqual(arbitrage.ofMarket(a.ref.number), [])
    const [first] = shared
    assert.ok(first !== undefined)
    put(first, [], [])
    clock.advance(250)
    assert.equal(arbitrage.ofMarket(a.ref.number).length, 1)
  })

  test('checks a pair once for many book changes in one tick, and publishes its opportunity at most four times a second', () => {
    const { b } = pair(0.45)
    for (let size = 1; size <= 40; size += 1) {
      b.change({ side: 'bid', ...level(0.45, 50 + size) })
      clock.advance(10)
    }
    assert.ok(events().length <= 3, events().join())
    clock.advance(250)
    assert.equal(published.at(-1)?.opportunity.contracts, 90_000_000)
    assert.deepEqual(
      published.map(({ seq }) => seq),
      published.map((_, index) => index + 1),
    )
    const before = published.length
    clock.advance(5_000)
    assert.equal(published.length, before, 'unchanged opportunities are not published again')
  })

  test('opens the same opportunities as a full recomputation after any book changes', () => {
    const random = seededRandom(4)
    const taker = { ...CURVE_ZERO, rateMicros: 20_000 }
    const rounding = { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 } as const
    const { actor, b, real } = realPair({ ...FREE, now: { ...FREE.now, taker, rounding } })
    const cents = (least: number, count: number) => (least + random.below(count)) / 100
    const side = (best: number, step: 1 | -1) =>
      Array.from({ length: 6 }, (_, rank) => level(best + (step * rank) / 100, cents(1, 900)))
    actor.receive(snapshot('m', side(0.45, -1), side(0.5, 1)))
    const counts = { open: 0, none: 0 }
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 8 === 0) {
        const middle = cents(41, 14)
        put(b, side(middle - 0.01, -1), side(middle + 0.01, 1))
      }
      const isBid = random.next() < 0.5
      const size = random.next() < 0.6 ? 0 : cents(1, 900)
      const changed = isBid ? bid(cents(36, 12), size) : ask(cents(49, 12), size)
      actor.receive(change('m', [changed]))
      const deep = b.naive.levels(isBid ? 'bid' : 'ask')[1 + random.below(5)]
      if (deep !== undefined && random.next() < 0.3)
        b.change({ ...deep, side: isBid ? 'bid' : 'ask', size: level(0, cents(1, 900)).size })
      clock.advance(1)
      const bought = [0, 1].flatMap((outcome) => {
        const legs = [actor, b].map((market, index) => ({ market, outcome: outcome ^ index }))
        const quote = real.quote(legs, null)
        return quote.isPossible ? [boughtIn(quote.opportunity)] : []
      })
      assert.deepEqual(real.ofMarket(b.ref.number).map(boughtIn), bought, `round ${round}`)
      counts[bought.length > 0 ? 'open' : 'none'] += 1
    }
    const countMin = ROUNDS / 10
    assert.ok(counts.open > countMin && counts.none > countMin, JSON.stringify(counts))
  })

  test('defers pair checks beyond the limit of one tick, and completes all of them later', () => {
    const pairCount = opportunityChecksMax + 50
    const markets = Array.from({ length: pairCount }, (_, index) => {
      const a = engine.add(`a${index}`, { fees: FREE })
      const b = engine.add(`b${index}`, { venue: 'b', fees: FREE })
      matches.put(a, b, pairScore(95), NOON)
      put(a, [level(0.38, 100)], [level(0.4, 100)])
      clock.advance(1)
      return b
    })
    for (const b of markets) put(b, [level(0.45, 50)], [level(0.47, 100)])
    clock.advance(1)
    assert.equal(published.length, pairCount)
  })

  test('publishes an opportunity’s maxima, its age four times a second, and its last state when the opportunity closes', () => {
    const lasting: ArbitrageRefresh[] = []
    engine.publisher.watch({
      name: 'ages',
      onUpdate: () => undefined,
      onArbitrageRefresh: (update) => lasting.push(update),
    })
    const { b } = pair(0.45)
    clock.advance(1_000)
    assert.equal(published.length, 1)
    const ages = lasting.map(({ peak }) => peak.ageMs)
    assert.deepEqual(
      ages.map((age) => age - (ages[0] ?? 0)),
      [0, 250, 500, 750],
    )
    assert.deepEqual(
      lasting.map(({ previousPeak }) => previousPeak?.ageMs),
      [0, ...ages.slice(0, -1)],
    )
    put(b, [level(0.5, 50)], [])
    clock.advance(1)
    put(b, [level(0.42, 50)], [])
    clock.advance(500)
    put(b, [level(0.58, 50)], [])
    clock.advance(1)
    put(b, [level(0.3, 50)], [])
    clock.advance(1)
    assert.deepEqual(events(), ['opened', 'changed', 'changed', 'closed prices'])
    assert.deepEqual(
      published.map(({ peak }) => [peak.profit, peak.edge]),
      [
        [2_500_000, 0.05],
        [5_000_000, 0.1],
        [5_000_000, 0.1],
        [5_000_000, 0.1],
      ],
    )
    assert.deepEqual(
      published.map(({ previousPeak }) => previousPeak?.profit ?? null),
      [null, 2_500_000, 5_000_000, 5_000_000],
    )
    const before = lasting.length
    clock.advance(1_000)
    assert.equal(lasting.length, before, 'it has ended')
    put(b, [level(0.45, 50)], [])
    clock.advance(opportunityAgeMsMax + 1_000)
    const [oneBefore, oldest] = lasting.slice(-2).map(({ peak }) => peak.ageMs)
    assert.ok((oneBefore ?? Infinity) < opportunityAgeMsMax && (oldest ?? 0) >= opportunityAgeMsMax)
  })

  test('stores a closed opportunity if it lasted at least half a second', () => {
    const { b } = pair(0.45)
    clock.advance(300)
    put(b, [level(0.5, 50)], [])
    clock.advance(300)
    put(b, [level(0.42, 50)], [])
    clock.advance(1)
    put(b, [level(0.3, 50)], [])
    clock.advance(1)
    put(b, [level(0.45, 50)], [])
    clock.advance(100)
    put(b, [level(0.3, 50)], [])
    clock.advance(1)
    const rows = table.range(PAST)
    assert.equal(rows.length, 1)
    const past = rows[0]?.past
    assert.deepEqual(
      [past?.opened.profit, past?.best.profit, past?.last.profit, past?.reason],
      [2_500_000, 5_000_000, 1_000_000, 'prices'],
    )
    assert.deepEqual(
      past?.legs.map(({ venue, market, outcome }) => [venue, market, outcome]),
      [
        ['a', 'a', 'Yes'],
        ['b', 'b', 'No'],
      ],
    )
  })

  test('closes and stores all open opportunities when the engine stops, and opens none afterwards', () => {
    const { b } = pair(0.45)
    clock.advance(600)
    arbitrage.stop()
    assert.deepEqual(events(), ['opened', 'closed stopped'])
    const [row] = table.range(PAST)
    assert.deepEqual([row?.past.reason, row?.past.closedAtMs], ['stopped', clock.nowMs()])
    put(b, [level(0.5, 50)], [])
    clock.advance(500)
    assert.equal(published.length, 2)
    assert.deepEqual(list(), [])
  })

  test('offers to buy all outcomes of a mutually exclusive event when every outcome is resolved or tradable with a book', () => {
    engine.addEvent('race', { winnerAmong: 3 })
    const eventOf = { event: engine.addEvent('race', { winnerAmong: 3 }).summary.nativeId }
    const runners = ['x', 'y', 'z'].map((name) => engine.add(name, { ...eventOf, fees: FREE }))
    const [x, y, z] = runners
    assert.ok(x !== undefined && y !== undefined && z !== undefined)
    for (const market of [x, y]) put(market, [level(0.2, 10)], [level(0.3, 10)])
    clock.advance(1)
    assert.deepEqual(list(), [], 'the third market has no book')
    put(z, [level(0.2, 10)], [level(0.3, 10)])
    clock.advance(1)
    const [found] = list({ kind: 'single_venue' })
    assert.equal(found?.legs.length, 3)
    assert.equal(found?.profit, 1_000_000)
    assert.equal(found.matchScore, null)
    assert.equal(found.question, engine.catalog.event('a', 'event-race')?.title)
    assert.equal(found.legs[2]?.question, z.summary.question)
    z.summary = { ...z.summary, status: 'closed' }
    x.change({ side: 'bid', ...level(0.21, 10) })
    clock.advance(1)
    assert.deepEqual(list(), [])
    z.summary = { ...z.summary, status: 'resolved', settlementPrice: level(0, 1).price }
    put(x, [level(0.22, 10)], [level(0.3, 10)])
    clock.advance(1)
    assert.deepEqual(
      list().map(({ legs, profit }) => [legs.length, profit]),
      [[2, 4_000_000]],
    )
  })

  for (const { name, winnerAmong, last } of [
    { name: 'one of its markets is not listed', winnerAmong: 4, last: {} },
    {
      name: 'one of its markets has won',
      winnerAmong: 3,
      last: { status: 'resolved', settlementPrice: level(1, 1).price },
    },
    {
      name: 'one of its markets resolved and its result is unknown',
      winnerAmong: 3,
      last: { status: 'resolved', settlementPrice: null },
    },
  ] as const) {
    test(`offers no basket of outcomes for an event when ${name}`, () => {
      const { nativeId: event } = engine.addEvent('race', { winnerAmong }).summary
      const add = (market: string, set: Parameters<typeof engine.add>[1] = {}) =>
        engine.add(market, { event, fees: FREE, ...set })
      const runners = [add('x'), add('y'), add('z', last)]
      for (const market of runners) put(market, [level(0.2, 10)], [level(0.3, 10)])
      clock.advance(1)
      assert.deepEqual(list(), [])
    })
  }

  test('returns the cost and profit of a basket, even at a loss, or the reason why no basket is possible', () => {
    const { a, b } = pair(0.45)
    const legs = [
      { market: b, outcome: 1 },
      { market: a, outcome: 0 },
    ]
    const complete = arbitrage.quote(legs, sizeMicros(10_000_000))
    assert.ok(complete.isPossible)
    assert.equal(complete.opportunity.profit, 500_000)
    assert.deepEqual(arbitrage.quote(legs, sizeMicros(60_000_000)), {
      isPossible: false,
      reason: 'no_depth',
    })
    const reasonOf = (...outcomes: readonly number[]) => {
      const quote = arbitrage.quote(
        [a, b].map((market, index) => ({ market, outcome: outcomes[index] ?? 0 })),
        null,
      )
      return quote.isPossible ? 'possible' : quote.reason
    }
    assert.equal(reasonOf(0, 0), 'not_identical')
    assert.equal(reasonOf(1, 0), 'no_profit')
    b.isStale = true
    assert.equal(reasonOf(0, 1), 'stale_book')
    b.summary = { ...b.summary, status: 'closed' }
    assert.equal(reasonOf(0, 1), 'not_open')
  })

  function nextRun(): void {
    const { publisher, catalog } = engine
    new Arbitrage({
      ...{ clock, publisher, metrics: new Metrics(), catalog, matches, table },
      ...{ bookAgeMsMax: DAY_MS, confirm: () => undefined },
    }).closeLastRun()
  }

  test('publishes and stores the end of each opportunity that was open when the engine was killed', () => {
    const { b } = pair(0.45)
    clock.advance(12_000)
    b.change({ side: 'bid', ...level(0.46, 50) })
    clock.advance(1)
    const last = published.at(-1)
    assert.equal(last?.event, 'changed')
    clock.advance(20_000)
    published.length = 0
    nextRun()
    assert.deepEqual(
      published.map(({ event, reason, opportunity }) => [event, reason, opportunity]),
      [['closed', 'restarted', last?.opportunity]],
    )
    const rows = () => table.range(PAST).map(({ past }) => past)
    assert.deepEqual(
      rows().map(({ id, reason, closedAtMs, best }) => [id, reason, closedAtMs, best.profit]),
      [[last?.opportunity.id, 'restarted', clock.nowMs(), last?.opportunity.profit]],
    )
    nextRun()
    assert.equal(published.length, 1)
    assert.equal(rows().length, 1)
  })

  test('publishes an opportunity’s end a second time after an orderly stop, without a second history row', () => {
    pair(0.45)
    clock.advance(1_000)
    arbitrage.stop()
    assert.deepEqual(events(), ['opened', 'closed stopped'])
    nextRun()
    assert.deepEqual(events(), ['opened', 'closed stopped', 'closed restarted'])
    assert.deepEqual(
      table.range(PAST).map(({ past }) => past.reason),
      ['stopped'],
    )
  })

  test('publishes no end after a restart for an opportunity that ended before the restart', () => {
    const { b } = pair(0.45)
    put(b, [level(0.3, 50)], [level(0.43, 20)])
    clock.advance(1)
    assert.deepEqual(events(), ['opened', 'closed prices'])
    nextRun()
    assert.equal(published.length, 2)
  })

  test('returns the venue’s minimum order size when a quote is below that size', () => {
    const { a, b } = pair(0.45)
    const legs = [a, b].map((market, outcome) => ({ market, outcome }))
    const below = { isPossible: false, reason: 'below_minimum' }
    const minimum = sizeMicros(5_000_000)
    assert.deepEqual(arbitrage.quote(legs, sizeMicros(10_000)), { ...below, minContracts: minimum })
    const least = arbitrage.quote(legs, minimum)
    assert.ok(least.isPossible)
    assert.equal(least.opportunity.minContracts, minimum)
    a.summary = { ...a.summary, orderSizeMin: sizeMicros(15_000_000) }
    assert.deepEqual(arbitrage.quote(legs, minimum), {
      ...{ ...below, minContracts: sizeMicros(15_000_000) },
    })
    put(a, [level(0.38, 100)], [level(0.4, 4)])
    assert.deepEqual(arbitrage.quote(legs, null), {
      ...{ ...below, minContracts: sizeMicros(15_000_000) },
    })
  })

  test('opens no opportunity below a venue’s minimum order size, and closes an opportunity whose size falls below a raised minimum', () => {
    const { a } = pair(0.45)
    assert.deepEqual(events(), ['opened'])
    a.summary = { ...a.summary, orderSizeMin: sizeMicros(51_000_000) }
    clock.advance(250)
    assert.deepEqual(events(), ['opened', 'closed prices'])
    put(a, [level(0.38, 100)], [level(0.4, 50)])
    clock.advance(1)
    assert.deepEqual(list(), [])
  })

  test('adds a note to a quote when a venue may pay an outcome at a price other than 0 or 1', () => {
    const { a, b } = pair(0.45)
    assert.equal(list()[0]?.payoutNote, null)
    a.summary = { ...a.summary, otherPayout: 'half' }
    b.summary = { ...b.summary, otherPayout: 'venue' }
    b.change({ side: 'bid', ...level(0.46, 50) })
    clock.advance(1)
    assert.equal(
      list()[0]?.payoutNote,
      'venue_a pays each outcome 0.50 if what is asked is cancelled or stays undecided. ' +
        'venue_b may settle at a price of its own if what is asked is cancelled, postponed or tied.',
    )
  })

  test('computes a quote from all levels of a book', () => {
    const { a, b } = pair(0.9)
    const deep = Array.from({ length: 2_000 }, (_, rank) => level(0.1 + rank * 0.0002, 1))
    put(a, [], deep)
    put(b, [level(0.9, 10_000)], [])
    clock.advance(1)
    const [found] = list()
    assert.equal(found?.contracts, sizeMicros(2_000_000_000))
    assert.equal(found.steps.length, 2_000)
    const legs = [
      { market: a, outcome: 0 },
      { market: b, outcome: 1 },
    ]
    const quote = (contracts: number) => arbitrage.quote(legs, sizeMicros(contracts * MICROS))
    const complete = quote(2_000)
    assert.ok(complete.isPossible)
    assert.equal(complete.opportunity.profit, found.profit)
    assert.deepEqual(quote(2_001), { isPossible: false, reason: 'no_depth' })
  })

  test('lists opportunities with filters, sort orders and pages, and returns an open opportunity by id', () => {
    const { a, b } = pair(0.45)
    const [found] = list()
    assert.ok(found !== undefined)
    assert.deepEqual(arbitrage.find(found.id), found)
    assert.deepEqual(arbitrage.ofMarket(b.ref.number), [found])
    for (const [set, count] of [
      [{ profitMin: 2.5 }, 1],
      [{ profitMin: 2.51 }, 0],
      [{ edgeMin: 0.05 }, 1],
      [{ edgeMin: 0.051 }, 0],
      [{ kind: 'single_venue' }, 0],
      [{ category: 'politics' }, 1],
      [{ category: 'sports' }, 0],
      [{ search: 'happen WILL' }, 1],
      [{ search: 'will not' }, 0],
      [{ venue: 'b' }, 1],
      [{ daysMax: 2 }, 1],
      [{ daysMax: 1 }, 0],
    ] as const) {
      assert.equal(list(set).length, count, JSON.stringify(set))
    }
    put(a, [], [])
    clock.advance(1)
    assert.equal(arbitrage.find(found.id), null)
    assert.deepEqual(arbitrage.ofMarket(b.ref.number), [])
  })
  test('returns current book ages and close times of opportunities, and filters by the returned values', () => {
    const { a, b } = pair(0.45)
    clock.advance(699)
    const ages = () => list()[0]?.legs.map(({ bookAgeMs }) => bookAgeMs)
    assert.deepEqual(ages(), [700, 700])
    const seqBefore = list()[0]?.legs[1]?.bookSeq ?? 0
    b.change({ side: 'bid', ...level(0.2, 50) })
    clock.advance(300)
    assert.equal(list()[0]?.legs[1]?.bookSeq, seqBefore + 1)
    assert.deepEqual(ages(), [1_000, 300])
    const closeAtMs = timeMs(NOON + 9 * DAY_MS)
    a.summary = { ...a.summary, closeAtMs }
    b.change({ side: 'bid', ...level(0.2, 60) })
    clock.advance(1)
    assert.equal(list()[0]?.closesAtMs, closeAtMs)
    put(a, [level(0.38, 100)], [level(0.400_003, 0.07), level(0.410_001, 33)])
    clock.advance(1)
    const [found] = list()
    assert.ok(found !== undefined)
    const edge = edgeOf(found)
    assert.ok(edge * found.contracts <= found.profit)
    assert.equal(list({ edgeMin: edge }).length, 1)
    assert.equal(list({ edgeMin: edge + 0.000_001 }).length, 0)
    assert.equal(list({ profitMin: found.profit / MICROS }).length, 1)
  })
})
