// Parses the bet on a game (winner, draw, spread, total, map, half, a player's points …) from the end of a slug, the
// scope of a series and the title. A bet of unknown kind keeps its words, and two such bets are equal only if these
// are.

import { firstMatch, type PhraseRows, phraseTable, tableIn, wordSet } from './phrases.ts'
import { meanings } from './text-normalization.ts'

/** The kind of a bet. Its side and line are fields of the game. */
export interface Bet {
  /** Such as `winner`, `spread`, `total`, `btts`, `score`, `map`, `prop:points`, `other:…`. */
  readonly kind: string
  /** Such as `game`, `1h`, `2h`, `q1`, `f5`, `inning1`, `set1`, `map2`. */
  readonly period: string
  /** What is counted instead of the sport's score: `corners`, `maps`, `sets`, `kills`. Otherwise ''. */
  readonly counted: string
}

export const OTHER = 'other:'

const TABLES = tableIn<Readonly<Record<'stats' | 'counted' | 'kinds' | 'periods', PhraseRows>>>(
  new URL('./bets.json', import.meta.url),
)
const STATS = phraseTable(TABLES.stats)
const COUNTED = phraseTable(TABLES.counted)
/** A draw has the kind `winner`, because the game's side states it. */
const KINDS = phraseTable(TABLES.kinds)
const PERIODS = phraseTable(TABLES.periods)
const NUMBERED = /\b(?:map|game) ?#?(\d)\b(?! (?:points|total points))/

/**
 * Parses the bet of a listing. `title`: folded, without the sides if they were found. `tail`: the slug's words after
 * the date. `scope`: the series' scope in lower case. `number`: the map or set in the ticker. `after`: in venue b's
 * titles, the text after the sides, which must not ask for something other than the winner.
 */
export function betOf(title: string, tail: string, scope: string, number: string, after = ''): Bet {
  const betWords = `${tail} ${title}`
  const parts = [tail, scope, title]
  const period = periodOf(parts, number, scope)
  const counted = firstMatch(COUNTED, betWords) ?? firstMatch(COUNTED, scope) ?? ''
  const stat = firstMatch(STATS, betWords) ?? firstMatch(STATS, scope)
  if (stat !== null && !/\btotal\b(?! bases)/.test(tail))
    return { kind: `prop:${stat}`, period, counted: '' }
  let kind: string | null = null
  for (const part of parts) kind ??= firstMatch(KINDS, part)
  kind ??= fallbackKind(title === '' ? tail : title)
  if (kind === 'winner' && after !== '' && !WINNER_SCOPE.test(scope)) kind = otherThanWinner(after)
  return { kind, period, counted }
}

/** A series with one of these endings asks for the winner, whatever its titles contain. */
const WINNER_SCOPE = /(?:game|match|fight|bout|map|winner|[12]h|f5)$/

/** Text after the sides that states the bet, such as "Receptions" or "Largest Lead", but not "Game 2" or "Final". */
function otherThanWinner(after: string): string {
  const betWords = meanings(withoutPeriods(after))
  const distinctive = betWords.filter((word) => !PLAIN.has(word) && !/^\d+$/.test(word))
  return distinctive.length === 0 ? 'winner' : `${OTHER}${distinctive.sort().join(' ')}`
}

function withoutPeriods(text: string): string {
  return PERIODS.reduce((rest, [, pattern]) => rest.replace(pattern, ' '), text)
}

/** Two bets of unknown kind are the same if they share most of their words. */
export function isSameKind(one: string, other: string): boolean {
  if (one === other) return true
  if (!one.startsWith(OTHER) || !other.startsWith(OTHER)) return false
  const [a, b] = [one, other].map((kind) => kind.slice(OTHER.length).split(' '))
  const shared = (a ?? []).filter((word) => b?.includes(word)).length
  return shared * 2 > Math.max(a?.length ?? 0, b?.length ?? 0)
}

function periodOf(parts: readonly string[], number: string, scope: string): string {
  for (const part of parts) {
    const period = firstMatch(PERIODS, part)
    if (period !== null) return period
    const map = NUMBERED.exec(part)?.[1]
    // A series of venue b with the scope `game` is about a whole game, such as the first of a playoff.
    if (map !== undefined && !/game$/.test(scope)) return `map${map}`
  }
  if (number === '') return 'game'
  if (/map$/.test(scope)) return `map${number}`
  return /set/.test(scope) ? `set${number}` : 'game'
}

const PLAIN = wordSet(
  'winx match game fight bout fixture bo1 bo3 bo5 mainx card prelim early group stage regular season playoff final semifinal quarterfinal map set round rounds week day cup league challenger title tour open championship division',
)

/**
 * Words of bets that are not on the winner, such as "most yellow cards" or "first corner". They remain in a bet of
 * unknown kind.
 */
const UNUSUAL =
  /\b(?:most|first|last|any|highest|race|method|number|how many|penalty|red card|quadra|penta|clean sheet)\b/

function fallbackKind(text: string): string {
  const phrase = withoutPeriods(/(?:^|: | - )([^:]*)$/.exec(text)?.[1] ?? text)
  return UNUSUAL.test(phrase) ? otherThanWinner(phrase) : 'winner'
}
