// Renders the `msg` part of venue b's stream messages, once for all receivers. Levels of the No side are the asks for
// Yes. Their prices are for No, unless the client requests prices of Yes.

import type { LevelChange } from '../../../events.ts'
import {
  complement,
  PRICE_ONE,
  type PriceMicros,
  type SizeMicros,
  type TimeMs,
  toSeconds,
} from '../../../units.ts'
import type { SimEvent, SimMarket, SimTrade } from '../model.ts'
import { eventFees } from './fees.ts'
import { lastPrice, resultOf, strikeFields, takerOutcome, yesPrice } from './render.ts'
import { isBlock, priceFields, shardOf, tradeIdOf } from './terms.ts'
import { count, countDifference, dollars, levelsText, rfc3339 } from './text.ts'

export type MessageKind =
  | 'orderbook_delta'
  | 'ticker'
  | 'trade'
  | 'market_lifecycle_v2'
  | 'event_lifecycle'
  | 'event_fee_update'

export function marketFields(market: SimMarket): string {
  const { nativeId, uuid } = market.listing
  return `"market_ticker":${JSON.stringify(nativeId)},"market_id":"${uuid}"`
}

/** `orderbook_snapshot`: bids of Yes and No, ascending. An empty side has no key. */
export function snapshotMessage(
  market: SimMarket,
  form: { fields: string; isYesPriced: boolean },
): string {
  const { bids, asks } = market.book
  const yes = levelsText(bids, { isReversed: true, isComplement: false })
  // Asks are sorted best first. As prices of No they are bids in descending order. As prices of Yes they ascend.
  const no = levelsText(asks, { isReversed: !form.isYesPriced, isComplement: !form.isYesPriced })
  const yesPart = yes === '' ? '' : `,"yes_dollars_fp":[${yes}]`
  const noPart = no === '' ? '' : `,"no_dollars_fp":[${no}]`
  return `{${form.fields}${yesPart}${noPart}}`
}

/** `orderbook_delta`. Null: the difference rounds to zero. */
export function deltaMessage(
  change: LevelChange,
  form: { fields: string; previous: SizeMicros; atMs: TimeMs; isYesPriced: boolean },
): string | null {
  const difference = countDifference({ from: form.previous, to: change.size })
  if (difference === '0.00') return null
  const isBid = change.side === 'bid'
  const price = isBid || form.isYesPriced ? change.price : complement(change.price)
  return `{${form.fields},"price_dollars":"${dollars(price)}","delta_fp":"${difference}","side":"${
    isBid ? 'yes' : 'no'
  }","ts":"${rfc3339(form.atMs)}","ts_ms":${form.atMs}}`
}

export function tickerMessage(market: SimMarket, form: { fields: string; atMs: TimeMs }): string {
  const { book, lastTrade } = market
  const bid = book.bestBid
  const ask = book.bestAsk
  const price = lastPrice(market, form.atMs)
  const interest = Math.floor((market.openInterest / 1e12) * price)
  return `{${form.fields},"price_dollars":"${dollars(price)}","yes_bid_dollars":"${bid === null ? '0.0000' : dollars(bid)}","yes_ask_dollars":"${dollars(
    ask ?? PRICE_ONE,
  )}","yes_bid_size_fp":"${bid === null ? '0.00' : count(book.sizeAt('bid', bid))}","yes_ask_size_fp":"${
    ask === null ? '0.00' : count(book.sizeAt('ask', ask))
  }","last_trade_size_fp":"${lastTrade === null ? '0.00' : count(lastTrade.size)}","volume_fp":"${count(
    market.volumeTotalContracts,
  )}","open_interest_fp":"${count(market.openInterest)}","dollar_volume":${Math.floor(
    market.volumeTotal / 1e6,
  )},"dollar_open_interest":${interest},"ts":${toSeconds(form.atMs)},"ts_ms":${form.atMs},"time":"${rfc3339(
    form.atMs,
  )}"}`
}

export function tradeMessage(trade: SimTrade, combo: string | null = null): string {
  const price = yesPrice(trade)
  const side = takerOutcome(trade)
  return `{"trade_id":"${tradeIdOf(trade, combo)}","market_ticker":${JSON.stringify(
    combo ?? trade.market.listing.nativeId,
  )},"yes_price_dollars":"${dollars(price)}","no_price_dollars":"${dollars(
    complement(price),
  )}","count_fp":"${count(trade.size)}","taker_side":"${side}","taker_outcome_side":"${side}","taker_book_side":"${
    side === 'yes' ? 'bid' : 'ask'
  }","is_block_trade":${isBlock(trade)},"ts":${toSeconds(trade.atMs)},"ts_ms":${trade.atMs}}`
}

export function createdMessage(market: SimMarket, atMs: TimeMs): string {
  const { listing, event } = market
  return JSON.stringify({
    market_ticker: listing.nativeId,
    event_type: 'created',
    exchange_index: shardOf(event),
    open_ts: toSeconds(listing.openMs),
    close_ts: toSeconds(listing.closeMs),
    additional_metadata: {
      name: listing.shortTitle,
      title: listing.question,
      yes_sub_title: listing.shortTitle,
      no_sub_title: listing.noShortTitle,
      rules_primary: listing.rules,
      rules_secondary: listing.rulesSecondary,
      can_close_early: true,
      event_ticker: event.nativeId,
      expected_expiration_ts: toSeconds(listing.determineMs),
      ...strikeFields(market),
    },
    ...priceFields(market, { tick: market.tickMicros, atMs }),
  })
}

export function determinedMessage(market: SimMarket): string {
  return JSON.stringify({
    market_ticker: market.listing.nativeId,
    event_type: 'determined',
    determination_ts: toSeconds(market.listing.determineMs),
    result: resultOf(market),
    settlement_value: dollars(market.listing.payout),
  })
}

export function settledMessage(market: SimMarket): string {
  return JSON.stringify({
    market_ticker: market.listing.nativeId,
    event_type: 'settled',
    settled_ts: toSeconds(market.listing.resolveMs),
  })
}

export function structureMessage(
  market: SimMarket,
  at: { readonly tick: PriceMicros; readonly atMs: TimeMs },
): string {
  return JSON.stringify({
    market_ticker: market.listing.nativeId,
    event_type: 'price_level_structure_updated',
    ...priceFields(market, at),
  })
}

export function eventMessage(event: SimEvent): string {
  return JSON.stringify({
    event_ticker: event.nativeId,
    exchange_index: shardOf(event),
    title: event.title,
    subtitle: event.subtitle,
    collateral_return_type: event.isMutuallyExclusive ? 'MECNET' : '',
    series_ticker: event.series,
  })
}

/** The event's current fees override those of its series. */
export function feeMessage(event: SimEvent, atMs: TimeMs): string {
  return JSON.stringify({ event_ticker: event.nativeId, ...eventFees(event, atMs) })
}
