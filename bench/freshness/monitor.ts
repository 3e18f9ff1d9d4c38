// Monitor process of the freshness bench. It receives all trades from both venues and from the service and joins them.
// It parses the venues' messages itself.

import { setTimeout as pause } from 'node:timers/promises'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { WebSocket } from 'ws'
import { systemClock } from '../../engine/clock.ts'
import { KalshiSigner } from '../../engine/venues/kalshi/signing.ts'
import { fail, serve } from '../in-child.ts'
import { sharedMs } from '../latency-recorder.ts'
import { TradeJoin } from './trade-join.ts'

interface Sources {
  readonly rtdsUrl: string
  readonly kalshi: { readonly url: string; readonly keyId: string; readonly privateKeyPem: string }
  readonly api: string
  readonly apiKey: string
}

interface ActivityFrame {
  readonly type: string
  readonly payload: {
    readonly transactionHash: string
    readonly proxyWallet: string
    readonly conditionId: string
    readonly outcomeIndex: number
    readonly price: number
    readonly size: number
    /** Unix seconds. */
    readonly timestamp: number
  }
}

interface KalshiFrame {
  readonly type: string
  readonly msg: {
    readonly market_ticker: string
    readonly yes_price_dollars: string
    readonly count_fp: string
    readonly ts_ms: number
  }
}

interface OurMessage {
  readonly type: string
  readonly data: {
    readonly market_id: string
    readonly price: number
    readonly size: number
    readonly timestamp_ms: number
  }
}

const MICROS = 1_000_000
/** Maximum time after the end that a trade of the venue waits for ours. */
const LATE_MS_MAX = 5_000
const POLL_MS = 50
/** RTDS does not confirm a subscription, so the monitor waits for this time. */
const SUBSCRIBED_AFTER_MS = 500
const PING_EVERY_MS = 5_000
/** Maximum transactions whose taker is remembered. The fills of a transaction arrive soon after its first row. */
const TAKERS_MAX = 1_000
/** The simulator's combinations of markets, which the service does not list. */
const COMBINATION = /-S2026[0-9A-F]{10}-[0-9A-F]{8}$/

const joins = { a: new TradeJoin(), b: new TradeJoin() }
const micros = (units: number | string): number => Math.round(Number(units) * MICROS)

function open(
  url: string,
  first: object,
  take: (text: string, atMs: number) => void,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocket> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false })
    socket.on('message', (data) => take(String(data), sharedMs()))
    socket.on('error', (error) => fail(`${url}: ${error.message}`))
    socket.on('close', (code) => fail(`${url} was closed with ${code}`))
    socket.on('open', () => {
      socket.send(JSON.stringify(first))
      resolve(socket)
    })
  })
}

/** Polymarket: a transaction's row names its taker. The taker's rows that follow are its fills. */
function polymarketRows(): (text: string, atMs: number) => void {
  const takers = new Map<string, string>()
  return (text, atMs) => {
    if (!text.includes('"payload"')) return
    const { type, payload: row }: ActivityFrame = JSON.parse(text)
    const { transactionHash, proxyWallet } = row
    if (type === 'orders_matched') {
      takers.set(transactionHash, proxyWallet)
      const oldest = takers.keys().next().value
      if (takers.size > TAKERS_MAX && oldest !== undefined) takers.delete(oldest)
    } else if (takers.get(transactionHash) === proxyWallet) {
      const price = micros(row.price)
      const trade = {
        market: row.conditionId,
        price: row.outcomeIndex === 0 ? price : MICROS - price,
        size: micros(row.size),
        timeMs: row.timestamp * 1_000,
      }
      joins.a.take('venue', trade, atMs)
    }
  }
}

function takeKalshi(text: string, atMs: number): void {
  const { type, msg }: KalshiFrame = JSON.parse(text)
  if (type !== 'trade' || COMBINATION.test(msg.market_ticker)) return
  const [price, size] = [micros(msg.yes_price_dollars), micros(msg.count_fp)]
  joins.b.take('venue', { market: msg.market_ticker, price, size, timeMs: msg.ts_ms }, atMs)
}

function takeOurs(text: string, atMs: number): void {
  const { type, data }: OurMessage = JSON.parse(text)
  if (type === 'error' || type === 'gap') fail(text)
  if (type !== 'trade') return
  const [, venue, market] = /^venue_([ab])_(.+)$/.exec(data.market_id) ?? []
  if ((venue !== 'a' && venue !== 'b') || market === undefined) return fail(text)
  const [price, size] = [micros(data.price), micros(data.size)]
  joins[venue].take('ours', { market, price, size, timeMs: data.timestamp_ms }, atMs)
}

export const api = serve({
  /** Resolves when all sources send their trades. */
  async connect({ rtdsUrl, kalshi, api: url, apiKey }: Sources): Promise<void> {
    const all = { action: 'subscribe', subscriptions: [{ topic: 'activity', type: '*' }] }
    const rtds = await open(rtdsUrl, all, polymarketRows())
    setInterval(() => rtds.send('PING'), PING_EVERY_MS)
    const signer = new KalshiSigner({ ...kalshi, clock: systemClock })
    const headers = signer.headers('GET', new URL(kalshi.url).pathname)
    const trades = { id: 1, cmd: 'subscribe', params: { channels: ['trade'] } }
    await open(kalshi.url, trades, takeKalshi, headers)
    const ours = `${url.replace(/^http/, 'ws')}/v1/ws?api_key=${apiKey}`
    await open(ours, { action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] }, takeOurs)
    await pause(SUBSCRIBED_AFTER_MS)
  },
  begin(): void {
    for (const join of Object.values(joins)) join.begin(systemClock.nowMs())
  },
  /** Ends the count. Waits a short time for trades of the service that are still missing. */
  async finish() {
    const all = Object.values(joins)
    for (const join of all) join.end()
    const endsAtMs = sharedMs() + LATE_MS_MAX
    const isMissing = () => all.some(({ venueCount, matchedCount }) => matchedCount < venueCount)
    while (isMissing() && sharedMs() < endsAtMs) await pause(POLL_MS)
    const seen = ({ times, venueCount, matchedCount, unknown }: TradeJoin) => ({
      ...{ venueCount, matchedCount, unknown },
      times: encodeIntoCompressedBase64(times),
    })
    return { a: seen(joins.a), b: seen(joins.b) }
  },
})
