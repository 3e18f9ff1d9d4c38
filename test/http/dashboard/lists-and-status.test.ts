import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ApiError } from '../../../http/dashboard/api.ts'
import {
  dayAfter,
  easternDay,
  easternTimeText,
  isDay,
  localDay,
} from '../../../http/dashboard/format.ts'
import {
  driftRows,
  feedRows,
  gaugeIn,
  leaseText,
  rateOf,
} from '../../../http/dashboard/pages/status.ts'
import { addressIn, describeRefusal, windowRows } from '../../../http/dashboard/pages/wallet.ts'
import {
  passes,
  WHALE_ROWS_MAX,
  type WhaleRow,
  whaleRow,
} from '../../../http/dashboard/pages/whales.ts'
import { chosen, chosenNumber } from '../../../http/dashboard/parts/filters.ts'
import { besides, gamesOf } from '../../../http/dashboard/parts/games.ts'
import { endText, resultText } from '../../../http/dashboard/parts/market-facts.ts'
import { gameDayOf } from '../../../http/dashboard/parts/matched-market.ts'
import {
  alignedQuotes,
  type MatchRecord,
  pairOf,
  pairsOf,
} from '../../../http/dashboard/parts/pair.ts'
import { contrary, gapOf, type Quote, quoteOf } from '../../../http/dashboard/parts/quotes.ts'
import { mergedByTime } from '../../../http/dashboard/parts/requests.ts'
import { fullVenueText, protocols, venueText } from '../../../http/dashboard/parts/venues.ts'
import { curvePoints } from '../../../http/dashboard/parts/wallet-cards.ts'
import type { Market } from '../../../http/dashboard/records.ts'
import { parseRoute } from '../../../http/dashboard/route.ts'
import { Signal } from '../../../http/dashboard/signal.ts'
import { feesRecord } from '../../../http/records/render.ts'

const VENUES = { a: 'north', b: 'south' }
const NOTHING = { bid: null, ask: null }

function market(id: string, quote: Quote, question = `Asked by ${id}?`): Market {
  const platform = id.split('_')[0] ?? ''
  const volumes = { volume_24h: null, volume_unit: 'usd_traded', as_of_ms: null } as const
  const listing = { platform, native_id: id, url: null, ...volumes }
  const other = { ...listing, platform: 'elsewhere', best_bid: 0.01, best_ask: 0.99 }
  const none = { description: null, close_time: null, category: null, event_slug: null }
  return {
    ...{ id, slug: id, question, status: 'open', volume_24h: 0, tags: [], image: null, ...none },
    ...{ volume_total: null, open_interest: null, created_at: null, price_step: 0.01 },
    ...{ resolution_status: 'none', settlement_price: null },
    ...{ volume_unit: 'usd_traded', as_of_ms: null, volume_24h_as_of_ms: null },
    fees: feesRecord(FEES_UNKNOWN, 0),
    outcomes: ['Yes', 'No'].map((label) => ({ label, price: 0.5, price_cents: 50 })),
    platforms: [other, { ...listing, best_bid: quote.bid, best_ask: quote.ask }],
  }
}

function match(a: Market, b: Market, inverted: boolean | null): MatchRecord {
  const record: MatchRecord = {
    ...{ score: 90, confidence: 'high', relation: 'identical', inverted, outcome_map: null },
    ...{ explanation: 'same', vetoes: [], price_gap: null, matched_at: 1 },
    settled: null,
  }
  return Object.assign(record, { [VENUES.a]: a, [VENUES.b]: b })
}

/** Some sides of the quote are empty. */
function randomQuote(random: ReturnType<typeof seededRandom>): Quote {
  const bid = random.below(1_000)
  const ask = bid + random.below(1_001 - bid)
  return {
    bid: random.below(8) === 0 ? null : bid / 1_000,
    ask: random.below(8) === 0 ? null : ask / 1_000,
  }
}

