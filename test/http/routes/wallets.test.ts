// Compares wallet answers with simple recomputations from the same events.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PositionView, WalletEventView } from '../../../actors/wallets/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { outcomeId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { sizeMicros, timeMs, toDecimal, usdMicros } from '../../../engine/units.ts'
import { walletActivitySchema, walletTradesSchema } from '../../../http/wallets/events.ts'
import { walletPositionsSchema } from '../../../http/wallets/positions.ts'
import { pnlSchema, profileSchema, rankingSchema } from '../../../http/wallets/records.ts'
import { successfulBodyOf } from '../../support/clients/successful-body.ts'
import {
  type FakeWallet,
  fakeAddress,
  randomPosition,
  randomWallet,
} from '../../support/fakes/wallets.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'
import { withRefusal } from '../../support/worlds/route-seeds.ts'

const ANN = fakeAddress('a1')
const OWNER = fakeAddress('e0')
const UNSEEN = fakeAddress('00')
const SECOND = NOON / 1_000

let server: ApiServer
let ann: FakeWallet
before(async () => {
  server = await openApiServer()
  const markets = ['Rain', 'Snow', 'Wind'].map((name) => server.engine.add(name))
  server.engine.add('TICKER', { venue: 'b' })
  const profile = { eoa: OWNER, handle: 'ann', pseudonym: 'Calm-Fox', image: null }
  ann = randomWallet({ proxy: ANN, eventCount: 400, nowMs: NOON }, markets, profile)
  server.engine.wallets.known.push(ann)
  for (const pair of ['b2', 'c3', 'd4']) {
    const requested = { proxy: fakeAddress(pair), eventCount: 60, nowMs: NOON }
    server.engine.wallets.known.push(randomWallet(requested, markets))
  }
})
after(() => server.stop())

/** Converts millionths to a JSON number through decimal text. */
const number = (micros: number): number => Number(toDecimal(usdMicros(micros)))

/** Divides two integers and rounds half up to millionths. */
function quotient(dividend: bigint, divisor: bigint): number | null {
  if (divisor <= 0n) return null
  let low = (dividend * 1_000_000n) / divisor - 2n
  while ((2n * low + 1n) * divisor <= 2n * 1_000_000n * dividend) low += 1n
  return Number(low) / 1_000_000
}

/** All rows of a paged list, and the number of pages. */
async function pages(path: string, list: string, onPage?: () => void) {
  const rows: Readonly<Record<string, unknown>>[] = []
  let cursor = ''
  for (let count = 1; ; count += 1) {
    const got = await server.get(path + cursor)
    assert.equal(got.status, 200, got.text)
    const found = got.body[list]
    assert.ok(Array.isArray(found))
    rows.push(...found)
    const { cursor: next, has_more: hasMore } = got.body
    assert.equal(hasMore, next !== null)
    if (next === null) return { rows, count }
    cursor = `&cursor=${encodeURIComponent(String(next))}`
    onPage?.()
  }
}

function net({ realized, fees, income }: ReturnType<FakeWallet['window']>) {
  return {
    ...{ fees_paid: number(fees), income: number(income) },
    net_realized_pnl: number(realized - fees + income),
    net_pnl: number(realized - fees + income + ann.unrealized),
  }
}

