// Compares three setups at equal frames: one process with ten subscribers, an engine without subscribers, and an engine
// with a gateway that has ten subscribers. nats-server must be in PATH. Seven processes share two cores, so wall times
// include waiting, most of all in the cluster. Processor time per frame and per delivery is comparable.

import { GET_NATS, hasNats } from '../engine/cluster/nats-server.ts'
import { compareGateways } from './cluster/many-markets.ts'
import {
  type Delivery,
  SIDES,
  type SideName,
  StreamField,
  type StreamRun,
} from './cluster/streams.ts'
import { SUBSCRIBERS } from './end-to-end/fed-server.ts'
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
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'

const AIMS = {
  addedP50Ms: 1,
  addedP99Ms: 5,
  engineTimes: 1.1,
  deliveryShare: 0.1,
}
const GATEWAYS = 4

interface Size {
  readonly marketsPerVenue: number
  readonly perSecond: number
  readonly runs: number
  readonly runSeconds: number
  readonly warmUpFrames: number
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
    'What does a cluster cost compared with one process, and how soon do all gateways have a change?',
  excludes: 'networks beyond loopback, more than one nats-server, failover, subscribers’ own work',
  async run(setting) {
    if (!hasNats()) throw new Error(GET_NATS)
    const { seconds, markets } = setting
    const size = setting.isSmall
      ? SMALL
      : { ...LARGE, runSeconds: seconds ?? 2, markets: markets ?? LARGE.markets }
    const streams = await inFolder((folder) => compareStreams(folder, size, setting))
    const gateways = await inFolder((folder) =>
      compareGateways(folder, { ...size, gatewayCount: GATEWAYS }, setting),
    )
    const checked = `${streams.lines.length} books rebuilt by a gateway's subscriber equal the simulated world's, no hole in any seq, no mirror failed; ${gateways.checked}`
    const rows = [...streams.rows, ...gateways.rows]
    return { rows, state: { hash: hashOf(streams.lines), checked, isRepeatable: false } }
  },
}

/** `alone`: no other gateway runs. `beside`: three more gateways run. */
interface Spread {
  readonly alone: Delivery
  readonly beside: Delivery
}

async function compareStreams(
  folder: string,
  size: Size,
  { logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const { runs, runSeconds, warmUpFrames, perSecond, spreadPerSecond, spreadRuns } = size
  const runFrames = Math.ceil(perSecond * runSeconds)
  const spreadFrames = Math.ceil(spreadPerSecond * runSeconds)
  const wanted = warmUpFrames + runFrames * runs + spreadFrames * spreadRuns * 2
  const field = new StreamField()
  try {
    await field.open(folder, size.marketsPerVenue, wanted)
    const done: Record<SideName, StreamRun[]> = { all: [], alone: [], engine: [] }
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
      const { delivery } = await field.run('engine', { perSecond: spreadPerSecond, from, to })
      from = to
      if (delivery === null) throw new Error('there is a gateway')
      return delivery
    }
    // The gateway runs alone and with three others, alternately, because a new gateway still compiles its code. The
    // others have no subscribers, which would saturate two cores.
    for (let run = 1; run <= spreadRuns; run += 1) {
      spread.push({ alone: await first(1), beside: await first(GATEWAYS) })
      logLine(`one and ${GATEWAYS} gateways: run ${run} of ${spreadRuns}`)
    }
    await field.finish(from)
    const lines = await field.servers.engine.checkedBooks()
    return { rows: streamRows(size, done, spread), lines }
  } finally {
    await field.close()
  }
}

function streamRows(
  { perSecond, spreadPerSecond }: Size,
  done: Readonly<Record<SideName, readonly StreamRun[]>>,
  spread: readonly Spread[],
): Row[] {
  const rows: Row[] = []
  const title = `${perSecond}/s`
  for (const side of ['all', 'engine'] as const) {
    const times = newTimes()
    for (const run of done[side]) if (run.times !== null) times.add(run.times)
    check(times.totalCount > 0, `no message arrived through ${side}`)
    const way = side === 'all' ? 'ROLE=all' : 'engine, log and gateway'
    rows.push(timesRow(`${title}: ${way}, planned send → subscriber`, times))
  }
  const paired = (of: (engine: StreamRun, all: StreamRun) => number, beside: SideName = 'all') =>
    median(
      done.engine.flatMap((run, index) => {
        const other = done[beside][index]
        return other === undefined ? [] : [of(run, other)]
      }),
    )
  const at = ({ times }: StreamRun, rank: number) =>
    (times?.getValueAtPercentile(rank) ?? Number.NaN) / 1e6
  const added = (rank: number) => paired((one, all) => at(one, rank) - at(all, rank))
  const ratio = (one: StreamRun, other: StreamRun) => one.micros / other.micros
  const of = (side: SideName, value: (run: StreamRun) => number) => median(done[side].map(value))
  const each = (side: SideName) => of(side, ({ micros }) => micros).toFixed(1)
  const single = deliveryOf(spread.map(({ alone }) => alone))
  const spreads = deliveryOf(spread.map(({ beside }) => beside))
  // Dividing by the cost of the subscribers, whose work is equal in both runs, removes differences in processor speed.
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
      `${deliveryOf(done.engine.flatMap(({ delivery }) => delivery ?? [])).micros.toFixed(2)} µs`,
    ),
    figureRow(
      `${title}: the log`,
      `${bytes.toFixed(0)} bytes a frame in batches of ${batches.toFixed(1)} frames: ${((bytes * perSecond) / 1e6).toFixed(2)} MB/s to each gateway`,
    ),
    aimedRow(
      `${spreadPerSecond}/s: one gateway's processor a delivery to ${SUBSCRIBERS} subscribers, with ${GATEWAYS - 1} others / alone, relative to its subscribers, distance from 1`,
      Math.abs(share - 1),
      { atMost: AIMS.deliveryShare },
    ),
    figureRow(
      `${spreadPerSecond}/s: that gateway's processor a delivery`,
      `${single.micros.toFixed(2)} µs alone, ${spreads.micros.toFixed(2)} µs with ${GATEWAYS - 1} others; its subscribers' ${single.besideMicros.toFixed(2)} and ${spreads.besideMicros.toFixed(2)} µs`,
    ),
  )
  return rows
}

const deliveryOf = (of: readonly Delivery[]): Delivery => ({
  micros: median(of.map(({ micros }) => micros)),
  besideMicros: median(of.map(({ besideMicros }) => besideMicros)),
})
