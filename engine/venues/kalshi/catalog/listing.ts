// Rows of Kalshi's catalogue to listings: the last file of the catalogue in which the venue's words
// exist. A row that cannot be read is a value with a reason. Tolerates the integer cents and counts
// that the venue sent until March 2026, for recorded data.

import { nativeEventId, nativeMarketId, outcomeId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { FEES_UNKNOWN, type MarketFees } from '../../../market/fees.ts'
import type {
  EventListing,
  MarketStatus,
  OutcomeListing,
  ReadListing,
  ResolutionStatus,
} from '../../../market/market.ts'
import {
  MICROS,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  parseTime,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  USD_ZERO,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type { RowFigures } from '../../../venue-table.ts'
import { isComboRow, isNamedCombo } from '../combos.ts'
import { noOutcomeOf, settlementOf, sizeOf } from '../map.ts'
import type { FeeTerms } from '../messages.ts'
import {
  decimalOf,
  dollarsOfCents,
  idOf,
  type Rejected,
  rejected,
  settlementValueIn,
} from '../parse.ts'
import { type PriceGrid, parsePriceGrid } from '../price-grid.ts'
import { termsOf } from './fees.ts'
import { shardOf } from './shards.ts'

/** What a series adds to its events: they carry neither tags nor a trustworthy category. */
export interface Series {
  readonly ticker: string
  readonly category: string | null
  readonly tags: readonly string[]
  readonly fees: FeeTerms
}

/** A market's listing, and when its trading really ends (the listing may say when its game does). */
interface MarketRow {
  readonly kind: 'market'
  readonly listing: ReadListing
  readonly tradingEndsAtMs: TimeMs | null
  readonly grid: PriceGrid | null
  readonly shard: number | null
}

interface EventRow {
  readonly kind: 'event'
  readonly listing: EventListing
  readonly subtitle: string
}

type Fields = { readonly [name: string]: unknown }

/** Response statuses; the query words appear in old recordings. */
const STATUSES: Readonly<Record<string, MarketStatus>> = {
  initialized: 'closed',
  unopened: 'closed',
  inactive: 'closed',
  paused: 'closed',
  active: 'open',
  open: 'open',
  closed: 'closed',
  determined: 'closed',
  disputed: 'closed',
  amended: 'closed',
  finalized: 'resolved',
  settled: 'resolved',
}
/** What a status states of the result; any other, that there is none. `determined` and `amended` may still be disputed. */
const RESOLUTIONS: Readonly<Record<string, ResolutionStatus>> = {
  determined: 'proposed',
  amended: 'proposed',
  disputed: 'disputed',
  finalized: 'resolved',
  settled: 'resolved',
}
const IMAGES = 'https://kalshi-public-docs.s3.amazonaws.com/series-images-webp'
const PAGES = 'https://kalshi.com/markets'
/** The venue writes year 1 where it has no time. */
const EARLIEST_MS = Date.UTC(2000, 0, 1)

/** One series of `/series`. */
export function parseSeries(row: unknown): Series | Rejected {
  if (!isRecord(row)) return rejected('series_not_an_object')
  const ticker = idOf(row.ticker)
  if (ticker === null) return rejected('series_ticker')
  const categories = textsOf(row.categories)
  const category = categories[0] ?? textOf(row.category)
  return {
    ticker,
    category: category === '' ? null : category,
    tags: textsOf(row.tags),
    fees: termsOf(row),
  }
}

/** One event of `/events`, without its markets. */
export function parseEvent(row: unknown, series: ReadonlyMap<string, Series>): EventRow | Rejected {
  if (!isRecord(row)) return rejected('event_not_an_object')
  const ticker = idOf(row.event_ticker)
  const title = textOf(row.title)
  if (ticker === null) return rejected('event_ticker')
  if (isNamedCombo(ticker)) return rejected('combo')
  if (title === '') return rejected('event_title')
  const seriesTicker = idOf(row.series_ticker) ?? beforeDash(ticker)
  const known = series.get(seriesTicker)
  const { markets: _markets, ...native } = row
  const listing: EventListing = {
    venue: 'b',
    nativeId: nativeEventId(ticker),
    slug: ticker.toLowerCase(),
    title,
    description: null,
    series: seriesTicker,
    category: categoryOf(known, row),
    tags: known?.tags ?? [],
    image: imageOf(seriesTicker),
    startAtMs: null,
    endAtMs: timeOf(row.strike_date),
    isMutuallyExclusive: row.mutually_exclusive === true,
    // That one of them wins is not said: all may resolve to No.
    winnerAmong: null,
    native,
  }
  return { kind: 'event', listing, subtitle: textOf(row.sub_title) }
}

/** One market; `event` is null when the venue did not tell it (the listing is then poorer). Its row has no fees. */
export function parseMarket(
  row: unknown,
  event: EventListing | null,
  fees: MarketFees = FEES_UNKNOWN,
): MarketRow | Rejected {
  if (!isRecord(row)) return rejected('market_not_an_object')
  const ticker = idOf(row.ticker)
  const eventTicker = idOf(row.event_ticker)
  if (ticker === null || eventTicker === null) return rejected('market_ticker')
  if (isComboRow(row)) return rejected('combo')
  if (row.market_type !== undefined && row.market_type !== 'binary') return rejected('not_binary')
  const statusText = textOf(row.status)
  const status = STATUSES[statusText]
  if (status === undefined) return rejected('market_status')
  const settledAtMs = status === 'resolved' ? timeOf(row.settlement_ts) : null
  const resolutionStatus = RESOLUTIONS[statusText] ?? 'none'
  const hasResult = resolutionStatus === 'proposed' || resolutionStatus === 'resolved'
  const figures = tradingFigures(row)
  const seriesTicker = event?.series ?? beforeDash(eventTicker)
  const closeAtMs = timeOf(row.close_time)
  const openAtMs = timeOf(row.open_time)
  const category = event?.category ?? null
  const grid = parsePriceGrid(row)
  const listing: ReadListing = {
    venue: 'b',
    nativeId: nativeMarketId(ticker),
    slug: ticker.toLowerCase(),
    question: questionOf(row, event, ticker),
    description: descriptionOf(row),
    status,
    isUnopened: statusText === 'initialized' || statusText === 'unopened',
    outcomes: outcomesOf(ticker),
    event: nativeEventId(eventTicker),
    eventSlug: eventTicker.toLowerCase(),
    category,
    tags: event?.tags ?? [],
    image: event?.image ?? imageOf(seriesTicker),
    url: `${PAGES}/${seriesTicker.toLowerCase()}`,
    createdAtMs: timeOf(row.created_time) ?? openAtMs,
    openAtMs,
    closeAtMs: isGame(category)
      ? earlier(timeOf(row.expected_expiration_time), closeAtMs)
      : closeAtMs,
    tickMicros: grid?.finest ?? parsePrice(dollarsOfCents(row.tick_size) ?? 'none'),
    bestBid: tradedPrice(priceOf(row, 'yes_bid')),
    bestAsk: tradedPrice(priceOf(row, 'yes_ask')),
    ...figures,
    volume24h: figures.volume24h ?? USD_ZERO,
    figuresAtMs: null,
    dayFiguresAtMs: null,
    settlementPrice: hasResult ? payoutOf(row) : null,
    resolutionStatus,
    settledAtMs,
    fees,
    orderSizeMin: sizeMicros(row.fractional_trading_enabled === false ? MICROS : MICROS / 100),
    otherPayout: isVenuePriced(row, category) ? 'venue' : null,
    native: row,
    changedAtMs: timeOf(row.updated_time),
  }
  return {
    kind: 'market',
    listing,
    tradingEndsAtMs: closeAtMs,
    grid,
    shard: shardOf(row),
  }
}

/**
 * The event asks, the market's short title answers: "Who will win the Televote? Albania".
 * The venue's own `title` of a market is deprecated and serves where the event is not known.
 */
function questionOf(row: Fields, event: EventListing | null, ticker: string): string {
  const short = textOf(row.yes_sub_title)
  if (event === null) {
    const title = textOf(row.title)
    return title === '' ? short || ticker : title
  }
  const { title } = event
  if (short === '' || short.toLowerCase() === title.toLowerCase()) return title
  // A market that bears its event's ticker is alone in it: its short title only repeats words.
  const isAlone = ticker === event.nativeId
  if (isAlone && title.toLowerCase().includes(short.toLowerCase())) return title
  return title.endsWith('?') ? `${title} ${short}` : `${title}: ${short}`
}

function descriptionOf(row: Fields): string | null {
  const parts = [textOf(row.rules_primary), textOf(row.rules_secondary)].filter(
    (part) => part !== '',
  )
  return parts.length === 0 ? null : parts.join('\n\n')
}

/**
 * Contracts on games are settled at a price of the venue's when a game is cancelled or put off; other rules name such a
 * price ("the last fair price").
 */
function isVenuePriced(row: Fields, category: string | null): boolean {
  const isNamed = /\b(?:fair(?: market)?|last[- ]traded) (?:price|value)\b/i
  return isGame(category) || isNamed.test(descriptionOf(row) ?? '')
}

function outcomesOf(ticker: string): readonly OutcomeListing[] {
  return [
    { label: 'Yes', id: outcomeId(ticker) },
    { label: 'No', id: noOutcomeOf(ticker) },
  ]
}

/** Games close weeks after they are played; what users want is when they end. */
function isGame(category: string | null): boolean {
  return category === 'Sports'
}

function categoryOf(series: Series | undefined, event: Fields): string | null {
  const category = series?.category ?? textOf(event.category)
  return category === '' ? null : category
}

function payoutOf(row: Fields): PriceMicros | null {
  return settlementOf(settlementValueIn(row), idOf(row.result))
}

/** `name_dollars`, or whole cents in `name`. */
function priceOf(row: Fields, name: string): PriceMicros | null {
  const text = decimalOf(row[`${name}_dollars`]) ?? dollarsOfCents(row[name])
  return text === null ? null : parsePrice(text)
}

/** 0 and 1 stand for "none": nothing trades there. */
function tradedPrice(price: PriceMicros | null): PriceMicros | null {
  return price === null || price === 0 || price === PRICE_ONE ? null : price
}

/** `name_fp`, or whole contracts in `name`. */
function countOf(row: Fields, name: string): SizeMicros | null {
  const text = decimalOf(row[`${name}_fp`]) ?? decimalOf(row[name])
  return text === null ? null : sizeOf(text)
}

/** What trading moves in a market's row; its volumes are contracts, of which each pays one dollar. */
export function tradingFigures(row: Fields): RowFigures {
  return {
    lastPrice: tradedPrice(priceOf(row, 'last_price')),
    previousPrice: tradedPrice(priceOf(row, 'previous_price')),
    volume24h: contractsOf(row, 'volume_24h'),
    volumeTotal: contractsOf(row, 'volume'),
    openInterest: countOf(row, 'open_interest'),
  }
}

/** A count of contracts as dollars of payout. */
function contractsOf(row: Fields, name: string): UsdMicros | null {
  const count = countOf(row, name)
  return count === null ? null : usdMicros(count)
}

function timeOf(value: unknown): TimeMs | null {
  const time = typeof value === 'string' ? parseTime(value) : null
  return time === null || time < EARLIEST_MS ? null : time
}

function earlier(one: TimeMs | null, other: TimeMs | null): TimeMs | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

function imageOf(series: string): string {
  return `${IMAGES}/${series.toUpperCase()}.webp`
}

function beforeDash(ticker: string): string {
  const dash = ticker.indexOf('-')
  return dash < 0 ? ticker : ticker.slice(0, dash)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
