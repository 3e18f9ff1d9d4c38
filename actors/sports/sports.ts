// Assigns markets to games. An event is parsed when the catalogue adds it, and again when the venue's list of teams
// changes.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { HandleForm } from '../../engine/ids.ts'
import { addDays, easternDate } from '../../engine/sports/eastern-date.ts'
import type { EventFacts, GameClue } from '../../engine/sports/game-clue.ts'
import type { Game } from '../../engine/sports/game-pairs.ts'
import { clueOfGolf, mayBeGolf, TOURNAMENT_DAYS } from '../../engine/sports/golf-clue.ts'
import {
  competitionOf,
  LEAGUES,
  leagueOfSeries,
  leagueOfWord,
  type Sport,
} from '../../engine/sports/leagues.ts'
import { clueOfSlug } from '../../engine/sports/slug-clue.ts'
import { TeamTable } from '../../engine/sports/team-table.ts'
import { clueOfTicker } from '../../engine/sports/ticker-clue.ts'
import { runInSlices, runSlice, type SlicedWork } from '../../engine/time-slices.ts'
import type { TeamListing } from '../../engine/venues/venue.ts'
import { Slots } from '../slots.ts'
import type {
  CatalogView,
  CatalogWatcher,
  GamesView,
  GameView,
  MarketView,
  SportsView,
} from '../views.ts'
import { GameDays, type GameEvent } from './game-days.ts'

interface Entry {
  readonly facts: EventFacts
  readonly handles: HandleForm
  readonly markets: Map<number, MarketView>
  /** Null if the event's ticker does not name two known teams. A new list of teams may change that. */
  readonly gameEvent: GameEvent | null
}

export class Sports implements SportsView, CatalogWatcher {
  readonly #catalog: Pick<CatalogView, 'event' | 'names'>
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  readonly #table = new TeamTable()
  readonly #days = new GameDays(this.#table)
  /** By venue and the venue's event id. */
  readonly #entries = new Map<string, Entry>()
  readonly #eventOfMarket = new Map<number, string>()
  /** Groups one day at a time, so that a second request for the same day uses the cached result. */
  readonly #grouping = new Slots({ runningMax: 1, waitingMax: 64 })

  constructor(parts: {
    catalog: Pick<CatalogView, 'event' | 'names'>
    clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  }) {
    this.#catalog = parts.catalog
    this.#clock = parts.clock
  }

  onListed(market: MarketView): void {
    const { number } = market.ref
    const key = eventKey(market)
    const before = this.#eventOfMarket.get(number)
    if (before !== undefined && before !== key) this.#remove(number, before)
    const existing = this.#entries.get(key)
    const { handles } = this.#catalog.names.of(market.ref.venue)
    if (existing === undefined && !mayBeGame(market, handles)) return
    const facts = this.#factsOf(market, handles)
    const markets = existing?.markets ?? new Map<number, MarketView>()
    const isNew = !markets.has(number)
    markets.set(number, market)
    this.#eventOfMarket.set(number, key)
    const isSame = existing !== undefined && isSameFacts(existing.facts, facts)
    if (!isSame) return this.#put(key, { facts, handles, markets }, markets.values())
    // The ticker of the new market may name teams that the event's earlier markets lack.
    if (existing.gameEvent === null && isNew) this.#put(key, { facts, handles, markets }, [market])
  }

  /** All markets of an event have equal event facts, so one market of each event is checked. */
  onEvent(markets: readonly MarketView[]): void {
    const seen = new Set<string>()
    for (const market of markets) {
      const key = eventKey(market)
      if (!seen.has(key)) this.onListed(market)
      seen.add(key)
    }
  }

  onRemoved(market: MarketView): void {
    const { number } = market.ref
    const key = this.#eventOfMarket.get(number)
    if (key !== undefined) this.#remove(number, key)
  }

