import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecord } from '../../../engine/json-record.ts'
import { WEIGHTS } from '../../../engine/matching/compare/model.ts'
import type { PairScore } from '../../../engine/matching/compare/score.ts'
import {
  bandsOf,
  type ComparedPair,
  comparePairs,
  countAt,
  crossScore,
  foldOf,
  type Scored,
  scoreAll,
  wilson,
} from '../../../engine/matching/offline/evaluation.ts'
import {
  type LabelledPair,
  labelledPairOf,
} from '../../../engine/matching/offline/labelled-pair.ts'
import { MATCH_SCORE } from '../../../engine/matching/veto/vetoes.ts'
import { PAIRED_VENUES } from '../../../engine/venues/venues.ts'
import {
  INVENTED,
  isAbsent,
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
const SECOND = `${RECORDED}/pairs-dev-2.jsonl`
const LABELS = ['same', 'opposite', 'different'] as const
type Label = (typeof LABELS)[number]

interface Verdict {
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

const comparedByPath = new Map<string, readonly ComparedPair[]>()

/** The compared pairs of a file, in its order. */
function comparedPairs(path: string): readonly ComparedPair[] {
  let compared = comparedByPath.get(path)
  if (compared === undefined) {
    const pairs = rowsOfFile(path).flatMap((row) => labelledPairOf(row, PAIRED_VENUES, path) ?? [])
    compared = comparePairs(pairs)
    comparedByPath.set(path, compared)
  }
  return compared
}

function verdictsOf(path: string): readonly Verdict[] {
  return scoreAll(comparedPairs(path), WEIGHTS).map(({ pair, result }) => ({
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
  const rows = rowsOfFile(PAIRS.invented).filter(isRecord)
  const verdicts = verdictsOf(PAIRS.invented)
  assert.equal(verdicts.length, rows.length)
  const mistakes = verdicts.flatMap(({ label, found }, index) =>
    label === found ? [] : [`${rows[index]?.name}: ${label}, found ${found}`],
  )
  assert.deepEqual(mistakes.sort(), [...KNOWN_MISTAKES].sort())
})

test('includes synthetic pairs of every label and many topics, with unique names', () => {
  const rows = rowsOfFile(PAIRS.invented).filter(isRecord)
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
  assert.ok(rows.length >= 120)
  assert.ok(new Set(rows.map(({ topic }) => topic)).size >= 8)
  assert.deepEqual(new Set(rows.map(({ label }) => label)), new Set(LABELS))
})

test('reaches the required quality on question kinds that are not in the training data, in two collections', (t) => {
  if (isAbsent(t, PAIRS.recorded) || isAbsent(t, SECOND)) return
  const compared = [...comparedPairs(PAIRS.recorded), ...comparedPairs(SECOND)]
  const scored = crossScore(compared, ({ kind }) => kind)
  assert.ok(new Set(scored.map(({ pair: { kind } }) => kind)).size >= 25)
  const floors = [
    ['market', false, 0.98, 0.95],
    ['event', false, 0.97, 0.87],
    ['market', true, 0.96, 0.87],
    ['event', true, 0.97, 0.78],
  ] as const
  for (const [grain, isSecond, precision, recall] of floors) {
    const of = scored.filter(
      ({ pair: one }) => one.grain === grain && (!isSecond || one.collection === SECOND),
    )
    const { same, accepted, right } = countAt(of, MATCH_SCORE)
    t.diagnostic(`${grain}, ${isSecond ? 'second' : 'both'}: ${right} of ${accepted}, ${same} same`)
    assert.ok(right / accepted >= precision, `${grain}: precision ${right}/${accepted}`)
    assert.ok(right / same >= recall, `${grain}: recall ${right}/${same}`)
  }
})

test('predicts accurate scores for pairs that are not in the training data', (t) => {
  if (isAbsent(t, PAIRS.recorded)) return
  const compared = comparedPairs(PAIRS.recorded)
  const bands = bandsOf(crossScore(compared, (one) => foldOf(one, 5)))
  const total = bands.reduce((sum, { n }) => sum + n, 0)
  assert.ok(total > 500)
  const error = bands.reduce((sum, { n, same, promised }) => {
    return sum + (n === 0 ? 0 : (n / total) * Math.abs(same / n - promised))
  }, 0)
  assert.ok(error < 0.02, `mean error ${error}`)
  for (const { from, n, same, promised } of bands) {
    const [low, high] = wilson(same, n)
    if (from < MATCH_SCORE) continue
    assert.ok(promised >= low - 0.01 && promised <= high + 0.01, `from ${from}: ${same} of ${n}`)
  }
})

test('reaches the required quality on labelled pairs in cross-validation by event', (t) => {
  if (isAbsent(t, PAIRS.recorded)) return
  const compared = comparedPairs(PAIRS.recorded)
  const isGame = ({ pair: { origin } }: Scored): boolean => origin.startsWith('rule: ')
  const floors = (
    scored: readonly Scored[],
    precision: number,
    recall: number,
    what: string,
  ): void => {
    const { same, accepted, right } = countAt(scored, 80)
    assert.ok(right / accepted >= precision, `${what}: precision ${right}/${accepted}`)
    assert.ok(right / same >= recall, `${what}: recall ${right}/${same}`)
  }
  const folds = crossScore(compared, (one) => foldOf(one, 5))
  const ofGrain = (scored: readonly Scored[], grain: string) =>
    scored.filter(({ pair: one }) => one.grain === grain)
  floors(ofGrain(folds, 'market'), 0.99, 0.97, 'markets')
  floors(ofGrain(folds, 'event').filter(isGame), 0.99, 0.98, 'events of games')
  floors(
    ofGrain(folds, 'event').filter((one) => !isGame(one)),
    0.9,
    0.75,
    'other events',
  )
  const unseen = crossScore(compared, (one) => `${one.origin} ${one.grain}`)
  floors(ofGrain(unseen, 'market'), 0.98, 0.95, 'markets of unseen kinds')
  floors(
    ofGrain(unseen, 'event').filter((one) => !isGame(one)),
    0.9,
    0.75,
    'other events of unseen kinds',
  )
})
