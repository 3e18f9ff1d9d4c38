import {
  DAY_MS,
  formatTime,
  MICROS,
  PRICE_HALF,
  type TimeMs,
  timeMs,
  toDecimal,
  toNumber,
} from '../../../units.ts'
import type { SimEvent, SimMarket, SimStatus } from '../model.ts'
import { feeScheduleOf } from '../world/fees.ts'
import { eventRow, tagRow } from './events.ts'
import { FIXED_FIELDS } from './fixed-fields.ts'
import {
  competitiveness,
  endMs,
  feeBps,
  gameId,
  gammaId,
  hexId,
  imageUrl,
  isActive,
  isOver,
  LEGACY_FEE_BPS,
  lastFirstPrice,
  liquidityUsd,
  ORDER_SIZE_MIN,
  oracleStatus,
  outcomePrices,
  spacedTime,
  volumeWithin,
  winnerIndex,
} from './market-facts.ts'

interface MarketParts {
  readonly nowMs: TimeMs
  readonly hasEvent: boolean
  /** Includes the parent event's tags (`include_tag=true`). */
  readonly hasTags: boolean
}

/** A field without a value is absent, never null. */
export function gammaMarket(market: SimMarket, parts: MarketParts): Record<string, unknown> {
  const { listing, event } = market
  return {
    id: String(listing.number),
    question: listing.question,
    version: listing.isV2 ? 'v2' : 'v1',
    conditionId: gammaId(market),
    slug: listing.slug,
    endDate: formatTime(endMs(market)),
    liquidity: String(liquidityUsd(market)),
    startDate: formatTime(listing.openMs),
    image: imageUrl(event.nativeId),
    icon: imageUrl(event.nativeId),
    description: listing.rules,
    outcomes: listText(listing.outcomes),
    outcomePrices: listText(outcomePrices(market).map((price) => toDecimal(price))),
    volume: String(toNumber(market.volumeTotal)),
    createdAt: formatTime(listing.createdMs),
    updatedAt: formatTime(market.updatedMs),
    submitted_by: SUBMITTER,
    resolvedBy: RESOLVER,
    groupItemTitle: listing.shortTitle,
    groupItemThreshold: String(Math.max(0, event.markets.indexOf(market))),
    questionID: hexId('question', listing.nativeId),
    orderPriceMinTickSize: toNumber(market.tickMicros),
    orderMinSize: ORDER_SIZE_MIN,
    endDateIso: formatTime(endMs(market)).slice(0, 10),
    startDateIso: formatTime(listing.openMs).slice(0, 10),
    ...idFields(market),
    negRiskRequestID: event.isMutuallyExclusive ? hexId('request', listing.nativeId) : '',
    ...marketFlags(market),
    ...marketVolumes(market, parts.nowMs),
    ...marketPrices(market, parts.nowMs),
    ...feeFields(market),
    ...lifeFields(market, parts.nowMs),
    ...gameFields(market),
    ...(event.isMutuallyExclusive ? { negRiskMarketID: hexId('negrisk', event.nativeId) } : {}),
    ...(parts.hasEvent
      ? { events: [eventRow(event, { nowMs: parts.nowMs, hasTags: false })] }
      : {}),
    ...(parts.hasTags ? { tags: event.tags.map((label) => tagRow(label)) } : {}),
  }
}

export function gammaEvent(event: SimEvent, nowMs: TimeMs): Record<string, unknown> {
  const markets = event.markets.map((market) =>
    gammaMarket(market, { nowMs, hasEvent: false, hasTags: false }),
  )
  return { ...eventRow(event, { nowMs, hasTags: true }), markets }
}

