// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.
// Not for: how a pair is judged (score.ts).
// Upholds CORPUS8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { Proposition } from '../understand/proposition.ts'
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
}

/**
 * Readings that are kept, at most twice as many: some 2 KiB each. One that is gone is read anew, in some 80 µs; markets
 * that are near one another ask for the same ones.
 */
const MARKETS_KEPT = 8_192
const EVENTS_KEPT = 2_048

const readMarket = keeping(MARKETS_KEPT, understandMarket)

/** The judge of the service. */
export const JUDGE: Judge<Proposition> = {
  readMarket,
  readEvent: keeping(EVENTS_KEPT, (event: MatchEvent) => understandEvent(event, readMarket)),
  scoreMarkets: scorePair,
  scoreEvents: scorePair,
}

/** Keeps what was read last: a reading does not depend on the corpus. */
function keeping<Subject extends object>(
  max: number,
  read: (subject: Subject) => Proposition,
): (subject: Subject) => Proposition {
  let [recent, older] = [new Map<Subject, Proposition>(), new Map<Subject, Proposition>()]
  return (subject) => {
    const known = recent.get(subject)
    if (known !== undefined) return known
    const reading = older.get(subject) ?? read(subject)
    if (recent.size >= max) {
      older = recent
      recent = new Map()
    }
    recent.set(subject, reading)
    return reading
  }
}
