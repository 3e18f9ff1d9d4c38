// Shared code of the commands. Exit codes: 0 done, 1 rejected or not possible now, 2 an invalid request or setting.

import { existsSync } from 'node:fs'
import { connectAdmin } from '../../admin/admin-client.ts'
import type { AdminRequest } from '../../admin/admin-socket.ts'
import { systemClock } from '../../clock.ts'
import { ConfigError, loadConfig } from '../../config.ts'
import { EngineError } from '../../errors.ts'
import {
  type Arguments,
  type CommandSpec,
  helpOf,
  openProgress,
  readArguments,
  UsageError,
} from '../../process/command-line.ts'

/** Rejects with the EngineError that the engine returns, or with UNAVAILABLE if no engine runs. */
export async function sendToEngine(command: string, request: AdminRequest): Promise<unknown> {
  const client = await connectAdmin(loadConfig(process.env).dataDir, systemClock)
  if (client === null) {
    throw new EngineError('UNAVAILABLE', 'no engine runs in DATA_DIR; start it first')
  }
  const progress = openProgress()
  progress.show('waiting for the engine')
  try {
    return await client.send(command, request)
  } finally {
    progress.end()
    client.close()
  }
}

/**
 * Parses the arguments and runs a command with the settings of `.env`. Ends the process with the exit code that the
 * command resolves to (default 0). Prints errors as one line on standard error.
 */
export async function runCommand<Name extends string>(
  command: CommandSpec<Name>,
  main: (given: Arguments<Name>) => Promise<number | undefined> | Promise<void>,
): Promise<never> {
  // Clock timers do not keep the process alive.
  new MessageChannel().port1.ref()
  try {
    const given = readArguments(command, process.argv.slice(2))
    if (given === 'help') {
      process.stdout.write(helpOf(command))
      process.exit(0)
    }
    if (existsSync('.env')) process.loadEnvFile('.env')
    const code: unknown = await main(given)
    process.exit(typeof code === 'number' ? code : 0)
  } catch (error) {
    process.stderr.write(`${lineOf(error)}\n`)
    process.exit(isBadRequest(error) ? 2 : 1)
  }
}

function lineOf(error: unknown): string {
  if (error instanceof EngineError) return error.detail
  return error instanceof Error ? error.message : String(error)
}

function isBadRequest(error: unknown): boolean {
  if (error instanceof UsageError || error instanceof ConfigError) return true
  return error instanceof EngineError && error.code === 'BAD_REQUEST'
}
