// Clues of golf tournaments. The title without the placing ("Winner", "Top 10") is the tournament's name, and the
// event's end gives its week.

import { addDays, easternDate, weekday } from './eastern-date.ts'
import type { EventFacts, GameClue } from './game-clue.ts'
import { leagueOfSeries, leagueOfWord } from './leagues.ts'
import { foldName } from './team-names.ts'

/** Thursday to Sunday. */
export const TOURNAMENT_DAYS = 4

const PLACING =
  /\s+(?:outright\s+)?(?:winner|champion|top\s?\d+(?:\s+finish(?:ers?)?)?|to make (?:the )?cut|make (?:the )?cut|(?:first|\d\w*) round leader|round \d leader|r\d leader|round \d.*|head to head|cut line|winning score|playoff|hole in one|nationality.*)$/
const TOUR =
  /^(?:pga tour|pga|liv golf|liv|dp world tour|dpwt|korn ferry tour|asian tour|lpga)\s+(?=\w)/
const TEAM_EVENTS = /\b(?:tgl|ryder|presidents cup|solheim)\b/

/** Whether tags or series state golf. The title is not parsed, because every listing calls this function. */
export function mayBeGolf(series: string | null, tags: readonly string[]): boolean {
  if (series !== null && leagueOfSeries(series)?.league.kind === 'golf') return true
  return tags.some((tag) => /^(?:golf|pga|pga tour|liv golf)$/i.test(tag))
}

/** The clue of a tournament's event. Null: the title states no placing. */
export function clueOfGolf(
  { venue, handles }: Pick<GameClue, 'venue' | 'handles'>,
  event: EventFacts,
): GameClue | null {
  const league = leagueOfWord('pga')
  const tournament = tournamentOf(event.title)
  if (league === null || tournament === null || event.endMs === null) return null
  return {
    venue,
    handles,
    league,
    anchor: `pga/${event.nativeId.toLowerCase()}`,
    date: firstDay(easternDate(event.endMs)),
    number: null,
    startMs: null,
    endMs: event.endMs,
    sides: [{ code: '', name: tournament }],
  }
}

/** "PGA TOUR: 2026 The Players Championship Winner (March 15)" becomes `players championship`. */
export function tournamentOf(title: string): string | null {
  // A colon separates the tour from the title, and the date is in brackets.
  const bare = title.replace(/\([^)]*\)/g, ' ').replace(/^[^:]*\b(?:tour|golf|pga)\b[^:]*:/i, ' ')
  const words = foldName(bare)
    .replace(/\b20\d\d\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const placing = PLACING.exec(words)
  if (placing === null || TEAM_EVENTS.test(words)) return null
  const phrase = words.slice(0, placing.index).replace(/^who will win /, '')
  const name = phrase.replace(TOUR, '').replace(/^the (?=\w)/, '')
  return name === '' || name === 'tour' ? null : name
}

/** The Thursday of the tournament: the last Thursday at or before the last day. */
function firstDay(lastDay: string): string {
  const sinceThursday = (weekday(lastDay) + 7 - 4) % 7
  return addDays(lastDay, -sinceThursday)
}
