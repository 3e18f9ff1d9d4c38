// Parses games from listings: slugs ("epl-ars-tot-2025-11-23-draw") and tickers ("KXEPLGAME-25NOV23ARSTOT-TIE") with
// their titles. Works for any league; known leagues give more detail.

import { easternDate, easternMs } from '../../sports/eastern-date.ts'
import { leagueOfSeries } from '../../sports/leagues.ts'
import { betTermsOf, withoutLine } from './bet-terms.ts'
import { betOf } from './bets.ts'
import {
  competitionOfLeague,
  competitionOfSeries,
  competitionOfSlug,
  NO_COMPETITION,
} from './competitions.ts'
import { dateOfTicker, datesOf, dayOf, dayOfDate, isoDay } from './dates.ts'
import { type Game, type NamedPair, pairOfTitle, plainName } from './game.ts'
import type { Listed } from './listing-texts.ts'
import { gradeCodeInName, gradeNames, leagueOfTeams, SAME_SIDE, type Side } from './sides.ts'
import { fold } from './text-normalization.ts'

const SLUG = /^([a-z0-9]+)-(.+?)-(20\d\d)-(\d\d)-(\d\d)(?:-(.+))?$/
const VERSUS = / vs?\.? | versus |^exact score/
const SCOPE =
  /(?:1H|2H|F5|[1-4]Q)?(?:GAME|MATCH|FIGHT|BOUT|SPREAD|TOTALMAPS|TEAMTOTAL|TOTAL|BTTS|SERIESSCORE|SCORE|MAP|SETWINNER|ADVANCE|PTS|REB|AST|3PT|HR|KS|TB|MOV|2D|3D|EXTRAS|RFI|SIX|FTTS|CORNERS|SERIES|WINNER|1H|2H|F5)$/

/** The game of a listing. Null if it is not about a game. Without a slug or a ticker only the titles are parsed. */
export function gameOf(listed: Listed): Game | null {
  const isOfTicker = listed.handles === 'ticker' && listed.handle !== ''
  return isOfTicker ? gameOfTicker(listed) : gameOfSlug(listed)
}

function gameOfSlug(facts: Listed): Game | null {
  const { handles } = facts
  const slug = readSlug(facts.handle) ?? readSlug(facts.eventKey ?? '')
  const title = fold(facts.title)
  const eventTitle = fold(facts.eventTitle)
  const subtitle = handles === 'ticker' ? fold(facts.subtitle) : ''
  const isVersus = VERSUS.test(title) || VERSUS.test(eventTitle)
  // "Houston at Miami" is a game only if the text asks for a side or a bet.
  const isAt = !isVersus && handles === 'ticker' && !/^(?:what|who|how|when|where)\b/.test(title)
  if (slug === null && !isVersus && !isAt) return null
  const ownPair = pairOfTitle(title, isAt)
  const named = ownPair ?? pairOfTitle(eventTitle, isAt)
  if (isAt && (named === null || !hasBetOrSide(named, subtitle))) return null
  const codes = slug === null ? null : codesOfSlug(slug[2] ?? '', named)
  const sides = sidesOf(facts, named, codes)
  const statedCompetition = competitionOfSlug(
    slug?.[1] ?? '',
    `${tagsOf(facts)} ${title} ${eventTitle}`,
  )
  const league = statedCompetition === NO_COMPETITION ? leagueOfTeams(...sides) : null
  const competition = league === null ? statedCompetition : competitionOfLeague(league)
  if (named === null && (codes === null || competition.sport === null)) {
    if (codes === null || !/^(?:draw|btts|spread|total)/.test(slug?.[6] ?? '')) return null
  }
  const { day, isDayStated } = dayOfSlug(slug, facts)
  const tail = (slug?.[6] ?? '').replaceAll('-', ' ')
  const rest = ownPair === null ? title : restOf(ownPair, title)
  const betText = codes !== null && named === null ? '' : withoutSides(rest, sides)
  const bet = betOf(betText, statedWith(tail, facts), '', '')
  const startMs = facts.startMs
  return {
    ...{ competition, sides, run: '', day, isDayStated, bet, startMs },
    isStartStated: handles === 'slug' && startMs !== null,
    ...betTermsOf({
      listed: facts,
      competition,
      sides,
      tail,
      title,
      rest,
      subtitle,
      suffix: '',
      bet,
    }),
  }
}

const tagsOf = ({ tags }: Listed): string => fold(tags.join(' | '))

/** The venue's own term for the bet, such as "first_half_totals" or "Point Total", followed by the end of the slug. */
function statedWith(tail: string, { betType }: Listed): string {
  return `${fold(betType).replaceAll('_', ' ')} ${tail}`.trim()
}

