// A fake Data API with one wallet's history. Seeded events determine the rows. The host has the venue's limits, and
// faults that tests add.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FetchError, type Query } from '../../../engine/fetch.ts'
import {
  nativeMarketId,
  outcomeId,
  type WalletAddress,
  walletAddress,
} from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { WalletEvent, WalletRole } from '../../../engine/wallet.ts'

type StubRow = Readonly<Record<string, unknown>> & {
  readonly timestamp: number
  readonly transaction_hash: string
}

export interface StubPast {
  /** The true events, in the expected order. */
  readonly events: readonly WalletEvent[]
  /** Rows by second, oldest first. Transactions of a second are in any order. Rows of a transaction are in order. */
  readonly rows: readonly StubRow[]
  readonly takers: ReadonlySet<StubRow>
}

export const WALLET = addressOf(`0x${'ab'.repeat(20)}`)
export const PAST_START_S = 1_790_000_000

function addressOf(text: string): WalletAddress {
  const address = walletAddress(text)
  if (address === null) throw new TypeError(`no address: ${text}`)
  return address
}

interface ServedRows {
  readonly event: WalletEvent | null
  readonly rows: readonly StubRow[]
  readonly isTaker: boolean
}

/** `perSecond` is the number of transactions of each second. The seconds are `gap` apart. */
export function randomPast(
  seed: string,
  perSecond: readonly number[],
  gap: (random: Random) => number = (random) => 1 + random.below(40),
): StubPast {
  const random = seededRandom('wallet past', seed)
  const events: WalletEvent[] = []
  const rows: StubRow[] = []
  const takers = new Set<StubRow>()
  let second = PAST_START_S
  for (const count of perSecond) {
    const transactions = Array.from({ length: count }, () => {
      const hash = `0x${hex(random, 64)}`
      return { hash, served: transaction(random, { second, hash }) }
    })
    for (const { served: published } of transactions) {
      for (const one of published) {
        rows.push(...one.rows)
        if (one.isTaker) for (const row of one.rows) takers.add(row)
      }
    }
    transactions.sort((one, other) => (one.hash < other.hash ? -1 : 1))
    for (const { served: published } of transactions) {
      for (const { event } of published) if (event !== null) events.push(event)
    }
    second += gap(random)
  }
  return { events, rows, takers }
}

interface RowPosition {
  readonly second: number
  readonly hash: string
}

function transaction(random: Random, position: RowPosition): ServedRows[] {
  const dice = random.below(20)
  if (dice < 12) return fills(random, position)
  if (dice < 16) return [marketRow(random, position, random.pick(['split', 'merge', 'redeem']))]
  if (dice < 18) return [conversion(random, position)]
  return [payment(random, position)]
}

/** Some fills are equal to the previous fill in every field. */
function fills(random: Random, position: RowPosition): ServedRows[] {
  const published: ServedRows[] = []
  const role: WalletRole = random.below(2) === 0 ? 'taker' : 'maker'
  const count = 1 + random.below(3)
  while (published.length < count) {
    const before = published.at(-1)
    if (before !== undefined && random.below(2) === 0) {
      published.push({ ...before, rows: before.rows.map((row) => ({ ...row })) })
    } else published.push(fill(random, position, role))
  }
  return published
}

/** Size and dollars are integers. The price is their quotient in floating point, like the venue's price. */
function fill(random: Random, position: RowPosition, role: WalletRole): ServedRows {
  const size = 1_000 + random.below(2_000_000_000)
  const usd = 1 + random.below(size)
  const micros = Number((2_000_000n * BigInt(usd) + BigInt(size)) / (2n * BigInt(size)))
  const fee = role === 'taker' && random.below(2) === 0 ? 2 + random.below(Math.max(usd - 2, 1)) : 0
  const side = usd > fee && random.below(3) === 0 ? 'sell' : 'buy'
  const market = marketName(random)
  const paid = side === 'buy' ? usd + fee : usd - fee
  const row = {
    ...blank(position, 'TRADE'),
    condition_id: market,
    token_id: `${market.slice(-3)}1`,
    side: side.toUpperCase(),
    size: size / 1e6,
    price: usd / size,
    usdc_size: paid / 1e6,
    outcome_index: 1,
  }
  const event: WalletEvent = {
    ...nothing(position, side),
    market: nativeMarketId(market),
    token: outcomeId(row.token_id),
    size: sizeMicros(size),
    price: priceMicros(micros),
    usd: usdMicros(usd),
    fee: usdMicros(fee),
    role,
  }
  return { event, rows: [row], isTaker: role === 'taker' }
}

