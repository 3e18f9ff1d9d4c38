// `npm run coverage [-- POLICY]` shows which markets have live books, or sets the policy of a running engine.

import { COVERAGE_ACCEPTS } from '../../coverage-policy.ts'
import { isRecord } from '../../json-record.ts'
import type { Arguments } from '../../process/command-line.ts'
import { runCommand, sendToEngine } from './run-command.ts'

const COMMAND = {
  name: 'npm run coverage',
  about: 'Shows which markets have live books, or sets the coverage policy of the running engine.',
  usage: ['[POLICY|default]'],
  positionals: {
    POLICY: COVERAGE_ACCEPTS,
    default: 'removes the stored policy: COVERAGE or the default applies again',
  },
  positionalCounts: [0, 1],
  examples: ['', 'top:5000', 'top:1000,category:Politics', 'default'],
  notes: [
    'The policy takes effect at once and is stored. If COVERAGE is set, it decides again at the next start.',
    'Sends the command to the running engine of DATA_DIR. Exit codes: 0 done, 1 refused or not possible now, 2 a bad request.',
  ],
} as const

async function main({ positionals: [policy] }: Arguments): Promise<void> {
  const answer = await (policy === undefined
    ? sendToEngine('coverage.show', {})
    : sendToEngine('coverage.set', { policy }))
  if (!isRecord(answer) || !Array.isArray(answer.venues)) throw new Error('the engine sent no rows')
  for (const row of answer.venues) print(linesOf(row))
  if (answer.is_temporary === true) {
    print(['COVERAGE is set, so its policy applies again after a restart.'])
  }
}

function linesOf(row: unknown): readonly string[] {
  if (!isRecord(row) || !isRecord(row.by_reason)) throw new Error('the engine sent an invalid row')
  const { venue, policy, because, open, wanted, covered, live } = row
  const reasons = Object.entries(row.by_reason).filter(([, count]) => count !== 0)
  return [
    `${venue}: ${policy} (${because})`,
    `  ${wanted} of ${open} open markets; subscribed: ${covered}, live: ${live}`,
    `  ${reasons.map(([reason, count]) => `${reason}: ${count}`).join(', ') || 'no reasons'}`,
  ]
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

await runCommand(COMMAND, main)
