// Open-loop requests: request n is due n / rate after the start, whatever happened before, and its time runs from then
// to the last byte of the response. Delays of a stalled server, and of this process, are thus included. Also for remote
// deployments, over http and https.

import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, get as httpsGet } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { newTimes, record } from './latency-recorder.ts'

/** Response timeout. */
const ANSWER_MS_MAX = 10_000
const CONNECTIONS_MAX = 64

interface PlannedLoad {
  /** The service's base URL; paths are appended. */
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly perSecond: number
  readonly seconds: number
  /** Sent in rotation. */
  readonly requests: readonly PlannedRequest[]
}

export interface PlannedRequest {
  /** The route under which its time is recorded. */
  readonly route: string
  readonly path: string
}

interface PlannedResult {
  readonly requestCount: number
  /** Of responses with status 200, by route. */
  readonly times: ReadonlyMap<string, Histogram>
  /** Number of other outcomes, by status or error. */
  readonly refusals: ReadonlyMap<string, number>
  /** How late requests were sent: this process's own share of the times. */
  readonly lateness: Histogram
}

/** Runs the plan; resolves when the last response has arrived, or ten seconds after it was due. */
export async function runPlanned(load: PlannedLoad): Promise<PlannedResult> {
  const run = new PlannedRun(load)
  try {
    await run.sendAll()
    await run.settle()
    const { requestCount, times, refusals, lateness } = run
    return { requestCount, times, refusals, lateness }
  } finally {
    run.close()
  }
}

class PlannedRun {
  readonly times = new Map<string, Histogram>()
  readonly refusals = new Map<string, number>()
  readonly lateness = newTimes()
  readonly requestCount: number
  readonly #load: PlannedLoad
  readonly #isSecure: boolean
  readonly #agent: HttpAgent
  #pendingCount = 0
  #isOver = false

  constructor(load: PlannedLoad) {
    this.#load = load
    this.requestCount = Math.max(Math.round(load.perSecond * load.seconds), 1)
    this.#isSecure = load.origin.startsWith('https:')
    const pool = { keepAlive: true, maxSockets: CONNECTIONS_MAX }
    this.#agent = this.#isSecure ? new HttpsAgent(pool) : new HttpAgent(pool)
  }

  async sendAll(): Promise<void> {
    const { perSecond, requests } = this.#load
    const startMs = systemClock.monotonicMs()
    for (let sent = 0; sent < this.requestCount; ) {
      const elapsedMs = systemClock.monotonicMs() - startMs
      const dueCount = Math.min(Math.floor((elapsedMs * perSecond) / 1_000) + 1, this.requestCount)
      for (; sent < dueCount; sent += 1) {
        const request = requests[sent % requests.length]
        if (request !== undefined) this.#send(request, startMs + (1_000 * sent) / perSecond)
      }
      if (sent < this.requestCount) await pause(1)
    }
  }

  #send({ route, path }: PlannedRequest, plannedMs: number): void {
    const { origin, headers } = this.#load
    const get = this.#isSecure ? httpsGet : httpGet
    let isSettled = false
    const settle = (act: () => void) => {
      if (isSettled || this.#isOver) return
      isSettled = true
      this.#pendingCount -= 1
      act()
    }
    const refuse = (why: string) => settle(() => this.#refuse(why))
    this.#pendingCount += 1
    record(this.lateness, systemClock.monotonicMs() - plannedMs)
    const take = (response: IncomingMessage) => {
      response.resume()
      response.once('error', (error) => refuse(error.message))
      response.once('end', () => {
        const { statusCode } = response
        if (statusCode !== 200) return refuse(`status ${statusCode}`)
        settle(() => record(this.#timesOf(route), systemClock.monotonicMs() - plannedMs))
      })
    }
    const request = get(`${origin}${path}`, { agent: this.#agent, headers }, take)
    request.once('error', (error: NodeJS.ErrnoException) => refuse(error.code ?? error.message))
  }

  #timesOf(route: string): Histogram {
    const existing = this.times.get(route)
    if (existing !== undefined) return existing
    const times = newTimes()
    this.times.set(route, times)
    return times
  }

  #refuse(why: string): void {
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1)
  }

  async settle(): Promise<void> {
    const endsAtMs = systemClock.monotonicMs() + ANSWER_MS_MAX
    while (this.#pendingCount > 0 && systemClock.monotonicMs() < endsAtMs) await pause(2)
    this.#isOver = true
    const why = `no answer in ${ANSWER_MS_MAX / 1_000} s`
    if (this.#pendingCount > 0) this.refusals.set(why, this.#pendingCount)
  }

  close(): void {
    this.#isOver = true
    this.#agent.destroy()
  }
}

/** Failures as text: `3 × status 429, 1 × ECONNRESET`; '' if there were none. */
export function refusalText(refusals: ReadonlyMap<string, number>): string {
  return [...refusals].map(([why, count]) => `${count} × ${why}`).join(', ')
}
