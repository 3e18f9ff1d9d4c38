// Venue a, opened: its catalogue and teams over Gamma, past prices over the CLOB, and its feed over
// the CLOB, the Data API and two kinds of sockets, each host behind a token bucket below the venue's own limits (wire.md A9).

import { HttpClient } from '../../fetch.ts'
import { TokenBucket } from '../rate-limit.ts'
import type { Venue, VenueParts } from '../venue.ts'
import { PolymarketCatalog } from './catalog.ts'
import { PolymarketFeed, type PolymarketFeedOptions } from './feed.ts'
import { Intake } from './intake.ts'
import { OpenInterest } from './open-interest.ts'
import { PolymarketHistory } from './price-history.ts'
import { readTeams } from './teams.ts'

export interface PolymarketHosts {
  readonly gamma: string
  readonly clob: string
  readonly data: string
  readonly marketWs: string
  readonly rtdsWs: string
}

const MIB = 1024 * 1024
/**
 * Requests a second: two thirds of what the venue allows for /events (50), /books (50) and
 * /trades (20), since the venue delays before it refuses.
 */
const LIMITS = {
  gamma: { tokensPerSecond: 30, burst: 30, bodyBytesMax: 64 * MIB, timeoutMs: 20_000 },
  clob: { tokensPerSecond: 30, burst: 30, bodyBytesMax: 32 * MIB, timeoutMs: 10_000 },
  data: { tokensPerSecond: 13, burst: 20, bodyBytesMax: 32 * MIB, timeoutMs: 15_000 },
} as const
const RETRIES = 4

/** Opens the venue; nothing is sent before the catalogue is asked or the feed started. */
export function openPolymarket(
  parts: VenueParts,
  hosts: PolymarketHosts,
  options: PolymarketFeedOptions = {},
): Venue {
  const { clock, random, log, metrics } = parts
  const client = (name: keyof typeof LIMITS): HttpClient => {
    const { tokensPerSecond, burst, bodyBytesMax, timeoutMs } = LIMITS[name]
    return new HttpClient({
      baseUrl: hosts[name],
      name,
      limiter: new TokenBucket({ tokensPerSecond, burst, clock }),
      bodyBytesMax,
      timeoutMs,
      retries: RETRIES,
      clock,
      random,
      log,
      metrics,
    })
  }
  const clients = { gamma: client('gamma'), clob: client('clob'), data: client('data') }
  const feed = new PolymarketFeed({
    venue: parts,
    clob: clients.clob,
    data: clients.data,
    marketWs: hosts.marketWs,
    rtdsWs: hosts.rtdsWs,
    options,
  })
  const { gamma, clob } = clients
  const intake = new Intake({ log, metrics })
  const catalog = new PolymarketCatalog({ clock, gamma, intake })
  const interest = new OpenInterest({ clock, data: clients.data, intake, emit: parts.emit })
  return {
    key: 'a',
    catalog,
    history: new PolymarketHistory({ clob, intake }),
    teams: (signal) => readTeams({ gamma, intake }, signal),
    feed: {
      start: () => {
        feed.start()
        interest.start()
      },
      stop: async () => {
        const stopped = Promise.all([feed.stop(), interest.stop()])
        for (const each of Object.values(clients)) each.stop()
        await stopped
      },
      watch: (markets) => {
        feed.watch(markets)
        interest.watch(markets.map(({ nativeId }) => nativeId))
      },
      unwatch: (ids) => {
        feed.unwatch(ids)
        interest.unwatch(ids)
      },
      resync: (outcomes) => feed.resync(outcomes),
      fetchTrades: (range) => feed.fetchTrades(range),
      health: () => feed.health(),
    },
  }
}
