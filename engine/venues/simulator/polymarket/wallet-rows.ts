import { formatTime, MICROS, sizeMicros, type TimeMs, toNumber, toSeconds } from '../../../units.ts'
import type { SimMarket, SimWalletEvent } from '../model.ts'
import { participation } from '../world/fill-money.ts'
import type { WalletAccount, WalletHolding } from '../world/wallet-account.ts'
import { isNamed } from '../world/wallet-events.ts'
import { snakeRow } from './envelope.ts'
import { endMs, imageUrl, outcomePrices } from './market-facts.ts'
import { tradeRow } from './trade-rows.ts'

const NO_OUTCOME = 999

export interface Position {
  readonly holding: WalletHolding
  readonly outcomeIndex: 0 | 1
}

/** Rows other than trades have the placeholders '', 999 and 0 in their outcome fields. */
export function activityRow(
  ledger: WalletAccount,
  event: SimWalletEvent,
): Readonly<Record<string, unknown>> {
  const { fill, kind } = event
  const usdcSize = toNumber(usdcMicros(event))
  if (fill !== null) {
    const row = tradeRow(fill.trade, fill.participant)
    const size = toNumber(event.size)
    return snakeRow({ ...row, size, type: kind, usdcSize, profileImageOptimized: '' })
  }
  const { market, outcomeIndex } = event
  const named = outcomeIndex === null || !isNamed(event) ? null : outcomeIndex
  return {
    proxy_wallet: ledger.wallet.address,
    timestamp: toSeconds(event.atMs),
    condition_id: market?.listing.nativeId ?? '',
    type: kind,
    size: toNumber(event.size),
    usdc_size: usdcSize,
    transaction_hash: event.txHash,
    price: 0,
    token_id: named === null ? '' : (market?.listing.tokens[named] ?? ''),
    side: '',
    outcome_index: named ?? NO_OUTCOME,
    title: market?.listing.question ?? '',
    slug: market?.listing.slug ?? '',
    icon: market === null ? '' : imageUrl(market.event.nativeId),
    event_slug: market?.event.nativeId ?? '',
    outcome: named === null ? '' : (market?.listing.outcomes[named] ?? ''),
    name: ledger.wallet.name,
    pseudonym: ledger.wallet.pseudonym,
    bio: '',
    profile_image: '',
    profile_image_optimized: '',
  }
}

/**
 * Rows of a combination that a wallet bought with a fill. One fill in four has one. Every other combination is redeemed
 * immediately.
 */
export function comboRows(ledger: WalletAccount, fill: SimWalletEvent): readonly unknown[] {
  const digits = fill.txHash.slice(2)
  const chance = Number.parseInt(digits.slice(-1), 16)
  if (chance >= 4) return []
  const id = `0x03${digits.slice(0, 32)}${'0'.repeat(30)}`
  const won = chance % 2 === 0 ? 10 : 0
  const row = {
    ...activityRow(ledger, fill),
    ...{ condition_id: id, token_id: BigInt(id).toString(), outcome_index: NO_OUTCOME },
    ...{ transaction_hash: `0x${digits.slice(32)}${digits.slice(0, 32)}`, is_combo: true },
    ...{ slug: '', event_slug: '', outcome: '', size: 10 },
  }
  const bought = { ...row, type: 'TRADE', side: 'BUY', price: 0.25, usdc_size: 2.62 }
  if (chance >= 2) return [bought]
  return [bought, { ...row, type: 'REDEEM', side: '', price: 0, size: won, usdc_size: won }]
}

/** `usdc_size` in micros. A buyer's amount includes the fee, a seller's excludes it. */
function usdcMicros(event: SimWalletEvent) {
  const isSale = sideOf(event) === 'SELL'
  return sizeMicros(event.usd + (isSale ? -event.fee : event.fee))
}

/** Null for rows other than trades. */
function sideOf({ fill }: SimWalletEvent): 'BUY' | 'SELL' | null {
  if (fill === null) return null
  return participation(fill.trade, fill.participant).isBuy ? 'BUY' : 'SELL'
}

