// What whoever looks for pairs needs of whoever judges them: texts are read once, pairs of readings are scored.
// Tests put another judge in its place. Not for: how a pair is judged (score.ts).

import type { MatchEvent, MatchMarket } from './subject.ts'

/** How the questions of two subjects stand to each other. */
export type Relation = 'identical' | 'subset' | 'superset' | 'overlap' | 'different'

/** What is thought of one pair, venue a's subject first. */
export interface PairScore {
  /** 0 to 100: score / 100 is the chance that Yes means Yes. */
  readonly score: number
  readonly relation: Relation
  /** Whether Yes of one is No of the other; null where it cannot be told. */
  readonly inverted: boolean | null
  /** By venue a's outcome the label of venue b's that means the same. */
  readonly outcomeMap: Readonly<Record<string, string>>
  /** What capped the score. */
  readonly vetoes: readonly string[]
  /** One readable sentence. */
  readonly explanation: string
}

/** Reads subjects and scores pairs of readings; pure, and neither ever throws for any text. */
export interface Judge<Reading> {
  readMarket(market: MatchMarket): Reading
  readEvent(event: MatchEvent): Reading
  scoreMarkets(a: Reading, b: Reading): PairScore
  scoreEvents(a: Reading, b: Reading): PairScore
}
