// Compares three servers. `ours` is the complete service while simulated venues send 200 messages per second. `limit`
// is a bare uWebSockets.js app that sends the same headers and a body of equal size. `fastify` looks up keys and
// markets and sends prepared texts (bench/rest/server.ts). In the closed loop, autocannon uses 64 connections for one
// route of one server at a time. The client saturates before the servers do, so servers are compared by processor time
// per request, without the idle cost of a pause. In the open loop, requests are sent at a planned rate, and times start
// at the planned time.

import { setTimeout as pause } from 'node:timers/promises'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  figureText,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import {
  CONTESTANTS,
  type Contestant,
  type FieldSize,
  type RequestedRoute,
  RestField,
  type Usage,
} from './rest/field.ts'

const SHARE_OF_LIMIT_MIN = 0.75
const TIMES_FASTIFY_MIN = 1.5
/** Target for a page of 20 rows, most of which did not change since the last response. */
const PAGE_MICROS_MAX = 60
const PLANNED_PER_SECOND = 1_000
/** Load of the open loop, as a share of our closed-loop rate. */
const NEAR_ITS_END = 0.7
const P99_OF_LIMIT_MAX = 3

interface Size extends FieldSize {
  readonly roundCount: number
  readonly hasWarmUp: boolean
  readonly seconds: number
}

const LARGE = { marketsPerVenue: 200, askedCount: 50, isShort: false, roundCount: 5 }
const SMALL = { marketsPerVenue: 20, askedCount: 4, isShort: true, roundCount: 1 }

export const bench: Bench = {
  name: 'rest',
  question:
    'What does a request cost the server, compared with a bare uWebSockets.js app and with fastify?',
  excludes: 'networks beyond loopback, connecting, TLS, pipelining, markets whose actors sleep',
  async run(setting) {
    const { isSmall } = setting
    const seconds = setting.seconds ?? (isSmall ? 0.05 : 0.8)
    const size = { ...(isSmall ? SMALL : LARGE), hasWarmUp: !isSmall, seconds }
    return inFolder(async (folder) => {
      const field = new RestField()
      try {
        await field.open(folder, size)
        const contest = new Contest(field, size, setting)
        await contest.run()
        const lines = await field.judge()
        const checked = `${contest.answerCount} answers, each 200, ${contest.comparedCount} of them compared; then ${lines.length} books, prices and pages equal what the simulator and the engine hold`
        return {
          rows: contest.rows(),
          state: { hash: hashOf(lines), checked, isRepeatable: false },
        }
      } finally {
        await field.close()
      }
    })
  },
}

type Rounds = Record<Contestant, Usage[]>
const noRounds = (): Rounds => ({ ours: [], limit: [], fastify: [] })

class Contest {
  answerCount = 0
  comparedCount = 0
  readonly #field: RestField
  readonly #size: Size
  readonly #logLine: BenchSetting['logLine']
  readonly #pressed = new Map<RequestedRoute, Rounds>()
  readonly #idle = noRounds()
  readonly #planned = { ours: newTimes(), limit: newTimes(), fastify: newTimes() }
  /** At 70 % of our capacity: requests per second of each round, and 99th percentiles in milliseconds. */
  readonly #near: { perSecond: number; ours: number; limit: number }[] = []

  constructor(field: RestField, size: Size, { logLine }: BenchSetting) {
    this.#field = field
    this.#size = size
    this.#logLine = logLine
    for (const route of field.routes) this.#pressed.set(route, noRounds())
  }

  /** The first round is not counted, because the code is compiled during it. */
  async run(): Promise<void> {
    const { roundCount, hasWarmUp } = this.#size
    for (let round = hasWarmUp ? 0 : 1; round <= roundCount; round += 1) {
      await this.#round(round)
      this.#logLine(round === 0 ? 'warmed up' : `round ${round} of ${roundCount}`)
    }
  }

