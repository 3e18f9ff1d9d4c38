// Schedules the work of the matching thread: changed markets first, then searches for their partners, then a background
// search for all markets.

import { crc32 } from 'node:zlib'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { EventListing, MarketNumber } from '../../engine/market/market.ts'
import type {
  ChangeTask,
  MatchChanges,
  MatchTask,
  PairOverride,
} from '../../engine/matching/match-task.ts'
import type { MatchPort } from '../../engine/matching/match-thread.ts'
import type { Log } from '../../engine/process/log.ts'
import { leagueOfWord } from '../../engine/sports/leagues.ts'
import { type MatchMarket, marketOfListing, type SubjectReader } from '../../engine/subject.ts'
import type { TeamEntry } from '../../engine/team-listing.ts'
import { yieldToEventLoop } from '../../engine/time-slices.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { CatalogWatcher, MarketView } from '../views.ts'
import type { MatchOverrides } from './match-overrides.ts'
import { MatchResults, type ResultParts } from './match-results.ts'
import { isMatchable } from './matches.ts'
import { type OverrideResult, OverrideResults } from './override-results.ts'

/** Maximum duration of building one batch of market texts, and maximum texts per batch. */
const TIME_SLICE_MS = 1.5
const PUT_MAX = 64
/** Maximum team entries per task and in total. Two venues list about 4,000 for the supported leagues. */
const TEAMS_PER_TASK_MAX = 256
const TEAMS_MAX = 40_000
/** A changed market waits at most until one search of this many markets ends. */
const FIND_MAX = 16
/** All markets are rematched when their number has doubled and is at least this. */
const BULK_MIN = 50
const REMATCH_MS = 6 * 3_600_000
const RESTART_AFTER_MS = 1_000
/** Pause after a background task, as a multiple of the task's duration. Leaves processor time to other threads. */
const REST_SHARE = 1

interface MatcherParts extends ResultParts {
  readonly port: MatchPort
  readonly clock: Clock
  readonly log: Log
  readonly overrides: MatchOverrides
  readonly markets: () => Iterable<MarketView>
  readonly readerOf: (market: MarketView) => SubjectReader
  readonly eventOf: (market: MarketView) => EventListing | null
}

export class Matcher implements CatalogWatcher {
  readonly #parts: MatcherParts
  readonly #log: Log
  readonly #results: MatchResults
  readonly #changed = new Map<MarketNumber, MarketView>()
  readonly #overrides: PairOverride[] = []
  #hasFamilies = false
  readonly #teams = new Map<string, TeamEntry>()
  #teamsSent = 0
  readonly #overrideResults: OverrideResults
  readonly #indexed = new Map<MarketNumber, number>()
  readonly #fresh = new Set<MarketNumber>()
  #background: Iterator<MarketNumber> | null = null
  #bulkOf = 0
  #seq = 0
  #state: 'new' | 'idle' | 'scheduled' | 'working' | 'resting' | 'down' | 'closed' = 'new'
  readonly #timers: StopTimer[] = []
  #stopRest: StopTimer = () => undefined

