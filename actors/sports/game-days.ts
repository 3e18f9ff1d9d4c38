// The events about games, by day. The events of a day are grouped into games on request, in time slices. The result is
// cached until the day changes.

import { ByVenue } from '../../engine/by-venue.ts'
import { putLast } from '../../engine/put-last.ts'
import { addDays } from '../../engine/sports/eastern-date.ts'
import type { GameClue } from '../../engine/sports/game-clue.ts'
import { type Game, gamesByVenue, pairVenueGames } from '../../engine/sports/game-pairs.ts'
import { competitionOf } from '../../engine/sports/leagues.ts'
import type { TeamTable } from '../../engine/sports/team-table.ts'
import type { VenueGame } from '../../engine/sports/venue-games.ts'
import type { SlicedWork } from '../../engine/time-slices.ts'
import type { MarketView } from '../views.ts'

/** Listings this many days before or after a date may belong to a game of that date (game-pairs.ts). */
const AROUND_DAYS = 2
/** The oldest day is evicted. The next request groups that day again. */
const CACHED_MAX = 64

export interface GameEvent {
  readonly clue: GameClue
  readonly markets: ReadonlyMap<number, MarketView>
}

interface Day {
  readonly events: Set<GameEvent>
  readonly byAnchor: Map<string, Set<GameEvent>>
  /** Change counter over all days. No two states have the same version. */
  version: number
}

export class GameDays {
  readonly #table: TeamTable
  /** By `arena/date`. Contains only days with events. */
  readonly #days = new Map<string, Day>()
  readonly #cached = new Map<string, { stamp: string; games: readonly Game[] }>()
  #changeCount = 0
  #tableVersion = 0

  constructor(table: TeamTable) {
    this.#table = table
  }

  add(event: GameEvent): void {
    const { venue, league, sides } = event.clue
    // Caches the team names now. Otherwise the grouping of a day would look up all of them at once.
    for (const side of sides) this.#table.team(league, { venue, ...side })
    const key = dayKey(event.clue)
    let day = this.#days.get(key)
    if (day === undefined) {
      day = { events: new Set(), byAnchor: new Map(), version: 0 }
      this.#days.set(key, day)
    }
    day.events.add(event)
    const anchor = anchorKey(event.clue)
    const sharing = day.byAnchor.get(anchor)
    if (sharing === undefined) day.byAnchor.set(anchor, new Set([event]))
    else sharing.add(event)
    this.#touch(day)
  }

  remove(event: GameEvent): void {
    const key = dayKey(event.clue)
    const day = this.#days.get(key)
    if (day === undefined) return
    day.events.delete(event)
    const anchor = anchorKey(event.clue)
    const sharing = day.byAnchor.get(anchor)
    sharing?.delete(event)
    if (sharing?.size === 0) day.byAnchor.delete(anchor)
    this.#touch(day)
    if (day.events.size === 0) this.#days.delete(key)
  }

  /** Must be called when the table of teams changed, because names may now refer to other teams. */
  noteTable(): void {
    this.#tableVersion += 1
  }

  isCached(competition: string, date: string): boolean {
    return this.#cached.get(`${competition}/${date}`)?.stamp === this.#stamp(competition, date)
  }

  *games(competition: string, date: string): SlicedWork<readonly Game[]> {
    const stamp = this.#stamp(competition, date)
    const key = `${competition}/${date}`
    const cached = this.#cached.get(key)
    if (cached?.stamp === stamp) return cached.games
    const byVenue = new ByVenue((): VenueGame[] => [])
    for (const near of around(competition, date)) {
      const clues = Array.from(this.#days.get(near)?.events ?? [], ({ clue }) => clue)
      const gathered = yield* gamesByVenue(clues, this.#table)
      for (const [venue, games] of gathered) byVenue.of(venue).push(...games)
    }
    const games = yield* pairVenueGames(new Map(byVenue.entries()), this.#table)
    putLast(this.#cached, [key, { stamp, games }], CACHED_MAX)
    return games
  }

  /** Markets of a game, by venue in the order of the venue table, then in order of addition. */
  marketsOf(game: Game): readonly MarketView[] {
    const markets: MarketView[] = []
    for (const side of game.sides) {
      const { clue } = side
      // Several events share an anchor with different dates only if the venue corrected a date.
      const day = this.#days.get(dayKey(clue))
      const ofSide: MarketView[] = []
      for (const anchor of new Set(side.anchors)) {
        for (const event of day?.byAnchor.get(`${clue.venue}/${anchor}`) ?? []) {
          for (const market of event.markets.values()) ofSide.push(market)
        }
      }
      ofSide.sort((left, right) => left.ref.number - right.ref.number)
      for (const market of ofSide) markets.push(market)
    }
    return markets
  }

  #touch(day: Day): void {
    this.#changeCount += 1
    day.version = this.#changeCount
  }

  #stamp(competition: string, date: string): string {
    const versions = around(competition, date).map((near) => this.#days.get(near)?.version ?? 0)
    return `${this.#tableVersion}/${versions.join('/')}`
  }
}

function around(competition: string, date: string): readonly string[] {
  const days: string[] = []
  for (let by = -AROUND_DAYS; by <= AROUND_DAYS; by += 1)
    days.push(`${competition}/${addDays(date, by)}`)
  return days
}

const dayKey = ({ league, date }: GameClue): string => `${competitionOf(league)}/${date}`
const anchorKey = ({ venue, anchor }: GameClue): string => `${venue}/${anchor}`
