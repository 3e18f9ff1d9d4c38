import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { SuspectAnswerError } from '../../../../../engine/venues/answer-checks.ts'
import { KalshiCatalog } from '../../../../../engine/venues/kalshi/catalog/catalog.ts'
import { KalshiFees } from '../../../../../engine/venues/kalshi/catalog/fees.ts'
import { Shards } from '../../../../../engine/venues/kalshi/catalog/shards.ts'
import { Combos } from '../../../../../engine/venues/kalshi/combos.ts'
import { TradeReader } from '../../../../../engine/venues/kalshi/trades/trade-reader.ts'
import type { CatalogPage } from '../../../../../engine/venues/venue.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

function open(answer: (path: string, query: URLSearchParams) => unknown) {
  const http = stubHttp(answer)
  const paths = () => http.requests.map(({ path, query }) => decodeURIComponent(`${path}?${query}`))
  const clock = new ManualClock()
  const { counters, drift, countOf, suspectCount } = venueCounters('b')
  const ends = new Map<string, number | null>()
  const combos = new Combos()
  const halts: [number, boolean][] = []
  const shards = new Shards({
    ...{ http, clock, counters },
    onChange: (...change) => halts.push(change),
  })
  const catalog = new KalshiCatalog({
    ...{ http, clock, counters, combos, shards },
    fees: new KalshiFees({ http, clock, counters }),
    onMarket: (listing, terms) => ends.set(listing.nativeId, terms.tradingEndsAtMs),
  })
  const trades = new TradeReader({ http, counters, combos, clock })
  const troubles = (reason: string) => countOf('troubles', reason)
  return { drift, halts, combos, catalog, trades, clock, paths, ends, troubles, suspectCount }
}

const market = (ticker: string, status = 'active', more: object = {}) => ({
  ticker,
  event_ticker: ticker.split('-').slice(0, 2).join('-'),
  market_type: 'binary',
  yes_sub_title: ticker,
  status,
  open_time: '2026-11-01T00:00:00Z',
  close_time: '2026-12-01T00:00:00Z',
  ...more,
})
const event = (ticker: string, markets: readonly object[] = []) => ({
  event_ticker: ticker,
  series_ticker: 'S',
  title: `Event ${ticker}`,
  mutually_exclusive: false,
  markets,
})
const SERIES = { series: [{ ticker: 'S', category: 'World', tags: ['Mars'] }] }
const signal = new AbortController().signal

async function collect(read: (onPage: (page: CatalogPage) => void) => Promise<void>) {
  const pages: CatalogPage[] = []
  await read((page) => void pages.push(page))
  return {
    pages,
    markets: pages.flatMap((page) => page.markets.map((each) => each.nativeId)),
    events: pages.flatMap((page) => page.events.map((each) => each.nativeId)),
  }
}

