// Requests to a deployment at a planned rate: three hot routes of one market, the list and the search in rotation, each
// timed from the planned moment. Any status other than 200 ends it.

import { TargetError, type TargetRequest } from '../arguments.ts'
import { type BenchResult, figureRow, hashOf, timesRow } from '../harness.ts'
import { type PlannedRequest, refusalText, runPlanned } from '../open-loop.ts'
import type { Target } from './target.ts'

/** Rejects with TargetError if a response is not 200. */
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

/** The routes in rotation, so that each has a fifth of the rate. */
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
