// The root of all logs (pino). Everything else receives a `Log` and makes children of it.
// Not for: the banner, which goes to stdout and alone may show a key. Secrets are redacted by field
// name here, once. Upholds LOG1 (no secret reaches a log line).

import { type Logger, pino, stdTimeFunctions } from 'pino'

/** A logger; `child({ part })` names the speaker. */
export type Log = Logger

const REDACTED = [
  'password',
  'key',
  'apiKey',
  'api_key',
  'token',
  'access_token',
  'secret',
  'authorization',
]

/** What never reaches a line, by field name, at the top and one level down. */
export const REDACTION = {
  paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
  censor: '[redacted]',
}

/** Opens the root log on stderr: readable on a terminal, JSON lines otherwise. */
export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: REDACTION,
  }
  if (process.stderr.isTTY === true) {
    const transport = pino.transport({
      target: 'pino-pretty',
      options: { destination: 2, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' },
    })
    return pino(options, transport)
  }
  return pino(options, pino.destination({ dest: 2, sync: false }))
}

/** A log that says nothing, for tests and tools. */
export const silentLog: Log = pino({ level: 'silent' })

/**
 * Lets the first `burst` occurrences of each reason through per period, then only counts:
 * a flood of bad input must not become a flood of lines. At most 256 reasons are remembered.
 */
export class LogSampler {
  #seen = new Map<string, number>()
  readonly #burst: number

  constructor(burst = 3) {
    this.#burst = burst
  }

  /** Whether this occurrence should be written; `count` is how many there have been. */
  admit(reason: string): { isWritten: boolean; count: number } {
    const count = (this.#seen.get(reason) ?? 0) + 1
    if (count === 1 && this.#seen.size >= 256) this.#seen.clear()
    this.#seen.set(reason, count)
    const isPowerOfTen = count % 10 === 0 && /^10*$/.test(String(count))
    return { isWritten: count <= this.#burst || isPowerOfTen, count }
  }
}
