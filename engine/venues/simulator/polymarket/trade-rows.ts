// Rows of trades, one per wallet (engine/venues/polymarket/README.md, Activity stream).

import { MICROS, sizeMicros, toNumber } from '../../../units.ts'
import type { SimTrade } from '../model.ts'
import { participation, shownPrice } from '../world/fill-money.ts'
import { imageUrl } from './market-facts.ts'

/** Fields that RTDS and the Data API share, with the venue's names. */
export interface TradeRow {
  readonly proxyWallet: string
  readonly side: 'BUY' | 'SELL'
  readonly asset: string
  readonly conditionId: string
  readonly size: number
  readonly price: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly title: string
  readonly slug: string
  readonly icon: string
  readonly eventSlug: string
  readonly outcome: string
  readonly outcomeIndex: number
  readonly name: string
  readonly pseudonym: string
  readonly bio: string
  readonly profileImage: string
  readonly transactionHash: string
}

export function participantCount(trade: SimTrade): number {
  return 1 + trade.makers.length
}

/** Participant 0 is the taker. The others are makers, on the opposite side. */
export function tradeRow(trade: SimTrade, participant: number): TradeRow {
  const { listing, event } = trade.market
  const maker = participant === 0 ? undefined : trade.makers[participant - 1]
  const wallet = maker?.wallet ?? trade.taker
  const { size, isBuy } = participation(trade, participant)
  return {
    proxyWallet: wallet.address,
    side: isBuy ? 'BUY' : 'SELL',
    asset: listing.tokens[trade.outcomeIndex],
    conditionId: listing.nativeId,
    size: toNumber(sizeMicros(size)),
    price: shownPrice(trade),
    timestamp: Math.floor(trade.atMs / 1000),
    title: listing.question,
    slug: listing.slug,
    icon: imageUrl(event.nativeId),
    eventSlug: event.nativeId,
    outcome: listing.outcomes[trade.outcomeIndex],
    outcomeIndex: trade.outcomeIndex,
    name: wallet.name,
    pseudonym: wallet.pseudonym,
    bio: '',
    profileImage: '',
    transactionHash: trade.txHash,
  }
}

/** The taker's row for a complete transaction, at the average price of its fills with floating-point error. */
export function matchRow(fills: readonly SimTrade[]): TradeRow {
  const [first] = fills
  if (first === undefined) throw new RangeError('a transaction has a fill')
  const row = tradeRow(first, 0)
  if (fills.length === 1) return row
  let size = 0
  let dollars = 0
  for (const fill of fills) {
    size += fill.size
    dollars += (fill.price / MICROS) * fill.size
  }
  return { ...row, size: toNumber(sizeMicros(size)), price: dollars / size }
}
