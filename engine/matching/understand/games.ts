// Reads games from listings: slugs ("epl-ars-tot-2025-11-23-draw") and tickers
// ("KXEPLGAME-25NOV23ARSTOT-TIE") with their titles. Any league is read; known ones are read better.
// Upholds PROP5 to PROP11, PROP18, MATCHDATE4.

import type { HandleForm } from '../../ids.ts'
import { easternMs } from '../../sports/eastern-date.ts'
import { leagueOfSeries } from '../../sports/leagues.ts'
import { arenaOfSeries, arenaOfSlug } from './arenas.ts'
import { type AskedFacts, askedOf } from './asked-side.ts'
import { betOf } from './bets.ts'
import { type Day, dateOfTicker, datesOf, dayOf, dayOfDate, isoDay } from './dates.ts'
import { type Game, isCredible, type NamedPair, pairOfTitle } from './game.ts'
import { gradeCodeInName, type Side } from './sides.ts'
import { fold } from './words.ts'

/** What a market and an event have in common, for reading a game. */
export interface GameFacts {
  readonly handle: string
  readonly eventKey: string | null
  readonly title: string
  readonly subtitle: string
  readonly eventTitle: string
  readonly eventSubtitle: string
  readonly series: string | null
  readonly outcomes: readonly string[]
  readonly startMs: number | null
  readonly closeMs: number | null
  readonly strikeFloor: number | null
  readonly line: number | null
  /** What is bet on, as the venue states it beside its text; '' where it does not. */
  readonly betType: string
  /** Titles of an event's markets, for its day. */
  readonly samples: readonly string[]
}

const SLUG = /^([a-z0-9]+)-(.+?)-(20\d\d)-(\d\d)-(\d\d)(?:-(.+))?$/
const VERSUS = / vs?\.? | versus |^exact score/
const SCOPE =
  /(?:1H|2H|F5|[1-4]Q)?(?:GAME|MATCH|FIGHT|BOUT|SPREAD|TOTALMAPS|TEAMTOTAL|TOTAL|BTTS|SERIESSCORE|SCORE|MAP|SETWINNER|ADVANCE|PTS|REB|AST|3PT|HR|KS|TB|MOV|2D|3D|EXTRAS|RFI|SIX|CORNERS|SERIES|WINNER|1H|2H|F5)$/

/** The game of a listing with a slug; null: the listing is of no game. */
export function gameOfSlug(facts: GameFacts): Game | null {
  const slug = readSlug(facts.handle) ?? readSlug(facts.eventKey ?? '')
  const title = fold(facts.title)
  const eventTitle = fold(facts.eventTitle)
  if (slug === null && !VERSUS.test(title) && !VERSUS.test(eventTitle)) return null
  const ownPair = pairOfTitle(title, false)
  const named = ownPair ?? pairOfTitle(eventTitle, false)
  if (named !== null && !isCredible(named)) return null
  const arena = arenaOfSlug(slug?.[1] ?? '', `${title} ${eventTitle}`)
  const codes = slug === null ? null : codesOfSlug(slug[2] ?? '', named)
  if (named === null && (codes === null || arena.sport === null)) {
    if (codes === null || slug?.[6] === undefined || !/^(?:draw|btts|spread|total)/.test(slug[6]))
      return null
  }
  const sides = sidesOf('slug', named, codes)
  const { day, isDaySure } = dayOfSlug(slug, facts)
  const tail = (slug?.[6] ?? '').replaceAll('-', ' ')
  const rest = ownPair === null ? title : restOf(ownPair, title)
  const bet = betOf(codes !== null && named === null ? '' : rest, statedWith(tail, facts), '', '')
  const asking: AskedFacts = {
    handles: 'slug',
    arena,
    sides,
    tail,
    title,
    rest,
    subtitle: '',
    suffix: '',
    facts,
    bet,
  }
  return {
    ...{ arena, sides, run: '', day, isDaySure, bet },
    ...{ startMs: facts.startMs, isStartSure: facts.startMs !== null },
    ...askedOf(asking),
  }
}

/** A slug's end behind the venue's own word on the bet, such as "first_half_totals" or "Point Total". */
function statedWith(tail: string, { betType }: GameFacts): string {
  return `${fold(betType).replaceAll('_', ' ')} ${tail}`.trim()
}

