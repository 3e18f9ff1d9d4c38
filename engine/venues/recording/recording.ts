// File format of recordings: JSON lines. The first line is a header. The listings that the frames need follow,
// then the frames in order of arrival:
//  {"kind":"recording","version":1,"startedAtMs":…}
//  {"kind":"catalog","venue":"b","page":{"markets":[…],"events":[…]}} converted listings
//  {"t":…,"venue":"b","stream":"books","connection":1,"text":"…"} a frame in wire format
// `t` is the local receive time.

import { VENUE_KEYS, type VenueKey } from '../../ids.ts'
import { isRecord } from '../../json-record.ts'
import {
  FEE_KINDS,
  FEES_UNKNOWN,
  type FeeModel,
  type MarketFees,
  sharedFees,
} from '../../market/fees.ts'
import {
  type EventListing,
  type MarketListing,
  OTHER_PAYOUTS,
  type OutcomeListing,
} from '../../market/market.ts'
import { type TimeMs, timeMs } from '../../units.ts'
import type { RawFrame } from '../socket-feed.ts'
import type { CatalogPage } from '../venue.ts'

const RECORDING_VERSION = 1

export type RecordedLine =
  | { readonly kind: 'header'; readonly startedAtMs: TimeMs }
  | { readonly kind: 'catalog'; readonly venue: VenueKey; readonly page: CatalogPage }
  | {
      readonly kind: 'frame'
      readonly venue: VenueKey
      readonly stream: string
      readonly frame: RawFrame
    }
  | { readonly kind: 'unreadable'; readonly reason: string }

type Fields = { readonly [name: string]: unknown }

export function headerLine(startedAtMs: TimeMs): string {
  return JSON.stringify({ kind: 'recording', version: RECORDING_VERSION, startedAtMs })
}

export function catalogLine(venue: VenueKey, page: CatalogPage): string {
  return JSON.stringify({ kind: 'catalog', venue, page })
}

export function frameLine(frame: RawFrame, venue: VenueKey, stream: string): string {
  const { receivedAtMs, connection, text } = frame
  return JSON.stringify({ t: receivedAtMs, venue, stream, connection, text })
}

/** Parses one line. An unreadable line is returned as a value with a reason. */
export function parseLine(line: string): RecordedLine {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return unreadable('not JSON')
  }
  if (!isRecord(value)) return unreadable('not an object')
  if (value.kind === 'recording') {
    if (value.version !== RECORDING_VERSION) return unreadable('another version of the format')
    return { kind: 'header', startedAtMs: timeOf(value.startedAtMs) ?? timeMs(0) }
  }
  const venue = VENUE_KEYS.find((key) => key === value.venue)
  if (venue === undefined) return unreadable('no such venue')
  if (value.kind === 'catalog') {
    const { page } = value
    return isPage(page)
      ? { kind: 'catalog', venue, page: withUnknowns(page) }
      : unreadable('catalogue page')
  }
  const receivedAtMs = timeOf(value.t)
  const { stream, connection, text } = value
  if (receivedAtMs === null || typeof stream !== 'string') return unreadable('frame')
  if (typeof connection !== 'number' || typeof text !== 'string') return unreadable('frame')
  return { kind: 'frame', venue, stream, frame: { connection, receivedAtMs, text } }
}

function unreadable(reason: string): RecordedLine {
  return { kind: 'unreadable', reason }
}

function timeOf(value: unknown): TimeMs | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? timeMs(value) : null
}

