// Opens the venue that speaks Kalshi's protocol: with a key its socket, without one its public REST.
// Not for: which hosts and keys (engine/config.ts decides).

import { HttpClient } from '../../fetch.ts'
import type { TimeMs } from '../../units.ts'
import type { FrameTap } from '../feed.ts'
import { TokenBucket } from '../rate-limit.ts'
import type { Venue, VenueParts, WatchedMarket } from '../venue.ts'
import type { SocketAccess } from './book/socket.ts'
import { KalshiCatalog } from './catalog/catalog.ts'
import { KalshiHistory } from './catalog/price-history.ts'
import { StatusTimers } from './catalog/status-timers.ts'
import { readTeams } from './catalog/teams.ts'
import { KalshiFeed } from './feed.ts'
import { PollingFeed } from './polling.ts'
import { KalshiSigner } from './signing.ts'
import { Tally } from './stream.ts'
import { TradeReader } from './trades/trades.ts'

export interface KalshiOptions {
  /** Including /trade-api/v2. */
  readonly restUrl: string
  /** Including /trade-api/ws/v2. */
  readonly wsUrl: string
  /** Both null: no key. */
  readonly keyId: string | null
  readonly privateKeyPem: string | null
  readonly tap?: FrameTap
}

/** The basic tier allows 20 requests a second and holds two seconds of them; we leave head-room. */
const REQUESTS_PER_SECOND = 16
const REQUESTS_BURST = 24
const TIMEOUT_MS = 15_000
const BODY_BYTES_MAX = 64 * 1024 * 1024
const RETRIES = 4

/** Throws an Error only when the key cannot be read: a wrong configuration, told at the start. */
export function openKalshi(parts: VenueParts, options: KalshiOptions): Venue {
  const { clock, random, metrics } = parts
  const log = parts.log.child({ part: 'kalshi' })
  const { keyId, privateKeyPem, tap } = options
  const signer =
    keyId === null || privateKeyPem === null
      ? null
      : new KalshiSigner({ keyId, privateKeyPem, clock })
  const http = new HttpClient({
    ...{ clock, random, log, metrics },
    ...(signer === null
      ? {}
      : { headers: (method: string, path: string) => signer.headers(method, path) }),
    baseUrl: options.restUrl,
    name: 'kalshi',
    limiter: new TokenBucket({
      tokensPerSecond: REQUESTS_PER_SECOND,
      burst: REQUESTS_BURST,
      clock,
    }),
    timeoutMs: TIMEOUT_MS,
    bodyBytesMax: BODY_BYTES_MAX,
    retries: RETRIES,
  })
  const tally = new Tally(metrics, log)
  const trades = new TradeReader({ http, tally, tap, nowMs: () => clock.nowMs() })
  const timers = new StatusTimers({ clock, emit: parts.emit })
  const ends = new TradingEnds()
  const catalog = new KalshiCatalog({
    ...{ http, clock, tally },
    onMarket: (listing, tradingEndsAtMs) => {
      const { nativeId, status, openAtMs } = listing
      ends.note(nativeId, status === 'resolved' ? null : tradingEndsAtMs)
      timers.correct(nativeId, { status, openAtMs, closeAtMs: tradingEndsAtMs })
    },
  })
  const tradingEndOf = (market: WatchedMarket) => ends.of(market)
  const shared = { ...parts, log, http, trades, timers, tradingEndOf }
  const feed =
    signer === null
      ? new PollingFeed({ ...shared, tally, tap })
      : new KalshiFeed({ ...shared, access: accessOf(signer, options, tally) })
  const history = new KalshiHistory({ http, clock, tally })
  const teams = (signal: AbortSignal) => readTeams({ http, tally }, signal)
  return { key: 'b', catalog, feed, history, teams, wallets: null }
}

function accessOf(signer: KalshiSigner, options: KalshiOptions, tally: Tally): SocketAccess {
  const path = new URL(options.wsUrl).pathname
  return {
    url: () => options.wsUrl,
    headers: () => signer.headers('GET', path),
    tap: options.tap,
    tally,
  }
}

/**
 * When trading really ends. A listing of a game says when the game ends, which is what users ask
 * for, but a timer that closed the market then would be wrong in every overtime. Bounded by the
 * catalogue: resolved markets are forgotten.
 */
class TradingEnds {
  readonly #endsAtMs = new Map<string, TimeMs>()

  note(ticker: string, atMs: TimeMs | null): void {
    if (atMs === null) this.#endsAtMs.delete(ticker)
    else this.#endsAtMs.set(ticker, atMs)
  }

  /** Null when the catalogue was not read yet: no timer is better than a wrong one. */
  of(market: WatchedMarket): TimeMs | null {
    return this.#endsAtMs.get(market.nativeId) ?? null
  }
}
