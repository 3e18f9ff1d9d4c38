// Formats the evaluation as text: precision and recall with intervals for each split and kind, pairs rejected by each
// veto, calibration of the scores, and mistakes with their reasons.

import { MATCH_SCORE } from '../veto/vetoes.ts'
import { BANDS, bandsOf, countAt, groupsOf, type Scored, vetoCounts, wilson } from './evaluation.ts'

const NAME_WIDTH = 44

/** Scores of all pairs by one scoring method. */
export interface Run {
  readonly name: string
  readonly scored: readonly Scored[]
}

/** Lines to print: a table of all runs. For the quoted run also kinds, vetoes, bands and at most `worst` mistakes. */
export function pairReport(
  runs: readonly Run[],
  quoted: readonly Scored[],
  worst: number,
): readonly string[] {
  const wrong = mistakes(quoted)
  const isOf = (grain: string) => (one: Scored) => one.pair.grain === grain
  return [
    `${quoted.length} pairs, ${groupsOf(quoted, kindOf).size} kinds, ${groupsOf(quoted, sourceOf).size} sources; accepted at a score of ${MATCH_SCORE}; intervals are Wilson's at 95 %`,
    '',
    header(),
    ...runs.flatMap(({ name, scored }) => [
      name,
      ...rowsBy(scored, grainOf),
      ...rowsBy(scored, (one) => `${one.pair.collection} ${grainOf(one)}`),
    ]),
    '',
    'kinds',
    ...rowsBy(quoted.filter(isOf('market')), (one) => `market, ${kindOf(one)}`),
    ...rowsBy(quoted.filter(isOf('event')), (one) => `event, ${kindOf(one)}`),
    '',
    ...vetoLines(quoted),
    '',
    'whether scores mean what they say: pairs that no veto caps, by score',
    ...reliability(quoted),
    '',
    `${wrong.length} mistakes${wrong.length > worst ? `, the ${worst} worst` : ''}`,
    ...wrong.slice(0, worst).flatMap((one) => describe(one)),
  ]
}

const grainOf = ({ pair }: Scored): string => pair.grain
const kindOf = ({ pair }: Scored): string => pair.kind
const sourceOf = ({ pair }: Scored): string => pair.source
function header(): string {
  const columns = ['n', 'same', 'taken', 'precision', 'recall']
  return `${''.padEnd(NAME_WIDTH)} ${columns.map((name, at) => name.padStart(at === 3 || at === 4 ? 20 : 8)).join(' ')}`
}

function rowsBy(scored: readonly Scored[], keyOf: (one: Scored) => string): readonly string[] {
  const groups = [...groupsOf(scored, keyOf)].sort(([one], [other]) => (one < other ? -1 : 1))
  return groups.map(([key, group]) => row(`  ${key}`, group))
}

function row(name: string, scored: readonly Scored[]): string {
  const { n, same, accepted, right } = countAt(scored, MATCH_SCORE)
  const share = (hits: number, of: number): string => {
    if (of === 0) return '–'
    const [low, high] = wilson(hits, of)
    return `${(hits / of).toFixed(3)} [${low.toFixed(3)} ${high.toFixed(3)}]`
  }
  const cells = [
    ...[n, same, accepted].map((count) => String(count).padStart(8)),
    share(right, accepted).padStart(20),
    share(right, same).padStart(20),
  ]
  return `${name.slice(0, NAME_WIDTH).padEnd(NAME_WIDTH)} ${cells.join(' ')}`
}

function vetoLines(scored: readonly Scored[]): readonly string[] {
  const columns = ['others', 'same', 'alone', 'alone same']
  const cells = (values: readonly (string | number)[]): string =>
    values.map((value) => String(value).padStart(11)).join(' ')
  return [
    `${'vetoes'.padEnd(20)} ${cells(columns)}`,
    ...vetoCounts(scored).map(({ reason, others, same, aloneOthers, aloneSame }) => {
      return `  ${reason.padEnd(18)} ${cells([others, same, aloneOthers, aloneSame])}`
    }),
  ]
}

function reliability(scored: readonly Scored[]): readonly string[] {
  const head = ['score', 'n', 'promised', 'same'].map((name) => name.padStart(10)).join(' ')
  const lines = bandsOf(scored).map(({ from, n, same, promised }, index) => {
    const band = `${from}–${BANDS[index + 1] ?? 100}`.padStart(10)
    if (n === 0) return `${band} ${'0'.padStart(10)}`
    const [low, high] = wilson(same, n)
    const share = `${(same / n).toFixed(3)} [${low.toFixed(3)} ${high.toFixed(3)}]`
    return `${band} ${String(n).padStart(10)} ${promised.toFixed(3).padStart(10)}      ${share}`
  })
  return [head, ...lines]
}

/** Wrong decisions, the farthest from the threshold first. */
export function mistakes(scored: readonly Scored[]): readonly Scored[] {
  const howWrong = ({ pair, result }: Scored): number =>
    Math.abs(result.score - MATCH_SCORE) + (pair.isSame ? 0 : 100)
  return scored
    .filter(({ pair, result }) => pair.isSame !== result.score >= MATCH_SCORE)
    .sort((one, other) => howWrong(other) - howWrong(one))
}

function describe({ pair, result }: Scored): readonly string[] {
  const label = pair.relation === '' ? pair.label : `${pair.label}, ${pair.relation}`
  return [
    `  ${String(result.score).padStart(5)} ${pair.grain}, ${pair.kind}, labelled ${label}: ${result.explanation}`,
    `        a ${pair.a.title} | ${pair.a.handle}`,
    `        b ${pair.b.title} | ${pair.b.subtitle} | ${pair.b.handle}`,
  ]
}