function readSlug(slug: string): RegExpExecArray | null {
  return /20\d\d-\d\d-\d\d/.test(slug) ? SLUG.exec(slug.toLowerCase()) : null
}

function withoutSides(text: string, sides: readonly Side[]): string {
  return sides.reduce((rest, { name }) => (name === '' ? rest : rest.replaceAll(name, ' ')), text)
}

/** Restores the bracket "(-1.5)", which was removed with the names but states the bet. */
function restOf(named: NamedPair, title: string): string {
  const bracket = /\([-+]\d+(?:\.\d+)?\)/.exec(title)?.[0] ?? ''
  return `${named.rest} ${bracket}`
}

function hasBetOrSide(named: NamedPair, subtitle: string): boolean {
  const yes = plainName(subtitle)
  const grades = [named.first, named.second].map((side) => gradeNames(side, yes))
  return /\p{L}/u.test(named.after) || (yes !== '' && Math.max(...grades) >= SAME_SIDE)
}

function gameOfTicker(facts: Listed): Game | null {
  const series = facts.handle.toUpperCase().split('-')[0] ?? ''
  const scope = scopeOf(series)
  const { dated, number, suffix } = partsOfTicker(facts, scope)
  const date = dateOfTicker(dated)
  if (date === null || !/^[A-Z0-9&'.]{4,}$/.test(date.rest)) return null
  const title = fold(facts.title)
  if (/^what will\b|\bcommentators? say\b/.test(title)) return null
  const eventTitle = fold(facts.eventTitle)
  const ofEvent = pairOfTitle(eventTitle, true)
  const named = pairOfTitle(title, true) ?? ofEvent ?? pairOfTitle(fold(facts.subtitle), true)
  if (named === null && (scope === '' || date.grain !== 'day')) return null
  // "At 4pm" is not a side.
  if (/^\d{1,2}(?: ?\d\d)? ?[ap]m\b/.test(named?.second ?? '')) return null
  const competition = competitionOfSeries(series, `${tagsOf(facts)} ${title} ${eventTitle}`)
  // A number after the codes marks the second game of a day. In other leagues the digit belongs to a code ("nrgc9").
  const ordinal =
    competition.table?.hasDoubleheaders === true ? /(?<=[a-z]{4})g?\d$/ : /(?<=[a-z]{4})g\d$/
  const run = date.rest.toLowerCase().replace(ordinal, '')
  const codes = codesOfRun(run, named, suffix, facts.eventSubtitle)
  const sides = sidesOf(facts, named, codes)
  const cut =
    named === null ? '' : `${named.rest} ${eventTitle === title ? '' : (ofEvent?.rest ?? '')}`
  const [statedText, after] = [cut, named?.after ?? ''].map((text) => withoutSides(text, sides))
  const bet = betOf(statedText ?? '', statedWith('', facts), scope, number, after)
  const subtitle = fold(facts.subtitle)
  const clockMs = date.hour === null ? null : easternMs(isoDay(date.first), date.hour * 60)
  const isDayStated = date.grain === 'day'
  return {
    ...{ competition, sides, run: codes === null ? run : '', bet },
    ...{ day: isDayStated ? date.first : null, isDayStated },
    // The time in a ticker is the start of the game. The time of the listing is near its end.
    ...{ startMs: clockMs ?? facts.startMs, isStartStated: clockMs !== null },
    ...betTermsOf({
      listed: facts,
      competition,
      sides,
      tail: '',
      title,
      rest: cut,
      subtitle,
      suffix,
      bet,
    }),
  }
}

/** The scope of a series, such as `1h btts` of KXMLS1HBTTS. '' if it is unknown. */
function scopeOf(series: string): string {
  const seriesScope = leagueOfSeries(series)?.scope
  const scope =
    seriesScope && SCOPE.test(seriesScope) ? seriesScope : (SCOPE.exec(series)?.[0] ?? '')
  return scope
    .toLowerCase()
    .replace(/^(1h|2h|f5|[1-4]q)(?=.)/, '$1 ')
    .replace('totalmaps', 'total maps')
    .replace('setwinner', 'set winner')
    .replace('seriesscore', 'series score')
}

/**
 * Splits a ticker into the event's part (date and codes), the map or set ('' if none), and the market's own end. A code
 * may contain a hyphen ("AL-NAL-H"), so the event's ticker is needed to split them.
 */
function partsOfTicker({ handle, eventKey }: Listed, scope: string) {
  const ticker = handle.toUpperCase()
  const key = (eventKey ?? '').toUpperCase()
  const isOfEvent = key.includes('-') && `${ticker}-`.startsWith(`${key}-`)
  const event = isOfEvent ? key : ticker.split('-').slice(0, 2).join('-')
  const [, dated = '', ...more] = event.split('-')
  const own = ticker.slice(event.length + 1).split('-')
  const isNumber = (part = ''): boolean => /^\d$/.test(part)
  let number = ''
  if (isNumber(more.at(-1))) number = more.pop() ?? ''
  // The ticker of an event about a map or set ends in its number.
  else if (isNumber(own[0]) && (own.length > 1 || /map|set/.test(scope))) number = own.shift() ?? ''
  const line = own.findIndex((part, index) => index > 0 && /^\d/.test(part))
  const suffix = (line < 0 ? own : own.slice(0, line)).join('').toLowerCase()
  const isDay = dateOfTicker(dated)?.grain === 'day'
  return { dated: isDay ? dated + more.join('') : dated, number, suffix }
}

function sidesOf(
  { venue, handles }: Listed,
  named: NamedPair | null,
  codes: Codes | null,
): readonly [Side, Side] {
  return [
    { venue, handles, name: named?.first ?? '', code: codes?.[0] ?? '' },
    { venue, handles, name: named?.second ?? '', code: codes?.[1] ?? '' },
  ]
}

type Codes = readonly [string, string]

/** Two codes: separated by a hyphen or `-vs-`, or split where the names confirm it. */
function codesOfSlug(middle: string, named: NamedPair | null): Codes | null {
  const parts = middle.split(middle.includes('-vs-') ? '-vs-' : '-')
  if (parts.length === 2) return [parts[0] ?? '', parts[1] ?? '']
  return named === null ? null : bestCut(parts, named)
}

/** Splits joined codes by "HOU at MIA (Aug 4)", by the market's end, or by the names. Null if none of these works. */
function codesOfRun(
  run: string,
  named: NamedPair | null,
  suffix: string,
  subtitle: string,
): Codes | null {
  const match = /^(\S+)\s+(?:at|vs\.?|v\.?)\s+(\S+)/i.exec(subtitle.toLowerCase())
  const [, first = '', second = ''] = match ?? []
  if (first !== '' && first + second === run) return [first, second]
  for (const code of withoutLine(suffix)) {
    if (code.length < 2 || code === 'tie' || code.length >= run.length) continue
    const [isStart, isEnd] = [run.startsWith(code), run.endsWith(code)]
    if (isStart === isEnd) continue
    const codes: Codes = isStart
      ? [code, run.slice(code.length)]
      : [run.slice(0, -code.length), code]
    // The codes may be in another order than the names.
    return named === null ? codes : (bestCut(codes, named) ?? codes)
  }
  if (named === null) return run.length === 6 ? [run.slice(0, 3), run.slice(3)] : null
  return bestCut([...run], named)
}

/** The split whose halves best abbreviate the two names, in either order. */
function bestCut(parts: readonly string[], named: NamedPair): Codes | null {
  let best: Codes | null = null
  let bestGrade = 0.5
  for (let at = 1; at < parts.length; at += 1) {
    const [one, other] = [parts.slice(0, at).join(''), parts.slice(at).join('')]
    const straight = gradeCodeInName(one, named.first) + gradeCodeInName(other, named.second)
    const swapped = gradeCodeInName(one, named.second) + gradeCodeInName(other, named.first)
    if (straight > bestGrade) {
      bestGrade = straight
      best = [one, other]
    }
    // The codes are in the other order than the names. Sides have the order of the title.
    if (swapped > bestGrade + 0.2) {
      bestGrade = swapped
      best = [other, one]
    }
  }
  return best
}

/**
 * The date in a slug, else in the texts, else, for slugs, the Eastern day of the start, else the closing day, which is
 * only a hint.
 */
function dayOfSlug(slug: RegExpExecArray | null, facts: Listed): Pick<Game, 'day' | 'isDayStated'> {
  if (slug !== null) {
    const day = dayOfDate(Number(slug[3]), Number(slug[4]), Number(slug[5]))
    if (day !== null) return { day, isDayStated: true }
  }
  const hintMs = facts.startMs ?? facts.closeMs
  const hint = hintMs === null ? null : dayOf(hintMs)
  const { title, subtitle, eventTitle, eventSubtitle, samples } = facts
  const worded = (facts.handle || (facts.eventKey ?? '')).replaceAll('-', ' ')
  for (const text of [title, subtitle, eventTitle, eventSubtitle, worded, ...samples]) {
    const date = datesOf(fold(text), hint).find(
      ({ grain, role }) => grain === 'day' && role === 'on',
    )
    // The date is used only with a year or a closing time, because otherwise its year is unknown.
    if (date !== undefined && (hint !== null || /20\d\d/.test(text)))
      return { day: date.first, isDayStated: true }
  }
  if (facts.handles === 'slug' && facts.startMs !== null) {
    return { day: dayOf(Date.parse(easternDate(facts.startMs))), isDayStated: true }
  }
  return { day: hint, isDayStated: false }
}
