// What does a request cost the server, against a bare uWebSockets.js app that reads one header and answers a constant,
// and against the same on fastify? Ours is the whole service in a process of its own, with keys, limits and headers,
// over simulated venues that send 200 messages a second meanwhile; the limit writes the same headers and a body of
// equal size; fastify looks keys and markets up, counts and writes finished texts (bench/rest/server.ts). Autocannon presses
// from a process of its own with 64 connections, each of which asks again as soon as it was answered, on one route of one
// server at a time, in turns: it is at its own end before the servers are, and so they are compared by processor time a request. From ours what its venues cost is
// taken off, as measured in a pause of each round, from the others their own (nearly nothing). Then all three are asked
// for the hot routes at a planned rate, each answer timed from its planned moment, and ours and the limit at 70 % of what
// ours answered in the closed loop of that round, where queues show.
// Excluded: networks beyond loopback, connecting, TLS, pipelined requests, markets that are asleep on disk.
// Precision: the processor time of ours comes in ticks of 10 ms, about 1 % of a round. In a pause each venue message
// wakes the loop by itself, between requests it may share a turn with them: what is taken off is rather too much than
// too little, and is printed so that this can be judged.

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
import { type FieldSize, type RequestedRoute, RestField, type Usage } from './rest/field.ts'
import { CONTESTANTS, type Contestant } from './rest/messages.ts'

const SHARE_OF_LIMIT_MIN = 0.75
const TIMES_FASTIFY_MIN = 1.5
/** Of a page of 20 rows, of which hardly one has changed since the last answer. */
const PAGE_MICROS_MAX = 60
const PLANNED_PER_SECOND = 1_000
/** Of what ours answers in a closed loop. */
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
    'What does a request cost the server, against a bare uWebSockets.js app and against fastify?',
  excludes: 'networks beyond loopback, connecting, TLS, pipelining, markets asleep on disk',
  async run(setting) {
    const { isSmall } = setting
    const seconds = setting.seconds ?? (isSmall ? 0.05 : 0.8)
    const size = { ...(isSmall ? SMALL : LARGE), hasWarmUp: !isSmall, seconds }
    return inFolder(async (folder) => {
      const field = await RestField.open(folder, size)
      try {
        const contest = new Contest(field, size, setting)
        await contest.run()
        const lines = await field.judge()
        const checked = `${contest.answerCount} answers, each 200, ${contest.comparedCount} of them looked at; then ${lines.length} books, prices and pages equal what the simulator and the engine hold`
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

/** All rounds of a run. */
class Contest {
  answerCount = 0
  comparedCount = 0
  readonly #field: RestField
  readonly #size: Size
  readonly #say: BenchSetting['say']
  readonly #pressed = new Map<RequestedRoute, Rounds>()
  readonly #idle = noRounds()
  readonly #planned = { ours: newTimes(), limit: newTimes(), fastify: newTimes() }
  /** At 70 % of what ours bears: requests a second of each round, and percentiles 99 in milliseconds. */
  readonly #near: { perSecond: number; ours: number; limit: number }[] = []

  constructor(field: RestField, size: Size, { say: logLine }: BenchSetting) {
    this.#field = field
    this.#size = size
    this.#say = logLine
    for (const route of field.routes) this.#pressed.set(route, noRounds())
  }

  /** A first round that is not counted is for the compiler. */
  async run(): Promise<void> {
    const { roundCount, hasWarmUp } = this.#size
    for (let round = hasWarmUp ? 0 : 1; round <= roundCount; round += 1) {
      await this.#round(round)
      this.#say(round === 0 ? 'warmed up' : `round ${round} of ${roundCount}`)
    }
  }

  async #round(round: number): Promise<void> {
    const { seconds } = this.#size
    const isCounted = round > 0
    // All three idle through the same pause.
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
      'idle, and taken off',
      CONTESTANTS.map((one) => `${one} ${percent(idle[one])} of a core`).join(', '),
    )
    const pressed = [...this.#pressed].flatMap(([route, rounds]) => routeRows(route, rounds, idle))
    return [...times, ...this.#nearRows(), resting, ...pressed]
  }

  #nearRows(): readonly Row[] {
    const of = (pick: (near: { perSecond: number; ours: number; limit: number }) => number) =>
      median(this.#near.map(pick))
    const what = `hot routes at 70 % of what ours bears, ${Math.round(of(({ perSecond }) => perSecond))}/s, p99`
    const sides = `ours ${figureText(of(({ ours }) => ours))} ms, limit ${figureText(of(({ limit }) => limit))} ms`
    const ratio = of(({ ours, limit }) => ours / limit)
    return [
      figureRow(what, sides),
      aimedRow(`${what}: ours / limit`, ratio, { atMost: P99_OF_LIMIT_MAX }),
    ]
  }
}

/** The first of one round is the last of the next. */
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
  // Of rounds that followed each other, so that what the machine did meanwhile falls on both.
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