describe('Kalshi catalogue', () => {
  it('reads each event of all pages once, and skips markets that settled long ago', async () => {
    const old = { settlement_ts: '2026-11-01T00:00:00Z', result: 'yes' }
    const { catalog, ends, paths } = open((path, query) => {
      if (path === '/series') return SERIES
      if (path === '/events' && query.get('tickers') !== null) return { events: [event('S-5')] }
      if (path === '/events') {
        if (query.get('status') !== 'open') return { events: [event('S-1')], cursor: '' }
        return query.get('cursor') === null
          ? {
              events: [event('S-1', [market('S-1-A'), market('S-1-B', 'finalized', old)])],
              cursor: 'c',
            }
          : { events: [event('S-2', [market('S-2-A'), { ticker: 5 }])], cursor: '' }
      }
      return { markets: [market('S-5-A', 'finalized', { result: 'no' })], cursor: '' }
    })
    const { markets, events, pages } = await collect((onPage) => catalog.crawl(onPage, signal))
    assert.deepEqual(markets, ['S-1-A', 'S-2-A', 'S-5-A'])
    assert.deepEqual(events, ['S-1', 'S-2', 'S-5'])
    const first = pages[0]?.markets[0]
    assert.deepEqual([first?.category, first?.tags], ['World', ['Mars']])
    assert.equal(ends.get('S-1-A'), Date.UTC(2026, 11, 1))
    assert.ok(
      paths().some(
        (path) => path.includes('status=settled') && path.includes('mve_filter=exclude'),
      ),
    )
  })

  it('rejects a list of events whose cursor repeats or whose pages never end', async () => {
    let pagesRead = 0
    const { catalog } = open((path) => {
      if (path === '/series') return SERIES
      if (path === '/markets') return { markets: [], cursor: '' }
      pagesRead += 1
      return { events: [event(`S-${pagesRead}`)], cursor: 'stale' }
    })
    const taken: CatalogPage[] = []
    const crawl = () => catalog.crawl((page) => void taken.push(page), signal)
    await assert.rejects(crawl(), { name: 'SuspectAnswerError', reason: 'cursor' })
    assert.equal(taken.flatMap(({ events }) => events).length, 2, 'earlier pages are used')
    const endless = open((path, query) => {
      if (path === '/series') return SERIES
      return { events: [], markets: [], cursor: `${query.get('cursor')}x` }
    })
    await assert.rejects(
      endless.catalog.crawl(() => undefined, signal),
      { name: 'SuspectAnswerError', reason: 'endless' },
    )
    assert.ok(endless.paths().length < 20)
  })

  it('retains the known tags when the venue’s list of series is empty', async () => {
    let series: object = SERIES
    const { catalog, clock, suspectCount } = open((path) => {
      if (path === '/series') return series
      if (path === '/events') return { events: [event('S-1')] }
      return { markets: [market('S-1-A')], cursor: '' }
    })
    const tags = async () => {
      const { pages } = await collect((onPage) =>
        catalog.refresh(timeMs(1_790_000_000_500), onPage, signal),
      )
      return pages[0]?.markets[0]?.tags
    }
    const before = await tags()
    assert.ok(before !== undefined && before.length > 0)
    series = { series: [] }
    clock.advance(3_600_001)
    assert.deepEqual(await tags(), before)
    assert.equal(suspectCount('series', 'empty'), 1)
  })

  it('sends the filter that the venue requires with each request for recently updated markets', async () => {
    const { catalog, paths } = open((path) => {
      if (path === '/series') return SERIES
      if (path === '/events') return { events: [event('S-1')] }
      return { markets: [market('S-1-A')], cursor: '' }
    })
    const sinceMs = timeMs(1_790_000_000_500)
    const { pages } = await collect((onPage) => catalog.refresh(sinceMs, onPage, signal))
    assert.equal(pages[0]?.markets[0]?.question, 'Event S-1: S-1-A')
    const query = 'min_updated_ts=1790000000&mve_filter=exclude'
    assert.ok(
      paths().some((path) => path.startsWith(`/markets?${query}`)),
      paths().join(' '),
    )
    assert.ok(!paths().some((path) => path.includes('status=')))
  })

  it('requests single markets with their events, 100 per request, and omits unknown markets', async () => {
    const { catalog, paths } = open((path, query) => {
      if (path === '/series') return SERIES
      const tickers = (query.get('tickers') ?? '').split(',')
      if (path === '/events') return { events: tickers.map((ticker) => event(ticker)) }
      return { markets: tickers.filter((each) => each !== 'S-7-X').map((each) => market(each)) }
    })
    const ids = Array.from({ length: 150 }, (_, index) => nativeMarketId(`S-${index}-X`))
    const page = await catalog.fetchMarkets([...ids, nativeMarketId('KXMVE-1')], signal)
    assert.equal(page.markets.length, 149)
    assert.equal(page.events.length, 149)
    assert.equal(paths().filter((path) => path.startsWith('/markets')).length, 2)
  })

  it('reports a requested combination market as refused, and never requests the market or its event a second time', async () => {
    const combo = market('S-9-X', 'active', { mve_collection_ticker: 'KXMVE-R' })
    const { catalog, paths, combos } = open((path, query) => {
      if (path === '/series') return SERIES
      if (path === '/events') return { events: [event('S-1')] }
      return { markets: query.get('tickers')?.includes('S-9-X') ? [combo, market('S-1-A')] : [] }
    })
    const fetchCombo = () =>
      catalog.fetchMarkets(['S-9-X', 'S-1-A', 'KXMVEX-1'].map(nativeMarketId), signal)
    const page = await fetchCombo()
    assert.deepEqual(
      page.markets.map(({ nativeId }) => nativeId),
      ['S-1-A'],
    )
    assert.deepEqual([...(page.refused ?? [])].sort(), ['KXMVEX-1', 'S-9-X'])
    assert.ok(combos.has('S-9-X'))
    await fetchCombo()
    assert.equal(paths().filter((path) => path.includes('S-9')).length, 1)
    assert.ok(!paths().some((path) => path.startsWith('/events') && path.includes('S-9')))
  })

  it('reports a requested market as refused when the service does not support the market’s type', async () => {
    const scalar = market('S-1-B', 'active', { market_type: 'scalar' })
    const { catalog } = open((path) => {
      if (path === '/series') return SERIES
      if (path === '/events') return { events: [event('S-1')] }
      return { markets: [scalar, market('S-1-A')] }
    })
    const page = await catalog.fetchMarkets(['S-1-A', 'S-1-B', 'S-1-C'].map(nativeMarketId), signal)
    assert.deepEqual(page.refused, ['S-1-B'])
  })

  it('reports fields that are missing or mistyped in all rows of a page, and unknown statuses and price structures', async () => {
    const complete = {
      ...{ yes_bid_dollars: '0.4000', yes_ask_dollars: '0.4200', last_price_dollars: '0.4000' },
      ...{ volume_fp: '1.00', volume_24h_fp: '1.00', open_interest_fp: '1.00' },
      ...{ rules_primary: 'If …', updated_time: '2026-11-01T00:00:00Z' },
      price_ranges: [{ start: '0.0000', end: '1.0000', step: '0.0100' }],
      price_level_structure: 'center_deci_edge_centi_cent',
    }
    const { yes_bid_dollars: _, ...bare } = complete
    const found = async (rows: readonly object[]) => {
      const { catalog, drift } = open((path) => {
        if (path === '/series') return SERIES
        if (path === '/exchange/status') return { exchange_index_statuses: [] }
        if (path === '/series/fee_changes') return { series_fee_change_arr: [] }
        if (path === '/events/fee_changes') return { event_fee_changes: [] }
        return path === '/events' ? { events: [event('S-1')] } : { markets: rows, cursor: '' }
      })
      const { markets } = await catalog.fetchMarkets([nativeMarketId('S-1-A')], signal)
      const named = drift.entries().map(({ kind, name, weight }) => `${kind}=${name} ${weight}`)
      return { count: markets.length, named }
    }
    const one = await found([
      market('S-1-A', 'active', complete),
      market('S-1-B', 'active', bare),
      market('S-1-C', 'haunted', complete),
      market('S-1-D', 'active', { ...complete, price_level_structure: 'round' }),
      market('S-1-E', 'active', { ...complete, price_ranges: [{ start: '1' }] }),
    ])
    assert.deepEqual(one, {
      count: 4,
      named: [
        'market.price_level_structure=round notice',
        'market.price_ranges=unreadable loss',
        'market.status=haunted loss',
      ],
    })
    const page = ['A', 'B', 'C'].map((name) =>
      market(`S-1-${name}`, 'active', { ...bare, last_price_dollars: 0.4 }),
    )
    assert.deepEqual(await found(page), {
      count: 3,
      named: [
        'market.field=yes_bid_dollars missing loss',
        'market.field=last_price_dollars is number loss',
      ],
    })
    assert.deepEqual(await found(page.slice(1)), { count: 2, named: [] })
  })

  it('lists a market as closed and records drift when the market’s exchange shard is halted', async () => {
    const status = (isTrading: boolean) => ({
      exchange_index_statuses: [
        { exchange_index: 0, exchange_active: true, trading_active: true },
        { exchange_index: 2, exchange_active: true, trading_active: isTrading },
      ],
    })
    let isTrading = false
    const { catalog, drift, halts, clock } = open((path) => {
      if (path === '/series') return SERIES
      if (path === '/exchange/status') return status(isTrading)
      if (path === '/events') return { events: [event('S-1')] }
      const shards = [0, 2, 7].map((index) =>
        market(`S-1-${index}`, 'active', { exchange_index: index }),
      )
      return { markets: shards, cursor: '' }
    })
    const fetchStatuses = async () => {
      const { markets } = await catalog.fetchMarkets([nativeMarketId('S-1-0')], signal)
      return markets.map(({ status }) => status)
    }
    assert.deepEqual(await fetchStatuses(), ['open', 'closed', 'open'])
    const found = drift.entries().map(({ kind, name }) => `${kind}=${name}`)
    assert.ok(found.includes('exchange.shard=2 does not trade'))
    assert.ok(found.includes('market.exchange_index=7'))
    isTrading = true
    assert.deepEqual(
      await fetchStatuses(),
      ['open', 'closed', 'open'],
      'the status is requested once a minute',
    )
    clock.advance(60_000)
    assert.deepEqual(await fetchStatuses(), ['open', 'open', 'open'])
    assert.deepEqual(halts, [
      [2, false],
      [2, true],
    ])
  })

  it('requests an event separately when the list lacks it, and lists the event’s market even if the event is unavailable', async () => {
    const { catalog, troubles } = open((path) => {
      if (path === '/series') return SERIES
      if (path === '/events/S-1') return { event: event('S-1'), markets: [] }
      if (path === '/events') return { events: [] }
      if (path === '/markets') return { markets: [market('S-1-A'), market('S-2-A')] }
      return null
    })
    const page = await catalog.fetchMarkets([nativeMarketId('S-1-A')], signal)
    assert.deepEqual(
      page.markets.map((each) => each.question),
      ['Event S-1: S-1-A', 'S-2-A'],
    )
    assert.equal(troubles('event_missing'), 1)
  })

  it('lists markets without tags and fees when the list of series is missing or malformed, then repeats the request', async () => {
    const lists: unknown[] = [null, { rows: [] }, SERIES]
    const { catalog, paths, troubles } = open((path) => {
      if (path === '/series') return lists.shift()
      if (path === '/events') return { events: [{ ...event('S-1'), series_ticker: 'S' }] }
      if (path === '/markets') return { markets: [market('S-1-A')] }
      return null
    })
    const listed = async () => {
      const { markets } = await catalog.fetchMarkets([nativeMarketId('S-1-A')], signal)
      return markets.map(({ nativeId, tags }) => [nativeId, tags.length > 0])
    }
    assert.deepEqual(await listed(), [['S-1-A', false]])
    assert.deepEqual(await listed(), [['S-1-A', false]])
    assert.deepEqual(await listed(), [['S-1-A', true]])
    assert.equal(paths().filter((path) => path.startsWith('/series?')).length, 3)
    assert.equal(troubles('series_unread'), 2)
  })
})

