// File format of recordings: JSON lines with a header, the converted listings that the frames need, and the frames in
// wire format in order of arrival. `t` is the local receive time.
//  {"kind":"recording","version":1,"startedAtMs":…}
//  {"kind":"catalog","venue":"b","page":{"markets":[…],"events":[…]}}
//  {"t":…,"venue":"b","stream":"books","connection":1,"text":"…"}

import { VENUE_KEYS, type VenueKey } from '../../ids.ts'
import { isRecord } from '../../json-record.ts'
import { FEE_KINDS } from '../../market/fees.ts'
import { MARKET_STATUSES, OTHER_PAYOUTS, RESOLUTION_STATUSES } from '../../market/market.ts'
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

/** Never throws: an unreadable line is returned with a reason. */
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
    return isPage(page) ? { kind: 'catalog', venue, page } : unreadable('catalogue page')
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

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isInteger: Check = (value) => Number.isSafeInteger(value)
const isFlag: Check = (value) => typeof value === 'boolean'
const isOneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const isListOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem)
const orNull =
  (passes: Check): Check =>
  (value) =>
    value === null || passes(value)
/** Returns a check: the value is an object, and each named field passes its own check. */
const has =
  (...fields: readonly (readonly [names: string, passes: Check])[]): Check =>
  (value) =>
    isRecord(value) &&
    fields.every(([names, passes]) => names.split(' ').every((name) => passes(value[name])))

const isCurve = has(['rateMicros exponent multiplierMicros', isInteger])
const isRounding = has(
  ['fillStepMicros', isInteger],
  ['orderStepMicros', orNull(isInteger)],
  ['direction', isOneOf(['up', 'unknown'])],
)
const isFeeModel = has(
  ['kind', isOneOf(FEE_KINDS)],
  ['taker maker', orNull(isCurve)],
  ['rounding', orNull(isRounding)],
  ['rebateMicros sinceMs', orNull(isInteger)],
  ['source', orNull(isText)],
)
/** These checks detect truncated files and listings of other versions. */
const isMarket = has(
  ['venue nativeId slug question', isText],
  ['status', isOneOf(MARKET_STATUSES)],
  ['description event eventSlug category image url', orNull(isText)],
  ['resolutionStatus', orNull(isOneOf(RESOLUTION_STATUSES))],
  ['otherPayout', orNull(isOneOf(OTHER_PAYOUTS))],
  ['createdAtMs openAtMs closeAtMs settledAtMs figuresAtMs dayFiguresAtMs', orNull(isInteger)],
  ['tickMicros lastPrice previousPrice bestBid bestAsk settlementPrice', orNull(isInteger)],
  ['volumeTotal openInterest orderSizeMin', orNull(isInteger)],
  ['volume24h', isInteger],
  ['isUnopened', isFlag],
  ['outcomes', isListOf(has(['label id', isText]))],
  ['tags', isListOf(isText)],
  [
    'fees',
    has(['now', isFeeModel], ['next', orNull(isFeeModel)], ['waivedUntilMs', orNull(isInteger)]),
  ],
  ['native', isRecord],
)
const isEvent = has(
  ['venue nativeId slug title', isText],
  ['description series category image', orNull(isText)],
  ['startAtMs endAtMs winnerAmong', orNull(isInteger)],
  ['isMutuallyExclusive', isFlag],
  ['tags', isListOf(isText)],
  ['native', isRecord],
)
const hasListings = has(['markets', isListOf(isMarket)], ['events', isListOf(isEvent)])

function isPage(value: unknown): value is CatalogPage {
  return hasListings(value)
}