/** Size, value and profit of a position, as the venue defines them. In contracts and dollars. */
export function positionFigures({ holding, outcomeIndex }: Position) {
  const position = holding.positions[outcomeIndex]
  const size = toNumber(position.amount)
  const bought = toNumber(position.bought)
  const price = toNumber(outcomePrices(holding.market)[outcomeIndex])
  const { averagePrice } = position
  const initial = size * averagePrice
  const current = size * price
  const lifetime = bought * averagePrice
  return {
    size,
    bought,
    averagePrice,
    price,
    initial,
    current,
    realized: position.realized / MICROS,
    unrealized: current - initial,
    percent: initial === 0 ? 0 : (100 * (current - initial)) / initial,
    percentRealized: lifetime === 0 ? 0 : (100 * (bought * price - lifetime)) / lifetime,
  }
}

export function positionRow(at: Position) {
  const figures = positionFigures(at)
  const { market, ledger, positions } = at.holding
  const { listing, event } = market
  const position = positions[at.outcomeIndex]
  const opposite = at.outcomeIndex === 0 ? 1 : 0
  const share = position.bought === 0 ? 0 : position.amount / position.bought
  const cost = rounded(figures.initial, 6)
  const fees = rounded((position.fees / MICROS) * share, 6)
  const realized = rounded(figures.realized, 6)
  const unrealized = rounded(figures.unrealized, 6)
  return {
    proxy_wallet: ledger.wallet.address,
    token_id: listing.tokens[at.outcomeIndex],
    condition_id: listing.nativeId,
    current_size: figures.size,
    avg_price: rounded(figures.averagePrice, 6),
    entry_cost_usdc: cost,
    entry_fees_usdc: fees,
    total_cost_usdc: rounded(cost + fees, 6),
    current_price: figures.price,
    current_value: rounded(figures.current, 6),
    total_size: figures.bought,
    realized_pnl: realized,
    unrealized_pnl: unrealized,
    total_pnl: rounded(realized + unrealized, 6),
    percent_pnl: rounded(figures.percent, 6),
    percent_realized_pnl: rounded(figures.percentRealized, 6),
    status: figures.size === 0 ? 'CLOSED' : isRedeemable(market) ? 'REDEEMABLE' : 'OPEN',
    redeemable: figures.size > 0 && isRedeemable(market),
    mergeable: positions[0].amount > 0 && positions[1].amount > 0,
    negative_risk: event.isMutuallyExclusive,
    archived: false,
    title: listing.question,
    slug: listing.slug,
    icon: imageUrl(event.nativeId),
    event_id: String(event.number),
    event_slug: event.nativeId,
    outcome: listing.outcomes[at.outcomeIndex],
    outcome_index: at.outcomeIndex,
    opposite_outcome: listing.outcomes[opposite],
    opposite_token_id: listing.tokens[opposite],
    end_date: formatTime(endMs(market)).slice(0, 10),
    last_event_at: toSeconds(position.lastMs),
    first_entry_at: toSeconds(firstMs(at)),
    name: ledger.wallet.name,
    profile_image: '',
    verified: false,
  }
}

function firstMs({ holding }: Position): TimeMs {
  const first = holding.ledger.events.find(({ market }) => market === holding.market)
  return first?.atMs ?? holding.ledger.firstMs
}

export function holderRow({ holding, outcomeIndex }: Position) {
  const { wallet } = holding.ledger
  return {
    proxy_wallet: wallet.address,
    bio: '',
    token_id: holding.market.listing.tokens[outcomeIndex],
    pseudonym: wallet.pseudonym,
    amount: toNumber(holding.positions[outcomeIndex].amount),
    display_username_public: wallet.name !== '',
    outcome_index: outcomeIndex,
    name: wallet.name,
    profile_image: '',
    profile_image_optimized: '',
    verified: false,
  }
}

export function* positionsOf(ledger: WalletAccount | null): Generator<Position> {
  for (const holding of ledger?.holdings.values() ?? []) {
    for (const outcomeIndex of [0, 1] as const) {
      if (holding.positions[outcomeIndex].bought > 0) yield { holding, outcomeIndex }
    }
  }
}

function isRedeemable(market: SimMarket): boolean {
  return market.status === 'resolved'
}

export function rounded(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals + 0
}
