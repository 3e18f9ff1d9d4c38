// Parses the bet on a game (winner, draw, spread, total, map, half, a player's points …) from a slug's tail, a series'
// scope and the title. A bet of unknown kind keeps its words; two such bets are equal only in the same words.

import { firstMatch, type PhraseRows, phraseTable, tableIn, wordSet } from './phrases.ts'
import { meanings } from './text-normalization.ts'

/** A bet's kind. Sides and lines are fields of the game. */
export interface Bet {
  /** `winner`, `spread`, `total`, `btts`, `score`, `map`, `prop:points`, `other:…` */
  readonly kind: string
  /** `game`, `1h`, `2h`, `q1`, `f5`, `inning1`, `set1`, `map2` … */
  readonly period: string
  /** What is counted, if not the sport's own score: `corners`, `maps`, `sets`, `kills`. */
  readonly counted: string
}

/** Prefix of the words of a bet of unknown kind. */
export const OTHER = 'other:'

const TABLES = tableIn<Readonly<Record<'stats' | 'counted' | 'kinds' | 'periods', PhraseRows>>>(
  new URL('./bets.json', import.meta.url),
)
const STATS = phraseTable(TABLES.stats)
const COUNTED = phraseTable(TABLES.counted)
/** A draw is an outcome of `winner`; the game's side states it. */
const KINDS = phraseTable(TABLES.kinds)
const PERIODS = phraseTable(TABLES.periods)
const NUMBERED = /\b(?:map|game) ?#?(\d)\b(?! (?:points|total points))/

/**
 * Parses the bet of a listing. `title` is folded, without the sides if they were found. `tail` is a slug's words after
 * the date. `scope` is a series' scope in lower case. `number` is the map or set in the ticker. `after` is the text
 * behind the sides in a title of venue b, whose series alone does not ask for the winner.
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

/** A series with this ending asks for the winner, even if its titles state more. */
const WINNER_SCOPE = /(?:game|match|fight|bout|map|winner|[12]h|f5)$/

/** Text behind the sides that names the bet, such as "Receptions" or "Largest Lead". "Game 2" and "Final" do not. */
function otherThanWinner(after: string): string {
  const betWords = meanings(withoutPeriods(after))
  const distinctive = betWords.filter((word) => !PLAIN.has(word) && !/^\d+$/.test(word))
  return distinctive.length === 0 ? 'winner' : `${OTHER}${distinctive.sort().join(' ')}`
}

function withoutPeriods(text: string): string {
  return PERIODS.reduce((rest, [, pattern]) => rest.replace(pattern, ' '), text)
}

/** Reports whether two kinds are one bet. Bets of unknown kind must share most of their words. */
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
    // A series of venue b with the scope `game` asks for a whole game, such as the first of a playoff.
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
 * Words of a bet that is not on the winner, such as "most yellow cards" or "first corner". A bet of unknown kind keeps
 * them.
 */
const UNUSUAL =
  /\b(?:most|first|last|any|highest|race|method|number|how many|penalty|red card|quadra|penta|clean sheet)\b/

/** Winner, unless a title or a slug's end contains words of an unknown bet. */
function fallbackKind(text: string): string {
  const phrase = withoutPeriods(/(?:^|: | - )([^:]*)$/.exec(text)?.[1] ?? text)
  return UNUSUAL.test(phrase) ? otherThanWinner(phrase) : 'winner'
}
