// Venue b's REST objects: markets, trades and books. Fields and JSON types follow API version 3.30. Numbers are only in
// *_dollars and *_fp strings, without integer cents.

import {
  complement,
  DAY_MS,
  HOUR_MS,
  PRICE_ONE,
  type PriceMicros,
  priceMicros,
  type TimeMs,
  timeMs,
} from '../../../units.ts'
import type { SimGame, SimMarket, SimStatus, SimTrade } from '../model.ts'
import { uuidOf } from '../questions/identity.ts'
import { comboEvent, isBlock, priceFields, shardOf, tradeIdOf } from './terms.ts'
import { count, dollars, levelsText, rfc3339 } from './text.ts'

/** The venue's terms in answers. Queries use other terms (filters.ts). */
const STATUS_NAMES: Readonly<Record<SimStatus, string>> = {
  unopened: 'initialized',
  open: 'active',
  closed: 'closed',
  determined: 'determined',
  resolved: 'finalized',
}

export function renderMarket(
  market: SimMarket,
  at: { readonly nowMs: TimeMs; readonly metadataMs: TimeMs },
): Record<string, unknown> {
  const { listing, event, status } = market
  const latestMs = timeMs(Math.max(listing.determineMs, listing.closeMs + 7 * DAY_MS))
  const payoutMs = listing.resolveMs - listing.determineMs
  return {
    ticker: listing.nativeId,
    event_ticker: event.nativeId,
    market_type: 'binary',
    title: listing.question,
    yes_sub_title: listing.shortTitle,
    no_sub_title: listing.noShortTitle,
    created_time: rfc3339(listing.createdMs),
    updated_time: rfc3339(at.metadataMs),
    open_time: rfc3339(listing.openMs),
    close_time: rfc3339(listing.closeMs),
    expected_expiration_time: rfc3339(listing.determineMs),
    expiration_time: rfc3339(latestMs),
    latest_expiration_time: rfc3339(latestMs),
    settlement_timer_seconds: Math.max(0, Math.round(payoutMs / 1000)),
    status: STATUS_NAMES[status],
    ...quoteFields(market),
    last_price_dollars: dollars(lastPrice(market, at.nowMs)),
    volume_fp: count(market.volumeTotalContracts),
    volume_24h_fp: count(market.volume24hContracts),
    open_interest_fp: count(market.openInterest),
    notional_value_dollars: '1.0000',
    ...previousFields(market, timeMs(at.nowMs - DAY_MS)),
    ...settlementFields(market),
    can_close_early: true,
    early_close_condition:
      event.game === null
        ? 'This market will close and expire early if the event occurs.'
        : 'This market will close and expire after a winner is declared.',
    ...(event.game === null ? {} : { occurrence_datetime: rfc3339(occurrenceMs(event.game)) }),
    rules_primary: listing.rules,
    rules_secondary: listing.rulesSecondary,
    ...strikeFields(market),
    ...priceFields(market, { tick: market.tickMicros, atMs: at.nowMs }),
    exchange_index: shardOf(event),
  }
}

/** Approximate end of a game. In recorded rows it is three hours after the start, in every sport. */
const occurrenceMs = ({ startMs }: SimGame): TimeMs => timeMs(startMs + 3 * HOUR_MS)

export function renderCombo(
  ticker: string,
  market: SimMarket,
  at: { readonly nowMs: TimeMs; readonly metadataMs: TimeMs },
): Record<string, unknown> {
  const { nativeId } = market.listing
  return {
    ...renderMarket(market, at),
    ticker,
    event_ticker: comboEvent(ticker),
    mve_collection_ticker: `KXMVE${market.event.series}-R`,
    mve_selected_legs: [
      { event_ticker: market.event.nativeId, market_ticker: nativeId, side: 'yes' },
    ],
    exchange_index: 1,
  }
}

export function renderTrade(trade: SimTrade, combo: string | null): Record<string, unknown> {
  const price = yesPrice(trade)
  const side = takerOutcome(trade)
  return {
    trade_id: tradeIdOf(trade, combo),
    ticker: combo ?? trade.market.listing.nativeId,
    count_fp: count(trade.size),
    yes_price_dollars: dollars(price),
    no_price_dollars: dollars(complement(price)),
    taker_outcome_side: side,
    taker_book_side: side === 'yes' ? 'bid' : 'ask',
    taker_side: side,
    created_time: rfc3339(trade.atMs),
    is_block_trade: isBlock(trade),
  }
}

/** The JSON text of an `orderbook_fp` object. `depth` 0: all levels. */
export function bookText(market: SimMarket, depth: number): string {
  const { bids, asks } = market.book
  const best = depth === 0 ? Number.POSITIVE_INFINITY : depth
  const yes = levelsText(bids.slice(0, best), { isReversed: true, isComplement: false })
  const no = levelsText(asks.slice(0, best), { isReversed: true, isComplement: true })
  return `{"yes_dollars":[${yes}],"no_dollars":[${no}]}`
}

