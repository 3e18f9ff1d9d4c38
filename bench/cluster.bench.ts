// Cost of a cluster compared with one process: message latency, and processor time of the engine and of one and four
// gateways. Also a gateway's startup with 100,000 markets, and the delay of a key revocation and the accuracy of a
// quota over four gateways. A venue sends the frames of the end-to-end bench at their planned moments. They go
// alternately to ROLE=all with ten subscribers, and to an engine with one gateway and ten subscribers. A third engine
// without subscribers takes the same frames. The log is a nats-server from PATH. Additional gateways have no
// subscribers. Those with 100,000 markets are processes as `npm start` creates them.
// Excluded: networks beyond loopback, more than one nats-server, failover, subscribers' processing.
// Precision: seven processes share two cores, so wall times include waiting, more for a cluster than for one process.
// Compare processor time per frame and delivery.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import {
  GET_NATS,
  hasNats,
  natsEnv,
  type RunningNats,
  startNats,
} from '../engine/cluster/nats-server.ts'
import { startProcess, type TestProcess } from '../test/support/rigs/processes.ts'
import { Child, V8_FLAGS } from './child.ts'
import type {
  EngineCommand,
  EngineReport,
  GatewayCommand,
  GatewayReport,
} from './cluster/messages.ts'
import type {
  LoadCommand,
  LoadReport,
  SendPlan,
  ServerCommand,
  ServerReport,
  VenueCommand,
  VenueReport,
} from './end-to-end/messages.ts'
import { sharedMs } from './fan-out/messages.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { processorSecondsOf } from './live-service.ts'
import { SECRET } from './quiet-engine.ts'
import { fillFolder } from './scale/fill.ts'

/** Targets. */
const AIMS = {
  addedP50Ms: 1,
  addedP99Ms: 5,
  engineTimes: 1.1,
  deliveryShare: 0.1,
  readyMs: 5_000,
  deadMs: 1_000,
  quotaShare: 0.05,
}
const SUBSCRIBERS = 10
const GATEWAYS = 4
const START_AFTER_MS = 50
const POLL_MS = 5
/** Quota shares are redistributed within a tenth of a second. */
const REFUSED_MS = 20

interface Size {
  readonly marketsPerVenue: number
  readonly perSecond: number
  readonly runs: number
  readonly runSeconds: number
  readonly warmUpFrames: number
  /** With one and four gateways. */
  readonly spreadPerSecond: number
  readonly spreadRuns: number
  readonly markets: number
  readonly revocations: number
  readonly quota: number
}

const SMALL: Size = {
  ...{ marketsPerVenue: 20, perSecond: 500, runs: 1, runSeconds: 0.3, warmUpFrames: 100 },
  ...{ spreadPerSecond: 500, spreadRuns: 1, markets: 80, revocations: 1, quota: 200 },
}
const LARGE: Size = {
  ...{ marketsPerVenue: 100, perSecond: 5_000, runs: 5, runSeconds: 2, warmUpFrames: 30_000 },
  ...{ spreadPerSecond: 1_000, spreadRuns: 5, markets: 100_000, revocations: 20, quota: 3_000 },
}

export const bench: Bench = {
  name: 'cluster',
  question:
    'What does a cluster cost beside one process, and how soon is what one gateway knows known to all?',
  excludes: 'networks beyond loopback, more than one nats-server, failover, subscribers’ own work',
  async run(setting) {
    if (!hasNats()) throw new Error(GET_NATS)
    const { seconds, markets } = setting
    const size = setting.isSmall
      ? SMALL
      : { ...LARGE, runSeconds: seconds ?? 2, markets: markets ?? LARGE.markets }
    const streams = await inFolder((folder) => compareStreams(folder, size, setting))
    const gateways = await inFolder((folder) => compareGateways(folder, size, setting))
    const checked = `${streams.lines.length} books rebuilt by a gateway's subscriber equal the simulated world's, no hole in any seq, no mirror given up; ${gateways.checked}`
    const rows = [...streams.rows, ...gateways.rows]
    return { rows, state: { hash: hashOf(streams.lines), checked, isRepeatable: false } }
  },
}

