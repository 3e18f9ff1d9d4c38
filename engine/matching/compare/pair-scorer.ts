// Interface between candidate search and scoring, and the service's implementation. Each text is parsed once. Tests
// substitute their own scorer.

import { LRUCache } from 'lru-cache'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { TeamEntry } from '../../team-listing.ts'
import type { Proposition } from '../understand/proposition.ts'
import { understandEvent, understandMarket } from '../understand/proposition-parser.ts'
import { addKnownTeams } from '../understand/sides.ts'
import type { Families } from '../veto/families.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Parses subjects and scores pairs of parsed subjects, venue a's first. Pure; never throws for any text. */
export interface PairScorer<Parsed> {
  readMarket(market: MatchMarket): Parsed
  readEvent(event: MatchEvent): Parsed
  /** A score below `from` need not be exact, only below it. Without `families` the built-in families apply. */
  scoreMarkets(a: Parsed, b: Parsed, from?: number, families?: Families): PairScore
  scoreEvents(a: Parsed, b: Parsed, from?: number): PairScore
  /** Adds rows of the venues' team lists. Null removes all added rows. Cached parse results are discarded. */
  addTeams?(teams: readonly TeamEntry[] | null): void
}

/**
 * Maximum of cached parse results, some 2 KiB each. An evicted one is parsed again in some 80 µs. Neighbouring markets
 * request the same ones.
 */
const CACHED_MARKETS_MAX = 16_384
const CACHED_EVENTS_MAX = 4_096

const openParsers = () => {
  const market = memoized(CACHED_MARKETS_MAX, understandMarket)
  return {
    market,
    event: memoized(CACHED_EVENTS_MAX, (event: MatchEvent) => understandEvent(event, market)),
  }
}

let parsers = openParsers()

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

/** Caches recent parse results, which do not depend on the corpus. */
function memoized<Subject extends object>(
  max: number,
  read: (subject: Subject) => Proposition,
): (subject: Subject) => Proposition {
  const parsed = new LRUCache<Subject, Proposition>({ max })
  return (subject) => {
    const cached = parsed.get(subject) ?? read(subject)
    parsed.set(subject, cached)
    return cached
  }
}
