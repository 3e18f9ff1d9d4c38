// `npm run match -- confirm|reject|forget MARKET_A MARKET_B` and `npm run match -- list`: a person's word on a pair,
// which stands above every score. Asks the engine that holds the data folder over its socket; markets are named by
// their unified ids, so an engine must run. The answer says what became of the word: a confirmed pair whose sides were
// read as opposite stays inverted, and a market that is confirmed with another is refused (forget that
// first). Exit codes: 0 done, 1 refused or not possible now, 2 a bad request. Upholds MATCHER10, MATCHER12, MATCHER14.

import { EngineError } from '../errors.ts'
import { askEngine, runCommand } from './asking.ts'

const USAGE =
  'usage: npm run match -- confirm|reject|forget MARKET MARKET, or npm run match -- list'

async function main(args: readonly string[]): Promise<void> {
  const [action = '', one, other, ...rest] = args
  const isList = action === 'list' && one === undefined
  const isWord = ['confirm', 'reject', 'forget'].includes(action)
  if (!isList && !(isWord && one !== undefined && other !== undefined && rest.length === 0)) {
    throw new EngineError('BAD_REQUEST', USAGE)
  }
  const answer = await askEngine(`match.${action}`, isList ? {} : { one, other })
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
}

await runCommand(main)
