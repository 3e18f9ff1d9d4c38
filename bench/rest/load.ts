// Client process of the rest bench. Each response must have status 200, and some are compared with the expected text.

import autocannon from 'autocannon'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { serve } from '../in-child.ts'
import { type Plan, type RequestedPath, timesOfPlan } from './planned.ts'

const COMPARED_EVERY = 5
const POLL_MS = 20
const TRIES_MAX = 50

/**
 * Closed loop: each connection sends the next request after each response. Returns the number of responses, and of
 * compared ones.
 */
async function press({
  origin,
  apiKey,
  seconds,
  connections,
  requests,
}: Omit<Plan, 'perSecond'>): Promise<{ answerCount: number; comparedCount: number }> {
  const differences: string[] = []
  let comparedCount = 0
  const compare = ({ path, says }: RequestedPath) => {
    return (status: number, body: string): void => {
      comparedCount += 1
      if (status === 200 && body.includes(says)) return
      differences.push(`${path} answered ${status} ${body.slice(0, 200)}`)
    }
  }
  const requested = requests.map((request, index) => {
    const { path } = request
    return index % COMPARED_EVERY === 0 ? { path, onResponse: compare(request) } : { path }
  })
  let answerCount = 0
  // A short load on a busy machine may end before the first responses. The load is then repeated.
  for (let tries = 0; answerCount < connections && tries < TRIES_MAX; tries += 1) {
    const result = await autocannon({
      url: origin,
      connections,
      duration: seconds,
      sampleInt: POLL_MS,
      headers: { 'x-api-key': apiKey },
      requests: requested,
    })
    const { non2xx, errors, timeouts } = result
    const [first] = differences
    if (first !== undefined) throw new Error(first)
    if (non2xx + errors + timeouts > 0) {
      throw new Error(`${non2xx} refused, ${errors} errors, ${timeouts} too late`)
    }
    answerCount += result['2xx']
  }
  return { answerCount, comparedCount }
}

export const api = serve({
  press,
  /** Open loop: sends requests at planned times. Returns a compressed histogram of nanoseconds in Base64. */
  async plan(plan: Plan): Promise<string> {
    return encodeIntoCompressedBase64(await timesOfPlan(plan))
  },
})
