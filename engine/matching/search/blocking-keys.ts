// Blocking keys of a market or an event: hashes of its informative words, numbers, days and team codes. Words and
// numbers are also combined with a day or an hour. Markets that share rare keys are likely partners.

import type { HandleForm } from '../../ids.ts'
import { hash32 } from '../../random.ts'
import { easternDate } from '../../sports/eastern-date.ts'
import { leagueOfSeries, leagueOfWord } from '../../sports/leagues.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { type Day, dateOfTicker, datesOf, dayOf, hourOf, windowOf } from '../understand/dates.ts'
import { countryOfCode } from '../understand/locations.ts'
import { coinOfCode } from '../understand/price-question.ts'
import { SCALE } from '../understand/quantity.ts'
import { fold, meanings, rawWords } from '../understand/text-normalization.ts'

/** Sorted and distinct hashes of 31 bits. */
export interface BlockingKeys {
  /** Keys under which the subject is stored in the index. */
  readonly filed: Uint32Array
  /** Keys by which its partners are looked up. They also contain neighbouring days. */
  readonly queried: Uint32Array
}

/** Maximum keys of each kind per subject, to limit the cost of long texts. */
const WORDS_MAX = 28
const NUMBERS_MAX = 6
const DAYS_MAX = 3
const CODES_MAX = 4
const HOURS_MAX = 3
const LABELS_MAX = 4
const CHILDREN_READ_MAX = 12
/** Hour in New York of a price question that states no hour. */
const HOUR_DEFAULT = 12
/** Letters of a word in a combined key. Venues may shorten names ("Brest", "Brestois"). */
const STEM_CHARACTERS = 4
const ONE_DAY = [0, 1, -1]

const emptyFeatures = () => ({
  words: new Set<string>(),
  numbers: new Set<string>(),
  days: new Set<Day>(),
  /** Team codes in every form that a venue may write. */
  codes: new Set<string>(),
  /** Stated hours, including both ends of a window. */
  hours: new Set<number>(),
})
type Features = ReturnType<typeof emptyFeatures>

/** Keys of a market. Never throws. */
export function keysOfMarket(market: MatchMarket): BlockingKeys {
  const features = emptyFeatures()
  const anchor = anchorOf(market)
  readHandle(market.handle, features)
  const isYesNo = market.outcomes[0]?.toLowerCase() === 'yes'
  const labels = isYesNo ? [] : market.outcomes.slice(0, LABELS_MAX)
  const { title, subtitle, eventTitle, eventSubtitle } = market
  for (const text of [title, subtitle, ...labels, eventTitle, eventSubtitle]) {
    readText(text, anchor, features)
  }
  const { strike } = market
  if (strike !== null) {
    for (const bound of [strike.floor, strike.cap]) if (bound !== null) addNumber(bound, features)
  }
  if (market.line !== null) addNumber(Math.abs(market.line), features)
  const coin = coinOfCode(title, market.rules)
  if (coin !== null) addWord(coin, features)
  return combined(features, market)
}

/** Keys of an event, including words of its first markets. */
export function keysOfEvent(event: MatchEvent): BlockingKeys {
  const features = emptyFeatures()
  const anchor = anchorOf(event)
  readHandle(event.handle, features)
  readText(event.title, anchor, features)
  readText(event.subtitle, anchor, features)
  for (const { title, subtitle } of event.markets.slice(0, CHILDREN_READ_MAX)) {
    readText(subtitle === '' ? title : subtitle, anchor, features)
  }
  return combined(features, event)
}

type Times = Pick<MatchMarket, 'startMs' | 'closeMs'>

function anchorOf({ startMs, closeMs }: Times): Day | null {
  const atMs = startMs ?? closeMs
  return atMs === null ? null : dayOf(atMs)
}