test('converts both prices of a pair to the same outcome, and computes the gap between their midpoints', () => {
  const random = seededRandom('quotes')
  for (let round = 0; round < 2_000; round += 1) {
    const [one, other] = [randomQuote(random), randomQuote(random)]
    const inverted = random.pick([true, false, null])
    const pair = pairOf(match(market('north_1', one), market('south_1', other), inverted), VENUES)
    assert.ok(pair !== null)
    const quotes = alignedQuotes(pair, new Map())
    assert.deepEqual(quotes.a, one)
    // Computes the expected values in integer millionths.
    const micros = (price: number | null) => (price === null ? null : Math.round(price * 1e6))
    const side = (price: number | null) => (price === null ? null : 1_000_000 - price)
    const [bid, ask] = [micros(other.bid), micros(other.ask)]
    const aligned = inverted === true ? { bid: side(ask), ask: side(bid) } : { bid, ask }
    if (inverted === null) {
      assert.deepEqual([quotes.b, quotes.gap, quotes.matchedOutcome], [NOTHING, null, null])
      continue
    }
    assert.deepEqual({ bid: micros(quotes.b.bid), ask: micros(quotes.b.ask) }, aligned)
    assert.equal(quotes.matchedOutcome, inverted ? 'No' : 'Yes')
    const own = { bid: micros(one.bid), ask: micros(one.ask) }
    const isKnown = ![own.bid, own.ask, aligned.bid, aligned.ask].includes(null)
    const twice = Number(aligned.bid) + Number(aligned.ask) - Number(own.bid) - Number(own.ask)
    assert.equal(quotes.gap, isKnown ? twice / 2_000_000 : null)
  }
  assert.deepEqual(contrary({ bid: 0.1, ask: 0.3 }), { bid: 0.7, ask: 0.9 })
  assert.equal(gapOf({ bid: 0.1, ask: 0.2 }, { bid: 0.3, ask: 0.4 }), 0.2)
})

test('replaces a REST price when a live price of the same market arrives', () => {
  const one = market('north_1', { bid: 0.2, ask: 0.4 })
  assert.deepEqual(quoteOf(one, new Map()), { bid: 0.2, ask: 0.4 })
  const price = { price: 0.5, price_cents: 50, source: 'last_trade', mid_price: null, spread: null }
  const live = new Map([['north_1', new Signal({ ...price, best_bid: 0.5, best_ask: null })]])
  assert.deepEqual(quoteOf(one, live), { bid: 0.5, ask: null })
  assert.deepEqual(quoteOf(market('south_1', NOTHING), live), NOTHING)
})

test('shows venues by their display names', () => {
  assert.equal(fullVenueText('venue_a'), 'venue_a', 'before the display names are known')
  const before = protocols.value
  protocols.set(
    new Map([
      ['venue_a', 'polymarket'],
      ['kalshi', 'kalshi'],
    ]),
  )
  const names = ['venue_a', 'kalshi', 'other']
  assert.deepEqual(names.map(venueText), ['Polymarket', 'Kalshi', 'other'])
  assert.deepEqual(names.map(fullVenueText), ['Polymarket (venue_a)', 'Kalshi', 'other'])
  protocols.set(before)
})

test('ignores URL parameters that are not allowed or out of bounds', () => {
  const at = (query: string) => parseRoute(`#/matches?${query}`)
  const choices = ['', 'high', 'low'] as const
  assert.equal(chosen(at('confidence=high'), 'confidence', choices), 'high')
  assert.equal(chosen(at('confidence=HIGH'), 'confidence', choices), '')
  assert.equal(chosen(at(''), 'confidence', choices), '')
  const bounds = { min: 0, max: 100, otherwise: 7 }
  const cases = { 'score=0': 0, 'score=99.5': 99.5, 'score=101': 7, 'score=': 7, 'score=x': 7 }
  for (const [query, expected] of Object.entries({ ...cases, 'score=-1': 7, 'score=%20': 7 })) {
    assert.equal(chosenNumber(at(query), 'score', bounds), expected, query)
  }
})

