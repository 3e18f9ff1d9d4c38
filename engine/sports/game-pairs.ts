// Matches games of two venues in three passes: by exact identity, by shortened names, and by neighbouring days.

import { ByVenue } from '../by-venue.ts'
import { addTo } from '../grouping.ts'
import type { VenueKey } from '../ids.ts'
import { runToEnd, type SlicedWork } from '../time-slices.ts'
import { HOUR_MS } from '../units.ts'
import { isSameClub } from './clubs.ts'
import { isSameSchool } from './colleges.ts'
import { addDays } from './eastern-date.ts'
import type { GameClue, Side } from './game-clue.ts'
import { playerScore, surnameOf } from './players.ts'
import { squeezeName } from './team-names.ts'
import type { TeamTable } from './team-table.ts'
import { isSameStart, type VenueGame, venueGames } from './venue-games.ts'

const SECOND_GAME_MS = 3 * HOUR_MS

export interface Game {
  readonly key: string
  readonly date: string
  readonly sides: Sides
}
type Sides = readonly [VenueGame, ...VenueGame[]]

/**
 * Groups and pairs the games of one competition, sorted by key. A day's result is complete only if the clues of two
 * days before and after it are given.
 */
export function pairGames(clues: Iterable<GameClue>, table: TeamTable): readonly Game[] {
  return runToEnd(pairVenueGames(runToEnd(gamesByVenue(clues, table)), table))
}

export function* gamesByVenue(clues: Iterable<GameClue>, table: TeamTable): SlicedWork<VenueGames> {
  const byVenue = new ByVenue((): GameClue[] => [])
  for (const clue of clues) byVenue.of(clue.venue).push(clue)
  const games = new Map<VenueKey, readonly VenueGame[]>()
  for (const [venue, ofVenue] of byVenue.entries()) {
    games.set(venue, yield* venueGames(ofVenue, table))
  }
  return games
}

export type VenueGames = ReadonlyMap<VenueKey, readonly VenueGame[]>

export function* pairVenueGames(
  byVenue: VenueGames,
  table: TeamTable,
): SlicedWork<readonly Game[]> {
  let found: readonly Sides[] = []
  for (const venue of [...byVenue.keys()].sort()) {
    const ofVenue = byVenue.get(venue) ?? []
    if (found.length === 0) {
      found = ofVenue.map((game): Sides => [game])
      continue
    }
    const sidesByFirst = new Map(found.map((sides) => [sides[0], sides]))
    const pairing = new Pairing([...sidesByFirst.keys()], ofVenue)
    yield
    yield* pairing.sameDay()
    yield* pairing.nearDays()
    found = pairing.games().map(([first, second]): Sides => {
      const sides = sidesByFirst.get(first)
      if (sides === undefined) return [first]
      return second === null ? sides : [...sides, second]
    })
  }
  return yield* named(found, table)
}

/** Pairs the games found so far (`a`) with the games of one further venue (`b`). */
class Pairing {
  readonly #a: readonly VenueGame[]
  readonly #b: readonly VenueGame[]
  readonly #ofA = new Map<VenueGame, VenueGame>()
  readonly #ofB = new Map<VenueGame, VenueGame>()

