// File format of recordings: JSON lines. The first line is a header. The listings that the frames need follow,
// then the frames in order of arrival:
//  {"kind":"recording","version":1,"startedAtMs":…}
//  {"kind":"catalog","venue":"b","page":{"markets":[…],"events":[…]}} converted listings
//  {"t":…,"venue":"b","stream":"books","connection":1,"text":"…"} a frame in wire format
// `t` is the local receive time.

import { VENUE_KEYS, type VenueKey } from '../../ids.ts'
import { isRecord } from '../../json-record.ts'
import { FEE_KINDS } from '../../market/fees.ts'
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

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isTextOrNull = (value: unknown): boolean => value === null || isText(value)
const isNumberOrNull = (value: unknown): boolean => value === null || isNumber(value)
const isListOf =
  (isItem: (item: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(isItem)
/** Whether a value is an object whose named fields pass their check. */
const has =
  (...fields: readonly (readonly [names: string, passes: (value: unknown) => boolean])[]) =>
  (value: unknown): boolean =>
    isRecord(value) &&
    fields.every(([names, passes]) => names.split(' ').every((name) => passes(value[name])))
const orNull = (passes: (value: unknown) => boolean) => (value: unknown) =>
  value === null || passes(value)

const isCurve = has(['rateMicros exponent multiplierMicros', isNumber])
const isRounding = has(
  ['fillStepMicros', isNumber],
  ['orderStepMicros', isNumberOrNull],
  ['direction', (direction) => direction === 'up' || direction === 'unknown'],
)
const isFeeModel = has(
  ['kind', (kind) => FEE_KINDS.some((one) => one === kind)],
  ['taker maker', orNull(isCurve)],
  ['rounding', orNull(isRounding)],
  ['rebateMicros sinceMs', isNumberOrNull],
  ['source', isTextOrNull],
)
/** Listings were written by listing.ts of each venue; the checks find truncated files and other versions. */
const isMarket = has(
  ['venue nativeId slug question status', isText],
  ['description event eventSlug category image url resolutionStatus otherPayout', isTextOrNull],
  ['createdAtMs openAtMs closeAtMs settledAtMs figuresAtMs dayFiguresAtMs', isNumberOrNull],
  ['tickMicros lastPrice previousPrice bestBid bestAsk settlementPrice', isNumberOrNull],
  ['volumeTotal openInterest orderSizeMin', isNumberOrNull],
  ['volume24h', isNumber],
  ['isUnopened', isFlag],
  ['outcomes', isListOf(has(['label id', isText]))],
  ['tags', isListOf(isText)],
  [
    'fees',
    has(['now', isFeeModel], ['next', orNull(isFeeModel)], ['waivedUntilMs', isNumberOrNull]),
  ],
  ['native', isRecord],
)
const isEvent = has(
  ['venue nativeId slug title', isText],
  ['description series category image', isTextOrNull],
  ['startAtMs endAtMs winnerAmong', isNumberOrNull],
  ['isMutuallyExclusive', isFlag],
  ['tags', isListOf(isText)],
  ['native', isRecord],
)
const hasListings = has(['markets', isListOf(isMarket)], ['events', isListOf(isEvent)])

function isPage(value: unknown): value is CatalogPage {
  return hasListings(value)
}
