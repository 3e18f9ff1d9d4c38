// `npm run match -- confirm|reject|forget ONE OTHER` and `npm run match -- list` manage operators' overrides for a pair
// of markets or for two families. Markets are named by their public ids, families by patterns. The engine must run. A
// confirmed pair with opposite sides stays inverted. A market has at most one confirmed partner.

import { type Arguments, UsageError } from '../../process/command-line.ts'
import { runCommand, sendToEngine } from './run-command.ts'

const ACTIONS = ['confirm', 'reject', 'forget']
const COMMAND = {
  name: 'npm run match',
  about:
    'Stores an operator\u2019s override for a pair of markets or families. It takes precedence over every score.',
  usage: ['confirm|reject|forget MARKET MARKET', 'confirm|reject|forget FAMILY FAMILY', 'list'],
  positionals: {
    confirm:
      'two markets: they ask the same question and match no other market; two families: members with equal date and outcome match',
    reject:
      'two markets: they ask different questions; two families: no member matches a member of the other family',
    forget: 'removes the override, so that the score applies again',
    list: 'all overrides, each with its two markets or families',
    MARKET: 'the unified id of a market, one of each venue',
    FAMILY:
      'platform:pattern, one of each venue: a series, event or market by its ticker or slug, * for any characters; the answer says how many open markets it fits',
  },
  positionalCounts: [1, 3],
  examples: [
    'list',
    'confirm venue_a_0x12ab venue_b_KXRAIN-26',
    "reject 'venue_a:nobel-peace-prize-winner-*' venue_b:KXNOBELPEACE",
  ],
  notes: [
    'Sends the command to the running engine of DATA_DIR. Exit codes: 0 done, 1 refused or not possible now, 2 a bad request.',
  ],
} as const

async function main({ positionals }: Arguments): Promise<void> {
  const [action = '', one, other] = positionals
  const isList = action === 'list'
  if (!isList && !ACTIONS.includes(action)) {
    throw new UsageError(`unknown action ${action}; use ${ACTIONS.join(', ')} or list`)
  }
  if (isList ? one !== undefined : other === undefined) {
    throw new UsageError(
      `${action} takes ${isList ? 'no further arguments' : 'two MARKETs or two FAMILYs'}`,
    )
  }
  const answer = await sendToEngine(`match.${action}`, isList ? {} : { one, other })
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
}

await runCommand(COMMAND, main)
