// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.
// Not for: how a pair is judged (score.ts).
// Upholds CORPUS8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { TaughtTeam } from '../../team-listing.ts'
import type { Proposition } from '../understand/proposition.ts'
import { teachTeams } from '../understand/sides.ts'
import { understandEvent, understandMarket } from '../understand/understand.ts'
import type { Families } from '../veto/families.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Reads subjects and scores pairs of readings, venue a's first; pure, and never throws for any text. */
export interface Judge<Reading> {
  readMarket(market: MatchMarket): Reading
  readEvent(event: MatchEvent): Reading
  /** Scores below `from` need not be exact, only below it; without families those count that come with the program. */
  scoreMarkets(a: Reading, b: Reading, from?: number, families?: Families): PairScore
  scoreEvents(a: Reading, b: Reading, from?: number): PairScore
  /** Takes rows of the venues' lists of teams; null forgets those before. What was read is read anew. */
  teach?(teams: readonly TaughtTeam[] | null): void
}

/**
 * Readings that are kept, at most twice as many: some 2 KiB each. One that is gone is read anew, in some 80 µs; markets
 * that are near one another ask for the same ones.
 */
const MARKETS_KEPT = 8_192
const EVENTS_KEPT = 2_048

/** Keeps what was read last: a reading does not depend on the corpus. */
class Kept<Subject extends object> {
  readonly #max: number
  readonly #read: (subject: Subject) => Proposition
  #recent = new Map<Subject, Proposition>()
  #older = new Map<Subject, Proposition>()

  constructor(max: number, read: (subject: Subject) => Proposition) {
    this.#max = max
    this.#read = read
  }

  of(subject: Subject): Proposition {
    const known = this.#recent.get(subject)
    if (known !== undefined) return known
    const reading = this.#older.get(subject) ?? this.#read(subject)
    if (this.#recent.size >= this.#max) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(subject, reading)
    return reading
  }

  clear(): void {
    this.#recent = new Map()
    this.#older = new Map()
  }
}

const MARKETS = new Kept(MARKETS_KEPT, understandMarket)
const readMarket = (market: MatchMarket): Proposition => MARKETS.of(market)
const EVENTS = new Kept(EVENTS_KEPT, (event: MatchEvent) => understandEvent(event, readMarket))

/** The judge of the service. */
export const JUDGE: Judge<Proposition> = {
  readMarket,
  readEvent: (event) => EVENTS.of(event),
  scoreMarkets: scorePair,
  scoreEvents: scorePair,
  teach(teams) {
    teachTeams(teams)
    MARKETS.clear()
    EVENTS.clear()
  },
}
