// Converts events of a wallet to JSON. Names of markets come from the catalogue. Names of removed markets come from the
// stored wallet data.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import type { WalletEventView } from '../../actors/wallets/views.ts'
import type { TradeSide } from '../../engine/events.ts'
import type { OutcomeId, WalletAddress } from '../../engine/ids.ts'
import { complement, MICROS } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { WalletEvent, WalletEventKind, WalletMarket } from '../../engine/wallet.ts'
import { pageFields, WalletActivitySchema, WalletTradeSchema } from '../schemas.ts'

export const walletTradesSchema = Type.Object({
  address: Type.String(),
  trades: Type.Array(WalletTradeSchema),
  ...pageFields,
})

export const walletActivitySchema = Type.Object({
  address: Type.String(),
  activities: Type.Array(WalletActivitySchema),
  ...pageFields,
})

export const ACTIVITY_KINDS = {
  SPLIT: 'split',
  MERGE: 'merge',
  REDEEM: 'redeem',
  CONVERSION: 'conversion',
  MIGRATION: 'migration',
} as const satisfies Readonly<Record<string, WalletEventKind>>
export type ActivityType = keyof typeof ACTIVITY_KINDS
export const ACTIVITY_TYPES: readonly ActivityType[] = [
  'SPLIT',
  'MERGE',
  'REDEEM',
  'CONVERSION',
  'MIGRATION',
]

/** The wallet's side of the market's first outcome. If the market is unknown, the side of the token. */
export function firstOutcomeSide(row: WalletEventView): 'buy' | 'sell' {
  return sideOf(row.event, outcomeIndex(row, row.event.token))
}

/** The taker's side of the outcome that the wallet traded; null if the taker is unknown. */
export function walletTakerSide({ event: { kind, role } }: WalletEventView): TradeSide | null {
  if (role === null) return null
  return (kind === 'buy') === (role === 'taker') ? 'buy' : 'sell'
}

export function walletTradeRecord(
  row: WalletEventView,
  { names, proxy }: { readonly names: VenueTable; readonly proxy: WalletAddress },
) {
  const { event, id, timeMs } = row
  const { price, role, token } = event
  const { question, slug } = namesOf(row)
  const index = outcomeIndex(row, token)
  const outcome = outcomeLabel(row, index)
  return {
    id,
    market_id: names.marketId(names.ofWallets.key, event.market),
    platform: names.ofWallets.name,
    price: (isOfFirst(index) ? price : complement(price)) / MICROS,
    size: event.size / MICROS,
    side: sideOf(event, index),
    outcome,
    size_usd: event.usd / MICROS,
    timestamp_ms: timeMs,
    native_trade_id: id,
    maker: role === 'maker' ? proxy : null,
    taker: role === 'taker' ? proxy : null,
    tx_hash: event.txHash === '' ? null : event.txHash,
    // The venue with wallet data has no block trades.
    is_block_trade: false,
    token_id: token ?? '',
    condition_id: event.market,
    ...{ question, slug, role },
    taker_outcome: outcome,
    taker_side: walletTakerSide(row),
    taker_price: price / MICROS,
  }
}

export function walletActivityRecord(row: WalletEventView, names: VenueTable) {
  const { event, id, timeMs } = row
  const { question, slug } = namesOf(row)
  return {
    id,
    type: event.kind.toUpperCase(),
    market_id: names.marketId(names.ofWallets.key, event.market),
    condition_id: event.market,
    ...{ question, slug },
    size: event.size / MICROS,
    usd_value: event.usd / MICROS,
    tx_hash: event.txHash === '' ? null : event.txHash,
    timestamp_ms: timeMs,
  }
}

/** A token of an unknown market counts as the first outcome. */
function isOfFirst(index: number): boolean {
  return index <= 0
}

function sideOf({ kind }: WalletEvent, index: number): 'buy' | 'sell' {
  return (kind === 'buy') === isOfFirst(index) ? 'buy' : 'sell'
}

/** `view` is from the catalogue, `facts` from the stored wallet data. Both are null if the market is unknown. */
interface ShownMarket {
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
}

export function namesOf(market: ShownMarket): {
  readonly question: string | null
  readonly slug: string | null
  readonly eventSlug: string | null
} {
  return market.view?.summary ?? market.facts ?? UNNAMED
}

const UNNAMED = { question: null, slug: null, eventSlug: null }

/** −1 if the token is unknown. */
function outcomeIndex(market: ShownMarket, token: OutcomeId | null): number {
  if (token === null) return -1
  if (market.view === null) return market.facts?.tokens.indexOf(token) ?? -1
  return market.view.summary.outcomes.findIndex(({ id }) => id === token)
}

/** Null if the outcome is unknown. */
export function outcomeLabel(market: ShownMarket, index: number): string | null {
  if (market.view === null) return market.facts?.labels[index] ?? null
  return market.view.summary.outcomes[index]?.label ?? null
}
