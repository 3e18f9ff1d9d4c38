import type { Clock } from '../../../clock.ts'
import { FetchError, getIfFound, type JsonReader, type Query } from '../../../fetch.ts'
import { type NativeMarketId, nativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { FEES_UNKNOWN, type MarketFees } from '../../../market/fees.ts'
import type { EventListing, MarketListing, ReadListing } from '../../../market/market.ts'
import { runInSlices, type SlicedWork } from '../../../time-slices.ts'
import { type TimeMs, toSeconds } from '../../../units.ts'
import { listIn, SuspectAnswerError, suspectListReason } from '../../answer-checks.ts'
import type { CatalogPage, VenueCatalog } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { type Combos, isComboRow } from '../combos.ts'
import { noteFeeTerms, noteMarketRows, noteSeriesRow } from '../drift-checks.ts'
import type { RowTerms } from '../market-terms.ts'
import { idOf, type Rejected } from '../parse.ts'
import { type KalshiFees, termsOf } from './fees.ts'
import { parseEvent, parseMarket, parseSeries, type Series } from './listing.ts'
import { pagesIn, rowsOf } from './rest-rows.ts'
import type { Shards } from './shards.ts'

type OnPage = (page: CatalogPage) => void | Promise<void>

interface CatalogParts {
  readonly http: JsonReader
  readonly clock: Clock
  readonly counters: VenueCounters
  readonly fees: KalshiFees
  /** Called for each market that was read. `terms` are the data that its listing lacks. */
  readonly onMarket: (listing: MarketListing, terms: RowTerms) => void
  readonly combos: Combos
  readonly shards: Pick<Shards, 'read' | 'isTrading' | 'noteOf'>
}

const EVENT_ROWS = 200
const MARKET_ROWS = 1_000
const TICKERS_MAX = 100
/** Maximum age of a settlement. Markets that settled before it are not read. */
const SETTLED_RECENTLY_MS = 2 * 86_400_000
const SERIES_AGE_MAX_MS = 3_600_000
/** Maximum pages of a list. A longer list means that the cursor loops. */
const PAGES_MAX = 5_000
/** Maximum events per page that are fetched individually. Markets of further events are listed without their event. */
const SINGLE_EVENTS_MAX = 20
const CRAWLED_STATUSES = ['open', 'unopened', 'closed'] as const

export class KalshiCatalog implements VenueCatalog {
  readonly #parts: CatalogParts
  #series: ReadonlyMap<string, Series> = new Map()
  #seriesReadAtMs: number | null = null
  #seriesListedAtMs = 0

  constructor(parts: CatalogParts) {
    this.#parts = parts
  }

  async crawl(onPage: OnPage, signal: AbortSignal): Promise<void> {
    await this.#parts.shards.read(signal)
    await this.#readSeries(signal)
    const settledSinceMs = this.#parts.clock.nowMs() - SETTLED_RECENTLY_MS
    // An event with an open and a closed market is in both lists.
    const eventsSeen = new Set<string>()
    for (const status of CRAWLED_STATUSES) {
      const query = { status, with_nested_markets: true, limit: EVENT_ROWS }
      for await (const rows of this.#pages('events', query, signal)) {
        const readAtMs = this.#parts.clock.nowMs()
        const steps = this.#nestedPage(rows, eventsSeen, { settledSinceMs, readAtMs })
        await onPage(await runInSlices(this.#parts.clock, steps))
      }
    }
    const settled = {
      status: 'settled',
      min_settled_ts: Math.floor(settledSinceMs / 1_000),
      mve_filter: 'exclude',
      limit: MARKET_ROWS,
    }
    await this.#marketPages(settled, onPage, signal)
  }

  /** Reads the markets that the venue updated since `sinceMs`. A trade does not count as an update. */
  async refresh(sinceMs: TimeMs, onPage: OnPage, signal: AbortSignal): Promise<void> {
    await this.#parts.shards.read(signal)
    await this.#readSeries(signal)
    // The venue accepts min_updated_ts only together with mve_filter.
    const query = { min_updated_ts: toSeconds(sinceMs), mve_filter: 'exclude', limit: MARKET_ROWS }
    await this.#marketPages(query, onPage, signal)
  }

  async fetchMarkets(ids: readonly NativeMarketId[], signal: AbortSignal): Promise<CatalogPage> {
    await this.#parts.shards.read(signal)
    await this.#readSeries(signal)
    const markets: ReadListing[] = []
    const events: EventListing[] = []
    const wanted = ids.filter((id) => !this.#parts.combos.has(id))
    const refused = new Set(ids.filter((id) => this.#parts.combos.has(id)))
    for (let start = 0; start < wanted.length; start += TICKERS_MAX) {
      const tickers = wanted.slice(start, start + TICKERS_MAX).join(',')
      const answer = await this.#parts.http.getJson(
        '/markets',
        { tickers, limit: MARKET_ROWS },
        { signal },
      )
      const rows = listIn(answer, 'markets', 'market')
      const page = await this.#joinedPage(rows, signal)
      const taken = new Set<string>(page.markets.map(({ nativeId }) => nativeId))
      for (const row of rows) {
        this.#parts.combos.note(row)
        const ticker = isRecord(row) ? idOf(row.ticker) : null
        if (ticker !== null && !taken.has(ticker)) refused.add(nativeMarketId(ticker))
      }
      markets.push(...page.markets)
      events.push(...page.events)
    }
    return { markets, events, refused: [...refused] }
  }

  async #marketPages(query: Query, onPage: OnPage, signal: AbortSignal): Promise<void> {
    for await (const rows of this.#pages('markets', query, signal)) {
      await onPage(await this.#joinedPage(rows, signal))
    }
  }

  #pages(name: 'events' | 'markets', query: Query, signal: AbortSignal) {
    const list = { path: `/${name}`, name, kind: 'catalogue', pagesMax: PAGES_MAX } as const
    return pagesIn(this.#parts.http, list, query, signal)
  }

  /** Events with their markets. Markets that settled long ago are omitted. */
  *#nestedPage(
    rows: readonly unknown[],
    seen: Set<string>,
    { settledSinceMs, readAtMs }: { settledSinceMs: number; readAtMs: TimeMs },
  ): SlicedWork<CatalogPage> {
    const markets: ReadListing[] = []
    const events: EventListing[] = []
    const nestedRows = rows.flatMap((row) => rowsOf(row, 'markets'))
    noteMarketRows(nestedRows, this.#parts.counters.drift)
    for (const row of rows) {
      const event = parseEvent(row, this.#series)
      if (event.kind === 'rejected') {
        this.#reject(event, row)
        continue
      }
      if (seen.has(event.listing.nativeId)) continue
      seen.add(event.listing.nativeId)
      events.push(event.listing)
      for (const marketRow of rowsOf(row, 'markets')) {
        yield
        const market = this.#readMarket(marketRow, event.listing, settledSinceMs)
        if (market !== null) markets.push({ ...market, figuresAtMs: readAtMs })
      }
    }
    return { markets, events }
  }

  async #joinedPage(rows: readonly unknown[], signal: AbortSignal): Promise<CatalogPage> {
    const figuresAtMs = this.#parts.clock.nowMs()
    const events = await this.#fetchEvents(rows, signal)
    return runInSlices(this.#parts.clock, this.#joined(rows, events, figuresAtMs))
  }

  *#joined(
    rows: readonly unknown[],
    events: ReadonlyMap<string, EventListing>,
    figuresAtMs: TimeMs,
  ): SlicedWork<CatalogPage> {
    noteMarketRows(rows, this.#parts.counters.drift)
    const markets: ReadListing[] = []
    for (const row of rows) {
      yield
      const ticker = isRecord(row) ? idOf(row.event_ticker) : null
      const event = ticker === null ? undefined : events.get(ticker)
      const market = this.#readMarket(row, event ?? null, null)
      if (market === null) continue
      markets.push({ ...market, figuresAtMs, lacksEvent: event === undefined })
    }
    return { markets, events: [...events.values()] }
  }

  #readMarket(row: unknown, event: EventListing | null, sinceMs: number | null) {
    const market = parseMarket(row, event, this.#feesOf(row, event))
    if (market.kind === 'rejected') {
      this.#reject(market, row)
      return null
    }
    const { tradingEndsAtMs, grid, shard } = market
    const listing = this.#withShardStatus(market.listing, shard)
    const endedAtMs = listing.settledAtMs ?? tradingEndsAtMs
    const isLongSettled =
      listing.status === 'resolved' && sinceMs !== null && endedAtMs !== null && endedAtMs < sinceMs
    if (isLongSettled) return null
    this.#parts.counters.rowRead()
    this.#parts.onMarket(listing, { tradingEndsAtMs, grid, shard })
    return listing
  }

  /** Changes the listing's status to closed if its exchange shard is halted, because market rows do not show halts. */
  #withShardStatus(listing: ReadListing, shard: number | null): ReadListing {
    this.#parts.shards.noteOf(shard, listing.nativeId)
    if (listing.status !== 'open' || this.#parts.shards.isTrading(shard)) return listing
    return { ...listing, status: 'closed' }
  }

  /** Returns unknown fees if the event was not read, because an event may override the fees of its series. */
  #feesOf(row: unknown, event: EventListing | null): MarketFees {
    const series = event?.series ?? null
    const cachedSeries = series === null ? undefined : this.#series.get(series)
    if (event === null || cachedSeries === undefined || !isRecord(row)) return FEES_UNKNOWN
    noteFeeTerms(termsOf(event.native, '_override'), event.nativeId, this.#parts.counters.drift)
    return this.#parts.fees.of(
      row,
      { ticker: event.nativeId, row: event.native },
      { ticker: cachedSeries.ticker, terms: cachedSeries.fees, readAtMs: this.#seriesListedAtMs },
    )
  }

  async #fetchEvents(rows: readonly unknown[], signal: AbortSignal) {
    const missing = new Set<string>()
    for (const row of rows) {
      const ticker = isRecord(row) ? idOf(row.event_ticker) : null
      if (ticker !== null && isRecord(row) && !isComboRow(row)) missing.add(ticker)
    }
    const events = new Map<string, EventListing>()
    const take = (row: unknown) => {
      const event = parseEvent(row, this.#series)
      if (event.kind === 'rejected') return this.#reject(event, row)
      events.set(event.listing.nativeId, event.listing)
      missing.delete(event.listing.nativeId)
    }
    const tickers = [...missing]
    for (let start = 0; start < tickers.length; start += TICKERS_MAX) {
      const query = {
        tickers: tickers.slice(start, start + TICKERS_MAX).join(','),
        limit: EVENT_ROWS,
      }
      const answer = await this.#parts.http.getJson('/events', query, { signal })
      for (const row of listIn(answer, 'events', 'event')) take(row)
    }
    await this.#fetchSingleEvents([...missing].slice(0, SINGLE_EVENTS_MAX), take, signal)
    if (missing.size > 0) this.#parts.counters.trouble('event_missing', { count: missing.size })
    return events
  }

  async #fetchSingleEvents(
    tickers: readonly string[],
    take: (row: unknown) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (const ticker of tickers) {
      const path = `/events/${encodeURIComponent(ticker)}`
      const answer = await getIfFound(this.#parts.http, path, {}, signal)
      if (isRecord(answer)) take(answer.event)
    }
  }

  async #readSeries(signal: AbortSignal): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs()
    await this.#parts.fees.read(signal)
    if (this.#seriesReadAtMs !== null && nowMs - this.#seriesReadAtMs < SERIES_AGE_MAX_MS) return
    const requestedAtMs = this.#parts.clock.nowMs()
    const rows = await this.#seriesRows(signal)
    if (rows === null) return
    const read = new Map<string, Series>()
    for (const row of rows) {
      const series = parseSeries(row)
      if (isRecord(row)) noteSeriesRow(row, this.#parts.counters.drift)
      if ('kind' in series) this.#reject(series, row)
      else read.set(series.ticker, series)
    }
    const missing = [...this.#series].filter(([ticker]) => !read.has(ticker))
    const expected = this.#series.size
    const reason = suspectListReason({ received: read.size, missing: missing.length, expected })
    // Series that the venue no longer lists stay cached, because their events still need the tags.
    this.#series = new Map([...missing, ...read])
    this.#seriesListedAtMs = requestedAtMs
    if (reason === null) this.#seriesReadAtMs = nowMs
    else {
      const detail = `${missing.length} of ${expected} series are not in it`
      this.#parts.counters.suspectAnswers.note(new SuspectAnswerError('series', reason, detail))
    }
  }

  /** Null if the list is unavailable or malformed. The catalogue can be read without it. */
  async #seriesRows(signal: AbortSignal): Promise<readonly unknown[] | null> {
    try {
      return listIn(await this.#parts.http.getJson('/series', {}, { signal }), 'series', 'series')
    } catch (error) {
      if (error instanceof SuspectAnswerError) this.#parts.counters.suspectAnswers.note(error)
      else if (!(error instanceof FetchError && isPermanent(error))) throw error
      this.#parts.counters.trouble('series_unread', { err: error })
      return null
    }
  }

  #reject(refusal: Rejected, row: unknown): void {
    // Combos and scalar markets are not supported. They are counted separately from unreadable rows.
    if (refusal.reason === 'combo') this.#parts.combos.note(row)
    if (refusal.reason === 'combo' || refusal.reason === 'not_binary') {
      this.#parts.counters.ignored(refusal.reason)
      return
    }
    this.#parts.counters.rowRefused(refusal.reason, sampleOf(row))
    if (refusal.reason === 'market_status' && isRecord(row)) {
      this.#parts.counters.drift.note('market.status', row.status, row.ticker)
    }
  }
}

function isPermanent({ kind, status = 0 }: FetchError): boolean {
  return kind === 'body' || (kind === 'status' && status < 500 && status !== 429)
}

function sampleOf(row: unknown): string {
  const id = isRecord(row) ? (row.ticker ?? row.event_ticker) : null
  return typeof id === 'string' ? `${id} ${JSON.stringify(row)}` : (JSON.stringify(row) ?? '')
}
