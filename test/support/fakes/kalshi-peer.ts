// A scripted server of Kalshi's protocol on loopback, and a venue that is connected to it under a manual clock.

import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import type { VenueEvent } from '../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { isRecord } from '../../../engine/json-record.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { formatTime, timeMs } from '../../../engine/units.ts'
import { openKalshi } from '../../../engine/venues/kalshi/kalshi.ts'
import type { Venue, WatchedMarket } from '../../../engine/venues/venue.ts'
import { ManualClock } from './manual-clock.ts'
import { privateKey } from './rsa-pair.ts'

const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Sids start at `firstSid`. The messages of each sid are numbered from 1. */
class Peer {
  readonly socket: WebSocket
  readonly sids = new Map<string, number>()
  readonly commands: string[] = []
  readonly #seqs = new Map<number, number>()
  #nextSid: number

  readonly #acknowledges: () => boolean
  /** If true, the socket sends no books but still answers commands and pings. */
  isFrozen = false

  constructor(socket: WebSocket, firstSid: number, acknowledges: () => boolean) {
    this.socket = socket
    this.#acknowledges = acknowledges
    this.#nextSid = firstSid
    socket.on('message', (data) => this.#command(data.toString()))
  }

  /** Sends a numbered message after skipping `lost` numbers. */
  send(channel: string, type: string, msg: object, lost = 0): void {
    const sid = this.sids.get(channel) ?? 0
    const seq = (this.#seqs.get(sid) ?? 0) + 1 + lost
    this.#seqs.set(sid, seq)
    this.socket.send(JSON.stringify({ type, sid, seq, msg }))
  }

  /** Skips one sequence number, as if a message had been lost. */
  lose(channel: string): void {
    const sid = this.sids.get(channel) ?? 0
    this.#seqs.set(sid, (this.#seqs.get(sid) ?? 0) + 1)
  }

  book(ticker: string): void {
    if (this.isFrozen) return
    const msg = { market_ticker: ticker, yes_dollars_fp: [['0.4000', '10.00']] }
    this.send('orderbook_delta', 'orderbook_snapshot', msg)
  }

  delta(ticker: string, lost = 0): void {
    const msg = { market_ticker: ticker, price_dollars: '0.3', delta_fp: '1.00', side: 'yes' }
    this.send('orderbook_delta', 'orderbook_delta', msg, lost)
  }

  trade(id: string, atMs: number, lost = 0): void {
    const price = { yes_price_dollars: '0.4', no_price_dollars: '0.6', count_fp: '2.00' }
    const msg = { trade_id: id, market_ticker: 'A', ...price, taker_side: 'yes', ts_ms: atMs }
    this.send('trade', 'trade', msg, lost)
  }

  ticker(ticker: string, atMs: number, set: object = {}): void {
    const figures = { price_dollars: '0.4100', volume_fp: '90.00', open_interest_fp: '7.00' }
    const msg = { market_ticker: ticker, ...figures, ts_ms: atMs, ...set }
    const sid = this.sids.get('ticker') ?? 0
    this.socket.send(JSON.stringify({ type: 'ticker', sid, msg }))
  }

  #command(text: string): void {
    const command: unknown = JSON.parse(text)
    assert.ok(isRecord(command) && isRecord(command.params))
    const { params } = command
    const tickers = Array.isArray(params.market_tickers) ? params.market_tickers.map(String) : []
    this.commands.push([String(params.action ?? command.cmd), ...tickers].join(' '))
    if (command.cmd === 'subscribe') {
      const channel = String(Array.isArray(params.channels) ? params.channels[0] : '')
      const sid = this.#nextSid
      this.#nextSid += 1
      this.sids.set(channel, sid)
      const reply = { id: command.id, type: 'subscribed', msg: { channel, sid } }
      if (this.#acknowledges()) this.socket.send(JSON.stringify(reply))
    }
    if (command.cmd === 'subscribe' || params.action === 'get_snapshot') {
      for (const ticker of tickers) this.book(ticker)
    }
  }
}

export interface Bench {
  readonly clock: ManualClock
  readonly venue: Venue
  readonly events: VenueEvent[]
  onEvent: () => void
  readonly peers: Peer[]
  readonly upgrades: IncomingHttpHeaders[]
  readonly requests: string[]
  /** The rows of /markets/trades. */
  trades: object[]
  /** Returns the rows of /markets for the given tickers. null: {@link marketRow} creates each row. */
  marketRows: ((tickers: readonly string[]) => object[]) | null
  /** Answers of the account's endpoints by the last part of their paths. */
  readonly account: Record<string, unknown>
  isRestUp: boolean
  acknowledges: boolean
  close: () => Promise<void>
}

const benches: Bench[] = []

/** Call it in afterEach. */
export async function closeAll(): Promise<void> {
  for (const bench of benches.splice(0)) await bench.close()
}

export async function open(isKeyed: boolean): Promise<Bench> {
  const clock = new ManualClock()
  const events: VenueEvent[] = []
  const peers: Peer[] = []
  const upgrades: IncomingHttpHeaders[] = []
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x')
    requests.push(url.pathname + url.search)
    response.statusCode = bench.isRestUp ? 200 : 404
    const ofAccount = bench.account[url.pathname.replace('/trade-api/v2/account/', '')]
    if (ofAccount !== undefined) {
      response.end(JSON.stringify(ofAccount))
      return
    }
    if (url.pathname.endsWith('/trades')) {
      response.end(JSON.stringify({ trades: bench.trades, cursor: '' }))
      return
    }
    if (url.pathname.endsWith('/markets')) {
      const tickers = (url.searchParams.get('tickers') ?? '').split(',')
      const markets = bench.marketRows?.(tickers) ?? tickers.map(marketRow)
      response.end(JSON.stringify({ markets, cursor: '' }))
      return
    }
    const orderbooks = url.searchParams
      .getAll('tickers')
      .map((ticker) => ({ ticker, orderbook_fp: { yes_dollars: [['0.4', '1.00']] } }))
    response.end(JSON.stringify({ orderbooks }))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    upgrades.push(request.headers)
    peers.push(new Peer(socket, 1 + peers.length * 10, () => bench.acknowledges))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const venue = openKalshi(
    {
      clock,
      random: seededRandom(1),
      log: silentLog,
      metrics: new Metrics(),
      emit(event) {
        events.push(event)
        bench.onEvent()
      },
    },
    {
      restUrl: `http://127.0.0.1:${address.port}/trade-api/v2`,
      wsUrl: `ws://127.0.0.1:${address.port}/trade-api/ws/v2`,
      keyId: isKeyed ? 'key' : null,
      privateKeyPem: isKeyed ? privateKeyPem : null,
    },
  )
  const close = async () => {
    await venue.feed.stop()
    for (const { socket } of peers) socket.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const bench: Bench = {
    ...{ clock, venue, events, peers, upgrades, requests, close },
    onEvent: () => undefined,
    trades: [],
    marketRows: null,
    account: {
      limits: { usage_tier: 'basic', read: { refill_rate: 240, bucket_capacity: 480 } },
      endpoint_costs: { default_cost: 10, endpoint_costs: [] },
    },
    isRestUp: true,
    acknowledges: true,
  }
  benches.push(bench)
  return bench
}

export const watched = (ticker: string): WatchedMarket => ({
  nativeId: nativeMarketId(ticker),
  outcomes: [outcomeId(ticker), outcomeId(`${ticker}:no`)],
  status: 'open',
  openAtMs: null,
  closeAtMs: null,
})

/**
 * A busy kernel delivers socket data some event-loop ticks late. With fewer ticks per time step a handshake would time
 * out.
 */
const TURNS_A_STEP = 8

/** Time advances by `stepMs` every few event-loop ticks until the condition holds. */
export async function until(bench: Bench, isSo: () => boolean, stepMs = 10): Promise<void> {
  for (let ticks = 1; ticks <= 5_000 * TURNS_A_STEP; ticks += 1) {
    if (isSo()) return
    await nextTurn()
    if (ticks % TURNS_A_STEP === 0) bench.clock.advance(stepMs)
  }
  assert.fail(`it did not come about: ${bench.events.map((event) => event.kind).join(' ')}`)
}

export const feedEvents = (bench: Bench, kind: string, stream: string) =>
  bench.events.filter(
    (event) => event.kind === kind && 'stream' in event && event.stream === stream,
  )
export const count = (bench: Bench, kind: string) =>
  bench.events.filter((event) => event.kind === kind).length
export const books = (bench: Bench): Peer | undefined =>
  bench.peers.findLast((peer) => peer.sids.has('orderbook_delta'))
export const trades = (bench: Bench): Peer | undefined =>
  bench.peers.findLast((peer) => peer.sids.has('trade'))

export const tickers = (bench: Bench): Peer | undefined =>
  bench.peers.findLast((peer) => peer.sids.has('ticker'))

const marketRow = (ticker: string) => ({
  ...{ ticker, volume_fp: '90.00', volume_24h_fp: '8.00', open_interest_fp: '7.00' },
  ...{ last_price_dollars: '0.4100', previous_price_dollars: '0.3900' },
})

export function row(id: string, atMs: number): object {
  return {
    trade_id: id,
    ticker: 'A',
    yes_price_dollars: '0.4',
    no_price_dollars: '0.6',
    count_fp: '2.00',
    taker_side: 'yes',
    created_time: formatTime(timeMs(atMs)),
  }
}

export const ids = (bench: Bench): string[] =>
  bench.events.flatMap((event) => (event.kind === 'trade' ? [event.nativeId] : []))
