import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FEES_UNKNOWN, MODEL_UNKNOWN } from '../../../../../engine/market/fees.ts'
import type { MarketListing } from '../../../../../engine/market/market.ts'
import {
  readEvent,
  readMarket,
  unknownValues,
} from '../../../../../engine/venues/polymarket/catalog/listing.ts'

const FIXTURE = `${process.env.SHARED_DATA ?? '../shared/data'}/fixtures/polymarket/gamma_market.json`

const base = {
  conditionId: '0xabc',
  question: 'Will it?',
  slug: 'will-it',
  outcomes: '["Yes", "No"]',
  outcomePrices: '["0.505", "0.495"]',
  clobTokenIds: '["11", "12"]',
  active: true,
  closed: false,
  archived: false,
  acceptingOrders: true,
}

function market(more: object = {}, event: Record<string, unknown> | null = null): MarketListing {
  const listing = readMarket({ ...base, ...more }, event)
  assert.ok(typeof listing !== 'string', String(listing))
  return listing
}

test('converts a recorded market row to a listing in internal units', (t) => {
  if (!existsSync(FIXTURE)) {
    t.diagnostic(`RECORDED DATA ABSENT: ${FIXTURE}`)
    t.skip(`${FIXTURE} is absent`)
    return
  }
  const listing = readMarket(JSON.parse(readFileSync(FIXTURE, 'utf8')))
  assert.ok(typeof listing !== 'string')
  const { native, description, outcomes, ...rest } = listing
  assert.ok(description?.startsWith('This market will resolve'))
  assert.equal('events' in native, false)
  assert.equal(native.id, '1557558')
  assert.deepEqual(
    outcomes.map(({ label }) => label),
    ['Up', 'Down'],
  )
  assert.match(outcomes[0]?.id ?? '', /^\d{77,78}$/)
  assert.deepEqual(rest, {
    venue: 'a',
    nativeId: '0x78443f961b9a65869dcb39359de9960165c7e5cbad0904eac7f29cd77872a63b',
    slug: 'btc-updown-5m-1773307200',
    question: 'Bitcoin Up or Down - March 12, 5:20AM-5:25AM ET',
    status: 'open',
    isUnopened: false,
    event: 'btc-updown-5m-1773307200',
    eventSlug: 'btc-updown-5m-1773307200',
    category: null,
    tags: [],
    image: 'https://polymarket-upload.s3.us-east-2.amazonaws.com/BTC+fullsize.png',
    url: 'https://polymarket.com/event/btc-updown-5m-1773307200/btc-updown-5m-1773307200',
    createdAtMs: Date.parse('2026-03-11T09:27:51.140Z'),
    openAtMs: Date.parse('2026-03-11T09:27:55Z'),
    closeAtMs: Date.parse('2026-03-12T09:25:00Z'),
    tickMicros: 10_000,
    lastPrice: 510_000,
    bestBid: 500_000,
    bestAsk: 510_000,
    volume24h: 9_999_997,
    volumeTotal: 9_999_997,
    openInterest: null,
    previousPrice: null,
    figuresAtMs: null,
    dayFiguresAtMs: null,
    settlementPrice: null,
    resolutionStatus: 'none',
    settledAtMs: null,
    // The row is older than fee schedules.
    fees: { ...FEES_UNKNOWN, now: { ...MODEL_UNKNOWN, source: 'gamma.feesEnabled' } },
    orderSizeMin: 5_000_000,
    otherPayout: null,
    changedAtMs: Date.parse('2026-03-11T15:14:46.097Z'),
  })
})

test('reads the minimum order, and a payout of one half for cancelled games and 50-50 rules', () => {
  assert.equal(market({ orderMinSize: 15 }).orderSizeMin, 15_000_000)
  for (const orderMinSize of [undefined, null, 0, -5, '5', Number.NaN]) {
    assert.equal(market({ orderMinSize }).orderSizeMin, null)
  }
  assert.equal(market().otherPayout, null)
  assert.equal(market({ gameStartTime: '2025-11-06 01:30:00+00' }).otherPayout, 'half')
  for (const rule of ['this market will resolve 50-50.', 'resolves 50/50 if tied', '50 – 50']) {
    assert.equal(market({ description: rule }).otherPayout, 'half', rule)
  }
  assert.equal(market({ description: 'Above 150-500 points.' }).otherPayout, null)
})