/** Fills fields that listings of older recordings lack, or have in another form, with unknown values. */
function withUnknowns({ markets, events }: CatalogPage): CatalogPage {
  const completedMarkets = markets.map((market) => {
    const fees: unknown = market.fees
    const sizeMin: unknown = market.orderSizeMin
    const { resolutionStatus = null, settledAtMs = null }: Partial<MarketListing> = market
    const { previousPrice = null, figuresAtMs = null, dayFiguresAtMs = null } = market
    return {
      ...market,
      ...{ resolutionStatus, settledAtMs },
      ...{ previousPrice, figuresAtMs, dayFiguresAtMs },
      fees: isFees(fees) ? sharedFees(fees) : FEES_UNKNOWN,
      orderSizeMin: Number.isSafeInteger(sizeMin) ? market.orderSizeMin : null,
      otherPayout: OTHER_PAYOUTS.find((one) => one === market.otherPayout) ?? null,
    }
  })
  const completedEvents = events.map((event) => {
    const among: unknown = event.winnerAmong
    return { ...event, winnerAmong: typeof among === 'number' ? among : null }
  })
  return { markets: completedMarkets, events: completedEvents }
}

function isPage(value: unknown): value is CatalogPage {
  if (!isRecord(value)) return false
  const { markets, events } = value
  return isListOf(markets, isMarket) && isListOf(events, isEvent)
}

/** Checks for listings of another version and for truncated files. Valid ones were written by listing.ts. */
function isMarket(value: unknown): value is MarketListing {
  if (!isRecord(value)) return false
  return (
    hasTexts(value, ['venue', 'nativeId', 'slug', 'question', 'status']) &&
    hasTextsOrNull(value, ['description', 'event', 'eventSlug', 'category', 'image', 'url']) &&
    hasNumbersOrNull(value, ['createdAtMs', 'openAtMs', 'closeAtMs', 'tickMicros', 'lastPrice']) &&
    hasNumbersOrNull(value, ['bestBid', 'bestAsk', 'volumeTotal', 'openInterest']) &&
    hasNumbersOrNull(value, ['settlementPrice']) &&
    typeof value.volume24h === 'number' &&
    typeof value.isUnopened === 'boolean' &&
    isListOf(value.outcomes, isOutcome) &&
    isListOf(value.tags, isText) &&
    isRecord(value.native)
  )
}

function isFees(value: unknown): value is MarketFees {
  if (!isRecord(value)) return false
  return (
    isFeeModel(value.now) &&
    (value.next === null || isFeeModel(value.next)) &&
    hasNumbersOrNull(value, ['waivedUntilMs'])
  )
}

function isFeeModel(value: unknown): value is FeeModel {
  if (!isRecord(value)) return false
  const { kind, taker, maker, rounding } = value
  const isCurve = (one: unknown) =>
    one === null ||
    (isRecord(one) && hasNumbers(one, ['rateMicros', 'exponent', 'multiplierMicros']))
  const isRounding =
    rounding === null ||
    (isRecord(rounding) &&
      hasNumbers(rounding, ['fillStepMicros']) &&
      hasNumbersOrNull(rounding, ['orderStepMicros']) &&
      (rounding.direction === 'up' || rounding.direction === 'unknown'))
  return (
    FEE_KINDS.some((one) => one === kind) &&
    isCurve(taker) &&
    isCurve(maker) &&
    isRounding &&
    hasNumbersOrNull(value, ['rebateMicros', 'sinceMs']) &&
    hasTextsOrNull(value, ['source'])
  )
}

function isEvent(value: unknown): value is EventListing {
  if (!isRecord(value)) return false
  return (
    hasTexts(value, ['venue', 'nativeId', 'slug', 'title']) &&
    hasTextsOrNull(value, ['description', 'series', 'category', 'image']) &&
    hasNumbersOrNull(value, ['startAtMs', 'endAtMs']) &&
    typeof value.isMutuallyExclusive === 'boolean' &&
    isListOf(value.tags, isText) &&
    isRecord(value.native)
  )
}

function isOutcome(value: unknown): value is OutcomeListing {
  return isRecord(value) && typeof value.label === 'string' && typeof value.id === 'string'
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem)
}

function hasTexts(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => typeof fields[name] === 'string')
}

function hasNumbers(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => Number.isSafeInteger(fields[name]))
}

function hasTextsOrNull(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => fields[name] === null || typeof fields[name] === 'string')
}

function hasNumbersOrNull(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => fields[name] === null || typeof fields[name] === 'number')
}