test('returns exact profile figures of a wallet by proxy or owner address in any letter case', async () => {
  const { totals } = ann
  const range = (name: 'one_day' | 'seven_day' | 'thirty_day' | 'all_time') => {
    const { realized, volume, trades } = ann.window(name)
    return {
      realized_pnl: number(realized),
      volume: number(volume),
      trades,
      ...net(ann.window(name)),
    }
  }
  const record = {
    ...{ eoa: OWNER, proxy: ANN, handle: 'ann', pseudonym: 'Calm-Fox', image: null },
    first_trade_at: Math.floor((totals.firstTradeMs ?? 0) / 1_000),
    last_trade_at: Math.floor((totals.lastTradeMs ?? 0) / 1_000),
    metrics: {
      ...{ total_volume: number(totals.volume), total_trades: totals.trades },
      ...{ total_markets: totals.markets, win_count: ann.wins, loss_count: ann.losses },
      win_rate: quotient(BigInt(ann.wins), BigInt(ann.wins + ann.losses)),
      ...{ realized_pnl: number(totals.realized), unrealized_pnl: number(ann.unrealized) },
      total_pnl: number(totals.realized + ann.unrealized),
      ...{ ...net(totals), combo_realized_pnl: 0 },
      ...{ merges: totals.merges, splits: totals.splits },
      ...{ redemptions: totals.redemptions, conversions: totals.conversions },
    },
    windows: {
      ...{ one_day: range('one_day'), seven_day: range('seven_day') },
      ...{ thirty_day: range('thirty_day'), all_time: range('all_time') },
    },
    ...{ is_whale: false, updated_at: SECOND },
  }
  assert.ok(totals.trades > 0 && totals.splits > 0 && totals.conversions > 0)
  for (const [requested, address] of [
    [ANN, ANN],
    [ANN.toUpperCase(), ANN],
    [OWNER, OWNER],
  ] as const) {
    const body = await successfulBodyOf(server, profileSchema, `/v1/wallets/${requested}`)
    assert.deepEqual(body, { address, ...record })
    assert.deepEqual(Object.keys(body).slice(0, 3), ['address', 'eoa', 'proxy'])
  }
  ann.isWhale = true
  assert.equal((await server.get(`/v1/wallets/${ANN}`)).body.is_whale, true)
})

test('answers 422 with the expected format for an invalid wallet address, and 400 for a venue B id', async () => {
  const wrong = ['0x12', 'ann', ANN.slice(2), `${ANN}0`, `0x${'g1'.repeat(20)}`, 'venue_a_Rain']
  const paths = ['', '/trades', '/positions', '/pnl', '/activity']
  const opened = server.engine.wallets.opened.length
  for (const path of paths) {
    for (const text of wrong) {
      const got = await server.get(`/v1/wallets/${text}${path}`)
      assert.equal(got.status, 422, text)
      assert.match(got.text, /"loc":\["path","address"\].*0-9a-fA-F\]\{40\}/)
    }
    for (const text of ['venue_b_TICKER', 'VENUE_B_NONE', 'TICKER', 'ticker']) {
      const got = await server.get(`/v1/wallets/${text}${path}`)
      assert.equal(got.status, 400, text)
      assert.match(got.text, /an address of venue_a; this is an id of venue_b/)
    }
  }
  const refused = [
    ...['/trades', '/activity', '/pnl'].map((path) => `${path}?start_time=9&end_time=8`),
    ...['/trades', '/activity', '/positions'].map((path) => `${path}?cursor=none`),
    '/positions?cursor=1795175940000',
  ]
  for (const path of refused) {
    assert.equal((await server.get(`/v1/wallets/${ANN}${path}`)).status, 400, path)
  }
  const invalid = [
    ...['/trades?side=both', '/trades?limit=501', '/positions?status=held'],
    ...['/positions?min_balance=-1', '/positions?sort_by=size', '/pnl?granularity=hour'],
    ...['/activity?type=BUY', '/activity?limit=0'],
  ]
  for (const path of invalid) {
    assert.equal((await server.get(`/v1/wallets/${ANN}${path}`)).status, 422, path)
  }
  for (const query of ['window=year', 'sort_by=trades', 'limit=201']) {
    assert.equal((await server.get(`/v1/wallets?${query}`)).status, 422, query)
  }
  assert.equal(
    server.engine.wallets.opened.length,
    opened,
    'refused requests do not open the wallet',
  )
  const restore = withRefusal(server.engine.wallets, 'open')
  for (const path of paths) {
    const got = await server.get(`/v1/wallets/${ANN}${path}`)
    assert.equal(got.status, 503)
    assert.match(got.headers.get('retry-after') ?? '', /^\d+$/)
  }
  restore()
  assert.equal(new EngineError('UNAVAILABLE', '').status, 503)
})

/** Expected names of a market that is in the catalogue, only stored, or unknown. */
function names(market: string, isListed: boolean, isStored: boolean) {
  if (isListed) {
    return { question: `Will ${market} happen?`, slug: `slug-${market}`, event: `event-${market}` }
  }
  return isStored
    ? { question: `Was ${market}?`, slug: `old-${market}`, event: `olds-${market}` }
    : { question: null, slug: null, event: null }
}

function labelOf(index: number, isListed: boolean, isStored: boolean) {
  return (isListed ? ['Yes', 'No'] : isStored ? ['Up', 'Down'] : [])[index] ?? null
}