  constructor(a: readonly VenueGame[], b: readonly VenueGame[]) {
    this.#a = a
    // Sorted by date, so that the earlier of two possible games is paired first.
    this.#b = [...b].sort(
      (left, right) =>
        compare(left.clue.date, right.clue.date) || compare(left.clue.anchor, right.clue.anchor),
    )
  }

  /** Takes the most certain pairs first. Names are compared only for games that the team table does not identify. */
  *sameDay(): SlicedWork<void> {
    const pairOf = ({ pair }: VenueGame) => [pair]
    const byPair = yield* this.#index(pairOf)
    this.#take(yield* this.#candidates(byPair, this.#b, pairOf, 0))
    yield
    const byMark = yield* this.#index(marksOf)
    this.#take(yield* this.#candidates(byMark, this.#openB(), marksOf, 0))
    yield
  }

  *nearDays(): SlicedWork<void> {
    for (const days of [1, -1]) {
      const byMark = yield* this.#index(marksOf)
      const near = this.#openB().filter(({ clue }) => clue.league.nearDays === 1)
      const found = yield* this.#candidates(byMark, near, marksOf, days)
      this.#take(found.filter(({ a, b }) => mayBeOneTime(a.clue, b.clue)))
      yield
    }
  }

  /**
   * All games once. Games of the first venues come first, with their partners. Unpaired games of the further venue
   * follow.
   */
  games(): readonly (readonly [VenueGame, VenueGame | null])[] {
    return [
      ...this.#a.map((a) => [a, this.#ofA.get(a) ?? null] as const),
      ...this.#openB().map((b) => [b, null] as const),
    ]
  }

  #openB(): readonly VenueGame[] {
    return this.#b.filter((game) => !this.#ofB.has(game))
  }

  *#index(marks: (game: VenueGame) => Iterable<string>): SlicedWork<Index> {
    const index = new Map<string, Map<string, VenueGame[]>>()
    for (const game of this.#a) {
      if (this.#ofA.has(game)) continue
      const { date } = game.clue
      const ofDate = index.get(date) ?? new Map<string, VenueGame[]>()
      index.set(date, ofDate)
      for (const mark of marks(game)) addTo(ofDate, mark, game)
      yield
    }
    return index
  }

  /** Games of `#a` that may match one of these games. The date of these games is shifted by this many days. */
  *#candidates(
    index: Index,
    games: readonly VenueGame[],
    marks: (game: VenueGame) => Iterable<string>,
    days: number,
  ): SlicedWork<readonly Candidate[]> {
    const candidates: Candidate[] = []
    for (const b of games) {
      const ofDate = index.get(days === 0 ? b.clue.date : addDays(b.clue.date, days))
      if (ofDate === undefined) continue
      const seen = new Set<VenueGame>()
      for (const mark of marks(b)) {
        for (const a of ofDate.get(mark) ?? []) {
          if (seen.has(a)) continue
          seen.add(a)
          const score = scoreOf(a, b)
          if (score > 0) candidates.push({ a, b, score })
        }
        yield
      }
    }
    return candidates
  }

  /** Takes pairs in order of certainty. If two equally certain pairs share a game, neither is taken. */
  #take(candidates: readonly Candidate[]): void {
    const sorted = [...candidates].sort((left, right) => right.score - left.score)
    for (let from = 0; from < sorted.length; ) {
      let to = from + 1
      while (to < sorted.length && sorted[to]?.score === sorted[from]?.score) to += 1
      const level = sorted
        .slice(from, to)
        .filter(({ a, b }) => !this.#ofA.has(a) && !this.#ofB.has(b))
      const claims = new Map<VenueGame, number>()
      for (const { a, b } of level) {
        claims.set(a, (claims.get(a) ?? 0) + 1)
        claims.set(b, (claims.get(b) ?? 0) + 1)
      }
      for (const { a, b } of level) {
        if (claims.get(a) !== 1 || claims.get(b) !== 1) continue
        this.#ofA.set(a, b)
        this.#ofB.set(b, a)
      }
      from = to
    }
  }
}

type Index = ReadonlyMap<string, ReadonlyMap<string, readonly VenueGame[]>>

interface Candidate {
  readonly a: VenueGame
  readonly b: VenueGame
  readonly score: number
}

/** Words and codes of a game. Games without a common mark are never compared. */
function marksOf({ clue, teams, pair }: VenueGame): ReadonlySet<string> {
  if (clue.league.kind === 'pro') return new Set([pair])
  const marks = new Set<string>([pair])
  clue.sides.forEach((side, index) => {
    for (const word of (teams[index] ?? '').split(' ')) marks.add(word)
    const isPlayer = clue.league.kind === 'player'
    marks.add(`:${side.code.slice(0, isPlayer ? 2 : 3)}`)
    if (isPlayer) for (const word of side.name.split(/\s+/)) marks.add(squeezeName(word))
  })
  return marks
}

/** Certainty that both are the same game. 0 if they differ. An equal start decides between two games of a day. */
function scoreOf(a: VenueGame, b: VenueGame): number {
  if (a.clue.league !== b.clue.league && !mayMeet(a.clue, b.clue)) return 0
  const swapped = a.teams.length === 2 ? pairScore(a, b, 1) : 0
  const score = Math.max(pairScore(a, b, 0), swapped)
  if (score === 0) return 0
  if (a.startMs !== null && b.startMs !== null) {
    const apartMs = Math.abs(a.startMs - b.startMs)
    // A second game begins at least three hours after the first. Delays are shorter.
    if (a.clue.league.hasDoubleheaders && apartMs > SECOND_GAME_MS) return 0
    return isSameStart(a.startMs, b.startMs) ? score + 0.4 : score - 0.6
  }
  return a.number === b.number ? score + 0.2 : score - 0.4
}

