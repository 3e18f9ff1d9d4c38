// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { TeamEntry } from '../../team-listing.ts'
import type { Proposition } from '../understand/proposition.ts'
import { understandEvent, understandMarket } from '../understand/proposition-parser.ts'
import { addKnownTeams } from '../understand/sides.ts'
import type { Families } from '../veto/families.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Reads subjects and scores pairs of readings, venue a's first; pure, and never throws for any text. */
export interface PairScorer<Parsed> {
  readMarket(market: MatchMarket): Parsed
  readEvent(event: MatchEvent): Parsed
  /** Scores below `from` need not be exact, only below it; without families those count that come with the program. */
  scoreMarkets(a: Parsed, b: Parsed, from?: number, families?: Families): PairScore
  scoreEvents(a: Parsed, b: Parsed, from?: number): PairScore
  /** Takes rows of the venues' lists of teams; null forgets those before. What was read is read anew. */
  addTeams?(teams: readonly TeamEntry[] | null): void
}

/**
 * Readings that are kept, at most twice as many: some 2 KiB each. One that is gone is read anew, in some 80 µs; markets
 * that are near one another ask for the same ones.
 */
const CACHED_MARKETS_MAX = 8_192
const CACHED_EVENTS_MAX = 2_048

const openParsers = () => {
  const market = memoized(CACHED_MARKETS_MAX, understandMarket)
  return {
    market,
    event: memoized(CACHED_EVENTS_MAX, (event: MatchEvent) => understandEvent(event, market)),
  }
}

let parsers = openParsers()

/** The judge of the service. */
export const DEFAULT_SCORER: PairScorer<Proposition> = {
  readMarket: (market) => parsers.market(market),
  readEvent: (event) => parsers.event(event),
  scoreMarkets: scorePair,
  scoreEvents: scorePair,
  addTeams(teams) {
    addKnownTeams(teams)
    parsers = openParsers()
  },
}

/** Keeps what was read last: a reading does not depend on the corpus. */
function memoized<Subject extends object>(
  max: number,
  read: (subject: Subject) => Proposition,
): (subject: Subject) => Proposition {
  let [recent, older] = [new Map<Subject, Proposition>(), new Map<Subject, Proposition>()]
  return (subject) => {
    const cached = recent.get(subject)
    if (cached !== undefined) return cached
    const parsed = older.get(subject) ?? read(subject)
    if (recent.size >= max) {
      older = recent
      recent = new Map()
    }
    recent.set(subject, parsed)
    return parsed
  }
}