/** The expected record is quoted for the first outcome. */
function expectedTrade({ event, id, timeMs: atMs, view }: WalletEventView) {
  const isStored = event.market === '0xgone1'
  const index = /-(no|1)$/.test(String(event.token)) ? 1 : 0
  const isTurned = index === 1 && event.market !== '0xgone2'
  const { question, slug } = names(event.market, view !== null, isStored)
  return {
    ...{ id, market_id: `venue_a_${event.market}`, platform: 'venue_a' },
    price: number(isTurned ? 1_000_000 - event.price : event.price),
    size: number(event.size),
    side: isTurned === (event.kind === 'buy') ? 'sell' : 'buy',
    outcome: labelOf(index, view !== null, isStored),
    ...{ size_usd: number(event.usd), timestamp_ms: atMs, native_trade_id: id },
    maker: event.role === 'maker' ? ANN : null,
    taker: event.role === 'taker' ? ANN : null,
    ...{ tx_hash: event.txHash === '' ? null : event.txHash, is_block_trade: false },
    ...{ token_id: event.token, condition_id: event.market },
    ...{ question, slug, role: event.role },
    taker_outcome: labelOf(index, view !== null, isStored),
    taker_side: takerSideOf(event),
    taker_price: number(event.price),
  }
}

/** The taker's side is the opposite of the maker’s side. */
function takerSideOf({ role, kind }: WalletEventView['event']) {
  if (role === 'taker') return kind
  if (role === 'maker') return kind === 'buy' ? 'sell' : 'buy'
  return null
}

const newest = (isWanted: (row: WalletEventView) => boolean) =>
  ann.ledger.filter(isWanted).reverse()

const isFill = ({ event }: WalletEventView) => event.kind === 'buy' || event.kind === 'sell'

test('returns a wallet’s trades for the first outcome, equal to a reference implementation for every filter and page', async () => {
  const base = `/v1/wallets/${ANN}/trades`
  await successfulBodyOf(server, walletTradesSchema, base)
  const { rows } = await pages(`${base}?limit=500`, 'trades')
  assert.deepEqual(rows, newest(isFill).map(expectedTrade))
  assert.deepEqual(Object.keys(rows[0] ?? {}).slice(-10), [
    ...['tx_hash', 'is_block_trade', 'token_id', 'condition_id', 'question', 'slug', 'role'],
    ...['taker_outcome', 'taker_side', 'taker_price'],
  ])
  for (const role of ['taker', 'maker', null]) assert.ok(rows.some((row) => row.role === role))
  const side = (row: WalletEventView) => expectedTrade(row).side
  const cases: readonly (readonly [string, (row: WalletEventView) => boolean])[] = [
    ['', () => true],
    ['side=sell', (row) => side(row) === 'sell'],
    ['taker_side=buy', ({ event }) => takerSideOf(event) === 'buy'],
    ['market_id=VENUE_A_rain', ({ event }) => event.market === 'Rain'],
    [
      'market_id=venue_a_0xGONE1&side=buy',
      (row) => row.event.market === '0xgone1' && side(row) === 'buy',
    ],
    ['market_id=venue_b_TICKER', () => false],
    ['market_id=Rain', () => false],
    [
      `start_time=${SECOND - 90}&end_time=${SECOND - 20}`,
      ({ timeMs: at }) => at >= NOON - 90_000 && at < NOON - 19_000,
    ],
  ]
  for (const [query, isWanted] of cases) {
    const wanted = newest((row) => isFill(row) && isWanted(row)).map(({ id }) => id)
    for (const limit of [13, 150]) {
      const found = await pages(`${base}?${query}&limit=${limit}`, 'trades')
      assert.deepEqual(
        found.rows.map(({ id }) => id),
        wanted,
        query,
      )
      assert.equal(found.count, Math.max(1, Math.ceil(wanted.length / limit)), query)
    }
    const oldest = await pages(`${base}?${query}&limit=70&order=asc`, 'trades')
    assert.deepEqual(
      oldest.rows.map(({ id }) => id),
      [...wanted].reverse(),
      query,
    )
  }
})

