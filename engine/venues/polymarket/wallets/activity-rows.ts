// Converts rows of a wallet's activity to wallet events (README.md, Wallets). The rows are from the Data API v2 or the
// stream.

import { type NativeMarketId, nativeMarketId, type OutcomeId, outcomeId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { marketOfPosition, migratedMarket, positionOf } from '../../../position-ids.ts'
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
import {
  type ComboEventKind,
  compareEvents,
  type WalletEvent,
  type WalletEventKind,
  type WalletRole,
} from '../../../wallet.ts'
import { conditionId } from '../condition-id.ts'
import { isTrade, type Json, type WireTrade } from '../messages.ts'
import { readTrade, type TradeReason, type TradeRow } from '../trades/trade-ledger.ts'
import { roleKey } from './roles.ts'

/** The reasons are a fixed set, because they are metric labels. */
type WalletRowReason = TradeReason | 'bad_wallet_row' | 'bad_wallet_trade' | 'bad_migration'

export interface TimedRow {
  /** Unix seconds. */
  readonly second: number
  readonly wire: Json
}

/** `key` identifies a fill in the list of takers. It is null for other events. */
export type ReadRow =
  | { readonly kind: 'event'; readonly event: WalletEvent; readonly key: string | null }
  /** A row of a known kind that affects neither trading nor income. */
  | { readonly kind: 'ignored'; readonly reason: 'wallet_cash_moved' | 'wallet_no_dollars' }
  | { readonly kind: 'rejected'; readonly reason: WalletRowReason }

/** Cash transfers, which are neither trading profit nor income. */
const CASH_MOVES: ReadonlySet<string> = new Set(['DEPOSIT', 'WITHDRAWAL', 'TIP'])
const MARKET_KINDS: ReadonlyMap<string, WalletEventKind> = new Map([
  ['SPLIT', 'split'],
  ['MERGE', 'merge'],
  ['REDEEM', 'redeem'],
  ['CONVERSION', 'conversion'],
])
const SECOND_LOW = 1_577_836_800
const SECOND_HIGH = 4_102_444_800

/** Income: payments by the venue other than trading. */
const INCOMES: ReadonlySet<string> = new Set([
  ...['REWARD', 'YIELD', 'MAKER_REBATE', 'TAKER_REBATE', 'REFERRAL_REWARD'],
])

/** Whether the documentation contains the row's kind. Dollars of other kinds may not be income. */
export function isKnownKind({ type }: Json): boolean {
  if (typeof type !== 'string' || type === 'TRADE' || type === 'MIGRATION') return true
  return MARKET_KINDS.has(type) || CASH_MOVES.has(type) || INCOMES.has(type)
}

/** Null if the row has no valid second or belongs to another wallet than `address`. */
export function readTimedRow(wire: unknown, address: string): TimedRow | null {
  if (!isRecord(wire) || typeof wire.proxy_wallet !== 'string') return null
  if (wire.proxy_wallet.toLowerCase() !== address) return null
  const second = Math.floor(figure(wire.timestamp))
  return second >= SECOND_LOW && second <= SECOND_HIGH ? { second, wire } : null
}

/** Unknown kinds with dollars count as income. A conversion has one row per market. */
export function readActivity({ second, wire }: TimedRow): ReadRow {
  const type = typeof wire.type === 'string' ? wire.type : ''
  if (type === '') return { kind: 'rejected', reason: 'bad_wallet_row' }
  const at = timeMs(second * 1_000)
  if (wire.is_combo === true || isComboId(marketOf(wire))) return readCombo(wire, type, at)
  if (type === 'TRADE') return readFill(wire)
  const kind = MARKET_KINDS.get(type)
  if (kind !== undefined) return readMarketRow(wire, kind, at)
  if (type === 'MIGRATION') return readMigration(wire, at)
  return CASH_MOVES.has(type)
    ? { kind: 'ignored', reason: 'wallet_cash_moved' }
    : readIncome(wire, at)
}

/** `usdc_size` includes the fee, which is its difference from price × size. Only the Data API has this field. */
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

interface Paid {
  readonly usdcSize?: unknown
}

function readFill(wire: Json): ReadRow {
  const fill: Json = {
    proxyWallet: wire.proxy_wallet,
    asset: wire.token_id,
    conditionId: marketOf(wire),
    side: wire.side,
    size: wire.size,
    price: wire.price,
    timestamp: wire.timestamp,
    transactionHash: wire.transaction_hash,
    usdcSize: wire.usdc_size,
  }
  if (!isTrade(fill)) return { kind: 'rejected', reason: 'bad_wallet_trade' }
  const row = readTrade(fill)
  if (typeof row === 'string') return { kind: 'rejected', reason: row }
  return { kind: 'event', event: fillOf(row, fill, null), key: roleKey(wire) }
}

/** A migration to protocol v2. Finds the new position by token, else by v2 market, else by old market. */
function readMigration(wire: Json, at: TimeMs): ReadRow {
  const size = roundSize(figure(wire.size))
  const token = newPosition(wire)
  const market = token === null ? null : marketOfPosition(token)
  if (size === null || token === null || market === null) {
    return { kind: 'rejected', reason: 'bad_migration' }
  }
  return {
    kind: 'event',
    event: { ...bare(wire, 'migration', at), market, token, size },
    key: null,
  }
}

function newPosition(wire: Json): OutcomeId | null {
  const token = tokenOf(wire)
  if (token !== null && marketOfPosition(token) !== null) return token
  const outcome = wire.outcome_index
  const market = marketOf(wire)
  if ((outcome !== 0 && outcome !== 1) || market === '') return null
  return positionOf(market, outcome) ?? positionOf(migratedMarket(market), outcome)
}

/** Tolerance between the listed and the true price, in dollars per contract. Fees are far larger. */
const PRICE_NOISE = 2e-9

function dollarsOf(row: TradeRow, wire: WireTrade & Paid): { usd: UsdMicros; fee: UsdMicros } {
  // Uses the venue's unrounded price, because the error of a rounded price grows to dollars for large sizes.
  const product = Number(wire.price) * Number(wire.size)
  const usd = roundUsd(product) ?? notionalMicros(row)
  const paid = roundUsd(figure(wire.usdcSize))
  if (paid === null) return { usd, fee: USD_ZERO }
  // Without a fee both amounts are equal, except for the floating-point error of the average price.
  const noise = 1 + row.size * PRICE_NOISE
  if (Math.abs(paid - product * MICROS) <= noise) return { usd: paid, fee: USD_ZERO }
  const fee = row.side === 'buy' ? paid - usd : usd - paid
  return { usd, fee: fee > 0 ? usdMicros(fee) : USD_ZERO }
}

function readMarketRow(wire: Json, kind: WalletEventKind, at: TimeMs): ReadRow {
  const market = marketOf(wire)
  const size = roundSize(figure(wire.size))
  const usd = roundUsd(figure(wire.usdc_size))
  if (market === '' || size === null || usd === null || usd < 0) {
    return { kind: 'rejected', reason: 'bad_wallet_row' }
  }
  const converted = kind === 'conversion' ? [market] : []
  const token = kind === 'redeem' ? tokenOf(wire) : null
  const event = { ...bare(wire, kind, at), market, token, size, usd, converted }
  return { kind: 'event', event, key: null }
}

function readIncome(wire: Json, at: TimeMs): ReadRow {
  const dollars = figure(wire.usdc_size ?? wire.size)
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
    txHash: typeof wire.transaction_hash === 'string' ? wire.transaction_hash.toLowerCase() : '',
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
  const { condition_id: id } = wire
  return typeof id === 'string' && id !== '' ? conditionId(id) : NO_MARKET
}

/** Null for '', which the venue writes for an absent token. */
function tokenOf({ token_id: token }: Json): OutcomeId | null {
  return typeof token === 'string' && token !== '' ? outcomeId(token) : null
}

/** Combo dollars include the fee. The result of a combo without dollars is unknown. */
function readCombo(wire: Json, type: string, at: TimeMs): ReadRow {
  if (INCOMES.has(type)) return readIncome(wire, at)
  const size = roundSize(figure(wire.size))
  const usd = roundUsd(figure(wire.usdc_size))
  const kind = COMBO_KINDS.get(type === 'TRADE' ? `${type} ${wire.side}` : type)
  const isComplete = kind !== undefined && size !== null && usd !== null && usd >= 0
  const fields = isComplete ? { kind, size, usd } : { kind: 'comboOther' as const }
  const event = { ...bare(wire, fields.kind, at), market: marketOf(wire), token: tokenOf(wire) }
  return { kind: 'event', event: { ...event, ...fields }, key: null }
}

const COMBO_KINDS: ReadonlyMap<string, ComboEventKind> = new Map([
  ['TRADE BUY', 'comboBuy'],
  ['TRADE SELL', 'comboSell'],
  ['REDEEM', 'comboRedeem'],
])

/** The first byte of an id identifies the module. Combos have their own module. */
export function isComboId(market: NativeMarketId): boolean {
  return COMBO.test(market)
}

const COMBO = /^0x03[0-9a-f]{32}.*0{8}$/

/** A number or numeric text. NaN for other values, which the rounding functions of units.ts reject. */
function figure(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

export interface FoundEvent {
  readonly event: WalletEvent
  readonly key: string | null
}

/**
 * Sorts events by time, transaction and row. Joins the rows of a conversion, which has one row per market. The rows
 * must cover whole seconds, because a conversion would otherwise be split.
 */
export function orderedEvents(rows: readonly FoundEvent[]): readonly FoundEvent[] {
  // Hashes of one chain have the same length and case, so every reader gets the same order.
  return joinConversions(rows).sort((one, other) => compareEvents(one.event, other.event))
}

/** Joins rows by transaction and amount. A market that occurs again belongs to another conversion. */
function joinConversions(rows: readonly FoundEvent[]): FoundEvent[] {
  const joined: FoundEvent[] = []
  const positions = new Map<string, number[]>()
  for (const found of rows) {
    const { event } = found
    if (event.kind !== 'conversion') {
      joined.push(found)
      continue
    }
    const name = `${event.timeMs} ${event.txHash} ${event.size}`
    const existing = positions.get(name) ?? []
    const position = existing.find(
      (at) => joined[at]?.event.converted.includes(event.market) === false,
    )
    const begun = position === undefined ? undefined : joined[position]?.event
    if (position !== undefined && begun !== undefined) {
      joined[position] = { event: withRow(begun, event), key: null }
      continue
    }
    positions.set(name, [...existing, joined.length])
    joined.push(found)
  }
  return joined
}

function withRow(conversion: WalletEvent, row: WalletEvent): WalletEvent {
  return {
    ...conversion,
    usd: usdMicros(conversion.usd + row.usd),
    converted: [...conversion.converted, ...row.converted],
  }
}
