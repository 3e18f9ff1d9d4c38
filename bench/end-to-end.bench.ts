// A venue process sends the simulated world's frames at planned times, alternately to the service and to a relay. The
// relay passes each frame to the publish function of a bare uWebSockets.js app. Each server has ten subscribers to
// every book and trade. Times run from the planned send to the subscriber. Figures are medians of five runs. Trades of
// venue a are not timed, because their times are whole seconds. Five processes share two cores, so processor time per
// frame is reported too.

import {
  connectSubscribers,
  FedServer,
  openSubscribers,
  openVenue,
  SUBSCRIBERS,
} from './end-to-end/fed-server.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  figureText,
  hashOf,
  inFolder,
  nanosText,
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'

const RUNS = 5
const RUN_SECONDS = 1.2
/**
 * Number of frames before the counted runs, so that the compiler has seen all code. They have at least the rate
 * WARM_UP_RATE.
 */
const WARM_UP_FRAMES = 15_000
const WARM_UP_RATE = 5_000
/** Target: maximum ratio of our time to the relay's time, up to AIMED_RATE_MAX frames per second. */
const RELAY_TIMES_MAX = 2
const AIMED_RATE_MAX = 10_000

export const bench: Bench = {
  name: 'end-to-end',
  question:
    'How long does a frame take from a venue’s planned send to ten subscribers, compared with a bare relay?',
  excludes:
    'networks beyond loopback, the subscribers’ own work, trades with times in whole seconds',
  async run(setting) {
    const rows: Row[] = []
    const lines: string[] = []
    for (const perSecond of setting.isSmall ? [500] : [1_000, 5_000, 10_000, 20_000]) {
      const measured = await inFolder((folder) => compete(perSecond, folder, setting))
      rows.push(...measured.rows)
      lines.push(...measured.lines)
    }
    const checked = `${lines.length} books rebuilt by a subscriber equal the simulated world's, no hole in any seq, every frame relayed to every subscriber`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

const SIDES = ['ours', 'relay'] as const
type SideName = (typeof SIDES)[number]
type Run = Awaited<ReturnType<FedServer['run']>>

async function compete(
  perSecond: number,
  dataDir: string,
  { isSmall, seconds, logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const marketsPerVenue = isSmall ? 20 : 100
  const runs = isSmall ? 1 : RUNS
  const runSeconds = isSmall ? 0.3 : (seconds ?? RUN_SECONDS)
  const warmUpFrames = isSmall ? 100 : WARM_UP_FRAMES
  const wanted = warmUpFrames + Math.ceil(perSecond * runSeconds * runs)
  const venue = openVenue()
  const servers = { ours: new FedServer('ours', venue), relay: new FedServer('relay', venue) }
  try {
    const { port: venuePort, frameCount } = await venue.call('open', wanted, marketsPerVenue)
    for (const server of Object.values(servers)) {
      const { port, apiKey } = await server.open({ venuePort, dataDir, marketsPerVenue })
      const subscribers = openSubscribers()
      server.subscribers = [subscribers]
      await connectSubscribers(subscribers, port, apiKey)
    }
    const done: Record<SideName, Run[]> = { ours: [], relay: [] }
    const runFrames = (frameCount - warmUpFrames) / runs
    for (let run = 0; run <= runs; run += 1) {
      const isWarmUp = run === 0
      const from = isWarmUp ? 0 : warmUpFrames + Math.floor((run - 1) * runFrames)
      const to = isWarmUp ? warmUpFrames : warmUpFrames + Math.floor(run * runFrames)
      const rate = isWarmUp ? Math.max(perSecond, WARM_UP_RATE) : perSecond
      for (const side of run % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const measured = await servers[side].run({ perSecond: rate, from, to })
        const relayed = measured.deliveries[0]?.deliveryCount
        const isComplete = relayed === SUBSCRIBERS * measured.frameCount
        check(side === 'ours' || isComplete, `${relayed} frames were relayed`)
        if (!isWarmUp) done[side].push(measured)
      }
      logLine(`${perSecond} a second: ${isWarmUp ? 'warm' : `run ${run} of ${runs}`}`)
    }
    return { rows: rowsOf(perSecond, done), lines: await servers.ours.checkedBooks() }
  } finally {
    await Promise.all([venue, ...Object.values(servers)].map((process) => process.end()))
  }
}

function rowsOf(perSecond: number, done: Readonly<Record<SideName, readonly Run[]>>): Row[] {
  const title = `${perSecond}/s`
  const rows: Row[] = []
  for (const side of SIDES) {
    const [own, times] = [done[side].flatMap(({ deliveries }) => deliveries), newTimes()]
    for (const one of own) times.add(one.times)
    check(times.totalCount > 0, `${title}: no message arrived through ${side}`)
    rows.push(timesRow(`${title}: ${side}, planned send → subscriber`, times))
    const at = (rank: number) =>
      nanosText(median(own.map((one) => one.times.getValueAtPercentile(rank))))
    const each = median(done[side].map((run) => run.processorMicros / run.frameCount))
    const resyncs = own.reduce((sum, { resyncCount }) => sum + resyncCount, 0)
    const behind =
      resyncs === 0 ? '' : `; ${resyncs} books sent anew to subscribers that fell behind`
    rows.push(
      figureRow(
        `${title}: ${side}, medians of ${done[side].length} runs`,
        `p50 ${at(50)}, p99 ${at(99)}; ${each.toFixed(1)} µs of server processor a frame to ${SUBSCRIBERS} subscribers${behind}`,
      ),
    )
  }
  const at = (rank: number, run: Run | undefined) =>
    run?.deliveries[0]?.times.getValueAtPercentile(rank) ?? Number.NaN
  for (const rank of [50, 99]) {
    const ratios = done.ours.map((run, index) => at(rank, run) / at(rank, done.relay[index]))
    const [what, ratio] = [`${title}: ours / relay, p${rank}`, median(ratios)]
    rows.push(
      perSecond <= AIMED_RATE_MAX
        ? aimedRow(what, ratio, { atMost: RELAY_TIMES_MAX })
        : figureRow(what, `${figureText(ratio)} times; without an aim`),
    )
  }
  return rows
}