/** Whether both clues may be of one game. Known times exclude the next day's game of the same pair. */
function mayBeOneTime(a: GameClue, b: GameClue): boolean {
  if (a.startMs === null || b.endMs === null) return true
  const lateMs = b.endMs - a.startMs
  return lateMs > -6 * HOUR_MS && lateMs < 20 * HOUR_MS
}

/** Tours share players, so their games may match. Men's and women's tours do not share players. */
function mayMeet(a: GameClue, b: GameClue): boolean {
  if (a.league.kind !== 'player' || b.league.kind !== 'player') return false
  const tours = new Set([a.league.name, b.league.name])
  return !(tours.has('atp') && tours.has('wta'))
}

function pairScore(a: VenueGame, b: VenueGame, shift: number): number {
  const scores = a.teams.map((_, index) => sideScore(a, index, b, (index + shift) % a.teams.length))
  const least = Math.min(...scores)
  const most = Math.max(...scores)
  const total = scores.reduce((sum, score) => sum + score, 0)
  if (a.clue.league.kind === 'player') return least >= 1 && most === 3 ? total : 0
  // A team plays once a day, so one certain side and a hint for the other side are enough.
  return least >= 1 || (least > 0 && most === 3) ? total : 0
}

function sideScore(a: VenueGame, at: number, b: VenueGame, bt: number): number {
  const [one, other] = [a.teams[at] ?? '', b.teams[bt] ?? '']
  const [first, second] = [a.clue.sides[at], b.clue.sides[bt]]
  if (first === undefined || second === undefined) return 0
  const { kind } = a.clue.league
  if (kind === 'player') return playerScore(first, second)
  if (one === other) return 3
  if (kind === 'golf') return isSameClub(one, other) ? 2 : 0
  if (kind === 'pro') return one.startsWith('?') && one.slice(1) === second.code ? 1 : 0
  if (kind === 'college' ? isSameSchool(one, other) : isSameClub(one, other)) return 2
  return codeScore(first, second)
}

/** Venues use different codes, so an equal code is only a hint. */
function codeScore(one: Side, other: Side): number {
  if (one.code === '' || other.code === '') return 0
  if (one.code === other.code) return 1
  const common = commonPrefix(one.code, other.code)
  if (common >= 3) return 0.75
  return common === 2 ? 0.5 : 0
}

function commonPrefix(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

interface Draft {
  readonly sides: Sides
  readonly date: string
  readonly base: string
  readonly number: number
}

function* named(found: Iterable<Sides>, table: TeamTable): SlicedWork<readonly Game[]> {
  const drafts: Draft[] = []
  for (const sides of found) {
    const { date } = sides[0].clue
    const number = Math.max(...sides.map((side) => side.number))
    drafts.push({ sides, date, base: baseOf(sides[0], table), number })
    yield
  }
  drafts.sort(
    (left, right) =>
      compare(left.base, right.base) ||
      left.number - right.number ||
      compare(orderOf(left), orderOf(right)),
  )
  yield
  const taken = new Set<string>()
  const games = drafts.map(({ sides, date, base, number }): Game => {
    let free = number
    while (taken.has(keyOf(base, free))) free += 1
    const key = keyOf(base, free)
    taken.add(key)
    return { key, date, sides }
  })
  yield
  return games.sort((left, right) => compare(left.key, right.key))
}

const keyOf = (base: string, number: number): string => (number === 1 ? base : `${base}-${number}`)

/** Games of several venues come first, so that their keys do not depend on games that only one venue lists. */
const orderOf = ({ sides }: Draft): string => `${sides.length > 1 ? 0 : 1}${sides[0].clue.anchor}`

/** Key of a game: its slug, or league, codes and date in the form of a slug. */
function baseOf({ clue, teams }: VenueGame, table: TeamTable): string {
  const { league, date } = clue
  if (league.kind === 'golf') return `pga-${teams[0] ?? ''}-${date}`.replaceAll(' ', '-')
  const sides = clue.sides.map((side, index) => {
    if (league.kind === 'player') return surnameOf(side)
    if (clue.handles === 'slug') return side.code
    return table.codeOf(league, teams[index] ?? '') ?? side.code
  })
  if (league.kind === 'player') sides.sort()
  return `${league.name}-${sides.join('-')}-${date}`
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
