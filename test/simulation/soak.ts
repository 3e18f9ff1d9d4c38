// The whole service against the simulated venues, over real sockets and as real processes, for a set
// time at a set rate with faults; at the end the world is paused and everything is compared with the
// simulator's own truth: each book, over REST and as a subscriber rebuilt it, and each trade.
// Run by soak.test.ts (short) and by `npm run test:long` (five minutes at 5,000 messages a second).

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts, startProcess, type TestProcess } from '../support/processes.ts'
import { StreamFollower } from '../support/stream-follower.ts'

export interface SoakOptions {
  readonly seconds: number
  readonly messagesPerSecond: number
  readonly marketsPerVenue: number
  /** `on`, `off` or a list, as SIM_FAULTS. */
  readonly faults: string
  /** How long the service may take to get everything right once the world stands still. */
  readonly settleSecondsMax: number
  readonly say: (line: string) => void
}

export interface SoakReport {
  readonly booksCompared: number
  readonly booksWrong: readonly string[]
  readonly rebuiltWrong: readonly string[]
  readonly truthTrades: number
  readonly tradesMissing: readonly string[]
  /** True trades of the time of the subscription that its subscriber never saw. */
  readonly tradesUnstreamed: readonly string[]
  readonly tradesExtra: readonly string[]
  readonly tradesDoubled: readonly string[]
  readonly streamFaults: readonly string[]
  readonly settledAfterSeconds: number
  readonly stream: StreamFollower['counts']
  readonly exitCode: number | null
}

type Levels = readonly (readonly [number, number])[]
interface Truth {
  readonly bids: Levels
  readonly asks: Levels
}

interface Places {
  readonly gamma: string
  readonly api: string
  readonly key: string
}

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-soak-'))
  const processes: TestProcess[] = []
  try {
    const { places, engine } = await startBoth(options, folder, processes)
    const follower = new StreamFollower(
      `${places.api.replace('http', 'ws')}/v1/ws?api_key=${places.key}`,
    )
    await follower.follow('orderbook')
    await follower.follow('trades')
    const sinceMs = Date.now()
    options.say(`following ${follower.books.size} books for ${options.seconds} s`)
    await pause(options.seconds * 1_000)
    await read(`${places.gamma}/sim/state?action=pause`)
    const compared = await settle(places, follower, options, sinceMs)
    follower.close()
    const exitCode = await engine.end('SIGTERM')
    const { counts: stream, faults: streamFaults } = follower
    return { ...compared, stream, streamFaults, exitCode }
  } finally {
    for (const started of processes) await started.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startBoth(options: SoakOptions, folder: string, processes: TestProcess[]) {
  const port = await freePorts(11)
  const venues = startProcess('engine/commands/venues.ts', {
    SIM_MARKETS: String(options.marketsPerVenue),
    SIM_RATE: String(options.messagesPerSecond),
    SIM_FAULTS: options.faults,
    SIM_PORT: String(port),
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
  })
  processes.push(venues)
  await venues.line(/Kalshi key/, 30_000)
  const host = `127.0.0.1:${port}`
  const at = (step: number) => `127.0.0.1:${port + step}`
  const engine = startProcess('engine/main.ts', {
    VENUES: 'live',
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'warn',
    POLYMARKET_GAMMA_URL: `http://${host}`,
    POLYMARKET_CLOB_URL: `http://${at(1)}`,
    POLYMARKET_DATA_URL: `http://${at(2)}`,
    POLYMARKET_MARKET_WS_URL: `ws://${at(1)}/ws/market`,
    POLYMARKET_RTDS_WS_URL: `ws://${at(3)}`,
    KALSHI_REST_URL: `http://${at(10)}/trade-api/v2`,
    KALSHI_WS_URL: `ws://${at(10)}/trade-api/ws/v2`,
    KALSHI_KEY_ID: 'sim',
    KALSHI_PRIVATE_KEY_FILE: join(folder, 'sim-kalshi.pem'),
  })
  processes.push(engine)
  const [, api = ''] = await engine.line(/listens at (http:\S+)/, 60_000)
  const key = readFileSync(join(folder, 'data', 'local-key'), 'utf8').trim()
  return { places: { gamma: `http://${host}`, api, key }, engine }
}

/** JSON from a URL; the simulated venues' faults (429, HTML) are asked again. */
async function read<Answer>(url: string, key?: string): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url, key === undefined ? {} : { headers: { 'X-API-Key': key } })
    if (response.ok) return JSON.parse(await response.text())
    if (tries === 20) throw new Error(`${url} answered ${response.status}`)
    await pause(100)
  }
}

/** Compares until everything is right or the time is up. */
async function settle(
  places: Places,
  follower: StreamFollower,
  options: SoakOptions,
  sinceMs: number,
) {
  const startedAtMs = performance.now()
  for (;;) {
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    const books = await compareBooks(places, follower)
    const trades = await compareTrades(places, follower, sinceMs)
    const differing = books.booksWrong.length + books.rebuiltWrong.length
    const missing = trades.tradesMissing.length + trades.tradesUnstreamed.length
    if ((differing === 0 && missing === 0) || seconds > options.settleSecondsMax) {
      return { ...books, ...trades, settledAfterSeconds: seconds }
    }
    options.say(`${differing} books differ and ${missing} trades lack after ${seconds} s`)
    await pause(5_000)
  }
}

async function compareBooks(places: Places, follower: StreamFollower) {
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

/** When each true trade was, by unified market and native id as decisions.md section 5 spells it. */
async function truthOfTrades(places: Places): Promise<Map<string, number>> {
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
async function compareTrades(places: Places, follower: StreamFollower, sinceMs: number) {
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
  const streamed = new Set([...follower.trades.keys()].map((name) => name.toLowerCase()))
  const streamedTwice = [...follower.trades].filter(([, count]) => count > 1).map(([name]) => name)
  return {
    truthTrades: truth.size,
    tradesMissing: due.filter((name) => !served.has(name)),
    tradesUnstreamed: due.filter((name) => !streamed.has(name)),
    tradesExtra: [...served.keys()].filter((name) => !truth.has(name)),
    tradesDoubled: [
      ...[...served].filter(([, count]) => count > 1).map(([name]) => name),
      ...streamedTwice,
    ],
  }
}

async function allMarketIds(places: Places): Promise<string[]> {
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