/** The parts of a slug with a day; null for the others, which are no game's. */
function readSlug(slug: string): RegExpExecArray | null {
  return /20\d\d-\d\d-\d\d/.test(slug) ? SLUG.exec(slug.toLowerCase()) : null
}

/** The bracket "(-1.5)" was cut with the names and says the bet. */
function restOf(named: NamedPair, title: string): string {
  const bracket = /\([-+]\d+(?:\.\d+)?\)/.exec(title)?.[0] ?? ''
  return `${named.rest} ${bracket}`
}

/** The game of a listing with a ticker; null: the listing is of no game. */
export function gameOfTicker(facts: GameFacts): Game | null {
  const parts = facts.handle.toUpperCase().split('-')
  const [series = '', datePart = ''] = parts
  const date = dateOfTicker(datePart)
  if (date === null || !/^[A-Z0-9&'.]{4,}$/.test(date.rest)) return null
  const title = fold(facts.title)
  if (/^what will\b|\bcommentators? say\b/.test(title)) return null
  const eventTitle = fold(facts.eventTitle)
  const scope = scopeOf(series)
  const named =
    pairOfTitle(title, true) ??
    pairOfTitle(eventTitle, true) ??
    pairOfTitle(fold(facts.subtitle), true)
  if (named === null && (scope === '' || date.grain !== 'day')) return null
  if (named !== null && !isCredible(named)) return null
  const arena = arenaOfSeries(series, `${title} ${eventTitle}`)
  const run = date.rest.toLowerCase().replace(/(?<=[a-z]{4})g?\d$/, '')
  const rest = restOfTicker(parts, facts, scope)
  const codes = codesOfRun(run, named, rest.suffix, facts.eventSubtitle)
  const sides = sidesOf('ticker', named, codes)
  const cut =
    named === null
      ? ''
      : `${named.rest} ${eventTitle === title ? '' : (pairOfTitle(eventTitle, true)?.rest ?? '')}`
  const bet = betOf(cut, statedWith('', facts), scope, rest.number, named?.after ?? '')
  const subtitle = fold(facts.subtitle)
  const asking: AskedFacts = {
    handles: 'ticker',
    arena,
    sides,
    tail: '',
    title,
    rest: cut,
    subtitle,
    suffix: rest.suffix,
    facts,
    bet,
  }
  const clockMs = date.hour === null ? null : easternMs(isoDay(date.first), date.hour * 60)
  return {
    arena,
    sides,
    run: codes === null ? run : '',
    day: date.grain === 'day' ? date.first : null,
    isDaySure: date.grain === 'day',
    // The clock in a ticker is the start; the listing's own time is about the end.
    startMs: clockMs ?? facts.startMs,
    isStartSure: clockMs !== null,
    bet,
    ...askedOf(asking),
  }
}

/** "1HBTTS" of KXMLS1HBTTS as `1h btts`; '' when the series ends in no scope we know. */
function scopeOf(series: string): string {
  const known = leagueOfSeries(series)?.scope
  const scope =
    known !== undefined && known !== '' && SCOPE.test(known)
      ? known
      : (SCOPE.exec(series)?.[0] ?? '')
  return scope
    .toLowerCase()
    .replace(/^(1h|2h|f5|[1-4]q)(?=.)/, '$1 ')
    .replace('totalmaps', 'total maps')
    .replace('setwinner', 'set winner')
    .replace('seriesscore', 'series score')
}

/** What follows the date: the map or set of the event, and the market's own end. */
function restOfTicker(
  parts: readonly string[],
  facts: GameFacts,
  scope: string,
): { number: string; suffix: string } {
  const after = parts.slice(2)
  const ofEvent = facts.eventKey === null ? 0 : Math.max(0, facts.eventKey.split('-').length - 2)
  const [first = '', second = ''] = after
  if (ofEvent >= 1 || (after.length >= 2 && /^\d$/.test(first))) {
    return { number: /^\d$/.test(first) ? first : '', suffix: second.toLowerCase() }
  }
  // An event of a map or a set ends in its number.
  if (/map|set/.test(scope) && /^\d$/.test(first)) return { number: first, suffix: '' }
  return { number: '', suffix: first.toLowerCase() }
}

function sidesOf(
  handles: HandleForm,
  named: NamedPair | null,
  codes: readonly [string, string] | null,
): readonly [Side, Side] {
  return [
    { handles, name: named?.first ?? '', code: codes?.[0] ?? '' },
    { handles, name: named?.second ?? '', code: codes?.[1] ?? '' },
  ]
}

/** Two codes: one hyphen, `-vs-`, or the cut that the names confirm. */
function codesOfSlug(middle: string, named: NamedPair | null): readonly [string, string] | null {
  const versus = middle.split('-vs-')
  if (versus.length === 2) return [versus[0] ?? '', versus[1] ?? '']
  const parts = middle.split('-')
  if (parts.length === 2) return [parts[0] ?? '', parts[1] ?? '']
  if (named === null || parts.length < 2) return null
  const cuts = parts
    .slice(1)
    .map((_, index): [string, string] => [
      parts.slice(0, index + 1).join(''),
      parts.slice(index + 1).join(''),
    ])
  return bestCut(cuts, named)
}

/** Codes of a run from "HOU at MIA (Aug 4)", the market's end, or the names; null: unknown. */
function codesOfRun(
  run: string,
  named: NamedPair | null,
  suffix: string,
  subtitle: string,
): readonly [string, string] | null {
  const match = /^(\S+)\s+(?:at|vs\.?|v\.?)\s+(\S+)/i.exec(subtitle)
  const [first = '', second = ''] = [match?.[1]?.toLowerCase(), match?.[2]?.toLowerCase()]
  if (first !== '' && first + second === run) return [first, second]
  const code = suffix.replace(/\d+$/, '')
  if (code.length >= 2 && code !== 'tie' && code.length < run.length) {
    const [isStart, isEnd] = [run.startsWith(code), run.endsWith(code)]
    if (isStart && !isEnd) return inTitleOrder([code, run.slice(code.length)], named)
    if (isEnd && !isStart) return inTitleOrder([run.slice(0, -code.length), code], named)
  }
  if (named === null) return run.length === 6 ? [run.slice(0, 3), run.slice(3)] : null
  const cuts: [string, string][] = []
  for (let at = 1; at < run.length; at += 1) cuts.push([run.slice(0, at), run.slice(at)])
  return bestCut(cuts, named)
}

/** A run's codes need not stand in the order of the title's names. */
function inTitleOrder(
  codes: readonly [string, string],
  named: NamedPair | null,
): readonly [string, string] {
  return named === null ? codes : (bestCut([[codes[0], codes[1]]], named) ?? codes)
}

/** Of several cuts the one whose halves best shorten the two names, in either order. */
function bestCut(
  cuts: readonly [string, string][],
  named: NamedPair,
): readonly [string, string] | null {
  let best: readonly [string, string] | null = null
  let bestGrade = 0.5
  for (const [one, other] of cuts) {
    const straight = gradeCodeInName(one, named.first) + gradeCodeInName(other, named.second)
    const swapped = gradeCodeInName(one, named.second) + gradeCodeInName(other, named.first)
    if (straight > bestGrade) {
      bestGrade = straight
      best = [one, other]
    }
    // The run may be in the other order than the title: sides keep the title's order.
    if (swapped > bestGrade + 0.2) {
      bestGrade = swapped
      best = [other, one]
    }
  }
  return best
}

/** A slug's date; else a date in the titles of the event's markets; else the closing day, which only hints. */
function dayOfSlug(
  slug: RegExpExecArray | null,
  facts: GameFacts,
): { day: Day | null; isDaySure: boolean } {
  if (slug !== null) {
    const day = dayOfDate(Number(slug[3]), Number(slug[4]), Number(slug[5]))
    if (day !== null) return { day, isDaySure: true }
  }
  for (const sample of [facts.title, ...facts.samples]) {
    const [date] = datesOf(fold(sample), null).filter(({ grain }) => grain === 'day')
    if (date !== undefined && /\d{4}-\d\d-\d\d/.test(sample))
      return { day: date.first, isDaySure: true }
  }
  const hintMs = facts.startMs ?? facts.closeMs
  return { day: hintMs === null ? null : dayOf(hintMs), isDaySure: false }
}