  /** Adds a venue's list of teams. Parses the events that depend on it again, in time slices. */
  learnTeams(listings: readonly TeamListing[]): Promise<void> {
    return runInSlices(this.#clock, this.#learning(listings))
  }

  *#learning(listings: readonly TeamListing[]): SlicedWork<void> {
    for (const listing of listings) {
      this.#table.learn(listing, this.#catalog.names.of(listing.venue).handles)
      yield
    }
    this.#days.noteTable()
    // Events that are listed during the loop use the new table anyway, so the loop uses a copy of the entries.
    for (const [key, entry] of [...this.#entries]) {
      const isCurrent = this.#entries.get(key) === entry
      if (isCurrent && entry.handles === 'ticker') this.#put(key, entry, entry.markets.values())
      yield
    }
  }

  today(): string {
    return easternDate(this.#clock.nowMs())
  }

  games(sport: Sport, date: string): GamesView | Promise<GamesView> {
    const competitions = new Set(
      LEAGUES.filter((league) => league.sport === sport).map(competitionOf),
    )
    const days: { competition: string; date: string }[] = []
    for (const competition of competitions) {
      for (let back = 0; back < (sport === 'pga' ? TOURNAMENT_DAYS : 1); back += 1) {
        days.push({ competition, date: addDays(date, -back) })
      }
    }
    const isCached = days.every((day) => this.#days.isCached(day.competition, day.date))
    if (isCached || this.#grouping.isIdle) {
      const done = runSlice(this.#clock, this.#found(days))
      if (done !== null) return done.result
    }
    if (this.#grouping.isFull()) {
      const detail = 'too many days are being grouped, try again soon'
      return Promise.reject(new EngineError('UNAVAILABLE', detail, { retryAfterSeconds: 1 }))
    }
    const { signal } = new AbortController()
    return this.#grouping.run(signal, () => runInSlices(this.#clock, this.#found(days)))
  }

  *#found(
    days: readonly { readonly competition: string; readonly date: string }[],
  ): SlicedWork<GamesView> {
    const found: Game[] = []
    for (const { competition, date } of days) {
      const games = yield* this.#days.games(competition, date)
      for (const game of games) if (game.date === date) found.push(game)
    }
    found.sort((left, right) => (left.key < right.key ? -1 : 1))
    const view = new Map<string, GameView>()
    for (const game of found) {
      const markets = this.#days.marketsOf(game)
      const startMs = game.sides.find((side) => side.startMs !== null)?.startMs ?? null
      // The markets of a game may have been removed while its day was grouped.
      if (markets.length > 0) view.set(game.key, { markets, startMs })
      yield
    }
    return view
  }

  #remove(number: number, key: string): void {
    this.#eventOfMarket.delete(number)
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    entry.markets.delete(number)
    if (entry.markets.size > 0) return
    this.#entries.delete(key)
    if (entry.gameEvent !== null) this.#days.remove(entry.gameEvent)
  }

  #put(
    key: string,
    { facts, handles, markets }: Pick<Entry, 'facts' | 'handles' | 'markets'>,
    read: Iterable<MarketView>,
  ): void {
    const before = this.#entries.get(key)?.gameEvent ?? null
    const clue = this.#clueOf(facts, handles, [...read])
    const isSame = clue !== null && before !== null && isSameClue(before.clue, clue)
    const gameEvent = isSame ? before : clue === null ? null : { clue, markets }
    this.#entries.set(key, { facts, handles, markets, gameEvent })
    if (isSame) return
    if (before !== null) this.#days.remove(before)
    if (gameEvent !== null) this.#days.add(gameEvent)
  }

  #factsOf({ ref, summary }: MarketView, handles: HandleForm): EventFacts {
    const { venue } = ref
    const id = summary.event
    const event = id === null ? null : this.#catalog.event(venue, id)
    const nativeId = id ?? summary.slug
    return {
      nativeId,
      series: event?.series ?? (handles === 'ticker' ? beforeDash(nativeId) : null),
      title: event?.title ?? summary.question,
      subtitle: '',
      suffixes: [],
      startMs: handles === 'slug' ? (event?.startAtMs ?? null) : null,
      endMs: handles === 'ticker' ? summary.closeAtMs : (event?.endAtMs ?? summary.closeAtMs),
    }
  }

  #clueOf(facts: EventFacts, handles: HandleForm, markets: readonly MarketView[]): GameClue | null {
    const [market] = markets
    if (market === undefined) return null
    const { venue } = market.ref
    const game =
      handles === 'slug'
        ? clueOfSlug(venue, facts)
        : clueOfTicker(venue, { ...facts, suffixes: suffixesOf(facts, markets) }, this.#table)
    const isGolf = mayBeGolf(facts.series, market.summary.tags)
    const clue = game ?? (isGolf ? clueOfGolf({ venue, handles }, facts) : null)
    return clue?.league.sport === null ? null : clue
  }
}

function suffixesOf({ nativeId }: EventFacts, markets: readonly MarketView[]): readonly string[] {
  return markets.map(({ ref }) => ref.nativeId.slice(nativeId.length + 1))
}

const DATED = /^([a-z0-9]+)-.+-\d{4}-\d{2}-\d{2}/i

/** A cheap check before parsing, which runs for every market. */
function mayBeGame({ ref, summary }: MarketView, handles: HandleForm): boolean {
  if (handles === 'ticker') {
    return (
      (leagueOfSeries(beforeDash(summary.event ?? ref.nativeId))?.league.sport ?? null) !== null
    )
  }
  const word = DATED.exec(summary.event ?? summary.slug)?.[1]
  if (word !== undefined && leagueOfWord(word.toLowerCase())?.sport != null) return true
  return mayBeGolf(null, summary.tags)
}

function eventKey({ ref, summary }: MarketView): string {
  return `${ref.venue}/${summary.event ?? summary.slug}`
}

/** Ignores the end time, which may change with each listing. */
function isSameFacts(one: EventFacts, other: EventFacts): boolean {
  return one.title === other.title && one.startMs === other.startMs && one.series === other.series
}

function isSameClue(one: GameClue, other: GameClue): boolean {
  return (
    one.league === other.league &&
    one.anchor === other.anchor &&
    one.date === other.date &&
    one.number === other.number &&
    one.startMs === other.startMs &&
    one.endMs === other.endMs &&
    one.sides.length === other.sides.length &&
    one.sides.every(({ code, name }, index) => {
      const side = other.sides[index]
      return side?.code === code && side.name === name
    })
  )
}

function beforeDash(ticker: string): string {
  const dash = ticker.indexOf('-')
  return dash < 0 ? ticker : ticker.slice(0, dash)
}
