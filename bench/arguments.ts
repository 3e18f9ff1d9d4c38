import { readArguments, UsageError } from '../engine/process/command-line.ts'

/** Benches that can run on a deployment (`--url`). */
const TARGET_NAMES = ['rest', 'fan-out', 'connect'] as const
export type TargetName = (typeof TARGET_NAMES)[number]

export interface LocalRequest {
  readonly kind: 'local'
  readonly names: readonly string[]
  readonly isSmall: boolean
  readonly isJson: boolean
  readonly seconds: number | null
  readonly markets: number | null
}

export interface TargetRequest {
  readonly kind: 'target'
  readonly names: readonly TargetName[]
  readonly isJson: boolean
  readonly seconds: number
  /** URL without a path or trailing slash. */
  readonly origin: string
  readonly apiKey: string
  readonly perSecond: number
  readonly clientCount: number
}

/** The deployment does not support the load. The message is one line. */
export class TargetError extends Error {}

type BenchRequest = LocalRequest | TargetRequest | { readonly kind: 'help' }

const SECONDS_MAX = 3_600
const MARKETS_MAX = 2_000_000
const TARGET_SECONDS = 10
const TARGET_PER_SECOND = 200
const TARGET_CLIENTS = 10

export const BENCH_COMMAND = {
  name: 'npm run bench',
  about: 'Runs benches in sequence, or loads a running deployment.',
  usage: ['[NAME ...] [options]', '[NAME ...] --url URL --api-key KEY [options]'],
  positionals: {
    NAME: 'all benches if omitted; a run of all benches writes bench/report/results.md',
    '': `with --url: ${TARGET_NAMES.join(', ')}, all three if omitted`,
  },
  positionalCounts: [0, Number.POSITIVE_INFINITY],
  options: {
    json: { takes: null, means: 'one JSON document on stdout; progress stays on stderr' },
    seconds: { takes: 'N', means: 'duration of each timed load' },
    markets: {
      takes: 'N',
      means: 'for scale, start, matching and cluster: markets of both venues together',
    },
    small: { takes: null, means: 'small loads, as in tests; the figures are meaningless' },
    url: { takes: 'URL', means: 'load this running deployment instead' },
    'api-key': { takes: 'KEY', means: 'API key of the deployment, with --url' },
    rate: { takes: 'N', means: `requests per second with --url (${TARGET_PER_SECOND})` },
    clients: { takes: 'N', means: `streams at once with --url (${TARGET_CLIENTS})` },
  },
  examples: ['', 'rest fan-out --seconds 5', '--url http://127.0.0.1:8080 --api-key KEY connect'],
  notes: [
    'Exit codes: 0 done, 1 a bench failed or the deployment cannot be loaded, 2 invalid arguments.',
  ],
} as const

/** Throws UsageError. `assertKnown` checks the names of the benches. */
export function readRequest(args: readonly string[]): BenchRequest {
  const given = readArguments(BENCH_COMMAND, args)
  if (given === 'help') return { kind: 'help' }
  const names = given.positionals
  const seconds = given.number('seconds', { above: 0, max: SECONDS_MAX })
  const markets = given.number('markets', { above: 0, max: MARKETS_MAX, isInteger: true })
  const perSecond = given.number('rate', { above: 0, max: 100_000 })
  const clientCount = given.number('clients', { above: 0, max: 20_000, isInteger: true })
  const [isJson, isSmall, url] = [given.has('json'), given.has('small'), given.text('url')]
  if (url === null) {
    const lone = (['api-key', 'rate', 'clients'] as const).find((option) => given.has(option))
    if (lone !== undefined) throw new UsageError(`--${lone} needs --url`)
    return { kind: 'local', names, isSmall, isJson, seconds, markets }
  }
  if (markets !== null) throw new UsageError('--markets is not for --url')
  if (isSmall) throw new UsageError('--small is not for --url')
  return {
    kind: 'target',
    names: targetNames(names),
    isJson,
    seconds: seconds ?? TARGET_SECONDS,
    origin: originOf(url),
    apiKey: keyOf(given.text('api-key')),
    perSecond: perSecond ?? TARGET_PER_SECOND,
    clientCount: clientCount ?? TARGET_CLIENTS,
  }
}

export function assertKnown(requested: readonly string[], existing: readonly string[]): void {
  const unknown = requested.filter((name) => !existing.includes(name))
  if (unknown.length === 0) return
  throw new UsageError(`no bench is called ${unknown.join(', ')}; there are ${existing.join(', ')}`)
}

function targetNames(names: readonly string[]): readonly TargetName[] {
  const other = names.find((name) => !TARGET_NAMES.some((existing) => existing === name))
  if (other !== undefined) {
    throw new UsageError(`${other} does not support --url; ${TARGET_NAMES.join(', ')} do`)
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

function keyOf(key: string | null): string {
  if (key === null) throw new UsageError('--url needs --api-key KEY')
  // A header or query would encode other characters, which would change the key.
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new UsageError('--api-key accepts printable characters without blanks')
}
