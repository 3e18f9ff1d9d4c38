// `npm run match -- confirm|reject|forget MARKET_A MARKET_B` and `npm run match -- list`: a person's word on a pair,
// which stands above every score. Asks the engine that holds the data folder over its socket; markets are named by
// their unified ids, so an engine must run. Exit codes: 0 done, 1 refused or not possible now, 2 a bad request.
// Upholds MATCHER10.

import { connectAdmin } from '../admin-client.ts'
import { systemClock } from '../clock.ts'
import { ConfigError, loadConfig } from '../config.ts'
import { EngineError } from '../errors.ts'

const USAGE =
  'usage: npm run match -- confirm|reject|forget MARKET MARKET, or npm run match -- list'

async function main(args: readonly string[]): Promise<number> {
  const [action = '', one, other, ...rest] = args
  const isList = action === 'list' && one === undefined
  const isWord = ['confirm', 'reject', 'forget'].includes(action)
  if (!isList && !(isWord && one !== undefined && other !== undefined && rest.length === 0)) {
    return complain(USAGE, 2)
  }
  const client = await connectAdmin(loadConfig(process.env).dataDir, systemClock)
  if (client === null) return complain('no engine runs in DATA_DIR; start it first', 1)
  try {
    const answer = await client.ask(`match.${action}`, isList ? {} : { one, other })
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
    return 0
  } finally {
    client.close()
  }
}

function complain(line: string, code: number): number {
  process.stderr.write(`${line}\n`)
  return code
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof ConfigError) process.exitCode = complain(error.message, 2)
  else if (error instanceof EngineError) process.exitCode = complain(error.detail, 1)
  else throw error
}
