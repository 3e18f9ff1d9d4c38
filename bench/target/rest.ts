// Sends requests to a deployment at a planned rate: three hot routes of one market, the list and the search, in
// rotation. Times start at the planned time. A status other than 200 ends the load.

import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { TargetError, type TargetRequest } from '../arguments.ts'
import { type BenchResult, figureRow, hashOf, newTimes, record, timesRow } from '../harness.ts'
import type { Target } from './target.ts'

const ANSWER_MS_MAX = 10_000
const CONNECTIONS_MAX = 64

interface PlannedLoad {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly perSecond: number
  readonly seconds: number
  readonly requests: readonly PlannedRequest[]
}

interface PlannedRequest {
  readonly route: string
  readonly path: string
}

/** Rejects with TargetError if a response does not have status 200. */
export async function runTargetRest(
  { origin, apiKey, marketIds, words: terms }: Target,
  { perSecond, seconds }: TargetRequest,
  logLine: (line: string) => void,
): Promise<BenchResult> {
  const requests = hotRequests(marketIds, terms)
  const headers = { 'X-API-Key': apiKey }
  logLine(`${perSecond} requests a second for ${seconds} s`)
  const result = await runPlanned({ origin, headers, perSecond, seconds, requests })
  const { times, refusals, requestCount, lateness } = result
  if (refusals.size > 0) {
    const hint = refusals.has('status 429') ? ': the key allows less than this load' : ''
    throw new TargetError(`of ${requestCount} requests ${refusalText(refusals)}${hint}`)
  }
  const rows = [...times].map(([route, some]) => timesRow(`${route}, from the planned time`, some))
  const checked = `${requestCount} requests, each answered with 200`
  const late = timesRow('of that, until it left this machine’s load', lateness)
  const load = figureRow('load', `${perSecond} requests a second, planned, for ${seconds} s`)
  const state = { hash: hashOf([checked]), checked, isRepeatable: false }
  return { rows: [...rows, late, load], state }
}

function hotRequests(
  marketIds: readonly string[],
  terms: readonly string[],
): readonly PlannedRequest[] {
  return marketIds.flatMap((id, index) => {
    const market = `/v1/markets/${encodeURIComponent(id)}`
    const term = encodeURIComponent(terms[index % terms.length] ?? '')
    return [
      { route: '/price', path: `${market}/price` },
      { route: '/orderbook', path: `${market}/orderbook` },
      { route: '/markets/{id}', path: market },
      { route: '/markets', path: `/v1/markets?limit=20&offset=${index % 5}` },
      { route: '/markets/search', path: `/v1/markets/search?limit=20&search=${term}` },
    ]
  })
}

/**
 * Request n is due n / rate after the start, even if earlier requests were late. Its time ends with the last byte of
 * the response and includes delays of this process (`lateness`). `times`: times of responses with status 200, by route.
 * `refusals`: number of other outcomes, by status or error.
 */
export async function runPlanned({ origin, headers, perSecond, seconds, requests }: PlannedLoad) {
  const requestCount = Math.max(Math.round(perSecond * seconds), 1)
  const [times, refusals] = [new Map<string, Histogram>(), new Map<string, number>()]
  const lateness = newTimes()
  const startMs = systemClock.monotonicMs()
  const request = async ({ route, path }: PlannedRequest, plannedMs: number): Promise<void> => {
    const refuse = (why: string) => void refusals.set(why, (refusals.get(why) ?? 0) + 1)
    record(lateness, systemClock.monotonicMs() - plannedMs)
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const response = await fetch(`${origin}${path}`, { headers, signal })
      await response.arrayBuffer()
      if (response.status !== 200) return refuse(`status ${response.status}`)
      const some = times.get(route) ?? newTimes()
      times.set(route, some)
      record(some, systemClock.monotonicMs() - plannedMs)
    } catch (error) {
      refuse(reasonOf(error))
    }
  }
  let next = 0
  const connection = async (): Promise<void> => {
    for (let number = next; number < requestCount; number = next) {
      next += 1
      const plannedMs = startMs + (1_000 * number) / perSecond
      await pause(Math.max(0, plannedMs - systemClock.monotonicMs()))
      const planned = requests[number % requests.length]
      if (planned !== undefined) await request(planned, plannedMs)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS_MAX }, connection))
  return { requestCount, times, refusals, lateness }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer in ${ANSWER_MS_MAX / 1_000} s`
  const code: unknown = Reflect.get(Object(error.cause), 'code')
  return typeof code === 'string' ? code : error.message
}

/** Failures as text: `3 × status 429, 1 × ECONNRESET`. Empty if there are none. */
export function refusalText(refusals: ReadonlyMap<string, number>): string {
  return [...refusals].map(([why, count]) => `${count} × ${why}`).join(', ')
}