test('assigns the markets of a match to the configured venues, and skips a match that lacks a market', () => {
  const [a, b] = [market('north_1', NOTHING), market('south_1', NOTHING)]
  const complete = match(a, b, false)
  assert.deepEqual(pairOf(complete, VENUES), { a, b, match: complete })
  assert.equal(pairOf(complete, { a: 'venue_a', b: 'venue_b' }), null)
  const damaged = Object.assign(match(a, b, false), { south: null })
  assert.deepEqual(
    pairsOf([complete, damaged, complete], VENUES).map((pair) => pair.a.id),
    ['north_1', 'north_1'],
  )
})

test('orders games by start time, and lists matched markets before unmatched markets', () => {
  const listed = ['north_1', 'south_1', 'south_2', 'north_3'].map((id) => market(id, NOTHING))
  const [a, b, second, third] = listed
  assert.ok(a !== undefined && b !== undefined && second !== undefined && third !== undefined)
  const foreign = match(market('north_9', NOTHING), market('south_9', NOTHING), false)
  const pairs = pairsOf([match(a, b, false), foreign], VENUES)
  const short = market('north_4', NOTHING, 'A vs. B')
  const games = gamesOf(
    {
      markets: { 'nfl-c-d': [], 'nfl-a-b': [...listed, short] },
      ...{ sport: 'nfl', date: '2026-11-20', total_events: 2 },
      starts_at: { 'nfl-a-b': 1_900 },
    },
    pairs,
  )
  assert.deepEqual(
    games.map(({ key, title, startsAt }) => [key, title, startsAt]),
    [
      ['nfl-a-b', 'A vs. B', 1_900],
      ['nfl-c-d', 'nfl-c-d', null],
    ],
  )
  assert.deepEqual(
    games[0]?.pairs.map((pair) => pair.a.id),
    ['north_1'],
  )
  assert.deepEqual(games[0]?.others, [second, third, short])
})

test('shows one row per side of a game, even if a venue has a separate market for each side', () => {
  const named = (id: string, question: string, labels: readonly string[]): Market => ({
    ...market(id, NOTHING, question),
    event_slug: 'game',
    outcomes: labels.map((label) => ({ label, price: 0.5, price_cents: 50 })),
  })
  const yesNo = ['Yes', 'No']
  const both = named('north_1', 'Reds vs. Rangers', ['Reds', 'Rangers'])
  const total = named('north_2', 'Reds vs. Rangers: O/U 8.5', ['Over', 'Under'])
  const ours = named('south_r', 'Cincinnati at Texas: Cincinnati', yesNo)
  const theirs = named('south_t', 'Cincinnati at Texas: Texas', yesNo)
  const game = (listed: readonly Market[], pairs: readonly MatchRecord[]) => {
    const day = { sport: 'mlb', date: '2026-11-20', total_events: 1, starts_at: {} }
    const [one] = gamesOf({ markets: { g: [...listed] }, ...day }, pairsOf(pairs, VENUES))
    assert.ok(one !== undefined)
    const legOf = (at: (typeof one.sides)[number]['a']) =>
      at === null ? null : `${at.market.id}${at.isSecond ? ' second' : ''}`
    const sides = one.sides.map(({ name, a, b }) => [name, legOf(a), legOf(b)])
    return { sides, title: one.title, others: one.others.map(({ id }) => id), pairs: one.pairs }
  }
  const matched = game([both, total, ours, theirs], [match(both, ours, false)])
  assert.deepEqual(matched.sides, [
    ['Reds', 'north_1', 'south_r'],
    ['Rangers', 'north_1 second', 'south_t'],
  ])
  assert.deepEqual(
    [matched.title, matched.others, matched.pairs],
    ['Reds vs. Rangers', ['north_2'], []],
  )
  const turned = game([both, ours, theirs], [match(both, ours, true)])
  assert.deepEqual(turned.sides, [
    ['Reds', 'north_1', 'south_t'],
    ['Rangers', 'north_1 second', 'south_r'],
  ])
  const single = game([both, ours], [match(both, ours, false)])
  assert.deepEqual(single.sides[1], ['Rangers', 'north_1 second', 'south_r second'])
  const lone = game([ours, theirs], [])
  assert.deepEqual(lone.sides, [
    ['Cincinnati', null, 'south_r'],
    ['Texas', null, 'south_t'],
  ])
  assert.equal(lone.title, 'Cincinnati at Texas')
  const draw = named('south_d', 'Cincinnati at Texas: Tie', yesNo)
  assert.deepEqual(game([ours, theirs, draw], []).sides, [], 'three markets have no pair of sides')
  const unknown = game([both, ours, theirs], [match(both, ours, null)])
  assert.deepEqual(
    unknown.sides.slice(0, 2).map(([, , b]) => b),
    [null, null],
    'no match is guessed',
  )
})

