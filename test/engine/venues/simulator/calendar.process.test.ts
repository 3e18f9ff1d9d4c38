import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRICE_HALF, PRICE_ONE, type TimeMs, timeMs } from '../../../../engine/units.ts'
import {
  Calendar,
  type PlannedEvent,
  type PlannedMarket,
} from '../../../../engine/venues/simulator/calendar.ts'
import type { SimVenue } from '../../../../engine/venues/simulator/model.ts'

const isLong = process.env.TEST_LONG === '1'
const MARKETS_MANY = isLong ? 5_000 : 1_500
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOON = at('2026-11-20T12:07:31Z')
/** The last two days are those on which New York changes its clocks. */
const MOMENTS = [
  '2026-11-20T12:07:31Z',
  '2026-11-01T05:59:59Z',
  '2026-11-01T06:30:00Z',
  '2027-03-14T07:00:00Z',
  '2027-12-31T23:59:59Z',
  '2023-11-14T22:13:20Z',
].map(at)
const VENUES: readonly SimVenue[] = ['a', 'b']

test('plans each simulated event identically when the calendar starts later', () => {
  const early = byNumber(new Calendar({ seed: 7, marketsPerVenue: 400 }).eventsAt(NOON))
  const second = new Calendar({ seed: 7, marketsPerVenue: 400 })
  for (const laterMs of [HOUR_MS, DAY_MS, 7 * DAY_MS]) {
    let compared = 0
    for (const event of second.eventsAt(timeMs(NOON + laterMs))) {
      const before = early.get(`${event.event.venue}${event.event.number}`)
      if (before === undefined) continue
      assert.deepEqual(event, before)
      compared += 1
    }
    assert.ok(compared > 20, `only ${compared} events live for ${laterMs} ms more`)
  }
})

test('plans the times of each market in chronological order, and each result minutes after the close', () => {
  for (const moment of MOMENTS) {
    for (const { listing } of marketsOf(
      new Calendar({ seed: 3, marketsPerVenue: 800 }).eventsAt(moment),
    )) {
      const { createdMs, openMs, closeMs, determineMs, resolveMs } = listing
      const what = `${listing.nativeId} ${listing.question}`
      assert.ok(createdMs <= moment && moment <= resolveMs + 2 * DAY_MS, what)
      assert.ok(createdMs < openMs && openMs < closeMs, what)
      assert.ok(closeMs - openMs > 30 * 60_000, `${what} lives ${closeMs - openMs} ms`)
      assert.ok(determineMs > closeMs && determineMs - closeMs <= 16 * 60_000, what)
      assert.ok(resolveMs > determineMs && resolveMs - determineMs <= HOUR_MS, what)
    }
  }
})

