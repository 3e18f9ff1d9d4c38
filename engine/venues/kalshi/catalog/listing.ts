// Converts Kalshi's catalogue rows to listings. Also accepts integer cents and counts, as in old recordings.

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

export interface Series {
  readonly ticker: string
  readonly category: string | null
  readonly tags: readonly string[]
  readonly fees: FeeTerms
}

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

/** Our status by the venue's status. Old recordings contain the words of query parameters as statuses. */
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
/** Resolution by the venue's status. Missing statuses have no resolution. `determined` and `amended` may be disputed. */
const RESOLUTIONS: Readonly<Record<string, ResolutionStatus>> = {
  determined: 'proposed',
  amended: 'proposed',
  disputed: 'disputed',
  finalized: 'resolved',
  settled: 'resolved',
}
const IMAGES = 'https://kalshi-public-docs.s3.amazonaws.com/series-images-webp'
const PAGES = 'https://kalshi.com/markets'
/** The venue writes year 1 for an absent time. */
const EARLIEST_MS = Date.UTC(2000, 0, 1)

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
    // Null, because all markets of an event may resolve to No.
    winnerAmong: null,
    native,
  }
  return { kind: 'event', listing, subtitle: textOf(row.sub_title) }
}

/** If `event` is null, the listing has fewer fields. */
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
 * Title of the event and short title of the market: "Who will win the Televote? Albania". The market's own `title` is
 * deprecated and only used without an event.
 */
function questionOf(row: Fields, event: EventListing | null, ticker: string): string {
  const short = textOf(row.yes_sub_title)
  if (event === null) {
    const title = textOf(row.title)
    return title === '' ? short || ticker : title
  }
  const { title } = event
  if (short === '' || short.toLowerCase() === title.toLowerCase()) return title
  // A market with its event's ticker is the only market of the event. Its short title may repeat the question.
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
 * Whether the venue sets the settlement price: in cancelled games, and in markets whose text mentions "the last fair
 * price" or similar.
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

/** Games close weeks after they are played, so their listing contains the end of the game instead. */
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

/** Reads dollars from `name_dollars`, or whole cents from `name`. */
function priceOf(row: Fields, name: string): PriceMicros | null {
  const text = decimalOf(row[`${name}_dollars`]) ?? dollarsOfCents(row[name])
  return text === null ? null : parsePrice(text)
}

/** The venue writes 0 or 1 for an absent price. No trade has these prices. */
function tradedPrice(price: PriceMicros | null): PriceMicros | null {
  return price === null || price === 0 || price === PRICE_ONE ? null : price
}

/** Reads contracts from `name_fp`, or whole contracts from `name`. */
function countOf(row: Fields, name: string): SizeMicros | null {
  const text = decimalOf(row[`${name}_fp`]) ?? decimalOf(row[name])
  return text === null ? null : sizeOf(text)
}

/** The fields of a market row that change with trades. Volumes are in contracts of one dollar payout. */
export function tradingFigures(row: Fields): RowFigures {
  return {
    lastPrice: tradedPrice(priceOf(row, 'last_price')),
    previousPrice: tradedPrice(priceOf(row, 'previous_price')),
    volume24h: contractsOf(row, 'volume_24h'),
    volumeTotal: contractsOf(row, 'volume'),
    openInterest: countOf(row, 'open_interest'),
  }
}

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