test('pairs the markets of an ended game by winner, or by the order of sides if there is no winner', () => {
  const marketWith = (
    set: Pick<Market, 'id' | 'question'> & { readonly labels?: readonly string[] },
    prices: readonly [number, number] | 'closed' | 'open',
  ): Market => ({
    ...market(set.id, NOTHING, set.question),
    event_slug: 'game',
    status: typeof prices === 'string' ? prices : 'resolved',
    outcomes: (set.labels ?? ['Yes', 'No']).map((label, index) => ({
      ...{ label, price_cents: 50 },
      price: typeof prices === 'string' ? 0.5 : (prices[index] ?? 0.5),
    })),
  })
  type Ended = Parameters<typeof marketWith>[1]
  const both = { id: 'north_1', question: 'Reds vs. Rangers', labels: ['Reds', 'Rangers'] }
  const sidesOf = (ours: Ended, first: Ended, second: Ended, joint = 'Cincinnati at Texas') => {
    const listed = [
      marketWith(both, ours),
      marketWith({ id: 'south_t', question: `${joint}: Texas` }, second),
      marketWith({ id: 'south_r', question: `${joint}: Cincinnati` }, first),
    ]
    const day = { sport: 'mlb', date: '2026-11-20', total_events: 1, starts_at: {} }
    const [game] = gamesOf({ markets: { g: listed }, ...day }, [])
    assert.ok(game !== undefined)
    const shown = game.sides.map(({ name, a, b }) => [name, a?.market.id, b?.market.id])
    return { shown, besides: besides(game, 'south_r').map(({ id }) => id) }
  }
  const paired = [
    ['Reds', 'north_1', 'south_r'],
    ['Rangers', 'north_1', 'south_t'],
  ]
  const turned = [
    ['Reds', 'north_1', 'south_t'],
    ['Rangers', 'north_1', 'south_r'],
  ]
  // The winner takes precedence over the order of the sides.
  assert.deepEqual(sidesOf([1, 0], [1, 0], [0, 1]).shown, paired)
  assert.deepEqual(sidesOf([0, 1], [1, 0], [0, 1]).shown, turned)
  assert.deepEqual(sidesOf('closed', [1, 0], [0, 1]).shown, paired)
  assert.deepEqual(sidesOf([0, 1], 'open', 'closed').shown, paired)
  assert.deepEqual(sidesOf([0.5, 0.5], [0.5, 0.5], [0.5, 0.5]).shown, paired)
  // Titles with `vs` have no fixed order of sides, so only a match pairs open markets.
  const unpaired = [undefined, undefined]
  const theirs = (result: ReturnType<typeof sidesOf>) =>
    result.shown.slice(0, 2).map(([, , b]) => b)
  assert.deepEqual(theirs(sidesOf('closed', 'closed', 'closed', 'Cincinnati vs Texas')), unpaired)
  assert.deepEqual(theirs(sidesOf('open', 'open', 'open')), unpaired)
  assert.deepEqual(sidesOf([1, 0], [1, 0], [0, 1]).besides, ['north_1'])
})