test('refuses a market that is not binary or has no tokens, with a specific reason', () => {
  assert.equal(readMarket(7), 'row_not_object')
  assert.equal(readMarket({ ...base, conditionId: '' }), 'no_condition_id')
  assert.equal(readMarket({ ...base, question: 3 }), 'no_question')
  assert.equal(readMarket({ ...base, slug: null }), 'no_slug')
  assert.equal(readMarket({ ...base, clobTokenIds: undefined }), 'no_tokens')
  assert.equal(readMarket({ ...base, clobTokenIds: '[oops' }), 'no_tokens')
  assert.equal(readMarket({ ...base, clobTokenIds: '["1","first"]' }), 'token_id')
  assert.equal(readMarket({ ...base, clobTokenIds: `["1","0x${'f'.repeat(65)}"]` }), 'token_id')
  assert.equal(readMarket({ ...base, clobTokenIds: '["1"]' }), 'not_two_outcomes')
  assert.equal(readMarket({ ...base, clobTokenIds: '["1","1"]' }), 'not_two_outcomes')
  assert.equal(readMarket({ ...base, outcomes: '["A","B","C"]' }), 'not_two_outcomes')
  assert.equal(readMarket({ ...base, clobTokenIds: '["1","2","3"]' }), 'not_two_outcomes')
  // The text 'true' is not a boolean, so the market's trading state is unknown.
  for (const state of [{ active: 'true' }, { closed: undefined }, { closed: null }]) {
    assert.equal(readMarket({ ...base, ...state }), 'no_state')
  }
  assert.equal(readEvent({}), 'no_event_slug')
})

const V2 = {
  version: 'v2',
  conditionId: `0x01${'7a'.repeat(30)}`,
  positionIds: ['651', '652'],
}

test('selects the traded token ids of a market row according to the row’s protocol version, and refuses an unknown version', () => {
  const idsOf = (more: object) => market(more).outcomes.map(({ id }) => id)
  assert.deepEqual(idsOf({ version: 'v1' }), ['11', '12'])
  assert.deepEqual(idsOf({ version: null, positionIds: ['651', '652'] }), ['11', '12'])
  assert.deepEqual(idsOf({ ...V2, clobTokenIds: null }), ['651', '652'])
  // During a migration the row has both lists. Only the v2 tokens trade.
  assert.deepEqual(idsOf(V2), ['651', '652'])
  // The same token ids in hexadecimal.
  assert.deepEqual(idsOf({ clobTokenIds: '["0x0b","0xC"]' }), ['11', '12'])
  assert.equal(market(V2).nativeId, `${V2.conditionId}00`)
  assert.equal(readMarket({ ...base, ...V2, positionIds: undefined }), 'no_tokens')
  assert.equal(readMarket({ ...base, ...V2, positionIds: [651, 652] }), 'no_tokens')
  for (const version of ['v3', 'V2', 2, '']) {
    assert.equal(readMarket({ ...base, ...V2, version }), 'unknown_version')
  }
})

test('resolves a protocol v2 market by its own status and by no other field, and reports unknown statuses', () => {
  const of = (more: object) => {
    const { status, settlementPrice } = market({ ...V2, ...more })
    return [status, settlementPrice]
  }
  const won = { closed: true, outcomePrices: '["1", "0"]' }
  assert.deepEqual(of({ resolutionStatus: 'active' }), ['open', null])
  assert.deepEqual(of({ resolutionStatus: 'inactive' }), ['open', null])
  assert.deepEqual(of({ resolutionStatus: 'resolved' }), ['open', null], 'orders are accepted')
  assert.deepEqual(of({ resolutionStatus: 'resolved', acceptingOrders: false }), ['closed', null])
  assert.deepEqual(of({ ...won, resolutionStatus: 'resolved' }), ['resolved', 1_000_000])
  assert.deepEqual(of({ ...won, resolutionStatus: 'active' }), ['closed', null])
  assert.deepEqual(of({ ...won, resolutionStatus: 'contested' }), ['closed', null])
  assert.deepEqual(of(won), ['resolved', 1_000_000])
  const terms = { version: 'v3', umaResolutionStatus: 'resolved', resolutionStatus: 'contested' }
  assert.deepEqual(
    [...unknownValues(terms)],
    [
      ['version', 'v3'],
      ['resolutionStatus', 'contested'],
    ],
  )
  assert.deepEqual([...unknownValues({ ...base, ...V2, umaResolutionStatus: '' })], [])
})