/** `tokens[].winner` is the resolution. */
export function clobMarket(market: SimMarket): Record<string, unknown> {
  const { listing, event } = market
  const prices = outcomePrices(market)
  return {
    ...FIXED_FIELDS.clobMarket,
    enable_order_book: market.status === 'open',
    active: isActive(market),
    closed: isOver(market),
    accepting_orders: market.status === 'open',
    accepting_order_timestamp: formatTime(listing.openMs),
    minimum_order_size: ORDER_SIZE_MIN,
    minimum_tick_size: toNumber(market.tickMicros),
    condition_id: listing.nativeId,
    question_id: hexId('question', listing.nativeId),
    question: listing.question,
    description: listing.rules,
    market_slug: listing.slug,
    end_date_iso: formatTime(endMs(market)),
    game_start_time: event.game === null ? null : formatTime(event.game.startMs),
    seconds_delay: event.game === null ? 0 : GAME_DELAY_SECONDS,
    maker_base_fee: feeBps(market),
    taker_base_fee: feeBps(market),
    neg_risk: event.isMutuallyExclusive,
    neg_risk_market_id: event.isMutuallyExclusive ? hexId('negrisk', event.nativeId) : '',
    neg_risk_request_id: event.isMutuallyExclusive ? hexId('request', listing.nativeId) : '',
    icon: imageUrl(event.nativeId),
    image: imageUrl(event.nativeId),
    rewards: { rates: null, min_size: REWARDS_SIZE_MIN, max_spread: REWARDS_SPREAD_MAX },
    is_50_50_outcome: market.status === 'resolved' && listing.payout === PRICE_HALF,
    tokens: ([0, 1] as const).map((outcomeIndex) => ({
      token_id: listing.tokens[outcomeIndex],
      outcome: listing.outcomes[outcomeIndex],
      price: toNumber(prices[outcomeIndex]),
      winner: winnerIndex(market) === outcomeIndex,
    })),
    tags: [...event.tags, 'All'],
  }
}

export function simplifiedMarket(market: SimMarket): Record<string, unknown> {
  const { condition_id, rewards, tokens, active, closed, archived, accepting_orders } =
    clobMarket(market)
  return { condition_id, rewards, tokens, active, closed, archived, accepting_orders }
}

/** Minimum order that earns the venue's rewards, in contracts, and maximum distance from the midpoint in cents. */
export const REWARDS_SIZE_MIN = 50
export const REWARDS_SPREAD_MAX = 4.5
const GAME_DELAY_SECONDS = 3
const SUBMITTER = `0x${'51b0'.repeat(10)}`
const RESOLVER = `0x${'07ac1e50'.repeat(5)}`