test('returns a wallet’s splits, merges, redemptions, conversions and migrations, filtered by type', async () => {
  const base = `/v1/wallets/${ANN}/activity`
  const kinds = ['split', 'merge', 'redeem', 'conversion', 'migration']
  const { activities } = await successfulBodyOf(server, walletActivitySchema, `${base}?limit=500`)
  const expected = newest(({ event }) => kinds.includes(event.kind)).map((row) => ({
    ...{ id: row.id, type: row.event.kind.toUpperCase() },
    ...{ market_id: `venue_a_${row.event.market}`, condition_id: row.event.market },
    question: names(row.event.market, row.view !== null, row.facts !== null).question,
    slug: names(row.event.market, row.view !== null, row.facts !== null).slug,
    ...{ size: number(row.event.size), usd_value: number(row.event.usd) },
    tx_hash: row.event.txHash === '' ? null : row.event.txHash,
    timestamp_ms: row.timeMs,
  }))
  assert.ok(new Set(expected.map(({ type }) => type)).size === 5)
  assert.deepEqual(activities, expected)
  for (const [query, isWanted] of [
    ['type=SPLIT', ({ type }) => type === 'SPLIT'],
    ['type=MERGE,REDEEM&type=MERGE', ({ type }) => type === 'MERGE' || type === 'REDEEM'],
    [
      'type=CONVERSION&market_id=venue_a_Wind',
      (row) => row.type === 'CONVERSION' && row.condition_id === 'Wind',
    ],
    [`end_time=${SECOND - 100}`, ({ timestamp_ms: at }) => at < NOON - 99_000],
  ] satisfies readonly (readonly [string, (row: (typeof expected)[number]) => boolean])[]) {
    const { rows } = await pages(`${base}?${query}&limit=9`, 'activities')
    assert.deepEqual(rows, expected.filter(isWanted), query)
  }
})

test('returns exact profits of a wallet for a time range, and a profit series with the same sum', async () => {
  const base = `/v1/wallets/${ANN}/pnl`
  const full = await successfulBodyOf(server, pnlSchema, base)
  const { totals, unrealized } = ann
  assert.deepEqual(
    { ...full, pnl_over_time: [] },
    {
      ...{ address: ANN, realized_pnl: number(totals.realized) },
      ...{ unrealized_pnl: number(unrealized), total_pnl: number(totals.realized + unrealized) },
      ...{ ...net(totals), combo_realized_pnl: 0 },
      ...{ win_count: ann.wins, loss_count: ann.losses },
      win_rate: quotient(BigInt(ann.wins), BigInt(ann.wins + ann.losses)),
      ...{ total_volume: number(totals.volume), total_trades: totals.trades },
      ...{ granularity: 'all', pnl_over_time: [], method: 'average_cost', as_of_ms: NOON },
    },
  )
  const start = SECOND - 200
  const part = await successfulBodyOf(
    server,
    pnlSchema,
    `${base}?start_time=${start}&granularity=day`,
  )
  const figures = ann.between(timeMs(start * 1_000), NOON)
  assert.deepEqual(
    [part.realized_pnl, part.total_volume, part.total_trades],
    [number(figures.realized), number(figures.volume), figures.trades],
  )
  const { series } = ann.pnl({ fromMs: timeMs(start * 1_000), toMs: NOON, granularity: 'day' })
  assert.deepEqual(
    part.pnl_over_time,
    series.map(({ timeMs: atMs, toDate, realized }) => ({
      timestamp: atMs / 1_000,
      pnl_to_date: number(toDate),
      realized_pnl: number(realized),
    })),
  )
})

