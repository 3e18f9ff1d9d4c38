// Converts Gamma's rows to listings. A row that is not a binary market with tokens is rejected with a reason.

import { type NativeMarketId, nativeEventId, outcomeId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type {
  MarketStatus,
  OutcomeListing,
  ReadEvent,
  ReadListing,
  ResolutionStatus,
} from '../../../market/market.ts'
import {
  MICROS,
  PRICE_HALF,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  parseTime,
  parseUsd,
  roundPrice,
  roundUsd,
  type TimeMs,
  timeMs,
  USD_ZERO,
  type UsdMicros,
} from '../../../units.ts'
import { conditionId, tokenId } from '../condition-id.ts'
import type { Json } from '../messages.ts'
import { orderSizeMinOf, readFees } from './fees.ts'

type ListingReason =
  | 'row_not_object'
  | 'no_condition_id'
  | 'no_question'
  | 'no_slug'
  | 'no_tokens'
  | 'token_id'
  | 'unknown_version'
  | 'not_two_outcomes'
  | 'no_event_slug'
  | 'no_state'

/** The event of the row is `parent`, or the nested event if `parent` is null. */
export function readMarket(row: unknown, parent: Json | null = null): ReadListing | ListingReason {
  if (!isRecord(row)) return 'row_not_object'
  const event = parent ?? nestedEvent(row)
  const condition = textOf(row.conditionId)
  if (condition === null) return 'no_condition_id'
  const question = textOf(row.question)
  if (question === null) return 'no_question'
  const slug = textOf(row.slug)
  if (slug === null) return 'no_slug'
  const outcomes = readOutcomes(row)
  if (typeof outcomes === 'string') return outcomes
  // The row does not state whether the market trades. It is rejected, and the stored listing stays.
  if (typeof row.closed !== 'boolean' || typeof row.active !== 'boolean') return 'no_state'
  const resolutionStatus = resolutionOf(row)
  const status = statusOf(row, resolutionStatus)
  const eventSlug = event === null ? null : textOf(event.slug)
  const { events: _events, ...native } = row
  return {
    venue: 'a',
    nativeId: conditionId(condition),
    slug,
    question,
    description: textOf(row.description),
    status,
    isUnopened: row.active === false && row.closed !== true,
    outcomes,
    event: eventSlug === null ? null : nativeEventId(eventSlug),
    eventSlug,
    category: categoryOf(event) ?? categoryOf(row),
    tags: tagsOf(event?.tags ?? row.tags),
    image: textOf(row.image) ?? textOf(row.icon) ?? (event === null ? null : textOf(event.image)),
    url: `https://polymarket.com/event/${eventSlug ?? slug}/${slug}`,
    createdAtMs: timeOf(row.createdAt),
    openAtMs: timeOf(row.acceptingOrdersTimestamp) ?? timeOf(row.startDate),
    closeAtMs: timeOf(row.closedTime) ?? timeOf(row.gameStartTime) ?? timeOf(row.endDate),
    tickMicros: priceOf(row.orderPriceMinTickSize),
    lastPrice: priceOf(row.lastTradePrice) ?? statedPrice(row, 0),
    previousPrice: null,
    bestBid: priceOf(row.bestBid),
    bestAsk: askOf(row.bestAsk),
    volume24h: usdOf(row.volume24hr) ?? USD_ZERO,
    volumeTotal: usdOf(row.volumeNum) ?? usdOf(row.volume),
    openInterest: null,
    figuresAtMs: null,
    dayFiguresAtMs: null,
    resolutionStatus,
    settlementPrice: status === 'resolved' ? settlementOf(row) : null,
    settledAtMs: status === 'resolved' ? settledAtMs(row) : null,
    fees: readFees(row),
    orderSizeMin: orderSizeMinOf(row.orderMinSize),
    otherPayout: isHalfPossible(row) ? 'half' : null,
    native,
    changedAtMs: changedAtMs(row),
  }
}

export function readEvent(row: unknown): ReadEvent | ListingReason {
  if (!isRecord(row)) return 'row_not_object'
  const slug = textOf(row.slug)
  if (slug === null) return 'no_event_slug'
  const { markets: _markets, ...native } = row
  const series = Array.isArray(row.series) ? row.series[0] : null
  return {
    venue: 'a',
    nativeId: nativeEventId(slug),
    slug,
    title: textOf(row.title) ?? slug,
    description: textOf(row.description),
    series: textOf(row.seriesSlug) ?? (isRecord(series) ? textOf(series.slug) : null),
    category: categoryOf(row),
    tags: tagsOf(row.tags),
    image: textOf(row.image) ?? textOf(row.icon),
    startAtMs: timeOf(row.startTime) ?? timeOf(row.startDate),
    endAtMs: timeOf(row.endDate),
    isMutuallyExclusive: row.negRisk === true || row.enableNegRisk === true,
    winnerAmong: winnerAmong(row),
    lacksMarkets: !Array.isArray(row.markets),
    native,
    changedAtMs: changedAtMs(row),
  }
}

/** A neg-risk event has exactly one winner, unless it also has other markets or may get more of them (augmented). */
function winnerAmong(row: Json): number | null {
  const groupId = textOf(row.negRiskMarketID)
  if (row.negRisk !== true || row.negRiskAugmented !== false || groupId === null) return null
  const markets: readonly unknown[] = Array.isArray(row.markets) ? row.markets : []
  const isOneGroup = markets.every(
    (market) => isRecord(market) && isInGroup(market) && textOf(market.negRiskMarketID) === groupId,
  )
  return isOneGroup && markets.length > 1 ? markets.length : null
}

export function nestedEvent(row: Json): Json | null {
  const event = Array.isArray(row.events) ? row.events[0] : null
  return isRecord(event) ? event : null
}

/** Whether a market belongs to a neg-risk event, so that its No can be converted into other markets' Yes. */
export function isInGroup(row: Json): boolean {
  return row.negRisk === true
}

/**
 * The neg-risk markets of an event, including closed markets. A conversion turns No of one market into Yes of the
 * others.
 */
export function groupIn(event: Json, of: Json): readonly NativeMarketId[] {
  const groupId = textOf(of.negRiskMarketID)
  const group: NativeMarketId[] = []
  for (const row of Array.isArray(event.markets) ? event.markets : []) {
    if (!isRecord(row) || !isInGroup(row)) continue
    const id = textOf(row.conditionId)
    const rowGroupId = textOf(row.negRiskMarketID)
    const isOther = groupId !== null && rowGroupId !== null && rowGroupId !== groupId
    if (id !== null && !isOther) group.push(conditionId(id))
  }
  return group
}

export function changedAtMs(row: Json): TimeMs | null {
  return timeOf(row.updatedAt)
}

export function settledAtMs(row: Json): TimeMs | null {
  const [closed, decided] = [closedAtMs(row), timeOf(row.umaEndDate)]
  return closed === null || decided === null
    ? (closed ?? decided)
    : timeMs(Math.max(closed, decided))
}

/** Time at which a market or event closed. Null if absent. `endDate` is not used, because it is only planned. */
export function closedAtMs(row: Json): TimeMs | null {
  return timeOf(row.closedTime)
}

export function plannedEndMs(row: Json): TimeMs | null {
  return timeOf(row.endDate)
}

/** Known resolution states of protocol v1. */
const UMA_STATUSES: ReadonlySet<unknown> = new Set([
  '',
  'proposed',
  'disputed',
  'resolved',
  'settled',
  'requested',
])
const RESOLUTION_STATUSES: ReadonlySet<unknown> = new Set(['inactive', 'active', 'resolved'])
const VERSIONS: ReadonlySet<unknown> = new Set(['v1', 'v2'])

/** Yields the name and value of each enum field whose value is unknown to this code. */
export function* unknownValues(row: Json): Iterable<readonly [field: string, word: unknown]> {
  const { version, umaResolutionStatus, resolutionStatus } = row
  for (const field of ['clobTokenIds', 'positionIds']) {
    const isOther = listOf(row[field]).some((token) => token !== tokenId(token))
    if (isOther) yield [field, 'hexadecimal']
  }
  if (isUnknown(version, VERSIONS)) yield ['version', version]
  if (isUnknown(umaResolutionStatus, UMA_STATUSES))
    yield ['umaResolutionStatus', umaResolutionStatus]
  for (const value of listOf(row.umaResolutionStatuses)) {
    if (!UMA_STATUSES.has(value)) yield ['umaResolutionStatuses', value]
  }
  if (isUnknown(resolutionStatus, RESOLUTION_STATUSES)) yield ['resolutionStatus', resolutionStatus]
}

const isUnknown = (value: unknown, accepted: ReadonlySet<unknown>): boolean =>
  value !== undefined && value !== null && !accepted.has(value)

/** The trading state alone decides whether a market is open. The resolution fields do not. */
function statusOf(row: Json, resolution: ResolutionStatus | null): MarketStatus {
  if (row.closed === true) return resolution === 'resolved' ? 'resolved' : 'closed'
  const isTrading = row.active === true && row.archived !== true && row.acceptingOrders !== false
  return isTrading ? 'open' : 'closed'
}

function resolutionOf(row: Json): ResolutionStatus | null {
  const uma = umaStatusOf(row)
  const statedStatus = row.resolutionStatus
  const isFinal = uma === 'resolved' || uma === 'settled' || statedStatus === 'resolved'
  if (isFinal || row.automaticallyResolved === true) return 'resolved'
  if (uma === 'proposed' || uma === 'disputed') return uma
  // In protocol v2 the status is `active` from the opening on, with or without a proposed result.
  if (isNonEmptyText(statedStatus)) return statedStatus === 'inactive' ? 'none' : null
  if (row.closed !== true) return 'none'
  // Old rows have no resolution state. In old rows, prices of 1 and 0 are a payout, but two prices of 0.5 may be last
  // prices.
  return hasWinner(row) ? 'resolved' : null
}

/**
 * Some rows state their resolution only in the list of steps, newest last. A row's state that is not in the list is
 * newer than the list.
 */
function umaStatusOf(row: Json): string | null {
  const latest = textOf(row.umaResolutionStatus)
  const statuses = listOf(row.umaResolutionStatuses)
  const isNewer = latest === 'resolved' || latest === 'settled' || !statuses.includes(latest ?? '')
  return latest !== null && isNewer ? latest : (statuses.at(-1) ?? null)
}

const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== ''

function hasWinner(row: Json): boolean {
  const payout = settlementOf(row)
  return payout !== null && payout !== PRICE_HALF
}

/** The first outcome's payout. The row's prices are a payout if they are 1 and 0, or 0.5 each. */
function settlementOf(row: Json): PriceMicros | null {
  const first = statedPrice(row, 0)
  const second = statedPrice(row, 1)
  if (first === null || second === null || first + second !== MICROS) return null
  return first === 0 || first === PRICE_HALF || first === PRICE_ONE ? first : null
}

const TOKEN_ID = /^\d{1,78}$/

function readOutcomes(row: Json): readonly OutcomeListing[] | ListingReason {
  const labels = listOf(row.outcomes)
  const listed = tokensOf(row)
  if (typeof listed === 'string') return listed
  const tokens = listed.map(tokenId)
  if (tokens.some((token) => !TOKEN_ID.test(token))) return 'token_id'
  if (tokens.length === 0) return 'no_tokens'
  const [first, second] = tokens
  const [yes, no] = labels
  if (first === undefined || second === undefined || yes === undefined || no === undefined) {
    return 'not_two_outcomes'
  }
  if (tokens.length !== 2 || labels.length !== 2 || first === second) return 'not_two_outcomes'
  return [
    { label: yes, id: outcomeId(first) },
    { label: no, id: outcomeId(second) },
  ]
}

/**
 * The token ids of a row. Rows of v2 may also have the obsolete ids of v1, so `version` decides. Rows without `version`
 * are v1.
 */
function tokensOf(row: Json): readonly string[] | ListingReason {
  const { version } = row
  if (version === 'v2') return listOf(row.positionIds)
  if (version === undefined || version === null || version === 'v1') return listOf(row.clobTokenIds)
  return 'unknown_version'
}

/** Parses an array or the JSON text of an array. Items that are not strings are dropped. */
function listOf(value: unknown): readonly string[] {
  let list: unknown = value
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value)
    } catch {
      return []
    }
  }
  if (!Array.isArray(list)) return []
  return list.filter((item): item is string => typeof item === 'string' && item !== '')
}

