// Event slugs as clues: `nfl-dal-phi-2025-09-04`. A suffix after the date marks further events of the game.

import type { VenueKey } from '../ids.ts'
import { easternDate, isCalendarDate } from './eastern-date.ts'
import type { EventFacts, GameClue, Side } from './game-clue.ts'
import { type League, leagueOfWord } from './leagues.ts'
import { sidesOfTitle, squeezeName } from './team-names.ts'

const SLUG = /^([a-z0-9]+)-(.+)-(\d{4}-\d{2}-\d{2})(?:-(.+))?$/
const HALF_DAY_MS = 43_200_000
const GAME_NUMBER = /^(?:game-?|gm-?|g|dh-?)?([2-9])(?:-|$)/

/** The clue in the slug of an event, or of a market whose event is unknown. Null: the slug is not of a game. */
export function clueOfSlug(venue: VenueKey, event: EventFacts): GameClue | null {
  const match = SLUG.exec(event.nativeId.toLowerCase())
  if (match === null) return null
  const [, prefix = '', middle = '', stated = '', tail = ''] = match
  const league = leagueOfWord(prefix)
  if (league === null || league.kind === 'golf' || !isCalendarDate(stated)) return null
  const names = sidesOfTitle(event.title) ?? ['', '']
  const codes = codesOf(middle, names)
  if (codes === null) return null
  const number = league.hasDoubleheaders ? GAME_NUMBER.exec(tail)?.[1] : undefined
  const startMs = credible(event.startMs, stated)
  return {
    ...{ venue, handles: 'slug' },
    league,
    anchor: `${prefix}-${middle}-${stated}${number === undefined ? '' : `-${number}`}`,
    date: gameDate(league, stated, startMs),
    number: number === undefined ? null : Number(number),
    startMs,
    endMs: null,
    sides: [side(codes[0], names[0]), side(codes[1], names[1])],
  }
}

/**
 * The start, or null if it is more than a day from the slug's date. Listings with an unknown start contain the day of
 * listing instead.
 */
function credible(startMs: number | null, date: string): number | null {
  if (startMs === null) return null
  return Math.abs(startMs - Date.parse(date) - HALF_DAY_MS) <= 3 * HALF_DAY_MS ? startMs : null
}

/** Some slugs of US leagues have the UTC date, which for an evening game is the next day. */
function gameDate(league: League, stated: string, startMs: number | null): string {
  if (startMs === null || (league.kind !== 'pro' && league.kind !== 'college')) return stated
  const isGreenwich = new Date(startMs).toISOString().startsWith(stated)
  return isGreenwich ? easternDate(startMs) : stated
}

const side = (code: string, name: string): Side => ({ code, name })

/** Two codes, separated by a hyphen, or by `vs` if they contain hyphens. */
function codesOf(
  middle: string,
  names: readonly [string, string],
): readonly [string, string] | null {
  const versus = middle.split('-vs-')
  if (versus.length === 2) return [versus[0] ?? '', versus[1] ?? '']
  const parts = middle.split('-')
  if (parts.length === 2) return [parts[0] ?? '', parts[1] ?? '']
  if (parts.length < 2 || names[0] === '') return null
  // Splits "auger-aliassime-ruud" where the first part occurs in the first name and the second part in the second name.
  const [first, second] = names.map(squeezeName)
  for (let cut = 1; cut < parts.length; cut += 1) {
    const [left, right] = [parts.slice(0, cut).join(''), parts.slice(cut).join('')]
    if (first?.includes(left) === true && second?.includes(right) === true) return [left, right]
  }
  return null
}