function readText(text: string, anchor: Day | null, features: Features): void {
  if (text === '') return
  const folded = fold(text)
  addHours(folded, features)
  let bare = ''
  let from = 0
  for (const { last, start, end } of datesOf(folded, anchor)) {
    addDay(last, features)
    bare += `${folded.slice(from, start)} `
    from = Math.max(from, end)
  }
  bare += folded.slice(from)
  const words = bare.replace(NUMBER, (match, digits: string, scale: string | undefined) => {
    addNumber(Number(digits.replaceAll(',', '')) * (SCALE[scale ?? ''] ?? 1), features)
    return match.trim() === digits ? ' ' : match
  })
  for (const word of meanings(words)) addWord(word, features)
}

const NUMBER = /(?<![\p{L}\d.])(\d[\d,]*(?:\.\d+)?)(?:\s?(k|m|b|t|million|billion|trillion)\b)?/gu

function addWord(word: string, features: Features): void {
  if (features.words.size < WORDS_MAX) features.words.add(word)
}

/** Adds hours. Titles of a venue with slugs state the start and end of a window, tickers only its end. */
function addHours(folded: string, features: Features): void {
  if (features.hours.size >= HOURS_MAX) return
  const hour = hourOf(folded)
  if (hour === null) return
  const window = windowOf(folded)
  for (const clockHour of window === null ? [hour] : [window.from, window.to])
    features.hours.add(clockHour)
}

function addDay(day: Day, features: Features): void {
  if (features.days.size < DAYS_MAX) features.days.add(day)
}

/** Rounds to six digits, such as 79,199.99 to 79,200. Venues end a range slightly below the start of the next one. */
function addNumber(value: number, features: Features): void {
  if (!Number.isFinite(value) || features.numbers.size >= NUMBERS_MAX) return
  features.numbers.add(String(Number(value.toPrecision(6))))
  const cents = Math.round(value * 100)
  if (cents % 100 === 99) features.numbers.add(String(Number(((cents + 1) / 100).toPrecision(6))))
}

function readHandle(handle: string, features: Features): void {
  if (handle === '') return
  if (handle === handle.toUpperCase()) readTicker(handle, features)
  else readSlug(handle, features)
}

const SLUG_DAY = /-(20\d\d-\d\d-\d\d)(?:-|$)/

function readSlug(slug: string, features: Features): void {
  const lower = slug.toLowerCase()
  const match = SLUG_DAY.exec(lower)
  if (match === null) return
  const day = Date.parse(match[1] ?? '') / 86_400_000
  if (Number.isFinite(day)) addDay(day, features)
  const [league = '', ...parts] = lower.slice(0, match.index).split('-')
  addWord(leagueOfWord(league)?.name ?? league, features)
  const codes = parts
    .filter((part) => part !== 'vs')
    .map((part) => part.replace(/(.{2})\d+$/, '$1'))
  const [first = '', second = ''] = codes
  for (const code of codes.slice(0, CODES_MAX)) addCode('slug', code.slice(0, 3), features)
  if (codes.length !== 2) return
  features.codes.add(`${first}${second}`)
  features.codes.add(`${second}${first}`)
}

function addCode(handles: HandleForm, code: string, features: Features): void {
  features.codes.add(code)
  const country = countryOfCode(code, handles)
  if (country !== null) features.codes.add(`=${country}`)
}

function readTicker(ticker: string, features: Features): void {
  const [series = '', ...parts] = ticker.split('-')
  const league = leagueOfSeries(series)
  if (league !== null) addWord(league.league.name, features)
  let isDated = false
  for (const part of parts) {
    const date = isDated ? null : dateOfTicker(part)
    if (date === null) {
      readTickerTail(part, features)
      continue
    }
    isDated = true
    addDay(date.last, features)
    if (date.rest === '' && date.hour !== null) features.hours.add(date.hour)
    addBlock(date.rest.toLowerCase().replace(/[^a-z]/g, ''), features)
  }
}

/** `T87999.99` is a number. `POPE` is added as a word. */
function readTickerTail(part: string, features: Features): void {
  const number = /^[TB](-?\d+(?:\.\d+)?)$/.exec(part)?.[1]
  if (number !== undefined) addNumber(Number(number), features)
  else if (/^[A-Z]{2,}$/.test(part)) {
    const [word = ''] = rawWords(part.toLowerCase())
    features.codes.add(word.slice(0, 3))
    if (word.length > STEM_CHARACTERS) addWord(word, features)
  }
}

