// Random stream messages of every kind with extremes that break encoders, such as numbers around 2^31, 2^32 and 2^53.

import type { Level, MarketPrice, Trade } from '../../../engine/events.ts'
import { type Bar, barOf, CANDLE_MS, joined } from '../../../engine/market/candle.ts'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { CLOSE_REASONS } from '../../../engine/opportunity.ts'
import type { Random } from '../../../engine/random.ts'
import {
  priceMicros,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { arbitrageMessage } from '../../../http/ws/channels/arbitrage.ts'
import { candleKind, INTERVALS } from '../../../http/ws/channels/candles.ts'
import { depthKind } from '../../../http/ws/channels/depth.ts'
import { lifecycleMessage } from '../../../http/ws/channels/lifecycle.ts'
import { bookSnapshot, bookUpdate } from '../../../http/ws/channels/orderbook.ts'
import { presentPrice, priceMessage } from '../../../http/ws/channels/prices.ts'
import { tradeMessage } from '../../../http/ws/channels/trades.ts'
import { whaleMessage } from '../../../http/ws/channels/whales.ts'
import {
  type Encoder,
  type Frame,
  gapMessage,
  heartbeatMessage,
  resyncMessage,
  statusMessage,
} from '../../../http/ws/encode/encoder.ts'
import type { FakeMarket } from '../fakes/market.ts'
import { opportunity, publishedOpportunity } from './opportunities.ts'
import { SOME_FEES } from './stored.ts'

const COMPLETE = [
  0,
  1,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 40 + 1,
  Number.MAX_SAFE_INTEGER,
]
const TEXTS = [
  '',
  'x',
  'He said "no" \\ \n\u0000\u001f',
  'Größe € 日本 🐙',
  '__proto__',
  'y'.repeat(300),
]

export interface Written {
  readonly name: string
  write(encoder: Encoder): Frame
}

/** One message of each kind. Each message is about one of the markets. */
export function randomMessages(random: Random, markets: readonly FakeMarket[]): Written[] {
  const market = random.pick(markets)
  const { ref } = market
  const complete = () => random.pick(COMPLETE)
  const time = (): TimeMs => timeMs(complete())
  const price = () => priceMicros(random.pick([0, 1, 10_000, 333_333, 500_000, 999_999, 1_000_000]))
  const size = (): SizeMicros => sizeMicros(complete())
  const text = () => random.pick(TEXTS)
  const maybe = <Value>(value: Value): Value | null => (random.next() < 0.3 ? null : value)
  const levels = (): Level[] =>
    Array.from({ length: random.pick([0, 1, 2, 15, 16, 40]) }, () => ({
      price: price(),
      size: size(),
    }))
  const stamped = () => ({
    market: ref,
    offset: complete(),
    seq: complete(),
    venueTimeMs: time(),
    receivedAtMs: time(),
  })
  const trade = (): Trade => ({
    nativeId: text(),
    timeMs: time(),
    ordinal: complete(),
    price: price(),
    size: size(),
    side: random.pick(['buy', 'sell']),
    outcomeIndex: random.below(3),
    usd: usdMicros(complete()),
    maker: maybe(text()),
    taker: maybe(text()),
    txHash: maybe(text()),
    isBlock: random.below(4) === 0,
  })
  const quote = (): MarketPrice => ({
    price: price(),
    source: random.pick(['midpoint', 'last_trade', 'none']),
    bid: maybe(price()),
    ask: maybe(price()),
    observedAtMs: time(),
  })
  const bar = (): Bar => joined(barOf('minute', trade()), barOf('minute', trade()))
  const book = {
    ...stamped(),
    venueTimeMs: maybe(time()),
    receivedAtMs: maybe(time()),
    bids: levels(),
    asks: levels(),
    isStale: random.next() < 0.5,
    staleReason: null,
    checksum: random.pick([0, 2 ** 31, 2 ** 32 - 1]),
  }
  const sides = [...levels(), ...levels()].map((level) => ({
    ...level,
    side: random.pick(['bid', 'ask'] as const),
  }))
  const interval = random.pick(INTERVALS)
  const whale = {
    ...trade(),
    outcome: maybe(text()),
    question: text(),
    slug: text(),
    eventSlug: maybe(text()),
    category: maybe(text()),
    wallet: maybe(text()),
    fills: complete(),
  }
  const facts = {
    ...market.summary,
    question: text(),
    closeAtMs: maybe(timeMs(random.below(2 ** 32) * 1000)),
    settlementPrice: maybe(price()),
    fees: random.pick([FEES_UNKNOWN, SOME_FEES]),
  }
  const event = random.pick(['opened', 'closed', 'resolved', 'changed', 'matched'] as const)
  const matchedMarket = maybe(random.pick(markets).ref)
  const stamps = stamped()
  const epoch = maybe(text()) ?? undefined
  const updates = {
    book: { kind: 'book', ...stamps, changes: sides, checksum: maybe(2 ** 31) } as const,
    trade: { kind: 'trade', ...stamps, trade: trade() } as const,
    whale: { kind: 'whale', ...stamps, whale } as const,
    life: { kind: 'lifecycle', ...stamps, event, facts, matchedMarket } as const,
    price: { kind: 'price', ...stamps, price: quote() } as const,
    arbitrage: {
      ...publishedOpportunity(
        opportunity([ref, random.pick(markets).ref], {
          question: text(),
          category: maybe(text()),
          matchScore: maybe(complete()),
          closesAtMs: maybe(time()),
          profit: usdMicros(complete()),
        }),
        { event: 'closed', reason: maybe(random.pick(CLOSE_REASONS)) },
      ),
      ...stamps,
    },
  }
  const candle = { bar: bar(), nowMs: time() }
  const ofCandle = candleKind(interval, CANDLE_MS[interval])
  const ofDepth = depthKind(random.pick([5, 10, 20]))
  const state = quote()
  const gap = {
    channel: 'trades',
    fromMs: maybe(time()),
    toMs: time(),
    count: maybe(complete()),
  } as const
  const where = random.pick([{ marketId: ref.id }, { platform: ref.platform }])
  const status = {
    platform: text(),
    state: 'stale',
    lagMs: maybe(complete()),
    delayMs: complete(),
    completeToMs: maybe(time()),
    tradesSource: maybe(random.pick(['activity', 'last_trade_price'] as const)),
    reason: maybe(random.pick(['silent', 'disconnected'] as const)),
    staleBooks: complete(),
  } as const
  const offsets = maybe({
    orderbook: complete(),
    trades: complete(),
    whales: 0,
    lifecycle: complete(),
  })
  const beat = { timestampMs: time(), counter: complete(), epoch: 'k3f9c2', offsets }
  const reply = {
    type: 'synced',
    id: maybe(random.pick([text(), complete(), 0.5, -1])),
    n: [complete()],
  }
  return [
    { name: 'update', write: (encoder) => bookUpdate(encoder, updates.book) },
    { name: 'snapshot', write: (encoder) => bookSnapshot(encoder, market, book) },
    { name: 'resync', write: (encoder) => encoder.reply(resyncMessage('depth', ref, 'venue_gap')) },
    { name: 'trade', write: (encoder) => tradeMessage(encoder, updates.trade, epoch) },
    { name: 'whale', write: (encoder) => whaleMessage(encoder, updates.whale, epoch) },
    { name: 'lifecycle', write: (encoder) => lifecycleMessage(encoder, updates.life, epoch) },
    { name: 'arbitrage', write: (encoder) => arbitrageMessage(encoder, updates.arbitrage, epoch) },
    { name: 'price', write: (encoder) => priceMessage(encoder, updates.price) },
    {
      name: 'price state',
      write: (encoder) =>
        presentPrice(encoder, ref, { price: state, staleReason: 'silent' }, stamps),
    },
    { name: 'depth', write: (encoder) => encoder.message(ofDepth, ref, book, book) },
    { name: 'candle', write: (encoder) => encoder.message(ofCandle, ref, stamps, candle) },
    { name: 'gap', write: (encoder) => encoder.reply(gapMessage({ ...gap, where })) },
    { name: 'status', write: (encoder) => encoder.reply(statusMessage(status)) },
    { name: 'heartbeat', write: (encoder) => encoder.reply(heartbeatMessage(beat)) },
    { name: 'reply', write: (encoder) => encoder.reply(reply) },
  ]
}
