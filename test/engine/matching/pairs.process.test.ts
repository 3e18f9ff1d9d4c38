import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecord } from '../../../engine/json-record.ts'
import { WEIGHTS } from '../../../engine/matching/compare/model.ts'
import type { PairScore } from '../../../engine/matching/compare/score.ts'
import { comparePairs, scoreAll } from '../../../engine/matching/offline/evaluation.ts'
import {
  type LabelledPair,
  labelledPairOf,
} from '../../../engine/matching/offline/labelled-pair.ts'
import { MATCH_SCORE } from '../../../engine/matching/veto/vetoes.ts'
import { PAIRED_VENUES } from '../../../engine/venues/venues.ts'
import {
  INVENTED,
  type Origin,
  RECORDED,
  rowsOfFile,
  type Sources,
  testOnBoth,
} from '../../support/worlds/recordings.ts'

const PAIRS: Sources = {
  invented: `${INVENTED}/pairs.jsonl`,
  recorded: `${RECORDED}/pairs-dev.jsonl`,
}
const LABELS = ['same', 'opposite', 'different'] as const
type Label = (typeof LABELS)[number]

interface Verdict {
  readonly name: string
  readonly label: string
  readonly found: Label
}

const KNOWN_MISTAKES: readonly string[] = [
  'event: the warmth of a day: same, found different',
  'rules: a law against a law or an order: different, found same',
  'words: the same word and call: same, found different',
]

const FLOORS: Readonly<
  Record<Origin, Record<Label, { readonly precision: number; readonly recall: number }>>
> = {
  invented: {
    same: { precision: 0.81, recall: 0.78 },
    opposite: { precision: 0.99, recall: 0.71 },
    different: { precision: 0.87, recall: 0.9 },
  },
  recorded: {
    same: { precision: 0.99, recall: 0.97 },
    opposite: { precision: 0.94, recall: 0.93 },
    different: { precision: 0.97, recall: 0.99 },
  },
}

const stored = new Map<string, readonly Verdict[]>()

function verdictsOf(path: string): readonly Verdict[] {
  const results = stored.get(path) ?? verdictsOfFile(path)
  stored.set(path, results)
  return results
}

function verdictsOfFile(path: string): readonly Verdict[] {
  const read = rowsOfFile(path).flatMap((row) => {
    const pair = labelledPairOf(row, PAIRED_VENUES)
    return pair === null ? [] : [{ pair, name: isRecord(row) ? `${row.name}` : '' }]
  })
  const scored = scoreAll(comparePairs(read.map(({ pair }) => pair)), WEIGHTS)
  return scored.map(({ pair, result }, at) => ({
    name: read[at]?.name ?? '',
    label: labelOf(pair),
    found: foundOf(result),
  }))
}

function labelOf({ label, relation }: LabelledPair): string {
  if (relation === 'same_fixture_opposite_side') return 'opposite'
  return label === 'related' ? 'different' : label
}

function foundOf({ score, relation, inverted }: PairScore): Label {
  if (relation === 'identical' && inverted === true) return 'opposite'
  return score >= MATCH_SCORE ? 'same' : 'different'
}

const share = (hits: readonly Verdict[], of: readonly Verdict[]): number => hits.length / of.length

testOnBoth(
  'reaches the minimum precision and recall on labelled pairs',
  PAIRS,
  (t, path, origin) => {
    const all = verdictsOf(path)
    for (const label of LABELS) {
      const labelled = all.filter((one) => one.label === label)
      const found = all.filter((one) => one.found === label)
      const right = labelled.filter((one) => one.found === label)
      const [precision, recall] = [share(right, found), share(right, labelled)]
      t.diagnostic(
        `${label}: ${labelled.length} pairs, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
      )
      assert.ok(precision >= FLOORS[origin][label].precision, `${label}: precision ${precision}`)
      assert.ok(recall >= FLOORS[origin][label].recall, `${label}: recall ${recall}`)
    }
  },
)

test('judges every synthetic pair correctly except the pairs that are recorded as known mistakes', () => {
  const mistakes = verdictsOf(PAIRS.invented).filter(({ label, found }) => label !== found)
  const published = mistakes.map(({ name, label, found }) => `${name}: ${label}, found ${found}`)
  assert.deepEqual(published.sort(), [...KNOWN_MISTAKES].sort())
})

test('includes synthetic pairs of every label and many topics, with unique names', () => {
  const rows = rowsOfFile(PAIRS.invented).filter(isRecord)
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
  assert.ok(rows.length >= 120)
  assert.ok(new Set(rows.map(({ topic }) => topic)).size >= 8)
  assert.deepEqual(new Set(rows.map(({ label }) => label)), new Set(LABELS))
})