/** Adds two codes without a separator: the whole text, and every possible start of the second code. */
function addBlock(block: string, features: Features): void {
  if (block.length < 4) return
  features.codes.add(block)
  for (const code of [block.slice(0, 3), block.slice(-3)]) addCode('ticker', code, features)
  for (const code of [block.slice(0, 2), block.slice(-2)]) features.codes.add(code)
  if (block.length > 6) features.codes.add(block.slice(-4, -1))
}

const WORD = hash32('word')
const NUMBER_ALONE = hash32('number')
const NUMBER_ON_DAY = hash32('number on day')
const NUMBER_AT_HOUR = hash32('number at hour')
const WORD_ON_DAY = hash32('word on day')
const WORD_AT_HOUR = hash32('word at hour')
const CODE_ON_DAY = hash32('code on day')

function combined(features: Features, times: Times): BlockingKeys {
  if (features.days.size === 0) addDaysOfTimes(times, features)
  const filed = new Set<number>()
  const queried = new Set<number>()
  for (const word of features.words) filed.add(undated(mixed(WORD, hash32(word))))
  for (const number of features.numbers) filed.add(undated(mixed(NUMBER_ALONE, hash32(number))))
  for (const key of filed) queried.add(key)
  const hashes = {
    stems: Array.from(features.words, stemHash),
    codes: Array.from(features.codes, (code) => hash32(code)),
    numbers: Array.from(features.numbers, (number) => hash32(number)),
  }
  for (const day of features.days) {
    for (const offset of ONE_DAY) {
      const queriedHours = features.hours.size > 0 ? [...features.hours] : [HOUR_DEFAULT]
      addOfDay(hashes, { day: day + offset, hours: queriedHours }, queried)
      if (offset === 0) addOfDay(hashes, { day, hours: [...features.hours] }, filed)
    }
  }
  return { filed: Uint32Array.from(filed).sort(), queried: Uint32Array.from(queried).sort() }
}

function addDaysOfTimes({ startMs, closeMs }: Times, features: Features): void {
  for (const atMs of [startMs, closeMs]) {
    if (atMs === null || !Number.isFinite(atMs) || Math.abs(atMs) > 8e15) continue
    addDay(Date.parse(easternDate(atMs)) / 86_400_000, features)
  }
}

interface Moment {
  readonly day: Day
  readonly hours: readonly number[]
}

type Hashes = Readonly<Record<'stems' | 'codes' | 'numbers', readonly number[]>>

const stemHash = (word: string): number =>
  hash32(word.startsWith('country:') ? word : word.slice(0, STEM_CHARACTERS))

function addOfDay(
  { stems, codes, numbers }: Hashes,
  { day, hours }: Moment,
  into: Set<number>,
): void {
  for (const stem of stems) {
    into.add(dated(mixed(WORD_ON_DAY, stem, day)))
    for (const hour of hours) into.add(dated(mixed(WORD_AT_HOUR, stem, day, hour)))
  }
  for (const code of codes) into.add(dated(mixed(CODE_ON_DAY, code, day)))
  for (const number of numbers) {
    into.add(dated(mixed(NUMBER_ON_DAY, number, day)))
    for (const hour of hours) into.add(dated(mixed(NUMBER_AT_HOUR, number, day, hour)))
  }
}

const undated = (hash: number): number => hash & ~1
const dated = (hash: number): number => hash | 1

/** Whether a key contains a day. */
export function isDated(key: number): boolean {
  return (key & 1) === 1
}

/** Hash of several parts in order, 31 bits. */
function mixed(kind: number, ...parts: readonly number[]): number {
  let hash = kind
  for (const part of parts) {
    hash = Math.imul(hash ^ (part * 100), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash & 0x7fffffff
}