function marketRow(
  random: Random,
  position: RowPosition,
  kind: 'split' | 'merge' | 'redeem',
): ServedRows {
  const size = random.below(1_000_000_000)
  const usd = kind === 'redeem' && random.below(2) === 0 ? 0 : size
  const market = marketName(random)
  const amounts = { condition_id: market, size: size / 1e6, usdc_size: usd / 1e6 }
  const rows = [{ ...blank(position, kind.toUpperCase()), ...amounts }]
  const event = {
    ...nothing(position, kind),
    market: nativeMarketId(market),
    size: sizeMicros(size),
    usd: usdMicros(usd),
  }
  return { event, rows, isTaker: false }
}

/** A conversion has one row per market whose No tokens were converted. The first row has the dollars. */
function conversion(random: Random, position: RowPosition): ServedRows {
  const size = 1 + random.below(1_000_000_000)
  const count = 1 + random.below(6)
  const markets = Array.from({ length: count }, (_, index) => `${marketName(random)}${index}`)
  const usd = (count - 1) * size
  const rows = markets.map((market, index) => ({
    ...blank(position, 'CONVERSION'),
    condition_id: market,
    size: size / 1e6,
    usdc_size: index === 0 ? usd / 1e6 : 0,
  }))
  const converted = markets.map(nativeMarketId)
  const event = {
    ...nothing(position, 'conversion'),
    market: nativeMarketId(markets[0] ?? ''),
    size: sizeMicros(size),
    usd: usdMicros(usd),
    converted,
  }
  return { event, rows: rows, isTaker: false }
}

/** DEPOSIT and TIP are transfers. SOMETHING_NEW is an unknown kind of income. */
function payment(random: Random, position: RowPosition): ServedRows {
  const usd = 1 + random.below(1_000_000_000)
  const type = random.pick(['REWARD', 'MAKER_REBATE', 'YIELD', 'SOMETHING_NEW', 'DEPOSIT', 'TIP'])
  const rows = [{ ...blank(position, type), size: usd / 1e6, usdc_size: usd / 1e6 }]
  if (type === 'DEPOSIT' || type === 'TIP') return { event: null, rows, isTaker: false }
  const event = { ...nothing(position, 'income'), size: sizeMicros(usd), usd: usdMicros(usd) }
  return { event, rows, isTaker: false }
}

function blank({ second, hash }: RowPosition, type: string) {
  return {
    proxy_wallet: WALLET,
    timestamp: second,
    condition_id: '',
    type,
    size: 0,
    usdc_size: 0,
    transaction_hash: hash,
    price: 0,
    token_id: '',
    side: '',
    outcome_index: 999,
  }
}

function nothing({ second, hash }: RowPosition, kind: WalletEvent['kind']): WalletEvent {
  return {
    kind,
    timeMs: timeMs(second * 1_000),
    txHash: hash,
    market: nativeMarketId(''),
    token: null,
    size: sizeMicros(0),
    price: priceMicros(0),
    usd: usdMicros(0),
    fee: usdMicros(0),
    role: null,
    converted: [],
  }
}

function marketName(random: Random): string {
  return `0xc${random.below(100)}`.padEnd(6, '0')
}

function hex(random: Random, digits: number): string {
  let text = ''
  while (text.length < digits) text += random.below(16).toString(16)
  return text
}

export interface StubRequest {
  readonly path: string
  readonly query: URLSearchParams
}

/**
 * Returns a replacement for the page. A list is sent as a page. A number is a status with an HTML body. A text is the
 * HTML body of a 200.
 */
export type StubFault = (request: StubRequest, rows: readonly StubRow[], page: StubPage) => unknown

