// Parses the texts of a listing once: folds them, removes dates, then the range. The remaining text is parsed as words.

import { leagueOfSeries } from '../../sports/leagues.ts'
import { proTeamOf, TEAMS } from '../../sports/team-names.ts'
import type { MatchMarket } from '../../subject.ts'
import { withCeremonyYears, yearOfCeremony } from './ceremonies.ts'
import {
  type DateMention,
  type Day,
  dateOfTicker,
  datesOf,
  dayOf,
  type TickerDate,
  withoutDates,
} from './dates.ts'
import { type Quantity, quantityOf } from './quantity.ts'
import { fold, type Spelling, spellingsOf, TITLE_CHARACTERS_MAX } from './text-normalization.ts'

/** A market, or an event in the form of a market. `samples`: titles of an event's markets. */
export interface Listed extends Omit<MatchMarket, 'category'> {
  readonly samples: readonly string[]
  readonly isExclusive: boolean | null
}

interface ReadText {
  readonly folded: string
  /** The text without dates and range. */
  readonly rest: string
  readonly words: readonly string[]
  readonly spelled: readonly Spelling[]
  readonly dates: readonly DateMention[]
  readonly quantity: Quantity | null
}

/** The parsed texts of a listing: its title, the label of Yes, and the context. */
export interface Texts {
  readonly listed: Listed
  readonly title: ReadText
  readonly answer: ReadText
  readonly context: ReadText
  readonly ticker: TickerDate | null
}

export function textsOf(listed: Listed): Texts {
  const ticker = listed.handles === 'ticker' ? tickerDateOf(listed) : null
  const anchor = anchorOf(listed, ticker)
  return {
    ...{ listed, ticker },
    title: readText(listed.title, anchor),
    answer: readText(answerText(listed), anchor),
    context: readContext(contextText(listed), anchor),
  }
}

/** Markets of an event have the same context, and are often parsed one after another. */
const CONTEXTS_MAX = 256
const contexts = new Map<string, ReadText>()

function readContext(text: string, anchor: Day | null): ReadText {
  const key = `${anchor} ${text}`
  const cached = contexts.get(key)
  if (cached !== undefined) return cached
  const context = readText(text, anchor)
  if (contexts.size >= CONTEXTS_MAX) contexts.clear()
  contexts.set(key, context)
  return context
}

/** A part of a ticker. A number of a ceremony in it becomes the two digits of the ceremony's year. */
function ceremonyYearPart(part: string, title: string): string {
  const year = /^[4-9]\d$/.test(part) ? yearOfCeremony(fold(title), Number(part)) : null
  return year === null ? part : String(year % 100)
}

/** Copies a list to drop its spare capacity, because many parse results are cached. */
export const trimmed = <Item>(list: readonly Item[]): readonly Item[] => list.slice()

/** Parses dates, then the range in the remaining text, then the words in the rest. */
function readText(text: string, anchor: Day | null): ReadText {
  const folded = withCeremonyYears(fold(text))
  const dates = datesOf(folded, anchor)
  const dateless = withoutDates(folded, dates, GAP)
  const quantity = quantityOf(dateless)
  const rest = withoutDates(dateless, quantity === null ? [] : [quantity], GAP).replace(
    /\b\d{1,2}(?::\d\d)?\s?[ap]m\b|\b(?:et|edt|est|utc)\b|\bthis (?:week|month|year|season)\b/g,
    ' ',
  )
  const spelled = trimmed(spellingsOf(rest))
  const words = trimmed(spelled.flatMap(({ meaning }) => (meaning === '' ? [] : [meaning])))
  return { folded, rest, words, spelled, dates, quantity }
}

/** Replaces a removed part, so that no phrase continues across it. */
const GAP = ' | '

/** The short title, unless it is only "Yes". Else the team at the end of a slug. */
export function answerText({ subtitle, title, handles, handle }: Listed): string {
  const short = subtitle.trim()
  if (!/^(?:yes|no)?$/i.test(short) && short !== title) return short
  return handles === 'slug' ? teamOfSlug(handle) : ''
}

/** Matches "tec-nba-champ-2026-06-30-lal": the words before a date and the code after it. */
const CODED_SLUG = /^([a-z0-9-]+)-20\d\d-\d\d-\d\d-([a-z]{2,4})$/

/** Name of the team whose code ends a slug. '' if the slug has no league with a fixed set of teams. */
function teamOfSlug(slug: string): string {
  const [, words = '', code = ''] = CODED_SLUG.exec(slug) ?? []
  const leagues = words.split('-')
  return leagues.map((league) => teamNames.get(`${league} ${code}`)).find(Boolean) ?? ''
}

/** Location and nickname of a team by league and code, such as "nba lal". */
const teamNames = new Map(
  Object.entries(TEAMS.pro).flatMap(([league, rows]) =>
    rows.map(proTeamOf).flatMap(({ codes, location, nicknames: [nickname = ''] }) => {
      return codes.map((code): [string, string] => [`${league} ${code}`, `${location} ${nickname}`])
    }),
  ),
)

function contextText({ handles, handle, eventTitle, eventSubtitle }: Listed): string {
  const league = handles === 'ticker' ? leagueOfSeries(handle.split('-')[0] ?? '') : null
  const eventText = `${eventTitle} ${eventSubtitle}`.trim()
  const parts = [eventText, league?.league.name ?? ''].filter((part) => part !== '')
  return parts.join(' | ').slice(0, TITLE_CHARACTERS_MAX)
}

/** Matches a day in a slug. "2026-52-53f" is a year and a range and does not match. */
export const ISO_DAY = /20\d\d-(?:0\d|1[0-2])-[0-3]\d(?![a-z\d])/

function anchorOf(
  { handles, handle, startMs, closeMs }: Listed,
  ticker: TickerDate | null,
): Day | null {
  if (ticker !== null && ticker.grain !== 'year') return ticker.first
  const isoMs = Date.parse(ISO_DAY.exec(handle)?.[0] ?? '')
  if (Number.isFinite(isoMs)) return dayOf(isoMs)
  const atMs = closeMs ?? startMs
  if (atMs !== null) return dayOf(atMs)
  const year = handles === 'slug' ? /-(20\d\d)(?:-|$)/.exec(handle)?.[1] : undefined
  return year === undefined ? null : dayOf(Date.UTC(Number(year), 6, 1))
}

/** The first date of a ticker. In "…-26AUG-27JAN01" the month is that of the listing, and the day is the deadline. */
function tickerDateOf({ handle, title }: Listed): TickerDate | null {
  const dates = handle
    .toUpperCase()
    .split('-')
    .slice(1, 3)
    .flatMap((part) => dateOfTicker(ceremonyYearPart(part, title)) ?? [])
  const [first = null, second] = dates
  return first?.grain === 'month' && second?.grain === 'day' && second.rest === '' ? second : first
}