describe('Kalshi trades over REST', () => {
  const trade = (id: string, time: string, more: object = {}) => ({
    trade_id: id,
    ticker: 'T',
    yes_price_dollars: '0.4',
    no_price_dollars: '0.6',
    count_fp: '1.00',
    taker_outcome_side: 'yes',
    created_time: time,
    ...more,
  })

  it('reads all trades of a time range with millisecond precision, oldest first', async () => {
    const { trades, paths, clock } = open((_path, query) =>
      query.get('cursor') === null
        ? {
            trades: [
              trade('e', '2026-11-20T12:00:03.001Z'),
              trade('d', '2026-11-20T12:00:03.0009Z'),
              trade('combo', '2026-11-20T12:00:02Z', { ticker: 'KXMVE-1' }),
            ],
            cursor: 'n',
          }
        : {
            trades: [
              trade('c', '2026-11-20T12:00:01.500Z'),
              { nonsense: 1 },
              trade('b', '2026-11-20T12:00:01.500Z'),
              trade('a', '2026-11-20T12:00:00.999Z'),
            ],
            cursor: '',
          },
    )
    const fromMs = timeMs(clock.nowMs() + 1_000)
    const toMs = timeMs(clock.nowMs() + 3_000)
    const range = { ticker: 'T', fromMs, toMs, source: 'backfill' as const }
    const answer = await trades.fetchRange(range)
    assert.deepEqual(
      answer.trades.map((each) => each.nativeId),
      ['b', 'c', 'd'],
    )
    assert.equal(answer.completeFromMs, fromMs)
    assert.equal(
      answer.newestMs,
      Date.UTC(2026, 10, 20, 12, 0, 3, 1),
      'rows outside the range count as read',
    )
    const seconds = fromMs / 1_000
    assert.ok(paths()[0]?.includes(`min_ts=${seconds}&max_ts=${seconds + 3}&ticker=T`), paths()[0])
  })

  it('retains the trades that were read and reports an incomplete range when a cursor repeats', async () => {
    const { trades, clock } = open(() => ({
      trades: [trade('a', '2026-11-20T11:59:50Z')],
      cursor: 'stale',
    }))
    const nowMs = clock.nowMs()
    const answer = await trades.fetchRange({
      ...{ ticker: null, source: 'history' as const, toMs: nowMs },
      fromMs: timeMs(nowMs - 3_600_000),
    })
    assert.equal(answer.suspectReason, 'cursor')
    assert.equal(answer.trades.length, 1)
  })

  it('does not accept an empty or shortened list of all trades of the venue as complete', async () => {
    const all = ['12:00:04', '12:00:03', '12:00:02', '12:00:01', '11:59:00'].map((at) =>
      trade(at, `2026-11-20T${at}Z`),
    )
    let damage = (rows: readonly unknown[]) => rows
    let isWalkDamaged = false
    const { trades, clock, suspectCount } = open((_path, query) => {
      const isWalk = !query.has('min_ts')
      return { trades: isWalk && !isWalkDamaged ? all : damage(all.slice(0, 4)), cursor: '' }
    })
    const fromMs = timeMs(clock.nowMs() + 500)
    const range = { ticker: null, fromMs, toMs: timeMs(clock.nowMs() + 5_000) }
    const read = () => trades.fetchRange({ ...range, source: 'backfill' })
    for (const [reason, damaged] of [
      ['empty', () => []],
      ['shorter', (rows: readonly unknown[]) => rows.slice(0, 1)],
    ] as const) {
      damage = damaged
      isWalkDamaged = false
      const answer = await read()
      assert.equal(answer.trades.length, 4, reason)
      assert.equal(answer.suspectReason, null)
      assert.equal(suspectCount('trades', reason), 1)
      isWalkDamaged = true
      assert.equal((await read()).suspectReason, reason)
    }
  })

  it('rejects a response without a list of trades instead of treating it as the last page', async () => {
    let answer: unknown = { error: 'none' }
    const { trades, catalog, clock } = open(() => answer)
    const toMs = clock.nowMs()
    const range = { ticker: null, fromMs: timeMs(toMs - 1_000), toMs, source: 'backfill' as const }
    const { signal } = new AbortController()
    for (answer of [{ error: 'none' }, [], { trades: {}, series: {}, events: {} }, 'x']) {
      await assert.rejects(trades.fetchRange(range), SuspectAnswerError)
      await assert.rejects(
        catalog.crawl(() => undefined, signal),
        SuspectAnswerError,
      )
      await assert.rejects(trades.fetchNewestMs(), SuspectAnswerError)
    }
  })

  it('reports trades as lost when the trades are older than the venue’s live tables', async () => {
    const { trades, clock } = open((path) =>
      path === '/historical/cutoff'
        ? { trades_created_ts: '2026-08-20T00:00:00Z' }
        : { trades: [], cursor: '' },
    )
    const toMs = clock.nowMs()
    const range = { ticker: 'T', fromMs: timeMs(toMs - 200 * 86_400_000), toMs }
    const answer = await trades.fetchRange({ ...range, source: 'history' })
    assert.equal(answer.completeFromMs, Date.UTC(2026, 7, 20))
  })
})