test('computes market status and payout from the resolution, not from planned times', () => {
  const of = (more: object) => {
    const { status, settlementPrice, isUnopened } = market(more)
    return [status, settlementPrice, isUnopened]
  }
  assert.deepEqual(of({}), ['open', null, false])
  assert.deepEqual(of({ acceptingOrders: false }), ['closed', null, false])
  assert.deepEqual(of({ active: false }), ['closed', null, true])
  assert.deepEqual(of({ archived: true }), ['closed', null, false])
  assert.deepEqual(of({ umaResolutionStatus: 'proposed' }), ['open', null, false])
  assert.deepEqual(of({ closed: true }), ['closed', null, false])
  const resolved = { closed: true, umaResolutionStatus: 'resolved' }
  assert.deepEqual(of({ ...resolved, outcomePrices: '["0", "1"]' }), ['resolved', 0, false])
  assert.deepEqual(of({ ...resolved, outcomePrices: '["1", "0"]' }), ['resolved', 1_000_000, false])
  assert.deepEqual(of({ ...resolved, outcomePrices: '["0.5", "0.5"]' })[1], 500_000)
  assert.deepEqual(of({ ...resolved, outcomePrices: '["0", "0"]' }), ['resolved', null, false])
  assert.deepEqual(of({ closed: true, outcomePrices: '["1", "0"]' }), [
    'resolved',
    1_000_000,
    false,
  ])
  assert.deepEqual(of({ closed: true, outcomePrices: '["0", "0"]' }), ['closed', null, false])
})

const stateOf = (more: object) => {
  const { status, resolutionStatus, settlementPrice } = market(more)
  return [status, resolutionStatus, settlementPrice]
}

test('returns the status open while a market’s result is proposed or disputed and the market accepts orders', () => {
  const disputed = {
    outcomePrices: '["0.9635", "0.0365"]',
    umaResolutionStatus: 'disputed',
    umaResolutionStatuses: '["proposed", "disputed"]',
  }
  assert.deepEqual(stateOf(disputed), ['open', 'disputed', null])
  assert.deepEqual(stateOf({ umaResolutionStatus: 'proposed' }), ['open', 'proposed', null])
  assert.deepEqual(stateOf({ ...disputed, acceptingOrders: false }), ['closed', 'disputed', null])
  assert.deepEqual(stateOf({ umaResolutionStatus: 'resolved' }), ['open', 'resolved', null])
})

test('detects a dispute that the venue shows in the list of resolution steps and in no other field', () => {
  const over = { closed: true, acceptingOrders: false, outcomePrices: '["1", "0"]' }
  const listed = (...steps: string[]) => ({ umaResolutionStatuses: JSON.stringify(steps) })
  assert.deepEqual(stateOf({ ...over, ...listed('proposed', 'disputed') }), [
    'closed',
    'disputed',
    null,
  ])
  assert.deepEqual(stateOf(listed('proposed', 'disputed')), ['open', 'disputed', null])
  const states = (term: string | undefined, ...steps: string[]) =>
    market({ umaResolutionStatus: term, ...listed(...steps) }).resolutionStatus
  assert.equal(states('proposed', 'proposed', 'disputed'), 'disputed', 'the list is newer')
  assert.equal(states('disputed', 'proposed'), 'disputed', 'the list is older')
  assert.equal(states('disputed', 'proposed', 'disputed', 'proposed'), 'proposed')
  assert.equal(states('resolved', 'proposed', 'disputed'), 'resolved')
  assert.equal(states(undefined, 'proposed', 'resolved'), 'resolved')
  assert.equal(states('', 'requested'), 'none')
  assert.equal(states(undefined), 'none')
  assert.deepEqual(stateOf({ ...over, ...listed() }), ['resolved', 'resolved', 1_000_000])
  assert.deepEqual(
    [...unknownValues({ ...base, umaResolutionStatuses: '["proposed", "reviewed"]' })],
    [['umaResolutionStatuses', 'reviewed']],
  )
})

