// Load on a running deployment (`npm run bench -- --url URL --api-key KEY`): checks its properties and the key's quota,
// and runs the benches that work over a network. Figures such as processor time are available only on the deployment's
// machine, so there are no ratios.

import { networkInterfaces } from 'node:os'
import { systemClock } from '../../engine/clock.ts'
import { TargetError, type TargetName, type TargetRequest } from '../arguments.ts'
import type { BenchResult } from '../harness.ts'
import type { Outcome } from '../report/report.ts'
import { runTargetConnect } from './connect.ts'
import { runTargetFanOut } from './fan-out.ts'
import { runTargetRest } from './rest.ts'

export { TargetError }

export interface Target {
  /** Base URL without a trailing slash. */
  readonly origin: string
  readonly apiKey: string
  /** Open markets, the most active first, at most 100. */
  readonly marketIds: readonly string[]
  /** Words of their questions, used as search terms. */
  readonly words: readonly string[]
  readonly requestsLeft: number
  readonly requestsPerMinute: number
  /** True if the deployment runs on this machine and therefore uses the same clock. */
  readonly isHere: boolean
}

interface TargetBench {
  readonly question: string
  readonly excludes: string
  run(target: Target, request: TargetRequest, logLine: (line: string) => void): Promise<BenchResult>
}

const NOT_SEEN = 'the server’s processor time and memory, which only its machine can measure'

const TARGET_BENCHES: Readonly<Record<TargetName, TargetBench>> = {
  rest: {
    question: 'How long do responses take at a planned rate, from the planned time?',
    excludes: NOT_SEEN,
    run: runTargetRest,
  },
  'fan-out': {
    question: 'How many deliveries a second reach the subscribers, and how old are they then?',
    excludes: `${NOT_SEEN}; a subscriber’s own work`,
    run: runTargetFanOut,
  },
  connect: {
    question:
      'How long until all clients have their books, and until all have resumed after a disconnect?',
    excludes: `${NOT_SEEN}; the clients’ back-off, since all reconnect at once`,
    run: runTargetConnect,
  },
}

/** Runs the requested loads. Rejects with TargetError if the deployment is unreachable or refuses a request. */
export async function loadTarget(
  request: TargetRequest,
  logLine: (line: string) => void,
): Promise<readonly Outcome[]> {
  const target = await openTarget(request)
  logLine(`${request.origin} answers; the load uses ${target.marketIds.length} open markets`)
  const neededCount = requestsNeeded(request)
  if (neededCount > target.requestsLeft) {
    throw new TargetError(
      `the key has ${target.requestsLeft} requests left of ${target.requestsPerMinute} a minute, the load needs ${neededCount}: give a lower --rate, fewer --seconds or --clients, or raise its tier`,
    )
  }
  const outcomes: Outcome[] = []
  for (const name of request.names) {
    const { run, ...about } = TARGET_BENCHES[name]
    const startedMs = systemClock.monotonicMs()
    logLine(`${name}: begins`)
    const result = await named(
      name,
      run(target, request, (line) => logLine(`${name}: ${line}`)),
    )
    const tookMs = systemClock.monotonicMs() - startedMs
    outcomes.push({ kind: 'done', bench: { name, ...about }, result, tookMs })
  }
  return outcomes
}

async function named<Result>(name: TargetName, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof TargetError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new TargetError(`${name} failed: ${why}`, { cause: error })
  }
}

function requestsNeeded({ names, perSecond, seconds, clientCount }: TargetRequest): number {
  const needs = {
    rest: Math.ceil(perSecond * Math.min(seconds, 60)),
    'fan-out': clientCount,
    connect: 2 * clientCount,
  }
  return names.reduce((sum, name) => sum + needs[name], 0)
}

const LIST_PATH = '/v1/markets?status=open&limit=100'

interface ListedMarket {
  readonly id: string
  readonly question: string
}

async function openTarget({ origin, apiKey }: TargetRequest): Promise<Target> {
  const response = await reach(origin, apiKey)
  const { status, headers } = response
  if (status === 401) throw new TargetError(`${origin} refuses this API key (401)`)
  if (status === 429) {
    const wait = headers.get('retry-after')
    throw new TargetError(
      `the key's requests are used up (429): ${origin} accepts requests again after ${wait} s; or raise its tier`,
    )
  }
  const markets = status === 200 ? await marketsOf(response) : null
  if (markets === null) {
    throw new TargetError(
      `${origin} answers ${LIST_PATH} with ${status}: it is not a Twinbook service`,
    )
  }
  if (markets.length === 0) throw new TargetError(`${origin} lists no open market`)
  const numberIn = (name: string) => Number(headers.get(name) ?? Number.POSITIVE_INFINITY)
  return {
    origin,
    apiKey,
    marketIds: markets.map(({ id }) => id),
    words: describeTarget(markets),
    requestsLeft: numberIn('x-ratelimit-remaining'),
    requestsPerMinute: numberIn('x-ratelimit-limit'),
    isHere: isOwnAddress(new URL(origin).hostname),
  }
}

async function reach(origin: string, apiKey: string): Promise<Response> {
  const signal = AbortSignal.timeout(10_000)
  try {
    return await fetch(`${origin}${LIST_PATH}`, { headers: { 'X-API-Key': apiKey }, signal })
  } catch (error) {
    const cause: unknown = error instanceof Error ? (error.cause ?? error) : error
    const code: unknown = Reflect.get(Object(cause), 'code')
    const why =
      typeof code === 'string' ? code : cause instanceof Error ? cause.message : 'no answer'
    throw new TargetError(`${origin} cannot be reached: ${why}`)
  }
}

async function marketsOf(response: Response): Promise<readonly ListedMarket[] | null> {
  try {
    const body: unknown = JSON.parse(await response.text())
    const rows: unknown = Reflect.get(Object(body), 'markets')
    if (!Array.isArray(rows)) return null
    return rows.map((row: unknown) => ({
      id: String(Reflect.get(Object(row), 'id')),
      question: String(Reflect.get(Object(row), 'question')),
    }))
  } catch {
    return null
  }
}

/** The longest word of each market's question, as a user would search for it. */
export function describeTarget(
  markets: readonly Pick<ListedMarket, 'question'>[],
): readonly string[] {
  const longest = markets.map(({ question }) => {
    const terms = question.match(/\p{L}{3,}/gu) ?? []
    return [...terms].sort((one, other) => other.length - one.length)[0] ?? ''
  })
  const found = [...new Set(longest)].filter((term) => term !== '')
  return found.length > 0 ? found : ['will']
}

function isOwnAddress(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '')
  if (name === 'localhost' || name === '::1' || name.startsWith('127.')) return true
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return own.some(({ address }) => address === name)
}
