// Interface of the scoring for the candidate search, and its implementation. Each text is parsed once. Tests replace
// the implementation.

import { LRUCache } from 'lru-cache'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { TeamEntry } from '../../team-listing.ts'
import type { Proposition } from '../understand/proposition.ts'
import { understandEvent, understandMarket } from '../understand/proposition-parser.ts'
import { addKnownTeams } from '../understand/sides.ts'
import type { Families } from '../veto/families.ts'
import { type PairScore, scorePair } from './score.ts'

export type { PairScore }

/** Parses subjects and scores two of them, of which the first is of the first venue. Never throws, whatever the text. */
export interface PairScorer<Parsed> {
  readMarket(market: MatchMarket): Parsed
  readEvent(event: MatchEvent): Parsed
  /**
   * If the score is below `from`, the returned value may be inexact but is below it too. Without `families` the
   * built-in families apply.
   */
  scoreMarkets(a: Parsed, b: Parsed, from?: number, families?: Families): PairScore
  scoreEvents(a: Parsed, b: Parsed, from?: number): PairScore
  /** Adds entries of the venues' team lists. Null removes all added entries. Discards all cached parse results. */
  addTeams?(teams: readonly TeamEntry[] | null): void
}

/**
 * Maximum cached parse results, some 2 KiB each. Parsing one again takes some 80 µs. Neighbouring markets need the same
 * results.
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
