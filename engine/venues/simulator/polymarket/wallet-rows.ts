// Wallets → rows of venue a's Data API v1: activity, positions, closed positions, holders
// (engine/venues/polymarket/README.md, Wallets). Not for: which rows and in what order (wallet-routes.ts),
// v2's spelling (wallet-v2.ts).
// Upholds SIMWALLET8, SIMWALLET9 and SIMWALLET16.

import { formatTime, MICROS, sizeMicros, toNumber, toSeconds } from '../../../units.ts'
import type { SimHolding, SimMarket, SimWalletEvent, SimWalletLedger } from '../model.ts'
import { participation } from '../world/fill-money.ts'
import { isNamed } from '../world/wallet-events.ts'
import { endMs, imageUrl, outcomePrices } from './facts.ts'
import { tradeRow } from './trade-rows.ts'

/** What the venue shows in place of an outcome index that does not exist. */
const NO_OUTCOME = 999

/** One of a wallet's two positions in a market. */
export interface Position {
  readonly holding: SimHolding
  readonly outcomeIndex: 0 | 1
}

/** An activity row. Rows that are no trades have empty texts, 999 and 0 where a trade says which outcome. */
export function activityRow(ledger: SimWalletLedger, event: SimWalletEvent) {
  const { fill, kind } = event
  const usdcSize = toNumber(usdcMicros(event))
  if (fill !== null) {
    const row = tradeRow(fill.trade, fill.participant)
    return { ...row, type: kind, usdcSize, profileImageOptimized: '' }
  }
  const { market, outcomeIndex } = event
  const named = outcomeIndex === null || !isNamed(event) ? null : outcomeIndex
  return {
    proxyWallet: ledger.wallet.address,
    timestamp: toSeconds(event.atMs),
    conditionId: market?.listing.nativeId ?? '',
    type: kind,
    size: toNumber(event.size),
    usdcSize,
    transactionHash: event.txHash,
    price: 0,
    asset: named === null ? '' : (market?.listing.tokens[named] ?? ''),
    side: '',
    outcomeIndex: named ?? NO_OUTCOME,
    title: market?.listing.question ?? '',
    slug: market?.listing.slug ?? '',
    icon: market === null ? '' : imageUrl(market.event.nativeId),
    eventSlug: market?.event.nativeId ?? '',
    outcome: named === null ? '' : (market?.listing.outcomes[named] ?? ''),
    name: ledger.wallet.name,
    pseudonym: ledger.wallet.pseudonym,
    bio: '',
    profileImage: '',
    profileImageOptimized: '',
  }
}

/** `usdcSize` in micros: what a buyer paid, the fee on top; else what the wallet got, the fee taken out. */
export function usdcMicros(event: SimWalletEvent) {
  const isSale = sideOf(event) === 'SELL'
  return sizeMicros(event.usd + (isSale ? -event.fee : event.fee))
}

/** BUY or SELL of a trade row; null for every other. */
export function sideOf({ fill }: SimWalletEvent): 'BUY' | 'SELL' | null {
  if (fill === null) return null
  return participation(fill.trade, fill.participant).isBuy ? 'BUY' : 'SELL'
}

/** What a position is worth and has brought, in dollars and contracts, by the venue's definitions. */
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

/** A row of `/positions`. */
export function positionRow(at: Position) {
  const figures = positionFigures(at)
  const { market, positions } = at.holding
  return {
    proxyWallet: at.holding.ledger.wallet.address,
    asset: market.listing.tokens[at.outcomeIndex],
    conditionId: market.listing.nativeId,
    size: rounded(figures.size, 4),
    avgPrice: rounded(figures.averagePrice, 4),
    initialValue: rounded(figures.initial, 4),
    currentValue: rounded(figures.current, 4),
    cashPnl: rounded(figures.unrealized, 4),
    percentPnl: rounded(figures.percent, 4),
    totalBought: rounded(figures.bought, 4),
    realizedPnl: rounded(figures.realized, 4),
    percentRealizedPnl: rounded(figures.percentRealized, 4),
    curPrice: figures.price,
    redeemable: isRedeemable(market),
    mergeable: positions[0].amount > 0 && positions[1].amount > 0,
    ...marketFields(at),
    eventId: String(market.event.number),
    endDate: endDate(market),
    negativeRisk: market.event.isMutuallyExclusive,
  }
}

/** A row of `/closed-positions`: no size, six decimals. */
export function closedPositionRow(at: Position) {
  const figures = positionFigures(at)
  const { market, positions } = at.holding
  return {
    proxyWallet: at.holding.ledger.wallet.address,
    asset: market.listing.tokens[at.outcomeIndex],
    conditionId: market.listing.nativeId,
    avgPrice: rounded(figures.averagePrice, 6),
    totalBought: figures.bought,
    realizedPnl: rounded(figures.realized, 6),
    curPrice: figures.price,
    ...marketFields(at),
    endDate: `${endDate(market)}T00:00:00Z`,
    timestamp: toSeconds(positions[at.outcomeIndex].lastMs),
  }
}

/** One of a token's holders. */
export function holderRow({ holding, outcomeIndex }: Position) {
  const { wallet } = holding.ledger
  return {
    proxyWallet: wallet.address,
    bio: '',
    asset: holding.market.listing.tokens[outcomeIndex],
    pseudonym: wallet.pseudonym,
    amount: toNumber(holding.positions[outcomeIndex].amount),
    displayUsernamePublic: wallet.name !== '',
    outcomeIndex,
    name: wallet.name,
    profileImage: '',
    profileImageOptimized: '',
  }
}

/** The positions a wallet ever had, both outcomes of each market. */
export function* positionsOf(ledger: SimWalletLedger | null): Generator<Position> {
  for (const holding of ledger?.holdings.values() ?? []) {
    for (const outcomeIndex of [0, 1] as const) {
      if (holding.positions[outcomeIndex].bought > 0) yield { holding, outcomeIndex }
    }
  }
}

/** Whether tokens can be turned in: losers too, for nothing. */
export function isRedeemable(market: SimMarket): boolean {
  return market.status === 'resolved'
}

/** To `places` decimals, as the venue's JSON numbers are. */
export function rounded(value: number, places: number): number {
  return Math.round(value * 10 ** places) / 10 ** places + 0
}

export function endDate(market: SimMarket): string {
  return formatTime(endMs(market)).slice(0, 10)
}

function marketFields({ holding, outcomeIndex }: Position) {
  const { listing, event } = holding.market
  const opposite = outcomeIndex === 0 ? 1 : 0
  return {
    title: listing.question,
    slug: listing.slug,
    icon: imageUrl(event.nativeId),
    eventSlug: event.nativeId,
    outcome: listing.outcomes[outcomeIndex],
    outcomeIndex,
    oppositeOutcome: listing.outcomes[opposite],
    oppositeAsset: listing.tokens[opposite],
  }
}
