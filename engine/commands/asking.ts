// What commands share that ask the engine which holds the data folder: one question over its socket, and how they end.
// Exit codes: 0 done, 1 refused or not possible now, 2 a bad request. Not for: commands that do without an engine.

import { connectAdmin } from '../admin/client.ts'
import type { AdminRequest } from '../admin/socket.ts'
import { systemClock } from '../clock.ts'
import { ConfigError, loadConfig } from '../config.ts'
import { EngineError } from '../errors.ts'

/** Rejects with EngineError: UNAVAILABLE when no engine runs, or what the engine refuses with. */
export async function askEngine(command: string, request: AdminRequest): Promise<unknown> {
  const client = await connectAdmin(loadConfig(process.env).dataDir, systemClock)
  if (client === null) {
    throw new EngineError('UNAVAILABLE', 'no engine runs in DATA_DIR; start it first')
  }
  try {
    return await client.ask(command, request)
  } finally {
    client.close()
  }
}

/** Runs a command on its arguments and sets the exit code. Throw BAD_REQUEST with the usage for wrong arguments. */
export async function runCommand(main: (args: readonly string[]) => Promise<void>): Promise<void> {
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    if (error instanceof ConfigError) complain(error.message, 2)
    else if (!(error instanceof EngineError)) throw error
    else complain(error.detail, error.code === 'BAD_REQUEST' ? 2 : 1)
  }
}

function complain(line: string, code: number): void {
  process.stderr.write(`${line}\n`)
  process.exitCode = code
}
