// The root logger (pino). Secrets are redacted by field name. Lines about an unreachable host are limited to one a
// minute.

import { type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { type Clock, systemClock } from '../clock.ts'

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

/** Fields that are never logged, at the top level and one level below. */
export const REDACTION = {
  paths: REDACTED.flatMap((name) => [name, `*.${name}`]),
  censor: '[redacted]',
}

const HOST_LOG_INTERVAL_MS = 60_000

export function logOptions(level: string, clock: Clock): LoggerOptions {
  const hosts = new UnreachableHosts(clock)
  return {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: REDACTION,
    // A missing response is no bug, so its stack trace is omitted.
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

/** The unreachable host that the fields or the error of a line name. Null: none. */
function hostOf(value: unknown): string | null {
  const host: unknown = Reflect.get(Object(value), 'unreachableHost')
  return typeof host === 'string' ? host : null
}

/** Limits lines about an unreachable host to one a minute, because without a network all requests fail repeatedly. */
class UnreachableHosts {
  readonly #clock: Clock
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

/** Writes to stderr: one readable line for each entry on a terminal, else JSON lines. */
export function openLog(level: string): Log {
  const options = logOptions(level, systemClock)
  if (process.stderr.isTTY === true) {
    const transport = pino.transport({
      target: 'pino-pretty',
      options: { destination: 2, translateTime: 'SYS:HH:MM:ss', singleLine: true },
    })
    return pino(options, transport)
  }
  return pino(options, pino.destination({ dest: 2, sync: false }))
}

export const silentLog: Log = pino({ level: 'silent' })

/**
 * Admits the first `burst` log lines of each reason per period, and counts all further lines. It stores at most 256
 * reasons.
 */
export class LogSampler {
  #seen = new Map<string, number>()
  readonly #burst: number

  constructor(burst = 3) {
    this.#burst = burst
  }

  /** Whether this line should be logged. `count`: number of occurrences of the reason so far. */
  admit(reason: string): { isWritten: boolean; count: number } {
    const count = (this.#seen.get(reason) ?? 0) + 1
    if (count === 1 && this.#seen.size >= 256) this.#seen.clear()
    this.#seen.set(reason, count)
    const isPowerOfTen = count % 10 === 0 && /^10*$/.test(String(count))
    return { isWritten: count <= this.#burst || isPowerOfTen, count }
  }
}