  async #round(round: number): Promise<void> {
    const { seconds } = this.#size
    const isCounted = round > 0
    // All three servers are idle during the same pause.
    const rest = pause(seconds * 1_000)
    const idle = CONTESTANTS.map(async (contestant) => {
      const usage = await this.#field.idle(contestant, () => rest)
      if (isCounted) this.#idle[contestant].push(usage)
    })
    await Promise.all(idle)
    for (const [route, rounds] of this.#pressed) {
      for (const contestant of inTurn(round, route)) {
        const usage = await this.#field.press(contestant, route, seconds)
        check(usage.answerCount > 0, `${contestant} answered no ${route.name}`)
        this.answerCount += usage.answerCount
        this.comparedCount += usage.comparedCount
        if (isCounted) rounds[contestant].push(usage)
      }
    }
    const hot = this.#field.routes.filter(({ kind }) => kind === 'hot')
    const plan = async (contestant: Contestant, perSecond: number) => {
      const times = await this.#field.plan(contestant, hot, { perSecond, seconds })
      this.answerCount += times.totalCount
      return times
    }
    for (const contestant of inTurn(round, { kind: 'hot' })) {
      const times = await plan(contestant, PLANNED_PER_SECOND)
      if (isCounted) this.#planned[contestant].add(times)
    }
    if (!isCounted) return
    const borne = hot.map((route) => rateOf(this.#pressed.get(route)?.ours.at(-1)))
    const near = { perSecond: Math.ceil(NEAR_ITS_END * Math.min(...borne)), ours: 0, limit: 0 }
    for (const contestant of inTurn(round, { kind: 'list' })) {
      if (contestant === 'fastify') continue
      const times = await plan(contestant, near.perSecond)
      near[contestant] = times.getValueAtPercentile(99) / 1e6
    }
    this.#near.push(near)
  }

  rows(): readonly Row[] {
    const plan = `hot routes at ${PLANNED_PER_SECOND}/s, from the planned time`
    const times = CONTESTANTS.map((one) => timesRow(`${plan}: ${one}`, this.#planned[one]))
    const idle = {
      ours: median(this.#idle.ours.map(coreShare)),
      limit: median(this.#idle.limit.map(coreShare)),
      fastify: median(this.#idle.fastify.map(coreShare)),
    }
    const resting = figureRow(
      'idle, and subtracted',
      CONTESTANTS.map((one) => `${one} ${percent(idle[one])} of a core`).join(', '),
    )
    const pressed = [...this.#pressed].flatMap(([route, rounds]) => routeRows(route, rounds, idle))
    return [...times, ...this.#nearRows(), resting, ...pressed]
  }

  #nearRows(): readonly Row[] {
    const of = (pick: (near: { perSecond: number; ours: number; limit: number }) => number) =>
      median(this.#near.map(pick))
    const what = `hot routes at 70 % of our capacity, ${Math.round(of(({ perSecond }) => perSecond))}/s, p99`
    const sides = `ours ${figureText(of(({ ours }) => ours))} ms, limit ${figureText(of(({ limit }) => limit))} ms`
    const ratio = of(({ ours, limit }) => ours / limit)
    return [
      figureRow(what, sides),
      aimedRow(`${what}: ours / limit`, ratio, { atMost: P99_OF_LIMIT_MAX }),
    ]
  }
}

function inTurn(round: number, { kind }: Pick<RequestedRoute, 'kind'>): readonly Contestant[] {
  const those = CONTESTANTS.filter((contestant) => kind === 'hot' || contestant !== 'fastify')
  const first = round % those.length
  return [...those.slice(first), ...those.slice(0, first)]
}

const rateOf = (usage: Usage | undefined): number =>
  usage === undefined ? 0 : (1_000 * usage.answerCount) / usage.tookMs
const coreShare = ({ processorMicros, tookMs }: Usage): number => processorMicros / (1_000 * tookMs)
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

function routeRows(
  route: RequestedRoute,
  rounds: Rounds,
  idle: Readonly<Record<Contestant, number>>,
): readonly Row[] {
  const { name, kind, bytes } = route
  const micros = (contestant: Contestant): readonly number[] =>
    rounds[contestant].map(({ processorMicros, tookMs, answerCount }) => {
      return Math.max(processorMicros - idle[contestant] * 1_000 * tookMs, 0) / answerCount
    })
  const costs = CONTESTANTS.filter((one) => rounds[one].length > 0).map((one) => {
    const rate = median(rounds[one].map(rateOf))
    return `${one} ${figureText(median(micros(one)))} µs (${Math.round(rate)}/s, ${percent(median(rounds[one].map(coreShare)))} of a core)`
  })
  const cost = figureRow(
    `${name}: processor a request, answers of ${bytes} bytes`,
    costs.join(', '),
  )
  // Ratios of consecutive rounds, because both rounds have about the same background load.
  const ratioOf = (one: Contestant, other: Contestant): number => {
    const others = micros(other)
    return median(micros(one).map((own, index) => own / (others[index] ?? Number.NaN)))
  }
  const ratio = (other: Contestant): number => ratioOf(other, 'ours')
  if (kind !== 'hot') {
    const most = { atMost: PAGE_MICROS_MAX }
    return [
      cost,
      aimedRow(`${name}: ours`, median(micros('ours')), most, 'µs'),
      figureRow(`${name}: limit / ours`, `${figureText(ratio('limit'))} times`),
    ]
  }
  return [
    cost,
    aimedRow(`${name}: limit / ours`, ratio('limit'), { atLeast: SHARE_OF_LIMIT_MIN }),
    aimedRow(`${name}: fastify / ours`, ratio('fastify'), { atLeast: TIMES_FASTIFY_MIN }),
    figureRow(
      `${name}: fastify / limit, which no server of ours can exceed`,
      `${figureText(ratioOf('fastify', 'limit'))} times`,
    ),
  ]
}
