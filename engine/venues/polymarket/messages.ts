// Polymarket's messages in wire format (README.md). Validation is hand-written for speed.

import { isRecord } from '../../json-record.ts'

export type Json = { readonly [key: string]: unknown }

export interface WireLevel {
  readonly price: string
  readonly size: string
}

/** The book of one token, sent on subscription and after each trade, and returned over REST. */
export interface BookMessage {
  readonly asset_id: string
  readonly timestamp: string
  readonly bids: readonly WireLevel[]
  readonly asks: readonly WireLevel[]
  readonly hash?: unknown
  /** Absent on books of protocol v1. */
  readonly version?: unknown
}

export interface PriceChangeEntry {
  readonly asset_id: string
  readonly price: string
  readonly size: string
  readonly side: 'BUY' | 'SELL'
  readonly hash?: unknown
  /** '' or null: that side is empty. Absent: unknown. */
  readonly best_bid?: string | null
  readonly best_ask?: string | null
}

/** Current shape: one message per market, with entries of both tokens. */
export interface PriceChangeMessage {
  readonly timestamp: string
  readonly price_changes: readonly PriceChangeEntry[]
}

/** Shape until September 2025: one message per token. */
export interface OldPriceChangeMessage {
  readonly asset_id: string
  readonly timestamp: string
  readonly changes: readonly (WireLevel & { readonly side: 'BUY' | 'SELL' })[]
  readonly hash?: unknown
}

export interface LastTradeMessage {
  readonly asset_id: string
  readonly price: string
  readonly timestamp: string
  readonly market?: unknown
  readonly size?: unknown
  readonly side?: unknown
  readonly transaction_hash?: unknown
}

export interface TickSizeMessage {
  readonly asset_id: string
  readonly new_tick_size: string
  readonly timestamp: string
}

export interface NewMarketMessage {
  readonly market: string
  readonly timestamp: string
  readonly fees_enabled?: unknown
  /** Decimal text. */
  readonly fee_schedule?: unknown
}

export interface ResolvedMessage {
  readonly market: string
  readonly assets_ids: readonly string[]
  /** Absent or '' when no outcome won, as in a void market. */
  readonly winning_asset_id?: string | null
  readonly timestamp: string
}

/** One message of the market channel. `bestBidAsk` only repeats the book messages. */
export type MarketMessage =
  | { readonly kind: 'book'; readonly body: BookMessage }
  | { readonly kind: 'priceChange'; readonly body: PriceChangeMessage }
  | { readonly kind: 'oldPriceChange'; readonly body: OldPriceChangeMessage }
  | { readonly kind: 'lastTrade'; readonly body: LastTradeMessage }
  | { readonly kind: 'tickSize'; readonly body: TickSizeMessage }
  | { readonly kind: 'newMarket'; readonly body: NewMarketMessage }
  | { readonly kind: 'resolved'; readonly body: ResolvedMessage }
  | { readonly kind: 'bestBidAsk' }

/** A fill, or one wallet's part of it: the payload of the activity stream, and a row of the Data API. */
export interface WireTrade {
  readonly proxyWallet: string
  readonly asset: string
  readonly conditionId: string
  readonly side: 'BUY' | 'SELL'
  readonly size: number | string
  readonly price: number | string
  /** Seconds. */
  readonly timestamp: number | string
  readonly transactionHash: string
}

export interface ActivityMessage {
  /**
   * `matched`: an `orders_matched` frame with the taker's row. `participant`: a `trades` frame with one wallet's row.
   * `unnamed`: a frame without a type.
   */
  readonly kind: 'matched' | 'participant' | 'unnamed'
  readonly row: WireTrade
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isSide = (value: unknown): boolean => value === 'BUY' || value === 'SELL'
/** Text; '', null or absent mean none. */
const isTextOrNone = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string'

function isLevel(value: unknown): value is WireLevel {
  return isRecord(value) && typeof value.price === 'string' && typeof value.size === 'string'
}

export function isBook(value: Json): value is Json & BookMessage {
  return (
    isText(value.asset_id) &&
    isText(value.timestamp) &&
    Array.isArray(value.bids) &&
    Array.isArray(value.asks) &&
    value.bids.every(isLevel) &&
    value.asks.every(isLevel)
  )
}

function isPriceChangeEntry(value: unknown): boolean {
  return (
    isRecord(value) &&
    isText(value.asset_id) &&
    typeof value.price === 'string' &&
    typeof value.size === 'string' &&
    isSide(value.side) &&
    isTextOrNone(value.best_bid) &&
    isTextOrNone(value.best_ask)
  )
}

export function isPriceChange(value: Json): value is Json & PriceChangeMessage {
  return (
    isText(value.timestamp) &&
    Array.isArray(value.price_changes) &&
    value.price_changes.every(isPriceChangeEntry)
  )
}

export function isOldPriceChange(value: Json): value is Json & OldPriceChangeMessage {
  return (
    isText(value.asset_id) &&
    isText(value.timestamp) &&
    Array.isArray(value.changes) &&
    value.changes.every((change) => isLevel(change) && isRecord(change) && isSide(change.side))
  )
}

export function isLastTrade(value: Json): value is Json & LastTradeMessage {
  return isText(value.asset_id) && isText(value.price) && isText(value.timestamp)
}

export function isTickSize(value: Json): value is Json & TickSizeMessage {
  return isText(value.asset_id) && isText(value.new_tick_size) && isText(value.timestamp)
}

export function isNewMarket(value: Json): value is Json & NewMarketMessage {
  return isText(value.market) && isText(value.timestamp)
}

export function isResolved(value: Json): value is Json & ResolvedMessage {
  return (
    isText(value.market) &&
    isText(value.timestamp) &&
    isTextOrNone(value.winning_asset_id) &&
    Array.isArray(value.assets_ids) &&
    value.assets_ids.every(isText)
  )
}

const isFigure = (value: unknown): boolean => typeof value === 'number' || isText(value)

export function isTrade(value: unknown): value is Json & WireTrade {
  return (
    isRecord(value) &&
    isText(value.proxyWallet) &&
    isText(value.asset) &&
    isText(value.conditionId) &&
    isText(value.transactionHash) &&
    isSide(value.side) &&
    isFigure(value.size) &&
    isFigure(value.price) &&
    isFigure(value.timestamp)
  )
}

/** Converts a row of `/v2/trades` to the stream's format. 'combo_trade': the row is about several markets. */
export function readDataTrade(value: unknown): WireTrade | 'combo_trade' | 'bad_trade' {
  if (!isRecord(value)) return 'bad_trade'
  if (value.slug === '' && value.outcome === '') return 'combo_trade'
  const row = {
    proxyWallet: value.proxy_wallet,
    asset: value.token_id,
    conditionId: value.condition_id,
    side: value.side,
    size: value.size,
    price: value.price,
    timestamp: value.timestamp,
    transactionHash: value.transaction_hash,
  }
  return isTrade(row) ? row : 'bad_trade'
}
