// `npm run match -- confirm|reject|forget MARKET_A MARKET_B` and `npm run match -- list`: an operator's verdict on a
// pair, which stands above every score. Asks the engine that holds the data folder over its socket; markets are named by
// their unified ids, so an engine must run. The answer shows the verdict as it is kept: a confirmed pair whose sides were
// read as opposite stays inverted, and a market that is confirmed with another is refused (forget that
// first). Exit codes: 0 done, 1 refused or not possible now, 2 a bad request. Upholds MATCHER10, MATCHER12, MATCHER14.

import { type Arguments, UsageError } from '../process/command-line.ts'
import { askEngine, runCommand } from './asking.ts'

const VERDICTS = ['confirm', 'reject', 'forget']
const COMMAND = {
  name: 'npm run match',
  about: 'Keeps an operator\u2019s verdict on a pair of markets, which stands above every score.',
  usage: ['confirm|reject|forget MARKET MARKET', 'list'],
  words: {
    confirm: 'the two are one question; each has no other partner',
    reject: 'the two are not one question',
    forget: 'the score decides again',
    list: 'all verdicts',
    MARKET: 'the unified id of a market, one of each venue',
  },
  wordCounts: [1, 3],
  options: {},
  examples: ['list', 'confirm venue_a_0x12ab venue_b_KXRAIN-26'],
  notes: [
    'Asks the running engine of DATA_DIR. Exit codes: 0 done, 1 refused or not possible now, 2 a bad request.',
  ],
} as const

async function main({ words }: Arguments): Promise<void> {
  const [action = '', one, other] = words
  const isList = action === 'list'
  if (!isList && !VERDICTS.includes(action)) {
    throw new UsageError(`${action} is no action; it is ${VERDICTS.join(', ')} or list`)
  }
  if (isList ? one !== undefined : other === undefined) {
    throw new UsageError(`${action} takes ${isList ? 'nothing more' : 'two MARKETs'}`)
  }
  const answer = await askEngine(`match.${action}`, isList ? {} : { one, other })
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
}

await runCommand(COMMAND, main)
