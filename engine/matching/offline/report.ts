// The evaluation in readable lines: counts, precision and recall with intervals, by grain, label, relation and
// origin, the baseline beside them, and the worst mistakes. Not for: scoring (evaluation.ts). Upholds SCORE7.

import { MATCH_SCORE } from '../compare/score.ts'
import { BANDS, bandsOf, countAt, recallAtPrecision, type Scored, wilson } from './evaluation.ts'

const NAME_WIDTH = 58

/** Lines to print; `worst` mistakes at most. */
export function pairReport(scored: readonly Scored[], worst: number): readonly string[] {
  return [
    `${scored.length} pairs; accepted at a score of ${MATCH_SCORE}; intervals are Wilson's at 95 %`,
    '',
    header(),
    ...tables(scored),
    '',
    'whether scores mean what they say: pairs that no veto caps, by score',
    ...reliability(scored),
    '',
    `the ${worst} worst mistakes`,
    ...mistakes(scored)
      .slice(0, worst)
      .flatMap((one) => describe(one)),
  ]
}

function header(): string {
  const columns = ['n', 'same', 'taken', 'precision', 'recall', 'R@.95', 'R@.98', 'baseline R@.95']
  return `${''.padEnd(NAME_WIDTH)} ${columns.map((name) => name.padStart(8)).join(' ')}`
}

function tables(scored: readonly Scored[]): readonly string[] {
  const lines = [row('all', scored)]
  const by = (title: string, keyOf: (one: Scored) => string): void => {
    lines.push(title)
    const groups = new Map<string, Scored[]>()
    for (const one of scored) {
      const key = keyOf(one)
      const known = groups.get(key)
      if (known === undefined) groups.set(key, [one])
      else known.push(one)
    }
    for (const key of [...groups.keys()].sort()) lines.push(row(`  ${key}`, groups.get(key) ?? []))
  }
  by('by grain', ({ pair }) => pair.grain)
  by('by label', ({ pair }) => `${pair.grain} ${pair.label}`)
  by('by relation', ({ pair }) => `${pair.grain} ${pair.label} ${pair.relation || '(none said)'}`)
  by('by origin of the label', ({ pair }) => `${pair.grain}: ${pair.origin}`)
  return lines
}

function row(name: string, scored: readonly Scored[]): string {
  const { n, same, accepted, right } = countAt(scored, MATCH_SCORE)
  const ranked = scored.map(({ result, pair }) => ({ score: result.score, isSame: pair.isSame }))
  const plain = scored.map(({ baseline, pair }) => ({ score: baseline, isSame: pair.isSame }))
  const share = (hits: number, of: number): string => {
    if (of === 0) return '      –'
    const [low, high] = wilson(hits, of)
    return `${(hits / of).toFixed(3)} [${low.toFixed(3)} ${high.toFixed(3)}]`
  }
  const cells = [
    ...[n, same, accepted].map((count) => String(count).padStart(8)),
    share(right, accepted).padStart(20),
    share(right, same).padStart(20),
    recallAtPrecision(ranked, 0.95).toFixed(3).padStart(8),
    recallAtPrecision(ranked, 0.98).toFixed(3).padStart(8),
    recallAtPrecision(plain, 0.95).toFixed(3).padStart(8),
  ]
  return `${name.slice(0, NAME_WIDTH).padEnd(NAME_WIDTH)} ${cells.join(' ')}`
}

/** A line a band: what the mean score promises, and the share that is the same with its interval. */
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

/** Wrong decisions, the surest first. */
export function mistakes(scored: readonly Scored[]): readonly Scored[] {
  const howWrong = ({ pair, result }: Scored): number =>
    pair.isSame ? MATCH_SCORE - result.score : result.score - MATCH_SCORE + 100
  return scored
    .filter(({ pair, result }) => pair.isSame !== result.score >= MATCH_SCORE)
    .sort((one, other) => howWrong(other) - howWrong(one))
}

function describe({ pair, result }: Scored): readonly string[] {
  const label = pair.relation === '' ? pair.label : `${pair.label}, ${pair.relation}`
  return [
    `  ${String(result.score).padStart(5)} ${pair.grain}, labelled ${label}: ${result.explanation}`,
    `        a ${pair.a.title} | ${pair.a.handle}`,
    `        b ${pair.b.title} | ${pair.b.subtitle} | ${pair.b.handle}`,
  ]
}
