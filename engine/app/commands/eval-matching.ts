// `npm run eval:matching [-- --pairs FILE…]` scores labelled pairs with the service's code. It prints the accuracy of
// the served model, and of models trained without the pair's event, kind of question or source.

import { writeFileSync } from 'node:fs'
import { WEIGHTS } from '../../matching/compare/model.ts'
import {
  CROSS_VALIDATION_SPLITS,
  crossScore,
  type Scored,
  scoreAll,
} from '../../matching/offline/evaluation.ts'
import { pairReport } from '../../matching/offline/evaluation-report.ts'
import { type Arguments, openProgress } from '../../process/command-line.ts'
import { comparedPairs, namedEncoder, PAIRS_OPTION } from './dump-reader.ts'
import { runCommand } from './run-command.ts'

const WORST_SHOWN = 20
const QUOTED = 'one kind left out'
const COMMAND = {
  name: 'npm run eval:matching',
  about: 'Scores labelled pairs with the same code as the service and prints the accuracy.',
  usage: ['[--pairs FILE ...] [--out FILE] [--left-out FILE] [--worst N]'],
  options: {
    pairs: PAIRS_OPTION,
    out: { takes: 'FILE', means: 'writes each pair with its score by the served model' },
    'left-out': {
      takes: 'FILE',
      means: 'writes each pair with its score by a model that was trained without its kind',
    },
    worst: { takes: 'N', means: `how many of the worst pairs are shown (${WORST_SHOWN})` },
  },
  examples: ['', '--pairs pairs.jsonl.gz --out scored.jsonl'],
  notes: ['Exit codes: 0 done, 1 after a failure, 2 for a bad request.'],
} as const
type Option = keyof typeof COMMAND.options

async function main(given: Arguments<Option>): Promise<void> {
  const worst = given.number('worst', { above: 0, max: Number.POSITIVE_INFINITY, isInteger: true })
  const progress = openProgress()
  const encoded = await namedEncoder()
  const compared = await comparedPairs(given, encoded, progress)
  const runs = CROSS_VALIDATION_SPLITS.map(([name, partOf]) => {
    progress.show(name, true)
    return { name, scored: crossScore(compared, partOf) }
  })
  progress.end()
  const served = { name: 'as served', scored: scoreAll(compared, encoded?.model ?? WEIGHTS) }
  const quoted = runs.find(({ name }) => name === QUOTED)?.scored ?? []
  process.stdout.write(
    `${pairReport([served, ...runs], quoted, worst ?? WORST_SHOWN).join('\n')}\n`,
  )
  writePairs(given.text('out'), served.scored)
  writePairs(given.text('left-out'), quoted)
}

function writePairs(file: string | null, scored: readonly Scored[]): void {
  if (file !== null) writeFileSync(file, scored.map(lineOf).join(''))
}

function lineOf({ pair, result }: Scored): string {
  const { a, b, label, grain, kind, relation: labelled } = pair
  const keys = { grain, label, kind, labelled, a: a.handle || a.title, b: b.handle || b.title }
  return `${JSON.stringify({ ...keys, ...result })}\n`
}

await runCommand(COMMAND, main)
