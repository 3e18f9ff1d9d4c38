// Rows of a wallet's activity, the Data API's and the stream's, as wallet events (README.md, Wallets).
// Not for: which rows belong together or come first (engine/venues/polymarket/wallets/order.ts), nor who was
// maker (engine/venues/polymarket/wallets/roles.ts).
// Upholds WALLETREAD1 to WALLETREAD3.

import { type NativeMarketId, nativeMarketId, outcomeId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import {
  MICROS,
  notionalMicros,
  priceMicros,
  roundSize,
  roundUsd,
  SIZE_ZERO,
  type TimeMs,
  timeMs,
  USD_ZERO,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type { WalletEvent, WalletEventKind, WalletRole } from '../../../wallet.ts'
import { isTrade, type Json, type WireTrade } from '../messages.ts'
import { readTrade, type TradeReason, type TradeRow } from '../trades/trades.ts'

/** Why a row was refused; a fixed set, so that it can label a counter. */
export type WalletRowReason = TradeReason | 'bad_wallet_row' | 'bad_wallet_trade'

/** A row of the activity whose second is known: all that paging needs. */
export interface PlacedRow {
  /** Unix seconds. */
  readonly second: number
  readonly wire: Json
}

/** What a row became. `key`: of a fill, by which the list of takers is asked for it; null for all else. */
export type ReadRow =
  | { readonly kind: 'event'; readonly event: WalletEvent; readonly key: string | null }
  /** Understood, and of no matter to trading or income. */
  | { readonly kind: 'ignored'; readonly reason: 'wallet_cash_moved' | 'wallet_no_dollars' }
  | { readonly kind: 'rejected'; readonly reason: WalletRowReason }

/** Cash that enters, leaves or changes hands; none of it was earned by trading, nor paid by the venue. */
const CASH_MOVES: ReadonlySet<string> = new Set(['DEPOSIT', 'WITHDRAWAL', 'MIGRATION', 'TIP'])
const MARKET_KINDS: ReadonlyMap<string, WalletEventKind> = new Map([
  ['SPLIT', 'split'],
  ['MERGE', 'merge'],
  ['REDEEM', 'redeem'],
  ['CONVERSION', 'conversion'],
])
const SECOND_LOW = 1_577_836_800
const SECOND_HIGH = 4_102_444_800

/** A row with its second; null when it has none, or belongs to another wallet than `address`. */
export function placeRow(wire: unknown, address: string): PlacedRow | null {
  if (!isRecord(wire) || typeof wire.proxyWallet !== 'string') return null
  if (wire.proxyWallet.toLowerCase() !== address) return null
  const second = Math.floor(figure(wire.timestamp))
  return second >= SECOND_LOW && second <= SECOND_HIGH ? { second, wire } : null
}

/**
 * One row of `/activity` as an event. A conversion comes with its one market. Kinds that are new to us are
 * income where they carry dollars.
 */
export function readActivity({ second, wire }: PlacedRow): ReadRow {
  const type = typeof wire.type === 'string' ? wire.type : ''
  if (type === '') return { kind: 'rejected', reason: 'bad_wallet_row' }
  if (type === 'TRADE') return readFill(wire)
  const at = timeMs(second * 1_000)
  const kind = MARKET_KINDS.get(type)
  if (kind !== undefined) return readMarketRow(wire, kind, at)
  return CASH_MOVES.has(type)
    ? { kind: 'ignored', reason: 'wallet_cash_moved' }
    : readIncome(wire, at)
}

/**
 * A fill of one wallet. The venue's `usdcSize` is what was paid or received, the fee included: what it differs
 * from price × size is the fee. The stream has no `usdcSize`, hence no fee.
 */
export function fillOf(row: TradeRow, wire: WireTrade & Paid, role: WalletRole): WalletEvent {
  const { usd, fee } = dollarsOf(row, wire)
  return {
    kind: row.side,
    timeMs: row.timeMs,
    txHash: row.txHash,
    market: row.market,
    token: outcomeId(row.asset),
    size: row.size,
    price: row.price,
    usd,
    fee,
    role,
    converted: [],
  }
}

/** What the Data API has more than the stream. */
interface Paid {
  readonly usdcSize?: unknown
}

function readFill(wire: Json): ReadRow {
  if (!isTrade(wire)) return { kind: 'rejected', reason: 'bad_wallet_trade' }
  const row = readTrade(wire)
  if (typeof row === 'string') return { kind: 'rejected', reason: row }
  return { kind: 'event', event: fillOf(row, wire, null), key: row.key }
}

function dollarsOf(row: TradeRow, wire: WireTrade & Paid): { usd: UsdMicros; fee: UsdMicros } {
  // A rounded price times a large size would be dollars off: the venue's own float is multiplied.
  const product = Number(wire.price) * Number(wire.size)
  const usd = roundUsd(product) ?? notionalMicros(row)
  const paid = roundUsd(figure(wire.usdcSize))
  if (paid === null) return { usd, fee: USD_ZERO }
  // Paid to the micro without a fee, but for the last digits of the price's float.
  if (Math.abs(paid - product * MICROS) <= 1) return { usd: paid, fee: USD_ZERO }
  const fee = row.side === 'buy' ? paid - usd : usd - paid
  return { usd, fee: fee > 0 ? usdMicros(fee) : USD_ZERO }
}

function readMarketRow(wire: Json, kind: WalletEventKind, at: TimeMs): ReadRow {
  const market = marketOf(wire)
  const size = roundSize(figure(wire.size))
  const usd = roundUsd(figure(wire.usdcSize))
  if (market === '' || size === null || usd === null || usd < 0) {
    return { kind: 'rejected', reason: 'bad_wallet_row' }
  }
  const converted = kind === 'conversion' ? [market] : []
  const event = { ...bare(wire, kind, at), market, size, usd, converted }
  return { kind: 'event', event, key: null }
}

function readIncome(wire: Json, at: TimeMs): ReadRow {
  const dollars = figure(wire.usdcSize ?? wire.size)
  const usd = roundUsd(dollars)
  const size = roundSize(dollars)
  if (usd === 0) return { kind: 'ignored', reason: 'wallet_no_dollars' }
  if (usd === null || size === null) return { kind: 'rejected', reason: 'bad_wallet_row' }
  const event = { ...bare(wire, 'income', at), market: marketOf(wire), size, usd }
  return { kind: 'event', event, key: null }
}

function bare(wire: Json, kind: WalletEventKind, at: TimeMs): WalletEvent {
  return {
    kind,
    timeMs: at,
    txHash: typeof wire.transactionHash === 'string' ? wire.transactionHash.toLowerCase() : '',
    market: NO_MARKET,
    token: null,
    size: SIZE_ZERO,
    price: NO_PRICE,
    usd: USD_ZERO,
    fee: USD_ZERO,
    role: null,
    converted: [],
  }
}

const NO_MARKET = nativeMarketId('')
const NO_PRICE = priceMicros(0)

function marketOf(wire: Json): NativeMarketId {
  return typeof wire.conditionId === 'string' ? nativeMarketId(wire.conditionId) : NO_MARKET
}

/** A JSON number, or text of one; NaN for all else, which the rounding of units.ts refuses. */
function figure(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
