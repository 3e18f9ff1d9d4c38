// Opens Polymarket. Requests to each host stay below the venue's limit (README.md, Limits).

import type { PolymarketUrls } from '../../config.ts'
import { type AnswerWatch, HttpClient, type RequestLimiter } from '../../fetch.ts'
import { Drift } from '../drift/drift.ts'
import { TokenBucket } from '../rate-limit.ts'
import type { Venue, VenueParts } from '../venue.ts'
import { VenueCounters } from '../venue-counters.ts'
import { PolymarketCatalog } from './catalog/catalog.ts'
import { PolymarketFees } from './catalog/fees.ts'
import { PolymarketOpenInterest } from './catalog/open-interest.ts'
import { PolymarketPastPrices } from './catalog/past-prices.ts'
import { readTeams } from './catalog/teams.ts'
import { DataApi } from './data-api.ts'
import { polymarketProbes } from './drift-checks.ts'
import { POLYMARKET } from './facts.ts'
import { PolymarketFeed, type PolymarketFeedOptions } from './feed.ts'
import { readPositions } from './wallets/positions.ts'
import { readProfile } from './wallets/profile.ts'
import { readWalletHistory } from './wallets/wallet-history.ts'

const MIB = 1024 * 1024
/** The venue's limits per second: 50 for /events, 50 for /books, 30 for /v2/trades, 80 for the whole Data API. */
const LIMITS = {
  gamma: { tokensPerSecond: 30, burst: 30, bodyBytesMax: 64 * MIB, timeoutMs: 20_000 },
  clob: { tokensPerSecond: 30, burst: 30, bodyBytesMax: 32 * MIB, timeoutMs: 10_000 },
  data: { tokensPerSecond: 20, burst: 20, bodyBytesMax: 32 * MIB, timeoutMs: 15_000 },
} as const
/** Limit of wallet requests for /v2/trades. The remaining part of the venue's limit is reserved for the trade feed. */
const WALLET_TRADES = { tokensPerSecond: 10, burst: 16 } as const
/**
 * Limit of other wallet requests: two thirds of the venue's 20 for /v2/activity. No other part of the feed uses this
 * path.
 */
const ACTIVITY = { tokensPerSecond: 13, burst: 20 } as const
/** Limit for /v2/positions: a quarter of the venue's 20, so that comparisons delay no other request. */
const POSITIONS = { tokensPerSecond: 5, burst: 5 } as const
/** Polymarket documents no limit of connections or tokens. With 400 tokens each, 100 connections suffice. */
const BOOKS_WITHIN_LIMITS = { count: 20_000, because: '100 connections of 200 markets' }
const RETRIES = 4

/** Sends no request until the catalogue is read or the feed starts. */
export function openPolymarket(
  parts: VenueParts,
  hosts: PolymarketUrls,
  options: PolymarketFeedOptions = {},
): Venue {
  const { clock, log, metrics } = parts
  const drift = new Drift({ venue: POLYMARKET, clock, log, metrics })
  const clients = openClients(parts, hosts, drift)
  const counters = new VenueCounters({ venue: 'a', log, metrics, drift })
  const dataApi = new DataApi({ client: clients.data, drift })
  const { gamma, clob } = clients
  const fees = new PolymarketFees({ clob, clock, counters, emit: parts.emit })
  const interest = new PolymarketOpenInterest({ data: dataApi, clock, counters, emit: parts.emit })
  const feed = new PolymarketFeed({
    venue: parts,
    counters,
    clob,
    data: dataApi,
    marketWs: hosts.marketWs,
    rtdsWs: hosts.rtdsWs,
    onFees: (market, stated) => fees.note(market, stated),
    pollers: [fees, interest],
    clients: Object.values(clients),
    options,
  })
  drift.probes.add(polymarketProbes({ gamma, data: clients.data, drift, log }))
  const completed: PolymarketFees['completed'] = (market) =>
    interest.completed(fees.completed(market))
  const catalog = new PolymarketCatalog({ clock, gamma, counters, fees: { completed } })
  const getJson: HttpClient['getJson'] = (path, query, call) => {
    const client = path === '/v2/trades' ? clients.walletTrades : clients.wallets
    return client.getJson(path, query, call)
  }
  const walletParts = { clock, gamma, data: new DataApi({ client: { getJson }, drift }), counters }
  const comparing = { data: new DataApi({ client: clients.walletPositions, drift }), counters }
  return {
    key: 'a',
    drift,
    booksWithinLimits: BOOKS_WITHIN_LIMITS,
    wallets: {
      profile: (address, signal) => readProfile(walletParts, address, signal),
      history: (query, onEvents, signal) => readWalletHistory(walletParts, query, onEvents, signal),
      positions: (address, signal) => readPositions(comparing, address, signal),
      group: (market, signal) => catalog.group(market, signal),
      follow: (address) => feed.followed.follow(address),
      unfollow: (address) => feed.followed.unfollow(address),
    },
    catalog,
    pastPrices: new PolymarketPastPrices({ clob, counters }),
    teams: (signal) => readTeams({ gamma, counters }, signal),
    feed,
  }
}

function openClients(parts: VenueParts, hosts: PolymarketUrls, watch: AnswerWatch) {
  const { clock, random, log, metrics } = parts
  const client = (host: keyof typeof LIMITS, limiter: RequestLimiter, name: string = host) => {
    const { bodyBytesMax, timeoutMs } = LIMITS[host]
    return new HttpClient({
      baseUrl: hosts[host],
      name,
      limiter,
      watch,
      bodyBytesMax,
      timeoutMs,
      retries: RETRIES,
      clock,
      random,
      log,
      metrics,
    })
  }
  const bucket = (limits: { tokensPerSecond: number; burst: number }) =>
    new TokenBucket({ tokensPerSecond: limits.tokensPerSecond, burst: limits.burst, clock })
  const dataBucket = bucket(LIMITS.data)
  const walletBucket = bucket(WALLET_TRADES)
  const walletShare: RequestLimiter = {
    take: async (signal) => {
      await walletBucket.take(signal)
      await dataBucket.take(signal)
    },
  }
  return {
    gamma: client('gamma', bucket(LIMITS.gamma)),
    clob: client('clob', bucket(LIMITS.clob)),
    data: client('data', dataBucket),
    wallets: client('data', bucket(ACTIVITY), 'wallets'),
    walletTrades: client('data', walletShare, 'wallet_trades'),
    walletPositions: client('data', bucket(POSITIONS), 'wallet_positions'),
  }
}