test('names a golf event by its tournament instead of a player', () => {
  const day = { sport: 'pga', date: '2026-04-09', total_events: 1, starts_at: {} }
  const players = ['Ann Lee', 'Bo Ek'].map((name, index) => ({
    ...market(`north_${index}`, NOTHING),
    question: name,
  }))
  const [event] = gamesOf({ markets: { 'pga-the-masters-2026-04-09': players }, ...day }, [])
  assert.equal(event?.title, 'The Masters')
})

test('describes the result of an ended market, and finds sport and day of the market’s game', () => {
  const ended = (status: Market['status'], prices: readonly number[], close_time = 1) =>
    endText({
      ...market('north_1', NOTHING),
      ...{ status, close_time, settlement_price: prices[0] ?? null },
      outcomes: prices.map((price, index) => ({ label: `S${index}`, price, price_cents: 0 })),
    })
  assert.equal(ended('open', [1, 0]), null)
  assert.match(ended('closed', [0.5, 0.5]) ?? '', /no final result yet/)
  assert.match(ended('closed', [0.5, 0.5], 4_000_000_000) ?? '', /does not trade now/)
  assert.equal(ended('resolved', [0, 1]), 'Settled: S1')
  assert.equal(ended('resolved', [0.5, 0.5]), 'Settled: S0 50¢, S1 50¢')
  const unsettled = {
    ...market('north_1', NOTHING),
    status: 'resolved',
    settlement_price: null,
  } as const
  assert.match(endText(unsettled) ?? '', /not known yet/)
  const result = (resolution_status: Market['resolution_status'], status: Market['status']) =>
    resultText({ ...market('north_1', NOTHING), resolution_status, status })
  assert.match(result('disputed', 'open') ?? '', /disputed/)
  assert.match(result('proposed', 'closed') ?? '', /proposed/)
  for (const none of ['none', 'resolved', null] as const) assert.equal(result(none, 'open'), null)
  assert.equal(result('resolved', 'resolved'), null)
  const dayOf = (event_slug: string | null) => Object.values(gameDayOf({ event_slug }) ?? {}).join()
  assert.deepEqual(
    [
      ...['nfl-den-hou-2025-11-02', 'KXMLBGAME-26NOV221230TBLAD', 'kxncaambgame-26nov23wsuunc'],
      ...['cwbb-a-b-2026-01-02-2', 'fed-2026-11-02', 'kxfed-26nov', 'nfl-champion', null],
    ].map(dayOf),
    ['nfl,2025-11-02', 'mlb,2026-11-22', 'cbb,2026-11-23', 'cbb,2026-01-02', '', '', '', ''],
  )
})

test('computes local days and US Eastern days across months, years and clock changes', () => {
  const at = new Date(2026, 0, 5, 23, 59).getTime()
  assert.equal(localDay(at), '2026-01-05')
  assert.equal(localDay(new Date(2026, 10, 20, 0, 0).getTime()), '2026-11-20')
  const evening = Date.UTC(2026, 10, 24, 4, 59)
  assert.deepEqual([evening, evening + 60_000].map(easternDay), ['2026-11-23', '2026-11-24'])
  assert.match(easternTimeText(evening), /23.*23:59 US Eastern$/)
  assert.deepEqual(
    [dayAfter('2026-12-31', 1), dayAfter('2028-03-01', -1), dayAfter('2026-03-29', 1)],
    ['2027-01-01', '2028-02-29', '2026-03-30'],
  )
  assert.equal(dayAfter('no day', 1), 'no day')
  const texts = ['2028-02-29', '2026-02-29', '2026-02-30', '2026-13-01', '2026-1-1', '']
  assert.deepEqual(texts.map(isDay), [true, false, false, false, false, false])
})

function whale(id: string, set: Partial<WhaleRow> = {}): WhaleRow {
  return {
    ...{ id, market_id: 'north_1', platform: 'north', question: 'Will it?', side: 'buy' },
    ...{ price: 0.5, size: 10, size_usd: 5_000, outcome: 'Yes', wallet: null },
    timestamp_ms: 1_000,
    ...{ isLive: false, ...set },
  }
}

