// The ledger of a wallet → our JSON: its fills as trades, the rest as activities; and what its markets are
// called: by the catalogue, else by what was kept of them for wallets.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import type { WalletEventView } from '../../actors/wallets/views.ts'
import type { TradeSide } from '../../engine/events.ts'
import type { OutcomeId, WalletAddress } from '../../engine/ids.ts'
import { complement, MICROS } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { WalletEvent, WalletEventKind, WalletMarket } from '../../engine/wallet.ts'
import { nullable, WalletActivitySchema, WalletTradeSchema } from '../schemas.ts'

const page = { cursor: nullable(Type.String()), has_more: Type.Boolean() }

export const walletTradesSchema = Type.Object({
  address: Type.String(),
  trades: Type.Array(WalletTradeSchema),
  ...page,
})

export const walletActivitySchema = Type.Object({
  address: Type.String(),
  activities: Type.Array(WalletActivitySchema),
  ...page,
})

/** Kinds of events by the names of activities. */
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

/** What the wallet did in the first outcome; in the token itself where the market is not known. */
export function firstOutcomeSide(row: WalletEventView): 'buy' | 'sell' {
  return sideOf(row.event, outcomeIndex(row, row.event.token))
}

/** What the taker did with the outcome that the wallet traded; null: it is not known who the taker is. */
export function walletTakerSide({ event: { kind, role } }: WalletEventView): TradeSide | null {
  if (role === null) return null
  return (kind === 'buy') === (role === 'taker') ? 'buy' : 'sell'
}

/** A fill as its wallet made it. */
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
    // Wallets are of a venue whose trades all happen on the book.
    is_block_trade: false,
    token_id: token ?? '',
    condition_id: event.market,
    ...{ question, slug, role },
    taker_outcome: outcome,
    taker_side: walletTakerSide(row),
    taker_price: price / MICROS,
  }
}

/** Whatever else a wallet did with contracts. */
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

/** Where the market is not known, the token is as good as its first. */
function isOfFirst(index: number): boolean {
  return index <= 0
}

function sideOf({ kind }: WalletEvent, index: number): 'buy' | 'sell' {
  return (kind === 'buy') === isOfFirst(index) ? 'buy' : 'sell'
}

/** A market as the owner of wallets shows it; both null: it is no longer known. */
interface ShownMarket {
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
}

/** Null: not known. */
export function namesOf(market: ShownMarket): {
  readonly question: string | null
  readonly slug: string | null
  readonly eventSlug: string | null
} {
  return market.view?.summary ?? market.facts ?? UNNAMED
}

const UNNAMED = { question: null, slug: null, eventSlug: null }

/** The place of a token among the market's outcomes; −1: not known. */
function outcomeIndex(market: ShownMarket, token: OutcomeId | null): number {
  if (token === null) return -1
  if (market.view === null) return market.facts?.tokens.indexOf(token) ?? -1
  return market.view.summary.outcomes.findIndex(({ id }) => id === token)
}

/** What the outcome in that place is called; null: not known. */
export function outcomeLabel(market: ShownMarket, index: number): string | null {
  if (market.view === null) return market.facts?.labels[index] ?? null
  return market.view.summary.outcomes[index]?.label ?? null
}