export interface StubPage {
  readonly data: unknown
  readonly pagination: Readonly<Record<string, unknown>>
}

/** A DataApi in this process may call it directly. `listen` serves it on loopback. */
export class WalletStub {
  past: StubPast
  requests: StubRequest[] = []
  /** Returns the maximum rows of a page for the requested `limit`. */
  pageRows: (limit: number) => number = (limit) => limit
  /** Rows that are newer than this second are not listed yet. */
  indexedToS = Number.MAX_SAFE_INTEGER
  /** If set, the transactions of each second are listed in a random order. */
  shuffle: Random | null = null
  fault: StubFault = (_, rows) => rows
  /** Responses for paths that are not part of the history. */
  others: (request: StubRequest) => unknown = () => 404
  readonly #locations = new Map<string, number>()

  constructor(past: StubPast) {
    this.past = past
  }

  answer(request: StubRequest): unknown {
    this.requests.push(request)
    if (request.path !== '/v2/activity' && request.path !== '/v2/trades')
      return this.others(request)
    const page = this.#page(request)
    if (typeof page === 'number') return page
    const answer = this.fault(request, page.data, page)
    return Array.isArray(answer) ? { ...page, data: answer } : answer
  }

  getJson(path: string, query: Query = {}): Promise<unknown> {
    const texts = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const answer = this.answer({ path, query: new URLSearchParams(texts) })
    if (typeof answer === 'number') {
      return Promise.reject(new FetchError('status', `status ${answer}`, { status: answer }))
    }
    if (typeof answer === 'string') return Promise.reject(new FetchError('body', 'not JSON'))
    return Promise.resolve(answer)
  }

  async listen(): Promise<{ url: string; stop: () => Promise<void> }> {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://stub')
      const answer = this.answer({ path: url.pathname, query: url.searchParams })
      if (typeof answer === 'number') response.writeHead(answer).end('<html>no</html>')
      else response.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const stop = async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
    return { url: `http://127.0.0.1:${port}`, stop }
  }

  /** The cursor is the index of the last returned row among all rows. */
  #page({ path, query }: StubRequest): 400 | (StubPage & { readonly data: readonly StubRow[] }) {
    const limit = Number(query.get('limit') ?? 100)
    if (limit > 1_000 || query.has('offset')) return 400
    const all = this.#rowsOf(path, query)
    const from = Number(query.get('cursor') ?? -1) + 1
    const found = this.#between(query, all.slice(from))
    const data = found.slice(0, this.pageRows(limit))
    const last = data.at(-1)
    const next = data.length < found.length && last !== undefined ? all.indexOf(last) : null
    const cursor = next === null ? null : String(next)
    const pagination = { limit, offset: 0, has_more: cursor !== null, next_cursor: cursor }
    return { data, pagination }
  }

  #rowsOf(path: string, query: URLSearchParams): readonly StubRow[] {
    if (query.get('user') !== WALLET) return []
    if (path === '/v2/activity') {
      const rows = this.#ordered(this.past.rows)
      return query.get('sort_direction') === 'ASC' ? rows : [...rows].reverse()
    }
    const isAll = query.get('taker_only') === 'false'
    return this.past.rows
      .filter((row) => row.type === 'TRADE' && (isAll || this.past.takers.has(row)))
      .reverse()
  }

  #between(query: URLSearchParams, rows: readonly StubRow[]): StubRow[] {
    const start = Number(query.get('start') ?? 0)
    const end = Math.min(Number(query.get('end') ?? Number.MAX_SAFE_INTEGER), this.indexedToS)
    return rows.filter(({ timestamp }) => timestamp >= start && timestamp <= end)
  }

  #ordered(rows: readonly StubRow[]): readonly StubRow[] {
    const random = this.shuffle
    if (random === null) return rows
    const placeOf = (row: StubRow) => {
      const position = this.#locations.get(row.transaction_hash) ?? random.next()
      this.#locations.set(row.transaction_hash, position)
      return position
    }
    return [...rows].sort(
      (one, other) => one.timestamp - other.timestamp || placeOf(one) - placeOf(other),
    )
  }
}