test('merges lists of whale trades, newest first, without duplicates and within the row limit', () => {
  const random = seededRandom('whales')
  let shown: readonly WhaleRow[] = []
  const rowById = new Map<string, WhaleRow>()
  for (let round = 0; round < 60; round += 1) {
    const rows = Array.from({ length: random.below(12) }, () => {
      const number = random.below(400)
      return whale(`w${number}`, { timestamp_ms: number * 10 })
    })
    shown = mergedByTime(rows, shown, WHALE_ROWS_MAX)
    for (const row of rows) rowById.set(row.id, row)
    const expected = [...rowById.values()].sort(
      (one, other) => other.timestamp_ms - one.timestamp_ms,
    )
    assert.deepEqual(
      shown.map(({ id }) => id),
      expected.slice(0, WHALE_ROWS_MAX).map(({ id }) => id),
    )
    rowById.clear()
    for (const row of shown) rowById.set(row.id, row)
  }
  assert.equal(shown.length, WHALE_ROWS_MAX)
})

test('parses whale trades from REST and from the stream alike, and skips malformed whale trades', () => {
  const record = {
    ...{ id: 'w1', market_id: 'north_1', platform: 'north', question: 'Will it?', side: 'sell' },
    ...{ price: 0.25, size: 8, size_usd: 6_000, timestamp_ms: 9, wallet: '0xa', outcome: null },
    fills: 3,
  }
  const read = {
    side: 'sell',
    price: 0.25,
    size: 8,
    size_usd: 6_000,
    wallet: '0xa',
    timestamp_ms: 9,
  }
  assert.deepEqual(whaleRow(record, true), whale('w1', { ...read, outcome: null, isLive: true }))
  for (const name of ['id', 'market_id', 'question', 'price', 'size_usd', 'timestamp_ms']) {
    assert.equal(whaleRow({ ...record, [name]: null }, true), null, name)
  }
})

test('filters whale trades by dollars, venue and side', () => {
  const row = whale('w1', { size_usd: 7_000, platform: 'north', side: 'sell' })
  const filter = { usdMin: 7_000, platform: '', side: '' }
  assert.ok(passes(row, filter))
  assert.ok(passes(row, { ...filter, platform: 'north', side: 'sell' }))
  assert.ok(!passes(row, { ...filter, usdMin: 7_000.01 }))
  assert.ok(!passes(row, { ...filter, platform: 'south' }))
  assert.ok(!passes(row, { ...filter, side: 'buy' }))
})

test('shows a specific message for each kind of invalid wallet address', () => {
  const address = `0x${'aB'.repeat(20)}`
  assert.equal(addressIn(` ${address}\n`), address)
  for (const text of ['', '0x', address.slice(1), `${address}0`, `0x${'g'.repeat(40)}`]) {
    assert.equal(addressIn(text), null, text)
  }
  const titleOf = (status: number) =>
    describeRefusal(new ApiError(status, 'the reason'), 'North')?.title ?? null
  assert.deepEqual([400, 404, 422].map(titleOf), [
    'Not a wallet.',
    'No trades of this wallet.',
    'Not an address.',
  ])
  assert.deepEqual([0, 401, 429, 503].map(titleOf), [null, null, null, null])
  assert.equal(describeRefusal(new Error('else'), 'North'), null)
  const { detail } = describeRefusal(new ApiError(404, 'the reason'), 'North (n)') ?? { detail: '' }
  assert.match(detail, /^This wallet has not traded on North \(n\)\./)
})