test('lists each wallet once per ranking window and order, and counts wallets in statistics', async () => {
  const { wallets } = server.engine
  for (const window of ['one_day', 'seven_day', 'thirty_day', 'all_time'] as const) {
    for (const sortBy of ['realized_pnl', 'volume'] as const) {
      const body = await successfulBodyOf(
        server,
        rankingSchema,
        `/v1/wallets?window=${window}&sort_by=${sortBy}`,
      )
      const rows = wallets.known
        .map((wallet) => ({ wallet, figures: wallet.window(window) }))
        .sort(({ figures: one }, { figures: other }) =>
          sortBy === 'volume' ? other.volume - one.volume : other.realized - one.realized,
        )
      const expected = rows.map(({ wallet, figures }, index) => ({
        ...{ rank: index + 1, address: wallet.profile.proxy, handle: wallet.profile.handle },
        ...{ pseudonym: wallet.profile.pseudonym, image: null },
        ...{ realized_pnl: number(figures.realized), volume: number(figures.volume) },
        ...{ fees_paid: number(figures.fees), income: number(figures.income) },
        net_realized_pnl: number(figures.realized - figures.fees + figures.income),
        ...{ trades: figures.trades, win_count: wallet.wins, loss_count: wallet.losses },
        win_rate: quotient(BigInt(wallet.wins), BigInt(wallet.wins + wallet.losses)),
        last_trade_at: Math.floor((wallet.totals.lastTradeMs ?? 0) / 1_000),
        data_complete: true,
        as_of: Math.floor(wallet.asOfMs / 1_000),
      }))
      const end = { cursor: null, has_more: false }
      assert.deepEqual(body, { wallets: expected, total: 4, window, sort_by: sortBy, ...end })
    }
  }
  const { body } = await server.get('/v1/wallets?limit=2&offset=1')
  const { body: all } = await server.get('/v1/wallets')
  assert.ok(Array.isArray(all.wallets))
  const { cursor, ...page } = body
  const { cursor: _, ...full } = all
  assert.deepEqual(page, { ...full, wallets: all.wallets.slice(1, 3), has_more: true })
  const last = (await server.get(`/v1/wallets?limit=2&cursor=${String(cursor)}`)).body
  assert.deepEqual(last, { ...all, wallets: all.wallets.slice(3) })
  const other = await server.get(`/v1/wallets?sort_by=volume&cursor=${String(cursor)}`)
  assert.equal(other.status, 400, 'a cursor of another order')
  assert.equal((await server.get('/v1/stats')).body.wallets, 4)
})

/** A third of the `count` positions are in a market without a listing. */
function holder(pair: string, count: number): FakeWallet {
  const proxy = fakeAddress(pair)
  const random = seededRandom('holder', pair)
  const views = [...server.engine.catalog.markets('a')]
  const wallet = randomWallet({ proxy, eventCount: 9, nowMs: NOON }, views)
  const view = views[0] ?? null
  const id = wallet.held[0]?.market
  assert.ok(id !== undefined)
  wallet.held = Array.from({ length: count }, (_, index) => ({
    ...randomPosition(random, {
      id,
      view: index % 3 === 0 ? null : view,
      outcomeIndex: 0,
      nowMs: NOON,
    }),
    token: outcomeId(String(1_000_000 + index)),
    // 0.07 × 1,000,000 exceeds 70,000 in floating point.
    ...(index === 1 ? { amount: sizeMicros(70_000), balance: sizeMicros(70_000) } : {}),
  }))
  server.engine.wallets.known.push(wallet)
  return wallet
}

test('returns every position that existed at the first page once across pages, in order, while positions change', async () => {
  const wallet = holder('77', 1_000)
  const base = `/v1/wallets/${wallet.profile.proxy}/positions?status=all&min_balance=0&sort_by=total_pnl`
  const total = ({ realized, unrealized }: PositionView) => realized + unrealized
  const order = [...wallet.held].sort((one, other) => total(other) - total(one)).map(total)
  const wanted = wallet.held.map(({ token }) => token).sort()
  const before = new Map(wallet.held.map((position) => [String(position.token), total(position)]))
  const random = seededRandom('moves')
  let moves = 0
  const { rows, count } = await pages(`${base}&limit=150`, 'positions', () => {
    moves += 1
    // Positions open, close and change, and their order is reversed.
    const fresh = { ...wallet.held[0], token: outcomeId(`new-${moves}`) }
    wallet.held = [...wallet.held].reverse().map((position) => {
      const isClosed = random.below(4) === 0
      const realized = usdMicros(random.below(9_000_000))
      return { ...position, realized, ...(isClosed ? { amount: sizeMicros(0) } : {}) }
    })
    const [first] = wallet.held
    if (first !== undefined) wallet.held.push({ ...first, ...fresh })
  })
  assert.equal(count, 7)
  assert.deepEqual(rows.map((row) => row.token_id).sort(), wanted)
  assert.deepEqual(
    rows.map((row) => before.get(String(row.token_id))),
    order,
  )
  const held = new Map(wallet.held.map((position) => [String(position.token), position]))
  for (const row of rows.slice(-100)) {
    assert.equal(
      row.realized_pnl,
      number(held.get(String(row.token_id))?.realized ?? -1),
      'the current positions',
    )
  }
  const { body } = await server.get(`${base}&limit=5`)
  assert.equal(body.total, wallet.held.length)
  const next = `&cursor=${String(body.cursor)}`
  assert.equal((await server.get(`${base}&limit=9${next}`)).status, 200)
  const foreign = [
    `${base.replace('total_pnl', 'balance')}${next}`,
    `${base}&order=asc${next}`,
    `${base.replace(wallet.profile.proxy, ANN)}${next}`,
  ]
  for (const path of foreign) assert.equal((await server.get(path)).status, 400, path)
})