/** A price with more than six decimals is not an order-book price. */
function statedPrice(row: Json, position: number): PriceMicros | null {
  const text = listOf(row.outcomePrices)[position]
  if (text === undefined) return null
  return parsePrice(text) ?? (/^\d*\.?\d+$/.test(text) ? roundPrice(Number(text)) : null)
}

/** The venue's category, else the broadest tag. Broad tags such as "Sports" are often hidden. */
function categoryOf(row: Json | null): string | null {
  if (row === null) return null
  const stated = textOf(row.category)
  if (stated !== null) return stated
  if (!Array.isArray(row.tags)) return null
  let shown: string | null = null
  for (const tag of row.tags) {
    if (!isRecord(tag)) continue
    const label = textOf(tag.label)
    if (label === null) continue
    if (CATEGORIES.has(label.toLowerCase())) return label
    if (tag.forceHide !== true) shown ??= label
  }
  return shown
}

const CATEGORIES: ReadonlySet<string> = new Set([
  'sports',
  'politics',
  'crypto',
  'economy',
  'economics',
  'finance',
  'culture',
  'pop culture',
  'pop-culture',
  'weather',
  'climate',
  'tech',
  'science',
  'world',
  'geopolitics',
  'elections',
  'business',
  'mentions',
])

function tagsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  const labels: string[] = []
  for (const tag of value) {
    const label = isRecord(tag) ? textOf(tag.label) : textOf(tag)
    if (label !== null && !labels.includes(label)) labels.push(label)
  }
  return labels
}

/** Cancelled games settle at 0.5 each. Other rules contain the text "will resolve 50-50". */
const isHalfPossible = (row: Json): boolean =>
  textOf(row.gameStartTime) !== null || /\b50\s*[-–/]\s*50\b/.test(textOf(row.description) ?? '')

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

function timeOf(value: unknown): TimeMs | null {
  return typeof value === 'string' ? parseTime(value) : null
}

/** Gamma writes 0 for an absent price, so only prices above 0 are returned. */
function priceOf(value: unknown): PriceMicros | null {
  const price = typeof value === 'number' ? roundPrice(value) : null
  return price === 0 ? null : price
}

function askOf(value: unknown): PriceMicros | null {
  const price = priceOf(value)
  return price === PRICE_ONE ? null : price
}

function usdOf(value: unknown): UsdMicros | null {
  const usd =
    typeof value === 'number'
      ? roundUsd(value)
      : typeof value === 'string'
        ? (parseUsd(value) ?? (value === '' ? null : roundUsd(Number(value))))
        : null
  return usd === null || usd < 0 ? null : usd
}
