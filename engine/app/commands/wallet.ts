// `npm run wallet -- ADDRESS` prints a wallet's record, the stored events that the venue's history lacks, and the
// positions with differing figures. The engine must run. It fetches a wallet that is not stored.

import { isRecord } from '../../json-record.ts'
import type { Arguments } from '../../process/command-line.ts'
import { runCommand, sendToEngine } from './run-command.ts'

const COMMAND = {
  name: 'npm run wallet',
  about:
    'Shows a wallet\u2019s sync state, its sums, and positions for which the venue\u2019s figures differ.',
  usage: ['ADDRESS'],
  positionals: { ADDRESS: '0x and 40 hex digits, of the wallet or its owner' },
  positionalCounts: [1, 1],
  examples: ['0x52908400098527886e0f7030069857d2e4169ee7'],
  notes: [
    'Needs the running engine of DATA_DIR. Exit codes: 0 shown, 1 rejected or not possible now, 2 invalid request.',
  ],
} as const

async function main({ positionals: [address = ''] }: Arguments): Promise<void> {
  show(await sendToEngine('wallet.show', { address }))
}

function show(answer: unknown): void {
  const { comparison, venue_lacks: lacks, ...wallet } = isRecord(answer) ? answer : {}
  const { difference = null, not_told: unlisted, ...lacking } = isRecord(lacks) ? lacks : {}
  process.stdout.write(`${JSON.stringify({ ...wallet, venue_lacks: lacking }, null, 2)}\n`)
  if (isRecord(difference)) showLacking(difference)
  showEvents('untold', unlisted)
  if (!isRecord(comparison)) {
    process.stdout.write('not compared with the venue yet: try again in a moment\n')
    return
  }
  const { at, venue_positions: positions, differences, table } = comparison
  process.stdout.write(`the venue listed ${positions} positions at ${at}; ${differences} differ\n`)
  const rows: readonly unknown[] = Array.isArray(table) ? table : []
  const lines = rows.filter(isRecord).map((row) => {
    const figures = [row.ours, row.theirs].map((figure) => String(figure).padStart(18)).join('')
    return `${String(row.what).padEnd(9)}${figures}  ${row.market}  ${row.token}\n`
  })
  if (lines.length === 0) return
  const head = ['ours', 'the venue’s'].map((name) => name.padStart(18)).join('')
  process.stdout.write(`${'what'.padEnd(9)}${head}  market  token\n${lines.join('')}`)
}

/** Prints the events that the venue's history lacks, and the number of events that the sync added. */
function showLacking(difference: Readonly<Record<string, unknown>>): void {
  const { at, lacks, had_more, told_otherwise: different, table } = difference
  process.stdout.write(
    `the venue's complete history, read at ${at}, lacks ${lacks} stored events and has ${had_more} additional and ${different} different events\n`,
  )
  showEvents('lacks', table)
}

function showEvents(label: 'lacks' | 'untold', table: unknown): void {
  const rows: readonly unknown[] = Array.isArray(table) ? table : []
  for (const row of rows.filter(isRecord)) {
    const figures = [row.size, row.usd].map((figure) => String(figure).padStart(18)).join('')
    const kind = String(row.kind).padEnd(10)
    process.stdout.write(
      `${label.padEnd(7)}${row.at} ${kind}${figures}  ${row.market}  ${row.tx}\n`,
    )
  }
}

await runCommand(COMMAND, main)
