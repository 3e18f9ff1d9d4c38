// MessagePack writers of frequent records, with the names and values of the JSON in records/render.ts.

import type { Level, MarketPrice, StaleReason, Trade, Whale } from '../../../engine/events.ts'
import { type Bar, vwapOf } from '../../../engine/market/candle.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { takerPrice, takerSide } from '../../../engine/market/taker.ts'
import { encoded, type MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { MICROS, midPrice, type PriceMicros, priceCents } from '../../../engine/units.ts'
import { keyOf, type ListedMarkets } from './encoder.ts'

const LEVEL = encoded((to) => {
  to.map(3)
  to.text('price')
})
const SIZE = keyOf('size')
const PLATFORM = keyOf('platform')

const TRADE_FIELDS = 17
const WHALE_FIELDS = TRADE_FIELDS + 6
const CANDLE_FIELDS = 11
const PRICE_FIELDS = 7
const STALE = keyOf('stale')
const STALE_REASON = keyOf('stale_reason')

function writeText(to: MsgpackWriter, name: string, value: string | null): void {
  to.text(name)
  to.textOrNil(value)
}

function writeNumber(to: MsgpackWriter, name: string, value: number | null): void {
  to.text(name)
  to.integerOrNil(value)
}

function writeMicros(to: MsgpackWriter, name: string, micros: number | null): void {
  writeNumber(to, name, micros === null ? null : micros / MICROS)
}

function writeBoolean(to: MsgpackWriter, name: string, value: boolean): void {
  to.text(name)
  to.boolean(value)
}

export function writeStale(to: MsgpackWriter, reason: StaleReason | null): void {
  to.bytes(STALE)
  to.boolean(reason !== null)
  to.bytes(STALE_REASON)
  to.textOrNil(reason)
}

export function writeLevels(
  to: MsgpackWriter,
  levels: readonly Level[],
  platform: string,
  depth = levels.length,
): void {
  const count = Math.min(depth, levels.length)
  to.array(count)
  for (let index = 0; index < count; index += 1) {
    const level = levels[index]
    if (level === undefined) break
    to.bytes(LEVEL)
    to.number(level.price / MICROS)
    to.bytes(SIZE)
    to.number(level.size / MICROS)
    to.bytes(PLATFORM)
    to.text(platform)
  }
}

export function writeSpread(
  to: MsgpackWriter,
  bid: PriceMicros | null,
  ask: PriceMicros | null,
): void {
  const hasBoth = bid !== null && ask !== null
  writeMicros(to, 'spread', hasBoth ? ask - bid : null)
  writeMicros(to, 'mid_price', hasBoth ? midPrice(bid, ask) : null)
}

export function writeTrade(
  to: MsgpackWriter,
  trade: Trade,
  market: MarketRef,
  catalog: ListedMarkets,
): void {
  const outcomes = catalog.find(market.id)?.summary.outcomes
  const outcome = outcomes?.[trade.outcomeIndex]?.label ?? null
  to.map(TRADE_FIELDS)
  writeTradeFields(to, trade, market, outcome)
  writeTakerFields(to, trade, outcome)
}

export function writeWhale(to: MsgpackWriter, whale: Whale, market: MarketRef): void {
  to.map(WHALE_FIELDS)
  writeTradeFields(to, whale, market, whale.outcome)
  writeText(to, 'question', whale.question)
  writeText(to, 'slug', whale.slug)
  writeText(to, 'event_slug', whale.eventSlug)
  writeText(to, 'category', whale.category)
  writeText(to, 'wallet', whale.wallet)
  writeNumber(to, 'fills', whale.fills)
  writeTakerFields(to, whale, whale.outcome)
}

function writeTradeFields(
  to: MsgpackWriter,
  trade: Trade,
  market: MarketRef,
  outcome: string | null,
): void {
  writeText(to, 'id', trade.nativeId)
  writeText(to, 'market_id', market.id)
  writeText(to, 'platform', market.platform)
  writeMicros(to, 'price', trade.price)
  writeMicros(to, 'size', trade.size)
  writeText(to, 'side', trade.side)
  writeText(to, 'outcome', outcome)
  writeMicros(to, 'size_usd', trade.usd)
  writeNumber(to, 'timestamp_ms', trade.timeMs)
  writeText(to, 'native_trade_id', trade.nativeId)
  writeText(to, 'maker', trade.maker)
  writeText(to, 'taker', trade.taker)
  writeText(to, 'tx_hash', trade.txHash)
  writeBoolean(to, 'is_block_trade', trade.isBlock)
}

function writeTakerFields(to: MsgpackWriter, trade: Trade, outcome: string | null): void {
  writeText(to, 'taker_outcome', outcome)
  writeText(to, 'taker_side', takerSide(trade))
  writeMicros(to, 'taker_price', takerPrice(trade))
}

/** `lengthMs` is the length of the bar. The bar is closed if its end is at or before `nowMs`. */
export function writeCandle(
  to: MsgpackWriter,
  bar: Bar,
  { interval, lengthMs, nowMs }: { interval: string; lengthMs: number; nowMs: number },
): void {
  const endMs = bar.startMs + lengthMs
  to.map(CANDLE_FIELDS)
  writeText(to, 'interval', interval)
  writeNumber(to, 'timestamp_ms', bar.startMs)
  writeNumber(to, 'end_period_ts', endMs / 1000)
  writeMicros(to, 'open', bar.open)
  writeMicros(to, 'high', bar.high)
  writeMicros(to, 'low', bar.low)
  writeMicros(to, 'close', bar.close)
  writeMicros(to, 'volume', bar.usd)
  writeNumber(to, 'trades_count', bar.count)
  writeMicros(to, 'vwap', vwapOf(bar))
  writeBoolean(to, 'closed', endMs <= nowMs)
}

export function writePrice(to: MsgpackWriter, price: MarketPrice): void {
  to.map(PRICE_FIELDS)
  writeMicros(to, 'price', price.price)
  writeNumber(to, 'price_cents', priceCents(price.price))
  writeMicros(to, 'best_bid', price.bid)
  writeMicros(to, 'best_ask', price.ask)
  writeSpread(to, price.bid, price.ask)
  writeText(to, 'source', price.source)
}