type Server = Child<ServerCommand, ServerReport>
type Load = Child<LoadCommand, LoadReport>
type GatewayChild = Child<GatewayCommand, GatewayReport>

const SIDES = ['all', 'alone', 'engine'] as const
type SideName = (typeof SIDES)[number]

interface Gateway {
  readonly child: GatewayChild
  /** Null: the gateway has no subscribers. */
  readonly load: Load | null
}

/**
 * Processor time per delivery of a gateway and of its subscribers' process. The subscribers' work is the same in every
 * run, so it shows changes of the machine.
 */
interface Delivery {
  readonly micros: number
  readonly besideMicros: number
}

/** The same gateway alone and with other gateways. */
interface Spread {
  readonly alone: Delivery
  readonly beside: Delivery
}

/** Results of one run of one side. */
interface Run {
  readonly frameCount: number
  /** Processor time per frame of the process that receives from the venue, and of nats-server. */
  readonly micros: number
  readonly natsMicros: number
  readonly batchCount: number
  readonly batchBytes: number
  /** Null: there were no subscribers. */
  readonly times: Histogram | null
  readonly deliveries: readonly Delivery[]
}

async function compareStreams(
  folder: string,
  size: Size,
  { say: logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const { runs, runSeconds, warmUpFrames, perSecond, spreadPerSecond, spreadRuns } = size
  const runFrames = Math.ceil(perSecond * runSeconds)
  const spreadFrames = Math.ceil(spreadPerSecond * runSeconds)
  const wanted = warmUpFrames + runFrames * runs + spreadFrames * spreadRuns * 2
  const field = await Field.open(folder, size, wanted)
  try {
    const done: Record<SideName, Run[]> = { all: [], alone: [], engine: [] }
    for (let run = 0; run <= runs; run += 1) {
      const from = run === 0 ? 0 : warmUpFrames + (run - 1) * runFrames
      const to = run === 0 ? warmUpFrames : from + runFrames
      for (const side of run % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const measured = await field.run(side, { perSecond, from, to })
        if (run > 0) done[side].push(measured)
      }
      logLine(`${perSecond} a second: ${run === 0 ? 'warm' : `run ${run} of ${runs}`}`)
    }
    const spread: Spread[] = []
    let from = warmUpFrames + runFrames * runs
    const first = async (gateways: number): Promise<Delivery> => {
      await field.keepGateways(gateways)
      const to = Math.min(from + spreadFrames, field.frameCount)
      const { deliveries } = await field.run('engine', { perSecond: spreadPerSecond, from, to })
      from = to
      const [delivery] = deliveries
      if (delivery === undefined) throw new Error('there is a gateway')
      return delivery
    }
    // The same gateway alone and with three others, alternately, since a new gateway still compiles its code. The
    // others have no subscribers: with them two cores would be saturated, several frames would share an event-loop
    // tick, and a delivery would cost less.
    for (let run = 1; run <= spreadRuns; run += 1) {
      spread.push({ alone: await first(1), beside: await first(GATEWAYS) })
      logLine(`one and ${GATEWAYS} gateways: run ${run} of ${spreadRuns}`)
    }
    await field.finish(from)
    return { rows: streamRows(size, done, spread), lines: await field.checkedBooks() }
  } finally {
    await field.close()
  }
}

function streamRows(
  { perSecond, spreadPerSecond }: Size,
  done: Readonly<Record<SideName, readonly Run[]>>,
  spread: readonly Spread[],
): Row[] {
  const rows: Row[] = []
  const title = `${perSecond}/s`
  for (const side of ['all', 'engine'] as const) {
    const times = newTimes()
    for (const run of done[side]) if (run.times !== null) times.add(run.times)
    check(times.totalCount > 0, `nothing came through ${side}`)
    const way = side === 'all' ? 'ROLE=all' : 'engine, log and gateway'
    rows.push(timesRow(`${title}: ${way}, planned send → subscriber`, times))
  }
  const paired = (of: (engine: Run, all: Run) => number, beside: SideName = 'all') =>
    median(
      done.engine.flatMap((run, index) => {
        const other = done[beside][index]
        return other === undefined ? [] : [of(run, other)]
      }),
    )
  const at = ({ times }: Run, rank: number) =>
    (times?.getValueAtPercentile(rank) ?? Number.NaN) / 1e6
  const added = (rank: number) => paired((one, all) => at(one, rank) - at(all, rank))
  const ratio = (one: Run, other: Run) => one.micros / other.micros
  const of = (side: SideName, value: (run: Run) => number) => median(done[side].map(value))
  const each = (side: SideName) => of(side, ({ micros }) => micros).toFixed(1)
  const single = deliveryOf(spread.map(({ alone }) => alone))
  const spreads = deliveryOf(spread.map(({ beside }) => beside))
  // Relative to the subscribers' work, which is equal in both: a busier processor does all of it faster.
  const relative = ({ micros, besideMicros }: Delivery) => micros / besideMicros
  const share = median(spread.map(({ alone, beside }) => relative(beside) / relative(alone)))
  const bytes = of('engine', ({ batchBytes, frameCount }) => batchBytes / frameCount)
  const batches = of('engine', ({ batchCount, frameCount }) => frameCount / batchCount)
  const natsMicros = of('engine', (run) => run.natsMicros)
  rows.push(
    aimedRow(
      `${title}: latency that the log adds, p50`,
      added(50),
      { atMost: AIMS.addedP50Ms },
      'ms',
    ),
    aimedRow(
      `${title}: latency that the log adds, p99`,
      added(99),
      { atMost: AIMS.addedP99Ms },
      'ms',
    ),
    aimedRow(
      `${title}: the engine's processor / ROLE=all with the same subscribers`,
      paired(ratio),
      {
        atMost: AIMS.engineTimes,
      },
    ),
    figureRow(
      `${title}: the engine's processor / ROLE=all without subscribers`,
      `${paired(ratio, 'alone').toFixed(2)} times`,
    ),
    figureRow(
      `${title}: processor a frame`,
      `engine ${each('engine')} µs, ROLE=all ${each('all')} µs, without subscribers ${each('alone')} µs, nats-server ${natsMicros.toFixed(1)} µs`,
    ),
    figureRow(
      `${title}: a gateway's processor a delivery`,
      `${deliveryOf(done.engine.flatMap((run) => run.deliveries)).micros.toFixed(2)} µs`,
    ),
    figureRow(
      `${title}: the log`,
      `${bytes.toFixed(0)} bytes a frame in batches of ${batches.toFixed(1)} frames: ${((bytes * perSecond) / 1e6).toFixed(2)} MB/s to each gateway`,
    ),
    aimedRow(
      `${spreadPerSecond}/s: one gateway's processor a delivery to ${SUBSCRIBERS} subscribers, beside ${GATEWAYS - 1} others / alone, in that of its subscribers, away from 1`,
      Math.abs(share - 1),
      { atMost: AIMS.deliveryShare },
    ),
    figureRow(
      `${spreadPerSecond}/s: that gateway's processor a delivery`,
      `${single.micros.toFixed(2)} µs alone, ${spreads.micros.toFixed(2)} µs beside ${GATEWAYS - 1}; its subscribers' ${single.besideMicros.toFixed(2)} and ${spreads.besideMicros.toFixed(2)} µs`,
    ),
  )
  return rows
}

const deliveryOf = (of: readonly Delivery[]): Delivery => ({
  micros: median(of.map(({ micros }) => micros)),
  besideMicros: median(of.map(({ besideMicros }) => besideMicros)),
})

/** The venue, a single process, a single process without subscribers, and a cluster. */
class Field {
  readonly #venue: Child<VenueCommand, VenueReport>
  readonly #nats: RunningNats
  readonly #servers: Readonly<Record<SideName, Server>>
  readonly #load: Load = new Child('end-to-end/load.ts')
  readonly #gateways: Gateway[] = []
  #apiKey = ''
  frameCount = 0

  private constructor(nats: RunningNats) {
    this.#nats = nats
    this.#venue = new Child('end-to-end/venue.ts')
    const server = (name: SideName): Server => new Child('end-to-end/server.ts', [name])
    this.#servers = { all: server('all'), alone: server('alone'), engine: server('engine') }
  }

  static async open(folder: string, { marketsPerVenue }: Size, wanted: number): Promise<Field> {
    const field = new Field(await startNats(join(folder, 'nats'), 0, systemClock))
    try {
      const world = { kind: 'open', marketsPerVenue, frameCount: wanted } as const
      const { port: venuePort, frameCount } = await field.#venue.ask(world, 'listening')
      field.frameCount = frameCount
      for (const side of SIDES) {
        const dataDir = join(folder, side)
        mkdirSync(dataDir)
        const position = { kind: 'open', venuePort, dataDir, marketsPerVenue } as const
        await field.#open(side, position)
      }
      await field.keepGateways(1)
      return field
    } catch (error) {
      await field.close()
      throw error
    }
  }

  /** Connects to the venue; resolves when every book is there, before subscribers connect. */
  async #open(side: SideName, position: ServerCommand & { kind: 'open' }): Promise<void> {
    const server = this.#servers[side]
    const nats = side === 'engine' ? { nats: natsEnv('engine', this.#nats) } : {}
    const { port, apiKey } = await server.ask({ ...position, ...nats }, 'listening')
    await this.#venue.ask({ kind: 'snapshots', side }, 'sent')
    for (let before = -1; ; ) {
      const { frameCount } = await server.ask({ kind: 'look' }, 'looked')
      if (frameCount > 0 && frameCount === before) break
      before = frameCount
      await pause(START_AFTER_MS)
    }
    if (side === 'engine') this.#apiKey = apiKey ?? ''
    const who = { port, apiKey, subscriberCount: SUBSCRIBERS }
    if (side === 'all') await this.#load.ask({ kind: 'connect', ...who }, 'connected')
  }

  /** Starts or stops gateways; the first has subscribers. */
  async keepGateways(count: number): Promise<void> {
    for (const gateway of this.#gateways.splice(count)) await endGateway(gateway)
    while (this.#gateways.length < count) {
      const child: GatewayChild = new Child('cluster/gateway.ts')
      const load: Load | null = this.#gateways.length === 0 ? new Child('end-to-end/load.ts') : null
      this.#gateways.push({ child, load })
      const position = { nats: natsEnv('gateway', this.#nats), jwtSecret: SECRET }
      const name = `g${this.#gateways.length}`
      const { port } = await child.ask({ kind: 'open', ...position, name }, 'listening')
      const who = { port, apiKey: this.#apiKey, subscriberCount: SUBSCRIBERS }
      await load?.ask({ kind: 'connect', ...who }, 'connected')
    }
  }

  async run(side: SideName, part: Pick<SendPlan, 'perSecond' | 'from' | 'to'>): Promise<Run> {
    const server = this.#servers[side]
    const gateways = side === 'engine' ? this.#gateways : []
    const loads = side === 'all' ? [this.#load] : gateways.flatMap(({ load }) => load ?? [])
    const checks = () =>
      Promise.all(gateways.map(({ child }) => child.ask({ kind: 'look' }, 'looked')))
    const nats = () => processorSecondsOf(this.#nats.child.pid ?? 0) * 1e6
    const [before, gatewaysBefore, natsBefore] = [
      await server.ask({ kind: 'look' }, 'looked'),
      await checks(),
      nats(),
    ]
    const plan = { ...part, startMs: sharedMs() + START_AFTER_MS }
    for (const load of loads) await load.ask({ kind: 'expect', ...plan }, 'expecting')
    await this.#venue.ask({ kind: 'send', side, ...plan }, 'sent')
    const finished = await Promise.all(
      loads.map((load) => load.ask({ kind: 'finish' }, 'finished')),
    )
    const [after, gatewaysAfter] = [
      await this.#arrived(server, before.frameCount, part),
      await checks(),
    ]
    const frameCount = part.to - part.from
    const deliveries = gatewaysAfter.flatMap(({ processorMicros, faultCount }, index) => {
      check(faultCount === 0, 'a gateway gave up its mirror')
      const beside = finished[index]
      const earlier = gatewaysBefore[index]
      if (beside === undefined || earlier === undefined) return []
      const count = beside.deliveryCount
      const micros = (processorMicros - earlier.processorMicros) / count
      return [{ micros, besideMicros: beside.processorMicros / count }]
    })
    const [first] = finished
    return {
      ...{ frameCount, deliveries },
      micros: (after.processorMicros - before.processorMicros) / frameCount,
      natsMicros: (nats() - natsBefore) / frameCount,
      batchCount: after.batchCount - before.batchCount,
      batchBytes: after.batchBytes - before.batchBytes,
      times: first === undefined ? null : decodeFromCompressedBase64(first.times),
    }
  }

  /** Polls until all frames have arrived. */
  async #arrived(server: Server, before: number, { from, to }: Pick<SendPlan, 'from' | 'to'>) {
    for (;;) {
      const after = await server.ask({ kind: 'look' }, 'looked')
      check(after.frameCount - before <= to - from, `${after.frameCount - before} frames came`)
      if (after.frameCount - before === to - from) return after
      await pause(START_AFTER_MS)
    }
  }

  /** Sends the remaining frames of the world. */
  async finish(from: number): Promise<void> {
    if (from < this.frameCount)
      await this.run('engine', { perSecond: 1_000, from, to: this.frameCount })
  }

  /** Every book of the world, once the subscriber's books are equal. */
  async checkedBooks(): Promise<readonly string[]> {
    const { books: truth } = await this.#venue.ask({ kind: 'truth' }, 'truth')
    const [first] = this.#gateways
    if (!first?.load) throw new Error('there is a gateway with subscribers')
    const { books } = await first.load.ask({ kind: 'books' }, 'books')
    const rebuilt = new Set(books)
    for (const line of truth) check(rebuilt.has(line), `no subscriber's book is\n${line}`)
    return truth
  }

  async close(): Promise<void> {
    await Promise.all([
      ...this.#gateways.map(endGateway),
      ...[this.#venue, this.#load, ...Object.values(this.#servers)].map((child) => child.end()),
    ])
    await this.#nats.stop()
  }
}

/** Stops the subscribers first, since they fail when disconnected. */
async function endGateway({ child, load }: Gateway): Promise<void> {
  await load?.end()
  await child.end()
}

/** Four gateways, started as in production, on an engine with many markets. */
async function compareGateways(
  folder: string,
  { markets, revocations, quota }: Size,
  { say: logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; checked: string }> {
  const dataDir = join(folder, 'engine')
  mkdirSync(dataDir)
  logLine(`${markets} markets: filling a folder`)
  await fillFolder(dataDir, { marketCount: markets, status: 'closed' })
  const nats = await startNats(join(folder, 'nats'), 0, systemClock)
  const engine: Child<EngineCommand, EngineReport> = new Child('cluster/engine.ts')
  const gateways: TestProcess[] = []
  try {
    const position = { nats: natsEnv('engine', nats), dataDir }
    const opened = await engine.ask({ kind: 'open', ...position }, 'leading')
    check(opened.marketCount === markets, `${opened.marketCount} of ${markets} markets`)
    const ready = newTimes()
    const processorSeconds: number[] = []
    const urls: string[] = []
    for (let index = 0; index < GATEWAYS; index += 1) {
      const startedMs = systemClock.monotonicMs()
      const gateway = startProcess(
        'engine/app/start.mjs',
        { ...natsEnv('gateway', nats), PORT: '0', JWT_SECRET: SECRET, LOG_LEVEL: 'warn' },
        [],
        V8_FLAGS,
      )
      gateways.push(gateway)
      const [, url = ''] = await gateway.line(/listens at (http:\S+)/)
      record(ready, systemClock.monotonicMs() - startedMs)
      processorSeconds.push(processorSecondsOf(gateway.pid))
      urls.push(url)
    }
    const [readyMs, seconds] = [ready.getValueAtPercentile(50) / 1e6, median(processorSeconds)]
    logLine(`${markets} markets: gateways ready after ${readyMs.toFixed(0)} ms`)
    const dead = await revoke(engine, urls, revocations)
    logLine('revocations done')
    const allowed = await press(engine, urls, quota)
    const name = `${markets} markets`
    const rows = [
      timesRow(`${name}: a gateway, from its process's start to listening`, ready),
      aimedRow(`${name}: a gateway ready, median`, readyMs, { atMost: AIMS.readyMs }, 'ms'),
      figureRow(
        `${name}: processor of that start; the checkpoint`,
        `${seconds.toFixed(2)} s; ${(opened.checkpointBytes / 2 ** 20).toFixed(1)} MiB`,
      ),
      timesRow(`a key revoked → refused by ${GATEWAYS} gateways`, dead),
      aimedRow(
        `a key revoked → refused by ${GATEWAYS} gateways, the slowest`,
        dead.maxValue / 1e6,
        { atMost: AIMS.deadMs },
        'ms',
      ),
      aimedRow(
        `a quota of ${quota} a minute over ${GATEWAYS} gateways: let through ${allowed}, away from it`,
        Math.abs(allowed / quota - 1),
        { atMost: AIMS.quotaShare },
      ),
    ]
    return { rows, checked: `${revocations} keys refused by every gateway` }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')))
    await engine.end()
    await nats.stop()
  }
}

/** Time from the revocation to the last gateway's rejection. */
async function revoke(
  engine: Child<EngineCommand, EngineReport>,
  urls: readonly string[],
  count: number,
): Promise<Histogram> {
  const dead = newTimes()
  for (let index = 0; index < count; index += 1) {
    const plan = { kind: 'account', requestsPerMinute: 1_000_000 } as const
    const { key } = await engine.ask(plan, 'key')
    await Promise.all(urls.map((url) => untilStatus(url, key, 404)))
    const startedMs = systemClock.monotonicMs()
    const revoked = engine.ask({ kind: 'revoke' }, 'revoked')
    await Promise.all(urls.map((url) => untilStatus(url, key, 401)))
    record(dead, systemClock.monotonicMs() - startedMs)
    await revoked
    await pause(START_AFTER_MS)
  }
  return dead
}

/** Requests the price of an unknown market, which each gateway looks up in its own mirror. */
async function statusOf(url: string, key: string): Promise<number> {
  const headers = { 'X-API-Key': key }
  const response = await fetch(`${url}/v1/markets/venue_a_none/price`, { headers })
  await response.arrayBuffer()
  return response.status
}

async function untilStatus(url: string, key: string, status: number): Promise<void> {
  while ((await statusOf(url, key)) !== status) await pause(POLL_MS)
}

/** Requests that all gateways together accept within a minute, while four clients poll each without a pause. */
async function press(
  engine: Child<EngineCommand, EngineReport>,
  urls: readonly string[],
  requestsPerMinute: number,
): Promise<number> {
  const { key } = await engine.ask({ kind: 'account', requestsPerMinute }, 'key')
  const existing = urls.map((url) => untilStatus(url, key, 404))
  await Promise.all(existing)
  let allowed = urls.length
  let refused = 0
  const ask = async (url: string): Promise<void> => {
    // All shares are used once no request has been accepted for this many rounds.
    for (let withoutResult = 0; withoutResult < 30; ) {
      const status = await statusOf(url, key)
      if (status === 404) [allowed, withoutResult] = [allowed + 1, 0]
      else if (status === 429) [refused, withoutResult] = [refused + 1, withoutResult + 1]
      else throw new Error(`a gateway answered ${status}`)
      if (status === 429) await pause(REFUSED_MS)
    }
  }
  await Promise.all(urls.flatMap((url) => Array.from({ length: 4 }, () => ask(url))))
  check(refused > 0, 'a quota refuses')
  return allowed
}
