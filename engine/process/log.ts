// The root of all logs (pino). Everything else receives a `Log` and makes children of it.
//  Secrets are redacted by field
// name here, once; a host that cannot be reached has one line a minute.

import { type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { type Clock, systemClock } from '../clock.ts'

/** A logger; `child({ part })` names the speaker. */
export type Log = Logger

const REDACTED = [
  'password',
  'key',
  'apiKey',
  'api_key',
  'token',
  'access_token',
  'ticket',
  'secret',
  'authorization',
]

/** What never reaches a line, by field name, at the top and one level down. */
export const REDACTION = {
  paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
  censor: '[redacted]',
}

const HOST_LOG_INTERVAL_MS = 60_000

/** How every line of ours is made, wherever it goes. */
export function logOptions(level: string, clock: Clock): LoggerOptions {
  const hosts = new UnreachableHosts(clock)
  return {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: REDACTION,
    // A missing answer is no bug of ours, and its stack says only that a request was made.
    serializers: {
      err: (error) => (hostOf(error) === null ? stdSerializers.err(error) : error.message),
    },
    hooks: {
      logMethod(line, write) {
        const [fields] = line
        const host = hostOf(fields) ?? hostOf(Reflect.get(Object(fields), 'err'))
        if (host === null || hosts.admit(host)) write.apply(this, line)
      },
    },
  }
}

/** The host that a line's fields or an error name as out of reach; null for none. */
function hostOf(value: unknown): string | null {
  const host: unknown = Reflect.get(Object(value), 'unreachableHost')
  return typeof host === 'string' ? host : null
}

/** Without a network every request to a host fails again and again: it has one line a host and minute. */
class UnreachableHosts {
  readonly #clock: Clock
  /** By host, of which there are a few; monotonic. */
  readonly #loggedAtMs = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  admit(host: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    const loggedAtMs = this.#loggedAtMs.get(host) ?? Number.NEGATIVE_INFINITY
    if (nowMs - loggedAtMs < HOST_LOG_INTERVAL_MS) return false
    this.#loggedAtMs.set(host, nowMs)
    return true
  }
}

/** Opens the root log on stderr: readable on a terminal, JSON lines otherwise. */
export function openLog(level: string): Log {
  const options = logOptions(level, systemClock)
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
