// Groups the clues of one venue into games: by anchor, or by pair and day unless number or start distinguish two games.

import { addTo } from '../grouping.ts'
import type { SlicedWork } from '../time-slices.ts'
import type { GameClue } from './game-clue.ts'
import { surnameOf } from './players.ts'
import type { TeamTable } from './team-table.ts'

/** The starts of a doubleheader's games differ by more than this time. The listed starts of one game differ by less. */
const SAME_START_MS = 90 * 60_000

export interface VenueGame {
  /** The most detailed of the game's clues. */
  readonly clue: GameClue
  readonly anchors: readonly string[]
  /** Identity of each side in its league. For an unknown side, the code with the prefix `?`. */
  readonly teams: readonly string[]
  /** Both teams in alphabetical order, independent of home and away. */
  readonly pair: string
  /** 1, or more if the pair plays again on the same day. */
  readonly number: number
  readonly startMs: number | null
}

export function* venueGames(clues: Iterable<GameClue>, table: TeamTable): SlicedWork<VenueGame[]> {
  const byAnchor = new Map<string, GameClue>()
  for (const clue of clues) {
    const existing = byAnchor.get(clue.anchor)
    if (existing === undefined || isMoreDetailed(clue, existing)) byAnchor.set(clue.anchor, clue)
    yield
  }
  const byPair = new Map<string, { clue: GameClue; teams: readonly string[] }[]>()
  for (const clue of byAnchor.values()) {
    const teams = teamsOf(clue, table)
    const key = `${clue.date}/${clue.league.name}/${pairOf(teams)}`
    addTo(byPair, key, { clue, teams })
    yield
  }
  const games: VenueGame[] = []
  for (const same of byPair.values()) {
    games.push(...meetings(same))
    yield
  }
  return games
}

export function isSameStart(one: number | null, other: number | null): boolean {
  return one === null || other === null || Math.abs(one - other) <= SAME_START_MS
}

function meetings(
  events: readonly { clue: GameClue; teams: readonly string[] }[],
): readonly VenueGame[] {
  const sorted =
    events.length === 1
      ? events
      : [...events].sort(
          (left, right) =>
            (left.clue.number ?? 1) - (right.clue.number ?? 1) ||
            (left.clue.startMs ?? -1) - (right.clue.startMs ?? -1) ||
            (left.clue.anchor < right.clue.anchor ? -1 : 1),
        )
  const games: (VenueGame & { anchors: string[] })[] = []
  for (const { clue, teams } of sorted) {
    const last = games.at(-1)
    const isSame =
      last !== undefined &&
      (clue.number ?? last.number) === last.number &&
      isSameStart(last.startMs, clue.startMs)
    if (isSame) {
      last.anchors.push(clue.anchor)
      continue
    }
    const number = Math.max(clue.number ?? 1, (last?.number ?? 0) + 1)
    const { startMs, anchor } = clue
    games.push({ clue, anchors: [anchor], teams, pair: pairOf(teams), number, startMs })
  }
  return games
}

function teamsOf(clue: GameClue, table: TeamTable): readonly string[] {
  const { venue, league } = clue
  return clue.sides.map((side) => {
    if (league.kind === 'player') return surnameOf(side)
    if (league.kind === 'golf') return side.name
    return table.team(league, { venue, ...side }) ?? `?${side.code}`
  })
}

function pairOf(teams: readonly string[]): string {
  return [...teams].sort().join('|')
}

/**
 * Prefers a clue with names, then a clue with a start, then the shorter title. Titles of spreads and props have more
 * words.
 */
function isMoreDetailed(clue: GameClue, existing: GameClue): boolean {
  const weight = ({ sides, startMs, anchor }: GameClue): number =>
    (sides.every(({ name }) => name !== '') ? 2 : 0) +
    (startMs === null ? 0 : 1) -
    anchor.length / 1e6
  const difference = weight(clue) - weight(existing)
  if (difference !== 0) return difference > 0
  return textOf(clue) < textOf(existing)
}

const textOf = ({ sides }: GameClue): string =>
  sides.map(({ name }) => `${String(name.length).padStart(4, '0')}${name}`).join('|')