export function yesPrice(trade: SimTrade): PriceMicros {
  return trade.outcomeIndex === 0 ? trade.price : complement(trade.price)
}

/** Buying Yes and selling No have the same effect on the taker's position. */
export function takerOutcome(trade: SimTrade): 'yes' | 'no' {
  return (trade.outcomeIndex === 0) === (trade.side === 'buy') ? 'yes' : 'no'
}

export function resultOf(market: SimMarket): 'yes' | 'no' | 'scalar' | '' {
  if (market.status !== 'determined' && market.status !== 'resolved') return ''
  const { payout } = market.listing
  if (payout === PRICE_ONE) return 'yes'
  return payout === 0 ? 'no' : 'scalar'
}

export function strikeFields(market: SimMarket): Record<string, unknown> {
  const { strike } = market.listing
  if (strike === null) return {}
  return {
    strike_type: strike.type,
    ...(strike.floor === null ? {} : { floor_strike: strike.floor }),
    ...(strike.cap === null ? {} : { cap_strike: strike.cap }),
    ...(strike.type === 'structured' ? { custom_strike: customStrike(market) } : {}),
  }
}

/** Returns the fair price before this run's first trade. */
export function lastPrice(market: SimMarket, nowMs: TimeMs): PriceMicros {
  const { lastTrade } = market
  if (lastTrade !== null) {
    const inBook = isBlock(lastTrade)
      ? market.trades.findLast((trade) => !isBlock(trade))
      : lastTrade
    if (inBook !== undefined) return yesPrice(inBook)
  }
  if (market.volumeTotalContracts === 0) return priceMicros(0)
  return onTick(market, market.fairPrice(nowMs))
}

/** The nearest multiple of the tick within (0, 1). */
export function onTick(market: SimMarket, price: PriceMicros): PriceMicros {
  const tick = market.tickMicros
  const nearest = Math.round(price / tick) * tick
  return priceMicros(Math.min(PRICE_ONE - tick, Math.max(tick, nearest)))
}

export function targetId(league: string, kalshiCode: string): string {
  return uuidOf(`structured target/${league}/${kalshiCode}`)
}

/** An empty side has price 0.0000 and size 0.00. */
function quoteFields({ book }: SimMarket): Record<string, string> {
  const bid = book.bestBid
  const ask = book.bestAsk
  return {
    yes_bid_dollars: bid === null ? '0.0000' : dollars(bid),
    yes_bid_size_fp: bid === null ? '0.00' : count(book.sizeAt('bid', bid)),
    yes_ask_dollars: ask === null ? '0.0000' : dollars(ask),
    yes_ask_size_fp: ask === null ? '0.00' : count(book.sizeAt('ask', ask)),
    no_bid_dollars: ask === null ? '1.0000' : dollars(complement(ask)),
    no_ask_dollars: bid === null ? '1.0000' : dollars(complement(bid)),
  }
}

/** Quotes of a day ago, derived from the fair price. They are 0 if the market was not open yet. */
function previousFields(market: SimMarket, dayAgoMs: TimeMs): Record<string, string> {
  if (dayAgoMs < market.listing.openMs) {
    const none = '0.0000'
    return {
      previous_price_dollars: none,
      previous_yes_bid_dollars: none,
      previous_yes_ask_dollars: none,
    }
  }
  const price = onTick(market, market.fairPrice(dayAgoMs))
  const bid = onTick(market, priceMicros(price - market.tickMicros))
  return {
    previous_price_dollars: dollars(price),
    previous_yes_bid_dollars: dollars(bid),
    previous_yes_ask_dollars: dollars(price > bid ? price : priceMicros(bid + market.tickMicros)),
  }
}

function settlementFields(market: SimMarket): Record<string, string> {
  const { listing, status } = market
  const result = resultOf(market)
  if (result === '') return { result, expiration_value: '' }
  return {
    result,
    expiration_value: result === 'yes' ? listing.shortTitle : result,
    settlement_value_dollars: dollars(listing.payout),
    ...(status === 'resolved' ? { settlement_ts: rfc3339(listing.resolveMs) } : {}),
  }
}

/** The team or player of a structured market, by its ticker's suffix: `{"football_team": id}`. */
function customStrike({ event, listing }: SimMarket): Record<string, string> {
  const suffix = listing.nativeId.slice(event.nativeId.length + 1)
  const game = event.game
  if (game === null) return { participant: targetId(event.series, suffix) }
  const { sport, league, away, home } = game
  const team = [away, home].find(({ kalshiCode }) => suffix.startsWith(kalshiCode))
  return { [targetType(sport)]: targetId(league, team === undefined ? suffix : team.kalshiCode) }
}

export function targetType(sport: string): string {
  if (sport === 'nfl' || sport === 'cfb') return 'football_team'
  if (sport === 'nba' || sport === 'cbb') return 'basketball_team'
  if (sport === 'mlb') return 'baseball_team'
  if (sport === 'nhl') return 'hockey_team'
  return sport === 'tennis' ? 'tennis_competitor' : 'golfer'
}