test('filters and sorts positions like a reference implementation, with unknown figures last', async () => {
  const wallet = holder('88', 150)
  const base = `/v1/wallets/${wallet.profile.proxy}/positions?limit=100`
  const isOpen = ({ amount }: PositionView) => amount > 0
  const tokens = async (query: string) =>
    (await pages(`${base}&${query}`, 'positions')).rows.map((row) => String(row.token_id))
  const market = String(wallet.held[0]?.market)
  const cases: readonly (readonly [string, (row: PositionView) => boolean])[] = [
    ['', (row) => isOpen(row) && row.balance >= 10_000],
    ['min_balance=0', isOpen],
    ['min_balance=0.07', (row) => isOpen(row) && row.balance >= 70_000],
    ['min_balance=1e300', () => false],
    ['status=closed', (row) => !isOpen(row)],
    ['status=closed&min_balance=5', (row) => !isOpen(row)],
    ['status=all&min_balance=1', (row) => !isOpen(row) || row.balance >= 1_000_000],
    [`status=all&min_balance=0&market_id=venue_a_${market.toUpperCase()}`, () => true],
    ['status=all&market_id=venue_a_Snow', () => false],
    ['status=all&market_id=venue_b_TICKER', () => false],
  ]
  for (const [query, isWanted] of cases) {
    const wanted = wallet.held.filter(isWanted).map(({ token }) => token)
    assert.deepEqual((await tokens(query)).sort(), wanted.sort(), query)
  }
  const figures: Readonly<Record<string, (row: PositionView) => number | string | null>> = {
    current_value: ({ cost, unrealized }) => cost + unrealized,
    balance: ({ balance }) => balance,
    initial_value: ({ cost }) => cost,
    realized_pnl: ({ realized }) => realized,
    unrealized_pnl: ({ unrealized }) => unrealized,
    total_pnl: ({ realized, unrealized }) => realized + unrealized,
    percent_pnl: ({ cost, unrealized }) => quotient(100n * BigInt(unrealized), BigInt(cost)),
    opened_at: ({ openedAtMs }) => openedAtMs,
    updated_at: ({ updatedAtMs }) => updatedAtMs,
    question: ({ view, facts, market }) => names(market, view !== null, facts !== null).question,
  }
  const byToken = new Map(wallet.held.map((row) => [String(row.token), row] as const))
  for (const [name, figure] of Object.entries(figures)) {
    for (const order of ['desc', 'asc'] as const) {
      const sign = order === 'asc' ? 1 : -1
      const found = await tokens(`status=all&min_balance=0&sort_by=${name}&order=${order}`)
      assert.equal(found.length, 150)
      const got = found.map((token) => {
        const row = byToken.get(token)
        return row === undefined ? null : figure(row)
      })
      const sorted = [...got].sort((one, other) => {
        if (one === null || other === null) return Number(one === null) - Number(other === null)
        return one < other ? -sign : one > other ? sign : 0
      })
      assert.deepEqual(got, sorted, `${name} ${order}`)
    }
  }
  assert.deepEqual(await tokens(''), await tokens('sort_by=current_value&order=desc'))
})

