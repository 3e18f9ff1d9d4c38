// The interface between the search for pairs and their judgement: a text is read once, then pairs of readings are scored;
// and the judge of the service, in place of which tests put another.

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

const openReaders = () => {
  const market = keeping(MARKETS_KEPT, understandMarket)
  return {
    market,
    event: keeping(EVENTS_KEPT, (event: MatchEvent) => understandEvent(event, market)),
  }
}

let readers = openReaders()

/** The judge of the service. */
export const JUDGE: Judge<Proposition> = {
  readMarket: (market) => readers.market(market),
  readEvent: (event) => readers.event(event),
  scoreMarkets: scorePair,
  scoreEvents: scorePair,
  teach(teams) {
    teachTeams(teams)
    readers = openReaders()
  },
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
