// A peak like an election night. A venue process sends frames of the simulated world at planned times. The complete
// engine with LMDB serves 1,000 subscribers in another process. Each of them follows books and trades of one of the 100
// busiest markets. Latency is the time from the planned send to the subscriber. The rate rises in steps until a limit
// is exceeded. This venue sends no second snapshot, so a stale book stays stale and ends the steps.

import {
  FedServer,
  type FrameRange,
  openSubscribers,
  openVenue,
  type Subscribers,
  type Venue,
} from './end-to-end/fed-server.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  nanosText,
  type Row,
  timesRow,
} from './harness.ts'
import { sum } from './latency-recorder.ts'

const CHANNELS = ['orderbook', 'trades']
const P99_MS_MAX = 50

interface Size {
  readonly marketsPerVenue: number
  readonly subscriberCount: number
  readonly busyCount: number
  readonly perSecond: number
  readonly seconds: number
  readonly warmUpFrames: number
  readonly warmUpRate: number
  /** Rates of the steps before and after the peak. */
  readonly slower: readonly number[]
  readonly faster: readonly number[]
  readonly stepSeconds: number
}

const SMALL: Size = {
  ...{ marketsPerVenue: 20, subscriberCount: 20, busyCount: 5, perSecond: 500, seconds: 1 },
  ...{ warmUpFrames: 200, warmUpRate: 500, faster: [1_000], slower: [400], stepSeconds: 0.2 },
}
const LARGE: Size = {
  ...{ marketsPerVenue: 400, subscriberCount: 1_000, busyCount: 100 },
  ...{ perSecond: 20_000, seconds: 60, warmUpFrames: 30_000, warmUpRate: 5_000 },
  ...{ faster: [25_000, 30_000, 35_000, 40_000], slower: [5_000, 10_000, 15_000], stepSeconds: 3 },
}

export const bench: Bench = {
  name: 'peak',
  question:
    'Are 1,000 subscribers served in time at 20,000 venue messages a second, and which rate uses one core fully?',
  excludes: 'networks beyond loopback, the connectors’ requests, the subscribers’ own work',
  run(setting) {
    const size = setting.isSmall ? SMALL : { ...LARGE, seconds: setting.seconds ?? LARGE.seconds }
    return inFolder(async (folder) => {
      const venue = openVenue()
      const server = new FedServer('ours', venue)
      try {
        return await runPeak(venue, server, folder, size, setting)
      } finally {
        await venue.end()
        await server.end()
      }
    })
  },
}

type Run = Awaited<ReturnType<FedServer['run']>> & {
  readonly rate: number
  readonly staleCount: number
}

async function runPeak(
  venue: Venue,
  server: FedServer,
  dataDir: string,
  size: Size,
  { logLine }: BenchSetting,
) {
  const { perSecond, seconds, warmUpFrames, stepSeconds, marketsPerVenue } = size
  const steps = sum([...size.slower, ...size.faster]) * stepSeconds
  const wanted = Math.ceil(warmUpFrames + perSecond * seconds + steps)
  const { port: venuePort, frameCount } = await venue.call('open', wanted, marketsPerVenue)
  logLine(`${frameCount} frames prepared`)
  const { port, apiKey } = await server.open({ venuePort, dataDir, marketsPerVenue })
  const marketIds = await venue.call('busiest', size.busyCount)
  const { subscriberCount } = size
  const subscribers = openSubscribers()
  server.subscribers = [subscribers]
  const target = { port, apiKey, channels: CHANNELS, subscriberCount, marketIds }
  await subscribers.call('connect', target)
  let from = 0
  const run = async (rate: number, count: number): Promise<Run> => {
    const range: FrameRange = { perSecond: rate, from, to: Math.min(from + count, frameCount) }
    from = range.to
    const fed = await server.run(range)
    const done = { ...fed, rate, staleCount: await server.staleCount() }
    logLine(`${rate} a second, to frame ${range.to}: ${runText(done)}`)
    return done
  }
  await run(size.warmUpRate, warmUpFrames)
  const done: Run[] = []
  const climb = async (rates: readonly number[]): Promise<void> => {
    for (const rate of rates) {
      if (!done.every(isWithin)) return
      done.push(await run(rate, rate * stepSeconds))
    }
  }
  await climb(size.slower)
  const peak = await run(perSecond, perSecond * seconds)
  done.push(peak)
  await climb(size.faster)
  if (from < frameCount && peak.staleCount === 0) await run(perSecond / 2, frameCount - from)
  const rows = rowsOf(size, peak, done)
  return { rows, state: await endState(venue, server, subscribers) }
}