test('merges consecutive time windows of a wallet with equal figures into one row', () => {
  const figures = (trades: number) => ({
    ...{ realized_pnl: -0.26, volume: 8.45, trades },
    ...{ fees_paid: 0.02, income: 0, net_realized_pnl: -0.28, net_pnl: -0.28 },
  })
  const rows = (one: number, seven: number, thirty: number, all: number) =>
    windowRows({
      windows: {
        ...{ one_day: figures(one), seven_day: figures(seven) },
        ...{ thirty_day: figures(thirty), all_time: figures(all) },
      },
    }).map(({ label, figures: { trades } }) => [label, trades])
  assert.deepEqual(rows(3, 3, 3, 3), [['1 day, 7 days, 30 days, all time', 3]])
  assert.deepEqual(rows(0, 3, 3, 5), [
    ['1 day', 0],
    ['7 days, 30 days', 3],
    ['All time', 5],
  ])
})

test('sorts the points of the profit curve by time, and retains the last point of each second', () => {
  const point = (timestamp: number, pnl_to_date: number) => ({
    ...{ timestamp, pnl_to_date },
    realized_pnl: 0,
  })
  const pnl_over_time = [point(10, 1), point(10, 2), point(30, -4), point(20, 3)]
  assert.deepEqual(curvePoints({ pnl_over_time }), [
    { time: 10, usd: 2 },
    { time: 20, usd: 3 },
    { time: 30, usd: -4 },
  ])
})

test('lists unrecognized data of all venues, and data that is lost before other data', () => {
  const times = { first: 1, last: 2, count: 3, sample: '' }
  const finding = (kind: string, weight: 'loss' | 'notice') => ({
    kind,
    name: 'x',
    weight,
    ...times,
  })
  const drift = {
    north: [finding('one', 'notice'), finding('two', 'loss')],
    south: [finding('three', 'loss')],
  }
  assert.deepEqual(
    driftRows({ drift }).map(({ venue, kind }) => `${venue} ${kind}`),
    ['north two', 'south three', 'north one'],
  )
  assert.deepEqual(driftRows({ drift: { north: [] } }), [])
})

test('names the cluster’s leader, and states how long the leader has been silent if the time is long', () => {
  const lease = { holder: 'one', term: 3, silent_ms: 900 }
  assert.equal(leaseText({ lease }), 'one leads, term 3')
  assert.match(leaseText({ lease: { ...lease, silent_ms: 12_000 } }), /one leads.*silent for 12/)
  assert.match(leaseText({ lease: null }), /No engine/)
})

test('shows a venue feed’s state from the stream, or from REST if the stream has no state of the feed', () => {
  const exchanges = { north: true, south: false }
  const unknown = { lastTradeMs: null, books: '–', policy: '–' }
  assert.deepEqual(feedRows({ exchanges }, null, new Map()), [
    { venue: 'north', state: 'live', lagMs: null, delayMs: null, ...unknown },
    { venue: 'south', state: 'stale or down', lagMs: null, delayMs: null, ...unknown },
  ])
  const unanswered = feedRows({ exchanges }, null, new Map(), false)
  assert.deepEqual(
    unanswered.map(({ state }) => state),
    ['not known', 'not known'],
  )
  const statuses = new Map([['south', { state: 'stale', lag_ms: 12, delay_ms: 3 } as const]])
  assert.deepEqual(feedRows({ exchanges }, null, statuses)[1], {
    ...{ venue: 'south', state: 'stale', lagMs: 12, delayMs: 3, ...unknown },
  })
})

test('computes the message rate over the sampled time, even if the tab was suspended', () => {
  const samples = [0, 1_000, 2_000, 12_000].map((atMs, index) => ({ atMs, count: 100 * index }))
  assert.deepEqual([samples.slice(0, 2), samples.slice(0, 3)].map(rateOf), [null, 100])
  assert.equal(rateOf(samples), 25)
})

test('reads a gauge from the metrics text by its exact name', () => {
  const text = '# HELP streams Open.\nstreams_total 9\nstreams 3\nothers{venue="a"} 1\n'
  assert.equal(gaugeIn(text, 'streams'), 3)
  assert.equal(gaugeIn(text, 'stream'), null)
  assert.equal(gaugeIn('', 'streams'), null)
})
