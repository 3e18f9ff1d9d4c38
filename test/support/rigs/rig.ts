// The whole service beside the simulated venues, as real processes over real sockets, and the comparison of
// what it serves with the simulator's own truth (GET /sim/state). Used by the tests under test/simulation/
// and by benches. Not for: single parts, which have tests of their own.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { StreamFollower } from '../clients/stream-follower.ts'
import { freePorts, startProcess, type TestProcess } from './processes.ts'

/** Settings of the simulated venues, as their environment variables take them. */
export interface WorldOptions {
  readonly messagesPerSecond: number
  readonly marketsPerVenue: number
  /** `on`, `off` or a list. */
  readonly faults: string
}

/** Where a running engine is. */
export interface Places {
  readonly gamma: string
  readonly api: string
  readonly key: string
}

type Levels = readonly (readonly [number, number])[]
interface Truth {
  readonly bids: Levels
  readonly asks: Levels
}

/** Venues that keep running, and engines that come and go on one data folder. */
export class Rig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinbook-rig-'))
  readonly #processes: TestProcess[] = []
  #port = 0

  get gamma(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The engine's data folder. */
  get dataDir(): string {
    return join(this.#folder, 'data')
  }

  async startVenues(options: WorldOptions): Promise<TestProcess> {
    this.#port = await freePorts(11)
    const venues = startProcess('engine/commands/venues.ts', {
      SIM_MARKETS: String(options.marketsPerVenue),
      SIM_RATE: String(options.messagesPerSecond),
      SIM_FAULTS: options.faults,
      SIM_PORT: String(this.#port),
      DATA_DIR: this.#folder,
      LOG_LEVEL: 'warn',
    })
    this.#processes.push(venues)
    await venues.line(/Kalshi key/)
    return venues
  }

  /** An engine against these venues, told they are the live ones; resolves when it listens. */
  async startEngine(
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ engine: TestProcess; places: Places }> {
    const at = (step: number) => `127.0.0.1:${this.#port + step}`
    const engine = startProcess('engine/main.ts', {
      VENUES: 'live',
      PORT: '0',
      DATA_DIR: this.dataDir,
      LOG_LEVEL: 'warn',
      POLYMARKET_GAMMA_URL: this.gamma,
      POLYMARKET_CLOB_URL: `http://${at(1)}`,
      POLYMARKET_DATA_URL: `http://${at(2)}`,
      POLYMARKET_MARKET_WS_URL: `ws://${at(1)}/ws/market`,
      POLYMARKET_RTDS_WS_URL: `ws://${at(3)}`,
      KALSHI_REST_URL: `http://${at(10)}/trade-api/v2`,
      KALSHI_WS_URL: `ws://${at(10)}/trade-api/ws/v2`,
      KALSHI_KEY_ID: 'sim',
      KALSHI_PRIVATE_KEY_FILE: join(this.#folder, 'sim-kalshi.pem'),
      ...env,
    })
    this.#processes.push(engine)
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    const key = readFileSync(join(this.dataDir, 'local-key'), 'utf8').trim()
    return { engine, places: { gamma: this.gamma, api, key } }
  }

  /** Stops or restarts the world's flow, so that a comparison is exact. */
  async flow(action: 'pause' | 'resume'): Promise<void> {
    await read(`${this.gamma}/sim/state?action=${action}`)
  }

  /** Ends everything, whatever state it is in. */
  async close(): Promise<void> {
    for (const started of this.#processes) await started.end('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** JSON from a URL; the simulated venues' faults (429, HTML) are asked again. */
export async function read<Answer>(url: string, key?: string): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url, key === undefined ? {} : { headers: { 'X-API-Key': key } })
    if (response.ok) return JSON.parse(await response.text())
    if (tries === 20) throw new Error(`${url} answered ${response.status}`)
    await pause(100)
  }
}

/** Open books with a history, over REST and, given a follower, as it rebuilt them. */
export async function compareBooks(places: Places, follower: StreamFollower | null) {
  const booksWrong: string[] = []
  const rebuiltWrong: string[] = []
  let booksCompared = 0
  for (const venue of ['a', 'b']) {
    const url = `${places.gamma}/sim/state?view=books&venue=${venue}`
    const { books } = await read<{ books: Record<string, Truth> }>(url)
    for (const [nativeId, truth] of Object.entries(books)) {
      const id = `venue_${venue}_${nativeId}`
      booksCompared += 1
      const book = await read<{ bids: Row[]; asks: Row[]; stale: boolean }>(
        `${places.api}/v1/markets/${encodeURIComponent(id)}/orderbook`,
        places.key,
      )
      const served = { bids: micros(book.bids), asks: micros(book.asks) }
      if (book.stale) booksWrong.push(`${id}: stale`)
      else if (!isEqual(served, truth)) booksWrong.push(`${id}: ${difference(served, truth)}`)
      if (follower === null) continue
      const followed = follower.books.get(id)
      const rebuilt = { bids: followed?.levels('bids') ?? [], asks: followed?.levels('asks') ?? [] }
      if (!isEqual(rebuilt, truth)) rebuiltWrong.push(`${id}: ${difference(rebuilt, truth)}`)
    }
  }
  return { booksCompared, booksWrong, rebuiltWrong }
}

interface Row {
  readonly price: number
  readonly size: number
}

const micros = (rows: readonly Row[]): Levels =>
  rows.map(({ price, size }) => [Math.round(price * 1e6), Math.round(size * 1e6)])

const isEqual = (one: Truth, other: Truth) =>
  JSON.stringify([one.bids, one.asks]) === JSON.stringify([other.bids, other.asks])

function difference(one: Truth, other: Truth): string {
  for (const side of ['bids', 'asks'] as const) {
    const right = new Map(other[side])
    for (const [price, size] of one[side]) {
      if (right.get(price) !== size)
        return `${side} ${price}: ${size}, truly ${right.get(price) ?? 0}`
      right.delete(price)
    }
    for (const [price, size] of right) return `${side} ${price}: 0, truly ${size}`
  }
  return 'order of levels'
}

interface TruthTrade {
  readonly id: string
  readonly tx_hash: string
  readonly native_id: string
  readonly token: string
  readonly side: string
  readonly price_micros: number
  readonly size_micros: number
  readonly taker: string
  readonly at_ms: number
}

/** When each true trade was, by unified market and native id as both venues' trades spell it. */
export async function truthOfTrades(places: Places): Promise<Map<string, number>> {
  const truth = new Map<string, number>()
  const repeats = new Map<string, number>()
  for (const venue of ['a', 'b']) {
    for (let from = 0; ; ) {
      const url = `${places.gamma}/sim/state?view=trades&venue=${venue}&from_index=${from}`
      const page = await read<{ trades: TruthTrade[]; next_index: number; total: number }>(url)
      for (const trade of page.trades) {
        const row = `${trade.tx_hash}-${trade.token}-${trade.taker}-${trade.side.toUpperCase()}-${trade.size_micros}-${trade.price_micros}`
        const repeat = repeats.get(row) ?? 0
        repeats.set(row, repeat + 1)
        const nativeId = venue === 'a' ? `${row}-${repeat}` : trade.id
        truth.set(`venue_${venue}_${trade.native_id} ${nativeId}`.toLowerCase(), trade.at_ms)
      }
      from = page.next_index
      if (from >= page.total) break
    }
  }
  return truth
}

/** Trades before the subscription may be missing: nobody promised what was before the first start. */
export async function compareTrades(
  places: Places,
  follower: StreamFollower | null,
  sinceMs: number,
) {
  const truth = await truthOfTrades(places)
  const served = new Map<string, number>()
  for (const id of await allMarketIds(places)) {
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${places.api}/v1/markets/${encodeURIComponent(id)}/trades?limit=500${after}`
      const page: { trades: { native_trade_id: string }[]; cursor: string | null } = await read(
        url,
        places.key,
      )
      for (const trade of page.trades) {
        const name = `${id} ${trade.native_trade_id}`.toLowerCase()
        served.set(name, (served.get(name) ?? 0) + 1)
      }
      cursor = page.cursor
    } while (cursor !== null)
  }
  const due = [...truth].filter(([, atMs]) => atMs >= sinceMs).map(([name]) => name)
  const streamedCounts = [...(follower?.trades ?? [])]
  const streamed = new Set(streamedCounts.map(([name]) => name.toLowerCase()))
  const streamedTwice = streamedCounts.filter(([, count]) => count > 1).map(([name]) => name)
  return {
    truthTrades: truth.size,
    tradesMissing: due.filter((name) => !served.has(name)),
    tradesUnstreamed: follower === null ? [] : due.filter((name) => !streamed.has(name)),
    tradesExtra: [...served.keys()].filter((name) => !truth.has(name)),
    tradesDoubled: [
      ...[...served].filter(([, count]) => count > 1).map(([name]) => name),
      ...streamedTwice,
    ],
  }
}

/** Every listed market's unified id. */
export async function allMarketIds(places: Places): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const url = `${places.api}/v1/markets?limit=200${after}`
    const page: { markets: { id: string }[]; cursor: string | null } = await read(url, places.key)
    ids.push(...page.markets.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  return ids
}

/** Compares every few seconds until everything is right or the time is up. */
export async function settle(
  places: Places,
  follower: StreamFollower | null,
  options: { sinceMs: number; secondsMax: number; say: (line: string) => void },
) {
  const startedAtMs = performance.now()
  for (;;) {
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    const books = await compareBooks(places, follower)
    const trades = await compareTrades(places, follower, options.sinceMs)
    const differing = books.booksWrong.length + books.rebuiltWrong.length
    const missing = trades.tradesMissing.length + trades.tradesUnstreamed.length
    if ((differing === 0 && missing === 0) || seconds > options.secondsMax) {
      return { ...books, ...trades, settledAfterSeconds: seconds }
    }
    options.say(`${differing} books differ and ${missing} trades lack after ${seconds} s`)
    await pause(5_000)
  }
}