test('returns exact figures of each position and of the wallet’s summary', async () => {
  const body = await successfulBodyOf(
    server,
    walletPositionsSchema,
    `/v1/wallets/${ANN}/positions?status=all&min_balance=0&limit=500`,
  )
  const heldOf = (market: string) =>
    ann.held.filter((row) => row.market === market && row.balance > 0).length
  const expected = (row: PositionView) => {
    const { view, facts, amount, cost, bought, boughtUsd, unrealized, realized } = row
    const isOpen = amount > 0
    const name = names(row.market, view !== null, facts !== null)
    return {
      ...{ market_id: `venue_a_${row.market}`, condition_id: row.market, token_id: row.token },
      ...{ question: name.question, slug: name.slug, event_slug: name.event },
      outcome: labelOf(row.outcomeIndex, view !== null, facts !== null),
      balance: number(row.balance),
      avg_entry_price: isOpen
        ? quotient(BigInt(cost), BigInt(amount))
        : quotient(BigInt(boughtUsd), BigInt(bought)),
      current_price: row.price === null ? null : number(row.price),
      ...{ initial_value: number(cost), current_value: number(cost + unrealized) },
      ...{ realized_pnl: number(realized), unrealized_pnl: number(unrealized) },
      total_pnl: number(realized + unrealized),
      percent_pnl: quotient(100n * BigInt(unrealized), BigInt(cost)),
      redeemable: row.balance > 0 && facts !== null && facts.payout !== null,
      mergeable: row.balance > 0 && heldOf(row.market) === 2,
      neg_risk: facts === null ? null : facts.group !== null,
      status: isOpen ? 'open' : 'closed',
      opened_at: row.openedAtMs / 1_000,
      updated_at: row.updatedAtMs / 1_000,
      cost_basis_known: row.isCostKnown,
    }
  }
  const byToken = new Map(ann.held.map((row) => [String(row.token), expected(row)] as const))
  assert.equal(body.positions.length, ann.held.length)
  for (const row of body.positions) assert.deepEqual(row, byToken.get(row.token_id))
  for (const flag of ['redeemable', 'mergeable'] as const) {
    for (const isSo of [true, false])
      assert.ok(
        body.positions.some((row) => row[flag] === isSo),
        flag,
      )
  }
  const open = ann.held.filter(({ amount }) => amount > 0)
  const sum = (of: (row: PositionView) => number) => open.reduce((all, row) => all + of(row), 0)
  const summary = {
    open_positions: open.length,
    total_value: number(sum(({ cost, unrealized }) => cost + unrealized)),
    total_initial_value: number(sum(({ cost }) => cost)),
    realized_pnl: number(ann.totals.realized),
    unrealized_pnl: number(ann.unrealized),
    total_pnl: number(ann.totals.realized + ann.unrealized),
  }
  assert.deepEqual(body.summary, summary)
  const { body: part } = await server.get(`/v1/wallets/${ANN}/positions?status=closed&limit=1`)
  assert.deepEqual(part.summary, summary)
})

test('answers 404 for the profile and empty lists for the data of an unknown wallet, and states whether data is complete', async () => {
  const none = { cursor: null, has_more: false }
  const zero = { realized_pnl: 0, unrealized_pnl: 0, total_pnl: 0 }
  assert.equal((await server.get(`/v1/wallets/${UNSEEN}`)).status, 404)
  const empty = {
    trades: { trades: [], ...none },
    activity: { activities: [], ...none },
    positions: {
      positions: [],
      summary: { open_positions: 0, total_value: 0, total_initial_value: 0, ...zero },
      total: 0,
      ...none,
    },
  }
  for (const [path, rest] of Object.entries(empty)) {
    const got = await server.get(`/v1/wallets/${UNSEEN}/${path}`)
    assert.equal(got.status, 200)
    assert.deepEqual(got.body, { address: UNSEEN, ...rest })
    assert.equal(got.headers.get('x-data-complete'), 'true')
  }
  const { as_of_ms, ...pnl } = await successfulBodyOf(
    server,
    pnlSchema,
    `/v1/wallets/${UNSEEN}/pnl?granularity=week`,
  )
  assert.ok(as_of_ms > 0)
  assert.deepEqual(pnl, {
    ...{ address: UNSEEN, ...zero, win_count: 0, loss_count: 0, win_rate: null },
    ...{ fees_paid: 0, income: 0, net_realized_pnl: 0, net_pnl: 0, combo_realized_pnl: 0 },
    ...{ total_volume: 0, total_trades: 0, granularity: 'week', pnl_over_time: [] },
    method: 'average_cost',
  })
  for (const isComplete of [false, true]) {
    ann.isComplete = isComplete
    ann.lacking = 3
    for (const path of ['', '/trades', '/trades?market_id=x', '/positions', '/pnl', '/activity']) {
      const { headers } = await server.get(`/v1/wallets/${ANN}${path}`)
      assert.equal(headers.get('x-data-complete'), String(isComplete), path)
      assert.equal(headers.get('x-data-as-of'), String(ann.asOfMs))
      const why = headers.get('x-data-incomplete')
      assert.match(why ?? '', isComplete ? /^$/ : /^venue_lacks_kept: .*; venue_late: .* 3\)$/)
    }
  }
})