  constructor(parts: MatcherParts) {
    this.#parts = parts
    this.#log = parts.log.child({ part: 'matcher' })
    this.#results = new MatchResults(parts)
    this.#overrideResults = new OverrideResults(parts.clock, ({ a, b }) => {
      const match = this.#parts.matches.matchOfFirst(a)
      return match?.b.ref.number === b ? match.pairScore : null
    })
  }

  /** Restores the last run's pairs, then matches all markets. Must be called after the catalogue is loaded. */
  start(): void {
    this.#results.restore()
    this.#state = 'idle'
    for (const market of this.#parts.markets()) this.onListed(market)
    this.#timers.push(this.#parts.clock.every(REMATCH_MS, () => this.rematch()))
  }

  rematch(): void {
    this.#results.removeOld()
    this.#background = this.#indexed.keys()
    this.#schedule()
  }

  get isBusy(): boolean {
    return !['new', 'idle', 'down', 'closed'].includes(this.#state)
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    for (const stop of this.#timers) stop()
    this.#stopRest()
    this.#changed.clear()
    this.#overrideResults.close()
    await this.#parts.port.close()
  }

  onListed(market: MarketView): void {
    if (this.#state === 'new') return
    if (!isMatchable(market)) this.#results.close(market)
    this.#changed.set(market.ref.number, market)
    this.#schedule()
  }

  onRemoved(market: MarketView): void {
    if (this.#state === 'new') return
    this.#results.remove(market)
    this.#changed.set(market.ref.number, market)
    this.#schedule()
  }

  onEvent(markets: readonly MarketView[]): void {
    for (const market of markets) this.onListed(market)
  }

  applyOverride(override: PairOverride): Promise<OverrideResult> {
    this.#results.applyOverride(override)
    this.#overrides.push(override)
    this.#schedule()
    return this.#overrideResults.of(override)
  }

  /**
   * Searches the partners of all current pairs again with the new family overrides, then rematches all markets in the
   * background.
   */
  applyFamilyOverrides(): void {
    if (this.#state === 'new' || this.#state === 'closed') return
    this.#hasFamilies = false
    for (const { a, b } of this.#parts.matches.all()) {
      for (const { ref } of [a, b]) if (this.#indexed.has(ref.number)) this.#fresh.add(ref.number)
    }
    this.rematch()
  }

  async learnTeams(rows: readonly TeamEntry[]): Promise<void> {
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const row of rows) {
      await yielder.yieldIfDue()
      const league = leagueOfWord(row.team.league)
      if (league === null || league.kind === 'player' || this.#teams.size >= TEAMS_MAX) continue
      this.#teams.set(JSON.stringify(Object.values(row.team)), row)
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#state !== 'idle' && this.#state !== 'resting') return
    this.#stopRest()
    this.#state = 'scheduled'
    void yieldToEventLoop().then(() => {
      if (this.#state === 'scheduled') this.#work()
    })
  }

  #work(): void {
    const task = this.#nextTask()
    if (task === null) {
      this.#state = 'idle'
      return
    }
    this.#state = 'working'
    this.#runTask(task)
  }

  #nextTask(): MatchTask | null {
    const seq = this.#seq + 1
    if (this.#isChanged || !this.#hasFamilies) {
      const change = this.#nextChange()
      if (change !== null) return { seq, ...change }
    }
    // After the first load nearly all markets count as changed, so they are searched as a background rematch.
    if (this.#indexed.size >= Math.max(BULK_MIN, this.#bulkOf * 2)) {
      this.#bulkOf = this.#indexed.size
      this.#background = this.#indexed.keys()
      this.#fresh.clear()
    }
    const numbers = this.#take(this.#fresh.values(), true)
    if (numbers.length === 0 && this.#background !== null) {
      numbers.push(...this.#take(this.#background, false))
      if (numbers.length < FIND_MAX) this.#background = null
    }
    return numbers.length === 0 ? null : { seq, kind: 'find', numbers }
  }

  #take(from: Iterator<MarketNumber>, isFresh: boolean): MarketNumber[] {
    const numbers: MarketNumber[] = []
    while (numbers.length < FIND_MAX) {
      const next = from.next()
      if (next.done === true) break
      numbers.push(next.value)
      if (isFresh) this.#fresh.delete(next.value)
    }
    return numbers
  }

  #nextChange(): ChangeTask | null {
    const endMs = this.#parts.clock.monotonicMs() + TIME_SLICE_MS
    const put: { number: MarketNumber; market: MatchMarket }[] = []
    const removed: MarketNumber[] = []
    const overrides = this.#overrides.splice(0)
    this.#overrideResults.onSent()
    for (const { a, b } of overrides) for (const number of [a, b]) this.#fresh.add(number)
    for (const [number, market] of this.#changed) {
      if (put.length >= PUT_MAX || removed.length >= FIND_MAX * PUT_MAX) break
      if (put.length > 0 && this.#parts.clock.monotonicMs() > endMs) break
      this.#changed.delete(number)
      if (!isMatchable(market) || this.#parts.market(number) === null) {
        if (this.#indexed.delete(number)) removed.push(number)
        this.#fresh.delete(number)
        continue
      }
      const subject = this.#subjectOf(market)
      const hash = crc32(JSON.stringify(subject))
      if (this.#indexed.get(number) === hash) continue
      this.#indexed.set(number, hash)
      this.#fresh.add(number)
      put.push({ number, market: subject })
      overrides.push(...this.#parts.overrides.overridesOn(market))
    }
    const families = this.#hasFamilies ? undefined : this.#parts.overrides.families()
    this.#hasFamilies = true
    const teams = this.#nextTeams()
    if (put.length + removed.length + overrides.length > 0 || (families ?? teams) !== undefined) {
      const extras = { ...(families && { families }), ...(teams && { teams }) }
      return { kind: 'change', put, removed, overrides, ...extras }
    }
    return this.#changed.size === 0 ? null : this.#nextChange()
  }

  #nextTeams(): readonly TeamEntry[] | undefined {
    const left = this.#teams.size - this.#teamsSent
    if (left === 0) return undefined
    const teams = [...this.#teams.values()].slice(this.#teamsSent).slice(0, TEAMS_PER_TASK_MAX)
    this.#teamsSent += teams.length
    if (teams.length === left && this.#indexed.size > 0) this.#background = this.#indexed.keys()
    return teams
  }

  #subjectOf(market: MarketView): MatchMarket {
    const listing = { ...market.summary, ...market.details() }
    return marketOfListing(this.#parts.readerOf(market), listing, this.#parts.eventOf(market))
  }

  async #runTask(task: MatchTask): Promise<void> {
    const startedMs = this.#parts.clock.monotonicMs()
    try {
      const result = await this.#parts.port.run(task)
      if (this.#state === 'closed') return
      if (result === 'lost') this.#resetIndex()
      else this.#accept(task, result)
    } catch (error) {
      this.#onThreadFailed(error)
      return
    }
    if (this.#state !== 'working') return
    const restMs = REST_SHARE * (this.#parts.clock.monotonicMs() - startedMs)
    if (task.kind !== 'find' || this.#isUrgent || restMs === 0) return this.#work()
    this.#state = 'resting'
    this.#stopRest = this.#parts.clock.after(restMs, () => {
      if (this.#state === 'resting') this.#work()
    })
  }

  get #isChanged(): boolean {
    const teamsLeft = this.#teams.size - this.#teamsSent
    return this.#changed.size + this.#overrides.length + teamsLeft > 0
  }

  get #isUrgent(): boolean {
    return this.#isChanged || this.#fresh.size > 0
  }

  #accept(task: MatchTask, changes: MatchChanges): void {
    this.#seq = task.seq
    this.#results.apply(changes)
    if (task.kind !== 'find') return
    this.#results.endUnfound(task.numbers)
    this.#overrideResults.onFound(task.numbers)
  }

  /** A new thread receives all markets. Current pairs remain until their partners are searched again. */
  #resetIndex(): void {
    if (this.#state === 'closed') return
    this.#log.warn('the index of the matcher was lost and is rebuilt')
    this.#seq = 0
    this.#bulkOf = 0
    this.#background = null
    this.#indexed.clear()
    this.#hasFamilies = false
    this.#teamsSent = 0
    this.#fresh.clear()
    this.#results.markAllUnconfirmed()
    for (const market of this.#parts.markets()) this.#changed.set(market.ref.number, market)
  }

  #onThreadFailed(error: unknown): void {
    if (this.#state === 'closed') return
    this.#log.error({ err: error }, 'the thread of the matcher failed')
    this.#state = 'down'
    this.#timers.push(
      this.#parts.clock.after(RESTART_AFTER_MS, () => {
        if (this.#state !== 'down') return
        this.#resetIndex()
        this.#work()
      }),
    )
  }
}
