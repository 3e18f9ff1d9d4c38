// What `npm run bench` was asked for: its arguments, read and checked. Not for: doing it (run.ts).
// Upholds BENCH9.

import { parseArgs } from 'node:util'

/** Names of benches that can be aimed at a deployment with `--url`. */
export const TARGET_NAMES = ['rest', 'fan-out', 'connect'] as const
export type TargetName = (typeof TARGET_NAMES)[number]

/** Benches of this checkout, on this machine. */
export interface LocalRequest {
  readonly kind: 'local'
  /** Empty: all. */
  readonly names: readonly string[]
  readonly isSmall: boolean
  readonly isJson: boolean
  readonly seconds: number | null
}

/** Load on a deployment that runs somewhere. */
export interface TargetRequest {
  readonly kind: 'target'
  readonly names: readonly TargetName[]
  readonly isJson: boolean
  readonly seconds: number
  /** Without a path and a slash at its end. */
  readonly origin: string
  readonly apiKey: string
  /** Requests a second. */
  readonly perSecond: number
  /** Streams at once. */
  readonly clientCount: number
}

export type BenchRequest = LocalRequest | TargetRequest | { readonly kind: 'help' }

/** Arguments that cannot be followed; the message is one line. */
export class UsageError extends Error {}

const SECONDS_MAX = 3_600
const TARGET_SECONDS = 10
const TARGET_PER_SECOND = 200
const TARGET_CLIENTS = 10

export const usage = (names: readonly string[]): string => `npm run bench -- [NAME ...] [options]
  NAME           ${names.join(', ')};
                 without any, all, and the run is kept in bench/report/results.md
  --json         one JSON document on stdout (npm run -s bench -- --json); progress stays on stderr
  --seconds N    how long each load lasts, where a bench has one that lasts
  --small        as under npm test: quick, and the numbers mean nothing
  --url URL      load on a running deployment instead: ${TARGET_NAMES.join(', ')}, all three without a NAME
  --api-key KEY  its key, with --url
  --rate N       requests a second with --url (${TARGET_PER_SECOND})
  --clients N    streams at once with --url (${TARGET_CLIENTS})
Exit codes: 0 done, 1 a bench failed or the deployment cannot be loaded, 2 a bad request.`

/** Throws UsageError. Whether there are benches of those names is for `assertKnown`. */
export function readRequest(args: readonly string[]): BenchRequest {
  const { values, positionals } = parsed(args)
  if (values.help) return { kind: 'help' }
  const seconds = numberOf('--seconds', values.seconds, { above: 0, max: SECONDS_MAX })
  const perSecond = numberOf('--rate', values.rate, { above: 0, max: 100_000 })
  const clientCount = numberOf('--clients', values.clients, {
    above: 0,
    max: 20_000,
    isWhole: true,
  })
  const { json: isJson, small: isSmall } = values
  if (values.url === undefined) {
    if (values['api-key'] !== undefined) throw new UsageError('--api-key needs --url')
    if (perSecond !== null) throw new UsageError('--rate needs --url')
    if (clientCount !== null) throw new UsageError('--clients needs --url')
    return { kind: 'local', names: positionals, isSmall, isJson, seconds }
  }
  if (isSmall) throw new UsageError('--small is not for --url')
  return {
    kind: 'target',
    names: targetNames(positionals),
    isJson,
    seconds: seconds ?? TARGET_SECONDS,
    origin: originOf(values.url),
    apiKey: keyOf(values['api-key']),
    perSecond: perSecond ?? TARGET_PER_SECOND,
    clientCount: clientCount ?? TARGET_CLIENTS,
  }
}

/** Throws UsageError when a name is not among those of the benches. */
export function assertKnown(asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new UsageError(`no bench is called ${unknown.join(', ')}; there are ${known.join(', ')}`)
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        small: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        seconds: { type: 'string' },
        url: { type: 'string' },
        'api-key': { type: 'string' },
        rate: { type: 'string' },
        clients: { type: 'string' },
      },
    })
  } catch (error) {
    const [line] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new UsageError(`${line} (npm run bench -- --help)`)
  }
}

function numberOf(
  name: string,
  text: string | undefined,
  { above, max, isWhole = false }: { above: number; max: number; isWhole?: boolean },
): number | null {
  if (text === undefined) return null
  const value = text.trim() === '' ? Number.NaN : Number(text)
  const isRight = value > above && value <= max && (!isWhole || Number.isInteger(value))
  if (isRight) return value
  const what = isWhole ? 'a whole number' : 'a number'
  throw new UsageError(`${name} is ${text}; it accepts ${what} above ${above} and up to ${max}`)
}

function targetNames(names: readonly string[]): readonly TargetName[] {
  const other = names.find((name) => !TARGET_NAMES.some((known) => known === name))
  if (other !== undefined) {
    throw new UsageError(`${other} cannot be aimed with --url; ${TARGET_NAMES.join(', ')} can`)
  }
  return TARGET_NAMES.filter((name) => names.length === 0 || names.includes(name))
}

function originOf(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--url is ${text}; it accepts a URL such as http://127.0.0.1:8080`)
  }
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function keyOf(key: string | undefined): string {
  if (key === undefined) throw new UsageError('--url needs --api-key KEY')
  // Neither a header nor a query would carry anything else unharmed.
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new UsageError('--api-key accepts printable characters without blanks')
}