test('creates unique ids of markets and events in the format of each venue', () => {
  for (const moment of MOMENTS) {
    const events = new Calendar({ seed: 1, marketsPerVenue: MARKETS_MANY }).eventsAt(moment)
    for (const venue of VENUES) {
      const mine = events.filter(({ event }) => event.venue === venue)
      const markets = marketsOf(mine).map(({ listing }) => listing)
      assertUnique(mine.map(({ event }) => event.nativeId))
      assertUnique(mine.map(({ event }) => event.number))
      assertUnique(markets.map(({ nativeId }) => nativeId))
      assertUnique(markets.map(({ number }) => number))
      assertUnique(markets.map(({ slug }) => slug))
      assertUnique(markets.map(({ uuid }) => uuid))
      assertUnique(markets.flatMap(({ tokens }) => tokens))
      for (const market of markets) {
        assert.match(
          market.uuid,
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
        assert.ok(Number.isSafeInteger(market.number) && market.number > 0)
        if (venue === 'a') {
          assert.match(market.nativeId, /^0x[0-9a-f]{64}$/)
          assert.match(market.slug, /^[a-z0-9]+(-[a-z0-9]+)*$/)
          const digits = market.isV2 ? /^\d{75,76}$/ : /^\d{77,78}$/
          for (const token of market.tokens) assert.match(token, digits)
        } else {
          assert.match(market.nativeId, /^KX[A-Z0-9]+-[A-Z0-9&'.-]+$/)
          assert.deepEqual(market.tokens, [`${market.nativeId}:yes`, `${market.nativeId}:no`])
        }
      }
    }
  }
})

test('plans exactly one winning market for each mutually exclusive event', () => {
  for (const { event, markets } of plannedAt(2000)) {
    if (!event.isMutuallyExclusive) continue
    const payouts = markets.map(({ listing }) => Number(listing.payout))
    const sum = payouts.reduce((total, payout) => total + payout, 0)
    assert.equal(sum, PRICE_ONE, `${event.title}: ${payouts.join()}`)
    const priors = markets.reduce((total, { prior }) => total + prior, 0)
    assert.ok(priors > 0.8 && priors < 1.6, `${event.title}: priors sum to ${priors}`)
  }
})

test('plans equal payouts for the two listings of a question, and plans few void questions', () => {
  const events = plannedAt(3000)
  const byNative = new Map(marketsOf(events).map((market) => [market.listing.nativeId, market]))
  let same = 0
  let halves = 0
  for (const { listing } of byNative.values()) {
    if (listing.payout === PRICE_HALF) halves += 1
    const other = byNative.get(listing.pair?.otherNativeId ?? '')?.listing
    if (other === undefined || listing.pair?.kind !== 'same') continue
    assert.equal(listing.payout, other.payout, listing.question)
    assert.equal(listing.closeMs, other.closeMs, listing.question)
    same += 1
  }
  assert.ok(same > 1000)
  assert.ok(halves > 0 && halves < 120, `${halves} voids`)
})

test('plans the requested number of markets per venue for every size and start time', () => {
  for (const marketsPerVenue of [20, 21, 57, 400, MARKETS_MANY]) {
    const calendar = new Calendar({ seed: 2, marketsPerVenue })
    for (const moment of MOMENTS) {
      const markets = marketsOf(calendar.eventsAt(moment))
      for (const venue of VENUES) {
        const mine = markets.filter(({ listing }) => listing.venue === venue)
        assert.equal(mine.length, marketsPerVenue)
        const indices = mine.map(({ listing }) => listing.index).sort((a, b) => a - b)
        assert.deepEqual(
          indices,
          Array.from({ length: marketsPerVenue }, (_, index) => index),
        )
      }
    }
  }
})

test('plans a third of the questions on both venues, a quarter of these questions with a different meaning', () => {
  for (const marketsPerVenue of [400, 5000]) {
    const markets = marketsOf(new Calendar({ seed: 2, marketsPerVenue }).eventsAt(NOON))
    const venuesOf = new Map<string, Set<SimVenue>>()
    const kindOf = new Map<string, string>()
    for (const { listing } of markets) {
      const venues = venuesOf.get(listing.questionKey) ?? new Set()
      venuesOf.set(listing.questionKey, venues.add(listing.venue))
      if (listing.pair !== null) kindOf.set(listing.questionKey, listing.pair.kind)
    }
    const paired = [...venuesOf.values()].filter((venues) => venues.size === 2).length
    assert.ok(Math.abs(paired / venuesOf.size - 1 / 3) < 0.05, `${paired} of ${venuesOf.size}`)
    const kinds = [...kindOf.values()]
    const traps = kinds.filter((kind) => kind !== 'same').length
    assert.ok(Math.abs(traps / kinds.length - 1 / 4) < 0.08, `${traps} of ${kinds.length}`)
    assert.deepEqual([...new Set(kinds)].sort(), [
      'opposite_side',
      'other_date',
      'other_rules',
      'other_threshold',
      'same',
    ])
  }
})

test('links the two listings of a matched pair to each other', () => {
  const events = plannedAt(2000)
  const byNative = new Map(marketsOf(events).map(({ listing }) => [listing.nativeId, listing]))
  let checked = 0
  for (const listing of byNative.values()) {
    if (listing.pair === null) continue
    const other = byNative.get(listing.pair.otherNativeId)
    // One listing may be removed from its venue some minutes before the other.
    if (other === undefined) continue
    assert.notEqual(other.venue, listing.venue)
    assert.equal(other.questionKey, listing.questionKey)
    assert.deepEqual(other.pair, { otherNativeId: listing.nativeId, kind: listing.pair.kind })
    checked += 1
  }
  assert.ok(checked > 1500)
})

test('returns the same planned events from eventsAt and from createdBetween', () => {
  const calendar = new Calendar({ seed: 4, marketsPerVenue: 400 })
  const matchedMarket = new Calendar({ seed: 4, marketsPerVenue: 400 })
  let from = NOON
  const announced: PlannedEvent[] = []
  const steps = [1000, 999, 60_000, 3 * HOUR_MS, 1, 7_000_000, 1000]
  for (const stepMs of steps) {
    const to = timeMs(from + stepMs)
    announced.push(...calendar.createdBetween(from, to))
    from = to
  }
  const expected = matchedMarket.eventsAt(from).filter(({ event }) => event.createdMs > NOON)
  assert.ok(expected.length > 20)
  assert.deepEqual(announced, expected)
  assert.deepEqual(matchedMarket.createdBetween(NOON, from), announced)
})

function at(text: string): TimeMs {
  return timeMs(Date.parse(text))
}

test('plans different ids for Polymarket markets, and no other differences, when the share of protocol v2 markets differs', () => {
  const listings = (v2Share: number) =>
    new Calendar({ seed: 9, marketsPerVenue: 400, v2Share }).eventsAt(NOON)
  const [none, half, all] = [listings(0), listings(0.5), listings(1)]
  const bare = (events: readonly PlannedEvent[]) =>
    events.map(({ event, markets }) => ({
      event,
      markets: markets.map(({ listing, ...moves }) => {
        const { nativeId: _, tokens: __, isV2: ___, pair, ...rest } = listing
        return { ...moves, ...rest, pairKind: pair?.kind ?? null }
      }),
    }))
  assert.deepEqual(bare(half), bare(none))
  assert.deepEqual(bare(all), bare(none))
  const v2Count = (events: readonly PlannedEvent[], venue: SimVenue) =>
    marketsOf(events).filter(({ listing }) => listing.venue === venue && listing.isV2).length
  assert.deepEqual([v2Count(none, 'a'), v2Count(all, 'a'), v2Count(all, 'b')], [0, 400, 0])
  assert.ok(Math.abs(v2Count(half, 'a') - 200) < 50, `${v2Count(half, 'a')} of 400`)
  const isMixed = ({ markets }: PlannedEvent) =>
    markets.some(({ listing }) => listing.isV2) && !markets.every(({ listing }) => listing.isV2)
  assert.ok(half.filter(({ event }) => event.venue === 'a').some(isMixed))
})

test('computes a position id from the condition id, with the outcome in the last byte', () => {
  const events = new Calendar({ seed: 9, marketsPerVenue: 400, v2Share: 1 }).eventsAt(NOON)
  const modules = new Set<string>()
  for (const { event, markets } of events.filter((each) => each.event.venue === 'a')) {
    markets.forEach(({ listing }, index) => {
      const [yes, no] = listing.tokens.map((token) => BigInt(token).toString(16).padStart(64, '0'))
      assert.equal(`0x${yes}`, listing.nativeId)
      assert.deepEqual([yes?.slice(-2), no?.slice(-2)], ['00', '01'])
      assert.equal(no?.slice(0, -2), yes?.slice(0, -2))
      modules.add(yes?.slice(0, 2) ?? '')
      const [size, location] = [yes?.slice(34, 38), yes?.slice(-6, -2)]
      const isGroup = event.isMutuallyExclusive
      assert.equal(Number.parseInt(size ?? '', 16), isGroup ? markets.length : 0)
      assert.equal(Number.parseInt(location ?? '', 16), isGroup ? index : 0)
    })
  }
  assert.deepEqual([...modules].sort(), ['01', '02'])
})

function plannedAt(marketsPerVenue: number): readonly PlannedEvent[] {
  return new Calendar({ seed: 9, marketsPerVenue }).eventsAt(NOON)
}

function marketsOf(events: readonly PlannedEvent[]): readonly PlannedMarket[] {
  return events.flatMap(({ markets }) => markets)
}

function byNumber(events: readonly PlannedEvent[]): ReadonlyMap<string, PlannedEvent> {
  return new Map(
    events.map((planned) => [`${planned.event.venue}${planned.event.number}`, planned]),
  )
}

function assertUnique(values: readonly (string | number)[]): void {
  const seen = new Set<string | number>()
  for (const value of values) {
    assert.ok(!seen.has(value), `${value} is used twice`)
    seen.add(value)
  }
}
