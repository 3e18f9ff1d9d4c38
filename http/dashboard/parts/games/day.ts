// The games of a day as the page shows them: each with the pairs that both venues list, and what only one of them does;
// and the day itself, as the calendar of the viewer has it. Not for: how a game looks (http/dashboard/parts/games/card.ts). Upholds DASH60, DASH61.

import type { Games, Market } from '../../records.ts'
import type { MatchPair } from '../matches/pair.ts'

/** Path values of the interface, with what people say. */
export const SPORTS = [
  ['nfl', 'NFL'],
  ['nba', 'NBA'],
  ['mlb', 'MLB'],
  ['nhl', 'NHL'],
  ['cfb', 'College football'],
  ['cbb', 'College basketball'],
  ['pga', 'Golf (PGA)'],
  ['tennis', 'Tennis'],
] as const

export interface Game {
  /** League, sides and day, as in `nfl-dal-phi-2025-09-04`. */
  readonly key: string
  readonly title: string
  readonly pairs: readonly MatchPair[]
  /** Markets of either venue that are in none of the pairs. */
  readonly others: readonly Market[]
}

/** The games in the server's order, each with its own pairs. */
export function gamesOf({ markets }: Games, pairs: readonly MatchPair[]): readonly Game[] {
  return Object.entries(markets).map(([key, listed]) => {
    const ids = new Set(listed.map(({ id }) => id))
    const own = pairs.filter(({ a, b }) => ids.has(a.id) || ids.has(b.id))
    const paired = new Set(own.flatMap(({ a, b }) => [a.id, b.id]))
    const others = listed.filter(({ id }) => !paired.has(id))
    return { key, title: titleOf(key, listed), pairs: own, others }
  })
}

/** The shortest of its questions is the one that asks who wins; a game without any is called by its key. */
function titleOf(key: string, markets: readonly Market[]): string {
  return (
    markets.reduce(
      (title, { question }) => (title === '' || question.length < title.length ? question : title),
      '',
    ) || key
  )
}

/** The day of a moment in the viewer's zone, as `2026-11-22`. */
export function localDay(atMs: number): string {
  const at = new Date(atMs)
  const two = (count: number) => String(count).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** Whether a text is a day that the calendar has. */
export function isDay(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(startMs) && new Date(startMs).toISOString().slice(0, 10) === text
}

const DAY_MS = 86_400_000

/** The day so many days later; the same text back when it names no day. */
export function dayAfter(day: string, days: number): string {
  const startMs = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(startMs) ? day : new Date(startMs + days * DAY_MS).toISOString().slice(0, 10)
}