// Gamma returns these lists as JSON text in a string, with a space after each comma.
function listText(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`
}

/** Ids of the two outcomes: token ids as JSON text under protocol v1, a list of position ids under v2. */
function idFields({ listing }: SimMarket): Record<string, unknown> {
  if (listing.isV2) return { clobTokenIds: null, positionIds: listing.tokens }
  const uma = { umaBond: '500', umaReward: '5', customLiveness: 0 }
  return { clobTokenIds: listText(listing.tokens), ...uma }
}

function marketFlags(market: SimMarket): Record<string, unknown> {
  return {
    ...FIXED_FIELDS.market,
    active: isActive(market),
    closed: isOver(market),
    acceptingOrders: market.status === 'open',
    acceptingOrdersTimestamp: formatTime(market.listing.openMs),
    negRisk: market.event.isMutuallyExclusive,
    rewardsMinSize: REWARDS_SIZE_MIN,
    rewardsMaxSpread: REWARDS_SPREAD_MAX,
  }
}

function marketVolumes(market: SimMarket, nowMs: TimeMs): Record<string, unknown> {
  const day = toNumber(market.volume24h)
  const week = volumeWithin(market, 7 * DAY_MS, nowMs)
  const month = volumeWithin(market, 30 * DAY_MS, nowMs)
  const year = volumeWithin(market, 365 * DAY_MS, nowMs)
  const liquidity = liquidityUsd(market)
  return {
    volumeNum: toNumber(market.volumeTotal),
    liquidityNum: liquidity,
    volume24hr: day,
    volume1wk: week,
    volume1mo: month,
    volume1yr: year,
    volume24hrClob: day,
    volume1wkClob: week,
    volume1moClob: month,
    volume1yrClob: year,
    volumeClob: toNumber(market.volumeTotal),
    liquidityClob: liquidity,
  }
}

function marketPrices(market: SimMarket, nowMs: TimeMs): Record<string, unknown> {
  const { bestBid, bestAsk } = market.book
  const last = lastFirstPrice(market)
  return {
    spread: ((bestAsk ?? MICROS) - (bestBid ?? 0)) / MICROS,
    competitive: competitiveness(market),
    ...(bestBid === null ? {} : { bestBid: toNumber(bestBid) }),
    ...(bestAsk === null ? {} : { bestAsk: toNumber(bestAsk) }),
    ...(last === null ? {} : { lastTradePrice: toNumber(last) }),
    ...(isOver(market) ? {} : priceMoves(market, nowMs)),
  }
}

const MOVES: readonly (readonly [string, number])[] = [
  ['oneHourPriceChange', 3_600_000],
  ['oneDayPriceChange', DAY_MS],
  ['oneWeekPriceChange', 7 * DAY_MS],
]

function priceMoves(market: SimMarket, nowMs: TimeMs): Record<string, number> {
  const moves: Record<string, number> = {}
  const now = market.fairPrice(nowMs)
  for (const [key, backMs] of MOVES) {
    if (nowMs - backMs < market.listing.openMs) break
    const then = market.fairPrice(timeMs(nowMs - backMs))
    moves[key] = (now - then) / MICROS
  }
  return moves
}

function feeFields(market: SimMarket): Record<string, unknown> {
  const schedule = feeScheduleOf(market)
  if (schedule === null) return { feesEnabled: false, feeType: null }
  const { type, rate, exponent, rebateRate } = schedule
  return {
    feesEnabled: true,
    feeType: type,
    feeSchedule: { exponent, rate, takerOnly: true, rebateRate },
    ...(rate === 0
      ? {}
      : {
          makerBaseFee: LEGACY_FEE_BPS,
          takerBaseFee: LEGACY_FEE_BPS,
          makerRebatesFeeShareBps: 10_000,
        }),
    ...(market.event.topic === 'crypto'
      ? { eventStartTime: formatTime(market.listing.openMs) }
      : {}),
  }
}

function lifeFields(market: SimMarket, nowMs: TimeMs): Record<string, unknown> {
  const { listing, status } = market
  const closed = isOver(market) ? { closedTime: spacedTime(listing.closeMs) } : {}
  if (listing.isV2) return { ...closed, resolutionStatus: resolutionStatus(status) }
  if (status === 'determined') {
    return { ...closed, umaResolutionStatus: 'proposed', umaResolutionStatuses: '["proposed"]' }
  }
  if (status !== 'resolved') {
    const oracle = oracleStatus(market, nowMs)
    const oracleStatuses =
      oracle === 'disputed' ? ['proposed', oracle] : oracle === null ? [] : [oracle]
    const umaResolutionStatuses = listText(oracleStatuses)
    // Half of these rows show the status only in the list of resolution steps.
    const isListed = oracle === null || listing.number % 2 === 0
    return {
      ...closed,
      ...(isListed ? {} : { umaResolutionStatus: oracle }),
      umaResolutionStatuses,
    }
  }
  return {
    ...closed,
    umaResolutionStatus: 'resolved',
    umaResolutionStatuses: '["proposed"]',
    umaEndDate: formatTime(listing.resolveMs),
    automaticallyResolved: true,
  }
}

/** Protocol v2 has no status for a proposed result. */
function resolutionStatus(status: SimStatus): 'inactive' | 'active' | 'resolved' {
  if (status === 'unopened') return 'inactive'
  return status === 'resolved' ? 'resolved' : 'active'
}

function gameFields(market: SimMarket): Record<string, unknown> {
  const { game } = market.event
  const { sportsMarketType, line } = market.listing
  return {
    ...(game === null
      ? {}
      : {
          gameStartTime: spacedTime(game.startMs),
          eventStartTime: formatTime(game.startMs),
          secondsDelay: GAME_DELAY_SECONDS,
          gameId: String(gameId(market.event)),
        }),
    ...(sportsMarketType === null ? {} : { sportsMarketType }),
    ...(line === null ? {} : { line }),
  }
}
