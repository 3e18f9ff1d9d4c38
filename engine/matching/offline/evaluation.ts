// Evaluates the matcher on labelled pairs. Each pair is scored by a model that was trained without the pair's group.
// Computes precision and recall with Wilson intervals.

import { hash32 } from '../../random.ts'
import { type Comparison, EXPECTED_WEIGHTS } from '../compare/compare.ts'
import { type Example, type Model, train } from '../compare/model.ts'
import { DEFAULT_SCORER } from '../compare/pair-scorer.ts'
import { type PairScore, scoreOf } from '../compare/score.ts'
import { compareWith } from '../encoder/encoded-scorer.ts'
import type { Encoder } from '../encoder/sentence-encoder.ts'
import type { Proposition } from '../understand/proposition.ts'
import { VETO_REASONS } from '../veto/vetoes.ts'
import type { LabelledPair } from './labelled-pair.ts'

export interface ComparedPair {
  readonly pair: LabelledPair
  readonly comparison: Comparison
}

/** A pair with the score of a model that was trained without its group. */
export interface Scored extends ComparedPair {
  readonly result: PairScore
}

/** Parses and compares all pairs. With an encoder also by similarity, if their texts (`textsOfPairs`) were encoded. */
export function comparePairs(
  pairs: readonly LabelledPair[],
  encoder: Encoder | null = null,
): readonly ComparedPair[] {
  return pairs.map((pair) => ({ pair, comparison: compareWith(encoder, ...propositionsOf(pair)) }))
}

export function textsOfPairs(pairs: readonly LabelledPair[]): readonly string[] {
  return pairs.flatMap((pair) => propositionsOf(pair).map(({ sentence }) => sentence))
}

function propositionsOf(pair: LabelledPair): readonly [Proposition, Proposition] {
  if (pair.grain === 'event')
    return [DEFAULT_SCORER.readEvent(pair.a), DEFAULT_SCORER.readEvent(pair.b)]
  return [DEFAULT_SCORER.readMarket(pair.a), DEFAULT_SCORER.readMarket(pair.b)]
}

/**
 * Examples for training: pairs without a veto, except for occasion vetoes, which are also a feature. With an encoder
 * only pairs whose texts were encoded.
 */
export function examplesOf(compared: readonly ComparedPair[]): readonly Example[] {
  const isOpen = ({ vetoes, similarity }: Comparison): boolean =>
    similarity !== 'not read' && vetoes.every(({ reason }) => reason === 'other_occasion')
  return compared.flatMap(({ comparison, pair: { isSame } }) =>
    isOpen(comparison) ? [{ features: comparison.features, isSame }] : [],
  )
}

export function trainOn(compared: readonly ComparedPair[]): Model {
  return train(examplesOf(compared), EXPECTED_WEIGHTS)
}

export function scoreAll(compared: readonly ComparedPair[], model: Model): readonly Scored[] {
  return compared.map((one) => ({ ...one, result: scoreOf(one.comparison, model) }))
}

/** Cross-validation. Pairs with the same group key are in the same part. */
export function crossScore(
  compared: readonly ComparedPair[],
  partOf: (pair: LabelledPair) => string,
): readonly Scored[] {
  const scored = new Map<ComparedPair, Scored>()
  for (const members of groupsOf(compared, ({ pair }) => partOf(pair)).values()) {
    const held = new Set(members)
    const model = trainOn(compared.filter((one) => !held.has(one)))
    for (const one of members) scored.set(one, { ...one, result: scoreOf(one.comparison, model) })
  }
  return compared.flatMap((one) => scored.get(one) ?? [])
}

export function groupsOf<Of extends ComparedPair>(
  compared: readonly Of[],
  keyOf: (one: Of) => string,
): ReadonlyMap<string, readonly Of[]> {
  const groups = new Map<string, Of[]>()
  for (const one of compared) {
    const key = keyOf(one)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return groups
}

/** Ways to split the pairs for the cross-validation. */
export const CROSS_VALIDATION_SPLITS: readonly (readonly [
  string,
  (pair: LabelledPair) => string,
])[] = [
  ['five folds by event', (pair) => foldOf(pair, 5)],
  ['one kind left out', ({ kind }) => kind],
  ['one source left out', ({ source }) => source],
]

/** How often each veto occurs: on equal pairs, on different pairs, and as the only veto. */
export function vetoCounts(scored: readonly Scored[]) {
  return VETO_REASONS.map((reason) => {
    const fired = scored.filter(({ result }) => result.vetoes.includes(reason))
    const alone = fired.filter(({ result }) => result.vetoes.every((found) => found === reason))
    const sameOf = (of: readonly Scored[]): number => of.filter(({ pair }) => pair.isSame).length
    const [same, aloneSame] = [sameOf(fired), sameOf(alone)]
    return {
      ...{ reason, same, others: fired.length - same },
      ...{ aloneSame, aloneOthers: alone.length - aloneSame },
    }
  })
}

/** The fold of a pair. It depends only on venue b's event, so all pairs of an event are in the same fold. */
export function foldOf(pair: LabelledPair, folds: number): string {
  return String(hash32('fold', pair.group) % folds)
}

export function countAt(scored: readonly Scored[], threshold: number) {
  const isTaken = ({ result }: Scored): boolean => result.score >= threshold
  const [same, taken] = [scored.filter(({ pair }) => pair.isSame), scored.filter(isTaken)]
  const right = same.filter(isTaken).length
  return { n: scored.length, same: same.length, accepted: taken.length, right }
}

/** Lower bounds of the score bands in the calibration table. */
export const BANDS: readonly number[] = [0, 20, 40, 60, 80, 90, 95, 99]

/** Excludes pairs with a veto. */
export function bandsOf(scored: readonly Scored[]) {
  const open = scored.filter(({ comparison }) => comparison.vetoes.length === 0)
  return BANDS.map((from, index) => {
    const to = BANDS[index + 1] ?? Number.POSITIVE_INFINITY
    const members = open.filter(({ result }) => result.score >= from && result.score < to)
    const sum = members.reduce((total, { result }) => total + result.score / 100, 0)
    return {
      from,
      n: members.length,
      same: members.filter(({ pair }) => pair.isSame).length,
      /** Mean of score / 100, which is the predicted share of equal pairs. 0 for an empty band. */
      promised: members.length === 0 ? 0 : sum / members.length,
    }
  })
}

export function wilson(hits: number, of: number): readonly [number, number] {
  if (of === 0) return [0, 1]
  const z = 1.96
  const share = hits / of
  const middle = share + (z * z) / (2 * of)
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))
  const base = 1 + (z * z) / of
  return [Math.max(0, (middle - spread) / base), Math.min(1, (middle + spread) / base)]
}
