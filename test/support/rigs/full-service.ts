// Runs the complete service and the simulated venues as real processes, and compares the service's data with the
// simulator's state.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Simulator } from '../../../engine/venues/simulator/simulator.ts'
import type { StreamFollower } from '../clients/stream-follower.ts'
import { freePorts, startProcess, type TestProcess } from './processes.ts'

interface WorldOptions {
  readonly messagesPerSecond: number
  readonly marketsPerVenue: number
  /** `on`, `off` or a list of faults. */
  readonly faults: string
}

export interface ServiceLocations {
  readonly gamma: string
  readonly api: string
  readonly key: string
}

type Levels = readonly (readonly [number, number])[]
interface Truth {
  readonly bids: Levels
  readonly asks: Levels
}

export const venueSettings = (urls: Simulator['urls']) => ({
  POLYMARKET_GAMMA_URL: urls.gamma,
  POLYMARKET_CLOB_URL: urls.clob,
  POLYMARKET_DATA_URL: urls.data,
  POLYMARKET_MARKET_WS_URL: urls.marketWs,
  POLYMARKET_RTDS_WS_URL: urls.rtdsWs,
  KALSHI_REST_URL: urls.kalshiRest,
  KALSHI_WS_URL: urls.kalshiWs,
})

/** The venues keep running while engines start and stop on one data folder. */
export class Rig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinbook-rig-'))
  readonly #processes: TestProcess[] = []
  #port = 0

  get gamma(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get dataDir(): string {
    return join(this.#folder, 'data')
  }

  async startVenues(options: WorldOptions): Promise<TestProcess> {
    this.#port = await freePorts(11)
    const venues = startProcess('engine/app/commands/venues.ts', {
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

  /** Resolves when the engine listens. */
  async startEngine(
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ engine: TestProcess; locations: ServiceLocations }> {
    const engine = this.spawnEngine(env)
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    const key = readFileSync(join(this.dataDir, 'local-key'), 'utf8').trim()
    return { engine, locations: { gamma: this.gamma, api, key } }
  }

  /** Like `startEngine`, but does not wait. */
  spawnEngine(env: Readonly<Record<string, string>> = {}): TestProcess {
    const at = (step: number) => `127.0.0.1:${this.#port + step}`
    const engine = startProcess('engine/app/start.mjs', {
      VENUES: 'live',
      PORT: '0',
      DATA_DIR: this.dataDir,
      SIGNUPS_PER_HOUR: '1000',
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
    return engine
  }

  /** The simulator runs in the test's process. `others` replaces some of its addresses. */
  startEngineBeside(
    { urls, kalshiPrivateKeyPem }: Simulator,
    others: Partial<Simulator['urls']> = {},
  ) {
    const at = { ...urls, ...others }
    writeFileSync(join(this.#folder, 'sim-kalshi.pem'), kalshiPrivateKeyPem)
    return this.startEngine(venueSettings(at))
  }

  /** Comparisons are exact only while the simulated world is paused. */
  async flow(action: 'pause' | 'resume'): Promise<void> {
    await read(`${this.gamma}/sim/state?action=${action}`)
  }

  async close(): Promise<void> {
    for (const started of this.#processes) await started.end('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Interval between polls of real processes, and between retries when a server is overloaded. */
export const beforeAgain = (): Promise<void> => pause(100)

/** Returned in place of a response when the connection failed. */
const BROKEN = { status: 500, statusText: 'no answer' }

/** Retries faults of the simulated venues (HTML) and overloaded servers (429, 503). */
export async function read<Answer>(url: string, key?: string): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const headers = key === undefined ? {} : { headers: { 'X-API-Key': key } }
    // A keep-alive connection may belong to a process that has ended.
    const response = await fetch(url, headers).catch((error) => new Response(String(error), BROKEN))
    const text = await response.text()
    if (response.ok) return JSON.parse(text)
    if (response.status === 429 || response.status === 503) tries -= 1
    else if (tries === 20)
      throw new Error(`${url} answered ${response.status} ${text.slice(0, 100)}`)
    await beforeAgain()
  }
}

/** Compares books that are open and have changed. `follower` has books from the stream. */
export async function compareBooks(locations: ServiceLocations, follower: StreamFollower | null) {
  const booksWrong: string[] = []
  const rebuiltWrong: string[] = []
  let booksCompared = 0
  for (const venue of ['a', 'b']) {
    const url = `${locations.gamma}/sim/state?view=books&venue=${venue}`
    const { books } = await read<{ books: Record<string, Truth> }>(url)
    for (const [nativeId, truth] of Object.entries(books)) {
      const id = `venue_${venue}_${nativeId}`
      booksCompared += 1
      const book = await read<{ bids: Row[]; asks: Row[]; stale: boolean }>(
        `${locations.api}/v1/markets/${encodeURIComponent(id)}/orderbook`,
        locations.key,
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

/** The service's id of a fill at venue a. `n` is the number of earlier equal fills in its transaction. */
function nameOfFill(fill: TruthTrade, n: number): string {
  const { native_id, tx_hash, token, taker, side, size_micros, price_micros } = fill
  const id = [tx_hash, token, taker, side, size_micros, price_micros, n].join('-')
  return `venue_a_${native_id} ${id}`.toLowerCase()
}

/** The common prefix of the ids of a transaction's trades at venue a. Each trade at venue b has its own. */
const orderOf = (name: string): string =>
  name.startsWith('venue_a') ? (name.split('-', 1)[0] ?? '') : name

/** Keyed by unified market id and native trade id. */
export async function truthOfTrades(
  locations: Pick<ServiceLocations, 'gamma'>,
): Promise<Map<string, number>> {
  const truth = new Map<string, number>()
  for (const venue of ['a', 'b']) {
    for (let from = 0; ; ) {
      const url = `${locations.gamma}/sim/state?view=trades&venue=${venue}&from_index=${from}`
      const page = await read<{ trades: TruthTrade[]; next_index: number; total: number }>(url)
      for (const trade of page.trades) {
        let name = `venue_b_${trade.native_id} ${trade.id}`.toLowerCase()
        if (venue === 'a') {
          let n = 0
          while (truth.has(nameOfFill(trade, n))) n += 1
          name = nameOfFill(trade, n)
        }
        truth.set(name, trade.at_ms)
      }
      from = page.next_index
      if (from >= page.total) break
    }
  }
  return truth
}

/** The contracts of a fill at venue a in millionths, as contained in its id. */
const microsOf = (name: string): number => Number(name.split('-').at(-3))

/** Trades before the first start of the service may be missing. */
export async function compareTrades(
  locations: ServiceLocations,
  follower: Pick<StreamFollower, 'trades'> | null,
  sinceMs: number,
) {
  const truth = await truthOfTrades(locations)
  const served = new Map<string, number>()
  const contracts = new Map<string, number>()
  for (const id of await allMarketIds(locations)) {
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${locations.api}/v1/markets/${encodeURIComponent(id)}/trades?limit=500${after}`
      const page: { trades: { native_trade_id: string; size: number }[]; cursor: string | null } =
        await read(url, locations.key)
      for (const trade of page.trades) {
        const name = `${id} ${trade.native_trade_id}`.toLowerCase()
        served.set(name, (served.get(name) ?? 0) + 1)
        const order = orderOf(name)
        contracts.set(order, (contracts.get(order) ?? 0) + Math.round(trade.size * 1e6))
      }
      cursor = page.cursor
    } while (cursor !== null)
  }
  const merged = mergedOrders(truth.keys(), served, contracts)
  const due = [...truth].filter(([, atMs]) => atMs >= sinceMs).map(([name]) => name)
  const streamedCounts = [...(follower?.trades ?? [])]
  const streamed = new Set(streamedCounts.map(([name]) => name.toLowerCase()))
  const streamedOrders = new Set([...streamed].map(orderOf))
  const isStreamed = (name: string) =>
    merged.has(orderOf(name)) ? streamedOrders.has(orderOf(name)) : streamed.has(name)
  const streamedTwice = streamedCounts.filter(([, count]) => count > 1).map(([name]) => name)
  const isMerged = (name: string) => merged.has(orderOf(name))
  return {
    truth,
    truthTrades: truth.size,
    tradesMissing: due.filter((name) => !served.has(name) && !isMerged(name)),
    tradesUnstreamed: follower === null ? [] : due.filter((name) => !isStreamed(name)),
    tradesExtra: [...served.keys()].filter((name) => !truth.has(name) && !isMerged(name)),
    tradesDoubled: [
      ...[...served].filter(([, count]) => count > 1).map(([name]) => name),
      ...streamedTwice,
    ],
    /**
     * After an outage the venue returns one row for each transaction, so the service has one trade instead of its
     * fills.
     */
    tradesMerged: due.filter(isMerged),
  }
}

/** Transactions whose fills are not served, but trades with the same sum of contracts. */
function mergedOrders(
  truth: Iterable<string>,
  served: ReadonlyMap<string, number>,
  contracts: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const orders = new Map<string, string[]>()
  for (const name of truth) {
    if (name.startsWith('venue_a'))
      orders.set(orderOf(name), [...(orders.get(orderOf(name)) ?? []), name])
  }
  const merged = new Set<string>()
  for (const [order, fills] of orders) {
    const micros = fills.reduce((sum, name) => sum + microsOf(name), 0)
    const isComplete = Math.abs(micros - (contracts.get(order) ?? 0)) <= 2
    if (isComplete && fills.some((name) => !served.has(name))) merged.add(order)
  }
  return merged
}

export async function allMarketIds(locations: ServiceLocations): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const url = `${locations.api}/v1/markets?limit=200${after}`
    const page: { markets: { id: string }[]; cursor: string | null } = await read(
      url,
      locations.key,
    )
    ids.push(...page.markets.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  return ids
}

/** Repeats the comparison until it finds no difference or the time is over. */
export async function settle(
  locations: ServiceLocations,
  follower: StreamFollower | null,
  options: { sinceMs: number; secondsMax: number; say: (line: string) => void },
) {
  const startedAtMs = performance.now()
  for (;;) {
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    const books = await compareBooks(locations, follower)
    const trades = await compareTrades(locations, follower, options.sinceMs)
    const differing = books.booksWrong.length + books.rebuiltWrong.length
    const missing = trades.tradesMissing.length + trades.tradesUnstreamed.length
    if ((differing === 0 && missing === 0) || seconds > options.secondsMax) {
      return { ...books, ...trades, settledAfterSeconds: seconds }
    }
    options.say(`${differing} books differ and ${missing} trades lack after ${seconds} s`)
    await pause(5_000)
  }
}
