// Runs the simulated venues in a separate process for `npm start`, so that their cost is not measured with the
// engine's. The child's log goes to our stderr.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../clock.ts'
import { programOf } from '../../process/program.ts'
import { parseReady, type ReadyMessage } from './child-options.ts'

const CHILD = new URL('./child.ts', import.meta.url)
/** The child is killed if it does not exit within this time. */
const KILL_AFTER_MS = 3_000

export interface SpawnOptions {
  readonly seed: number
  readonly marketsPerVenue: number
  /** Share of venue a's markets under protocol v2. */
  readonly v2Share: number
  readonly messagesPerSecond: number
  /** Planned price gaps per minute. Default: none. */
  readonly gapsPerMinute?: number
  /** Names of faults. The child rejects unknown ones. */
  readonly faults: readonly string[]
  /** Seconds after which the activity stream ends. Null (default): never. */
  readonly activityEndsS?: number | null
  readonly clock: Clock
  readonly logLevel: string
  /** 0 (default) selects free ports. */
  readonly basePort?: number
  readonly host?: string
  readonly kalshiPublicKeyPem?: string | null
  /** Folder in which the child persists its world. Null (default): not persisted. */
  readonly worldFolder?: string | null
  /** Called if the child exits without a stop request, after it was ready. */
  readonly onLost?: (reason: string) => void
}

type SpawnedSimulator = Omit<ReadyMessage, 'kind'> & {
  readonly pid: number
  /** Ends the child within three seconds. Idempotent. */
  stop(): Promise<void>
}

/** Resolves once the venues listen. Rejects with the exit reason if the child exits first. */
export function spawnSimulator(options: SpawnOptions): Promise<SpawnedSimulator> {
  const { clock, onLost, ...plain } = options
  const { url, flags } = programOf(CHILD)
  const child = fork(fileURLToPath(url), [JSON.stringify({ ...DEFAULTS, ...plain })], {
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

const DEFAULTS = {
  basePort: 0,
  host: '127.0.0.1',
  kalshiPublicKeyPem: null,
  worldFolder: null,
  activityEndsS: null,
  gapsPerMinute: 0,
}

async function end(child: ChildProcess, ended: Promise<string>, clock: Clock): Promise<void> {
  child.kill('SIGTERM')
  const stopWaiting = clock.after(KILL_AFTER_MS, () => child.kill('SIGKILL'))
  await ended
  stopWaiting()
}
