// Opens Kalshi: with a key over its socket, without a key over its public REST API.

import { HttpClient } from '../../fetch.ts'
import { Drift } from '../drift/drift.ts'
import type { FrameTap } from '../socket-feed.ts'
import type { Venue, VenueParts, WatchedMarket } from '../venue.ts'
import { VenueCounters } from '../venue-counters.ts'
import { BOOKS_PATH, booksWithinLimits, KalshiBudget } from './budget.ts'
import { KalshiCatalog } from './catalog/catalog.ts'
import { KalshiFees } from './catalog/fees.ts'
import { KalshiPastPrices } from './catalog/past-prices.ts'
import { parseOrderbookRow, rowsOf } from './catalog/rest-rows.ts'
import { Shards } from './catalog/shards.ts'
import { StatusTimers } from './catalog/status-timers.ts'
import { readTeams } from './catalog/teams.ts'
import { Combos } from './combos.ts'
import { kalshiProbes } from './drift-checks.ts'
import { KALSHI } from './facts.ts'
import { KalshiFeed } from './feed.ts'
import type { SocketAccess } from './kalshi-socket.ts'
import { MarketTerms } from './market-terms.ts'
import type { OrderbookSnapshot } from './messages.ts'
import { PollingFeed } from './polling.ts'
import { KalshiSigner } from './signing.ts'
import { TradeReader } from './trades/trade-reader.ts'

interface KalshiOptions {
  /** Base URL, including /trade-api/v2. */
  readonly restUrl: string
  /** Full URL, including /trade-api/ws/v2. */
  readonly wsUrl: string
  readonly keyId: string | null
  readonly privateKeyPem: string | null
  readonly tap?: FrameTap
}

/** First delay of all requests after a 429, which has no Retry-After. It doubles with each failure of a request. */
const BUSY_WAIT_MS = 500
const TIMEOUT_MS = 15_000
const BODY_BYTES_MAX = 64 * 1024 * 1024
const RETRIES = 4

/** Throws an Error if the key cannot be read. */
export function openKalshi(parts: VenueParts, options: KalshiOptions): Venue {
  const { clock, random, metrics } = parts
  const log = parts.log.child({ part: 'kalshi' })
  const { keyId, privateKeyPem, tap } = options
  const signer =
    keyId === null || privateKeyPem === null
      ? null
      : new KalshiSigner({ keyId, privateKeyPem, clock })
  const drift = new Drift({ venue: KALSHI, clock, log, metrics })
  const budget = new KalshiBudget({ clock, isKeyed: signer !== null })
  const http = new HttpClient({
    ...{ clock, random, log, metrics },
    ...(signer === null
      ? {}
      : { headers: (method: string, path: string) => signer.headers(method, path) }),
    baseUrl: options.restUrl,
    name: 'kalshi',
    watch: drift,
    limiter: budget,
    busyWaitMs: BUSY_WAIT_MS,
    timeoutMs: TIMEOUT_MS,
    bodyBytesMax: BODY_BYTES_MAX,
    retries: RETRIES,
  })
  drift.probes.add(kalshiProbes({ http, drift }))
  const counters = new VenueCounters({ venue: 'b', log, metrics, drift })
  const combos = new Combos()
  const trades = new TradeReader({ http, counters, tap, combos, clock })
  const timers = new StatusTimers({ clock, emit: parts.emit })
  const terms = new MarketTerms()
  const shards = new Shards({
    http,
    clock,
    counters,
    onChange: (shard, isTrading) => timers.noteHalt(terms.tickersOf(shard), isTrading),
  })
  const fees = new KalshiFees({ http, clock, counters })
  const catalog = new KalshiCatalog({
    ...{ http, clock, counters, fees, combos, shards },
    onMarket: (listing, rowTerms) => {
      const { nativeId, status, openAtMs } = listing
      terms.note(nativeId, status === 'resolved' ? null : rowTerms)
      timers.correct(nativeId, { status, openAtMs, closeAtMs: rowTerms.tradingEndsAtMs })
    },
  })
  const tradingEndOf = (market: WatchedMarket) => terms.tradingEndOf(market)
  const shared = { ...parts, log, http, budget, trades, timers, fees, tradingEndOf }
  const access = (by: KalshiSigner): SocketAccess => ({
    ...{ tap, counters, combos, terms, url: () => options.wsUrl },
    headers: () => by.headers('GET', new URL(options.wsUrl).pathname),
    fetchBook: (ticker) => fetchBook(http, ticker),
  })
  const feed =
    signer === null
      ? new PollingFeed({ ...shared, counters, tap })
      : new KalshiFeed({ ...shared, access: access(signer) })
  const pastPrices = new KalshiPastPrices({ http, clock, counters })
  const teams = (signal: AbortSignal) => readTeams({ http, counters }, signal)
  return {
    ...{ key: 'b', catalog, feed, pastPrices, teams, wallets: null, drift },
    booksWithinLimits: booksWithinLimits(signer !== null),
  }
}

async function fetchBook(http: HttpClient, ticker: string): Promise<OrderbookSnapshot | null> {
  try {
    const answer = await http.getJson(BOOKS_PATH, { tickers: [ticker] })
    const book = parseOrderbookRow(rowsOf(answer, 'orderbooks')[0])
    return book.kind === 'rejected' ? null : book
  } catch {
    return null
  }
}