/** Compares the first subscriber's book with the world's, unless the book may be stale. */
async function endState(venue: Venue, server: FedServer, subscribers: Subscribers) {
  const { books } = await subscribers.call('received')
  check(books.length === 1, `the first subscriber has ${books.length} books`)
  const staleCount = await server.staleCount()
  const truth = new Set(await venue.call('truth'))
  for (const line of staleCount === 0 ? books : []) {
    check(truth.has(line), `the world has another book than\n${line}`)
  }
  const checked =
    staleCount === 0
      ? "a subscriber's book equals the simulated world's, no book is stale"
      : `no book was compared, because ${staleCount} are stale`
  return { hash: hashOf(books), checked, isRepeatable: false }
}

function deliveryOf({ deliveries: [delivery] }: Run) {
  if (delivery === undefined) throw new Error('there are subscribers')
  return delivery
}

const lostOf = (run: Run): number => deliveryOf(run).lostCount
/** In milliseconds. Infinite if nothing was delivered. */
function p99Of(run: Run): number {
  const { times } = deliveryOf(run)
  return times.totalCount === 0 ? Number.POSITIVE_INFINITY : times.getValueAtPercentile(99) / 1e6
}

/** Share of a core that the engine's process used, with LMDB's thread and garbage collection. */
const coreShare = ({ processorMicros, frameCount, rate }: Run): number =>
  ((processorMicros / frameCount) * rate) / 1e6

const isWithin = (run: Run): boolean =>
  p99Of(run) < P99_MS_MAX && lostOf(run) === 0 && run.staleCount === 0 && coreShare(run) < 1

function runText(run: Run): string {
  const { times, deliveryCount, resyncCount, lostCount } = deliveryOf(run)
  const at = (rank: number) => nanosText(times.getValueAtPercentile(rank))
  const each = (run.processorMicros / run.frameCount).toFixed(1)
  const share = Math.round(100 * coreShare(run))
  return `p50 ${at(50)}, p99 ${at(99)}; ${deliveryCount} deliveries, ${lostCount} lost, ${resyncCount} books sent anew, ${run.staleCount} stale; ${each} µs of engine processor a frame, ${share} % of a core`
}

function rowsOf(size: Size, peak: Run, done: readonly Run[]): readonly Row[] {
  const { perSecond, seconds, subscriberCount, busyCount } = size
  const title = `${perSecond}/s for ${seconds} s`
  const mib = Math.round(peak.residentBytesMax / 2 ** 20)
  const within = done.filter(isWithin).map(({ rate }) => rate)
  const beyond = done.filter((run) => !isWithin(run)).map(({ rate }) => rate)
  const last = within.length === 0 ? 'none of the rates' : `${Math.max(...within)}/s`
  const first = beyond.length === 0 ? 'none of the rates' : `${Math.min(...beyond)}/s`
  const possible = Math.round((1e6 * peak.frameCount) / peak.processorMicros)
  return [
    timesRow(`${title}: planned send → subscriber`, deliveryOf(peak).times),
    figureRow(`${title}: ${subscriberCount} subscribers of ${busyCount} markets`, runText(peak)),
    aimedRow(`${title}: delivery, p99`, p99Of(peak), { atMost: P99_MS_MAX }, 'ms'),
    aimedRow(`${title}: lost`, lostOf(peak), { atMost: 0 }, 'messages'),
    aimedRow(`${title}: stale at the end`, peak.staleCount, { atMost: 0 }, 'books'),
    figureRow(`${title}: resident memory of the engine, at most`, `${mib} MiB`),
    figureRow(
      'the rate that uses one core fully',
      `${possible}/s by the engine's processor time at ${perSecond}/s; last rate within the limits ${last}, first rate beyond them ${first}`,
    ),
  ]
}