test('computes the resolution status of a protocol v2 market, or null for an ambiguous status', () => {
  const of = (more: object) => market({ ...V2, ...more }).resolutionStatus
  assert.equal(of({ resolutionStatus: 'inactive' }), 'none')
  assert.equal(
    of({ resolutionStatus: 'active' }),
    null,
    '`active` does not show whether a result is proposed',
  )
  assert.equal(of({ resolutionStatus: 'contested' }), null)
  assert.equal(of({ resolutionStatus: 'resolved' }), 'resolved')
  assert.equal(of({ resolutionStatus: 'active', umaResolutionStatus: 'disputed' }), 'disputed')
})

test('sets the settlement time to the later of the close time and the end of the resolution', () => {
  const resolved = { closed: true, umaResolutionStatus: 'resolved', outcomePrices: '["0", "1"]' }
  const closedTime = '2026-01-05 06:36:50+00'
  const umaEndDate = '2026-01-09T10:00:00Z'
  assert.equal(market({ ...resolved, closedTime, umaEndDate }).settledAtMs, Date.parse(umaEndDate))
  assert.equal(market({ ...resolved, closedTime }).settledAtMs, Date.UTC(2026, 0, 5, 6, 36, 50))
  assert.equal(market({ closedTime }).settledAtMs, null)
})

test('sets the close time to the actual close time, else the game’s time, else the planned end', () => {
  const endDate = '2026-01-05T02:30:00Z'
  const gameStartTime = '2026-01-04 23:00:00+00'
  const closedTime = '2026-01-05 06:36:50+00'
  assert.equal(market({ endDate }).closeAtMs, Date.parse(endDate))
  assert.equal(market({ endDate, gameStartTime }).closeAtMs, Date.UTC(2026, 0, 4, 23))
  assert.equal(
    market({ endDate, gameStartTime, closedTime }).closeAtMs,
    Date.UTC(2026, 0, 5, 6, 36, 50),
  )
  assert.equal(market({ endDate: 'soon' }).closeAtMs, null)
})

test('ignores best prices of zero and one, reads numbers from text, and takes the category from hidden tags', () => {
  const listing = market(
    { bestBid: 0, bestAsk: 1, lastTradePrice: 0, volumeNum: undefined, volume: '12.5' },
    {
      slug: 'game',
      negRisk: true,
      tags: [{ label: 'NBA' }, { label: 'Sports', forceHide: true }, { label: 'NBA' }],
      image: 'https://event',
    },
  )
  assert.equal(listing.bestBid, null)
  assert.equal(listing.bestAsk, null)
  assert.equal(listing.lastPrice, 505_000, "the venue's own price is used")
  assert.equal(listing.volumeTotal, 12_500_000)
  assert.equal(listing.volume24h, 0)
  assert.equal(listing.category, 'Sports')
  assert.deepEqual(listing.tags, ['NBA', 'Sports'])
  assert.equal(listing.image, 'https://event')
  assert.equal(listing.url, 'https://polymarket.com/event/game/will-it')
  assert.equal(market({ bestBid: 7, volume24hr: 1e300, volumeNum: -1 }).bestBid, null)
})

test('marks an event as exclusive if one neg-risk group that cannot grow contains all markets of the event', () => {
  const one = { negRisk: true, negRiskMarketID: '0xgroup' }
  const other = { negRisk: true, negRiskMarketID: '0xother' }
  const plain = { negRisk: false }
  const among = (markets: unknown, more: object = {}) => {
    const event = { slug: 'race', ...one, negRiskAugmented: false, markets, ...more }
    const listing = readEvent(event)
    assert.ok(typeof listing !== 'string', String(listing))
    return listing.winnerAmong
  }
  assert.equal(among([one, one, one]), 3)
  assert.equal(among([one, one, one, plain]), null, 'a market outside the group may win too')
  assert.equal(among([one, one, other, other]), null, 'each group has a winner')
  assert.equal(among([other, other]), null, 'the event has another group')
  assert.equal(among([one, { negRisk: true }]), null, 'the group is unknown')
  assert.equal(among([one, null]), null)
  assert.equal(among([one]), null)
  assert.equal(among(undefined), null)
  assert.equal(among([one, one], { negRiskMarketID: undefined }), null)
  assert.equal(among([one, one], { negRisk: false }), null)
  for (const negRiskAugmented of [true, undefined])
    assert.equal(among([one, one], { negRiskAugmented }), null, 'it may get further markets')
})
