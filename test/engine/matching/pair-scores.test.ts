// Scores pairs of similar questions that differ in one decisive detail, and pairs of equal questions
// (pair-scores.json).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type PairScore, scorePair } from '../../../engine/matching/compare/score.ts'
import type { Proposition } from '../../../engine/matching/understand/proposition.ts'
import {
  understandEvent,
  understandMarket,
} from '../../../engine/matching/understand/proposition-parser.ts'
import { capOf, MATCH_SCORE, veto } from '../../../engine/matching/veto/vetoes.ts'
import type { MatchEvent, MatchMarket } from '../../../engine/subject.ts'
import { KALSHI_SUBJECTS } from '../../../engine/venues/kalshi/subjects.ts'
import { GAMMA_SUBJECTS } from '../../../engine/venues/polymarket/subjects.ts'

/** The stated fields of a market or an event. `markets`: titles of the event's markets. */
interface Side extends Partial<Omit<MatchMarket & MatchEvent, 'markets'>> {
  readonly startAt?: string
  readonly closeAt?: string
  readonly markets?: readonly string[]
}

interface Case extends Pick<PairScore, 'relation' | 'vetoes' | 'explanation'> {
  readonly grain?: 'event'
  readonly a: Side
  readonly b: Side
  readonly isMatch: boolean
  /** Absent: false. */
  readonly inverted?: PairScore['inverted']
}

const CASES: Readonly<Record<string, readonly Case[]>> = JSON.parse(
  readFileSync(new URL('./pair-scores.json', import.meta.url), 'utf8'),
)

const timeOf = (text: string | undefined): number | null =>
  text === undefined ? null : Date.parse(text)

function understand(
  { startAt, closeAt, markets = [], ...fields }: Side,
  grain: 'market' | 'event',
  reader: typeof GAMMA_SUBJECTS,
): Proposition {
  const stated = { ...fields, startMs: timeOf(startAt), closeMs: timeOf(closeAt) }
  if (grain === 'market') return understandMarket({ ...reader.market({}, null), ...stated })
  const children = markets.map((title) => ({ ...reader.market({}, null), title }))
  return understandEvent({ ...reader.event({}), ...stated, markets: children })
}

for (const [title, cases] of Object.entries(CASES)) {
  test(title, () => {
    for (const { grain = 'market', a, b, ...expected } of cases) {
      const found = scorePair(
        understand(a, grain, GAMMA_SUBJECTS),
        understand(b, grain, KALSHI_SUBJECTS),
      )
      const { score, relation, inverted, vetoes, explanation } = found
      const isMatch = score >= MATCH_SCORE
      assert.deepEqual(
        { isMatch, relation, inverted, vetoes, explanation },
        { inverted: false, ...expected },
      )
      assert.ok(score <= capOf(vetoes.map((reason) => veto(reason))), explanation)
    }
  })
}
