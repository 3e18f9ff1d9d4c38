// The root logger (pino). Every component receives a `Log` and creates children of it. Secrets are redacted
// here by field name. An unreachable host gets one line a minute.

import { type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { type Clock, systemClock } from '../clock.ts'

/** A logger. `child({ part })` names the component. */
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

/** Fields that are never logged, by name, at the top and one level down. */
export const REDACTION = {
  paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
  censor: '[redacted]',
}

const HOST_LOG_INTERVAL_MS = 60_000

/** Options that all loggers share, independent of their destination. */
export function logOptions(level: string, clock: Clock): LoggerOptions {
  const hosts = new UnreachableHosts(clock)
  return {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: REDACTION,
    // A missing response is not a bug, and its stack shows only that a request was made.
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

/** The unreachable host that a line's fields or an error name. Null for none. */
function hostOf(value: unknown): string | null {
  const host: unknown = Reflect.get(Object(value), 'unreachableHost')
  return typeof host === 'string' ? host : null
}

/**
 * Limits log lines to one per unreachable host and minute. Without a network every request fails again and
 * again.
 */
class UnreachableHosts {
  readonly #clock: Clock
  /** By host, of which there are a few. Monotonic time. */
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

/** A log that discards everything, for tests and tools. */
export const silentLog: Log = pino({ level: 'silent' })

/**
 * Admits the first `burst` occurrences of each reason per period and only counts the rest. So a flood of
 * bad input does not become a flood of log lines. Remembers at most 256 reasons.
 */
export class LogSampler {
  #seen = new Map<string, number>()
  readonly #burst: number

  constructor(burst = 3) {
    this.#burst = burst
  }

  /** Whether this occurrence should be logged. `count` is the number of occurrences so far. */
  admit(reason: string): { isWritten: boolean; count: number } {
    const count = (this.#seen.get(reason) ?? 0) + 1
    if (count === 1 && this.#seen.size >= 256) this.#seen.clear()
    this.#seen.set(reason, count)
    const isPowerOfTen = count % 10 === 0 && /^10*$/.test(String(count))
    return { isWritten: count <= this.#burst || isPowerOfTen, count }
  }
}
