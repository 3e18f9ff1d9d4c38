// Runs the simulated venues in a separate process, so that measurements of the engine exclude their CPU time.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../clock.ts'
import { programOf } from '../../process/program.ts'
import { type ChildOptions, parseReady, type ReadyMessage } from './child-options.ts'

const CHILD = new URL('./child.ts', import.meta.url)
const KILL_AFTER_MS = 3_000

export interface SpawnOptions extends Omit<ChildOptions, 'faults'> {
  readonly faults: readonly string[]
  readonly clock: Clock
  /** Called if the child exits without a stop request after it was ready. */
  readonly onLost?: (reason: string) => void
}

type SpawnedSimulator = Omit<ReadyMessage, 'kind'> & {
  readonly pid: number
  /** Ends the child within three seconds. May be called repeatedly. */
  stop(): Promise<void>
}

/** Resolves when the venues listen. Rejects with the reason if the child exits before that. */
export function spawnSimulator(options: SpawnOptions): Promise<SpawnedSimulator> {
  const { clock, onLost, ...plain } = options
  const { url, flags } = programOf(CHILD)
  const child = fork(fileURLToPath(url), [JSON.stringify(plain)], {
    execArgv: [...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let isWanted = true
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => {
      resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`)
    })
  })
  const stop = async (): Promise<void> => {
    isWanted = false
    await end(child, ended, clock)
  }
  return new Promise((resolve, reject) => {
    let isReady = false
    child.on('message', (message) => {
      const ready = parseReady(message)
      if (ready === null || isReady) return
      isReady = true
      const { kind: _, ...addresses } = ready
      resolve({ ...addresses, pid: child.pid ?? 0, stop })
    })
    ended.then((reason) => {
      if (!isReady) reject(new Error(`the simulated venues did not start: ${reason}`))
      else if (isWanted) onLost?.(reason)
    })
  })
}

async function end(child: ChildProcess, ended: Promise<string>, clock: Clock): Promise<void> {
  child.kill('SIGTERM')
  const stopWaiting = clock.after(KILL_AFTER_MS, () => child.kill('SIGKILL'))
  await ended
  stopWaiting()
}
