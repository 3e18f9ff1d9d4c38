// For each number of markets a separate process runs the complete engine on a data folder as it is after a first start,
// with all texts and native rows. Memory is RssAnon (Linux) after a collection, which excludes file pages. The memory
// per market is the slope between two numbers of markets. Most markets are closed; they are listed, searched and routed
// like others. The matcher's thread also indexes the texts of open markets, which is measured separately with smaller
// numbers. Requests are sent in sequence, so processor time per request is that of the server alone.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import type { MarketStatus } from '../engine/market/market.ts'
import { Child } from './child.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { fillFolder } from './scale/fill.ts'
import {
  ask,
  QUESTIONS,
  type Question,
  type SearchLocation,
  untilSearchable,
} from './scale/requests.ts'
import type { api as serverApi } from './scale/server.ts'

/** Target: maximum memory in KB of a market without events. */
const MARKET_KB_MAX = 6
/**
 * Number of markets that receive events. With events for all markets, cache misses of the processor would dominate the
 * growth.
 */
const BUSY_OWNERS = 1_000
/** Target: maximum ratio of costs that grow logarithmically with the number of markets. */
const LOG_TIMES_MAX = Math.log(100_000) / Math.log(1_000)

interface Size {
  readonly counts: readonly number[]
  /** Numbers of open markets, which the matcher indexes. */
  readonly openCounts: readonly number[]
  readonly requestCount: number
  readonly routeCount: number
  readonly restMs: number
  readonly filedMs: number
}

const SMALL: Size = {
  counts: [80],
  openCounts: [],
  requestCount: 10,
  routeCount: 1_000,
  restMs: 10,
  filedMs: 0,
}
const LARGE: Size = {
  counts: [1_000, 10_000, 100_000],
  openCounts: [1_000, 10_000],
  requestCount: 300,
  routeCount: 200_000,
  restMs: 1_000,
  filedMs: 8_000,
}

export const bench: Bench = {
  name: 'scale',
  question:
    'What do a start, a quiet market’s memory, a list, a search and a route cost with 1,000, 10,000 and 100,000 markets?',
  excludes: 'connectors, busy markets, the client’s own work',
  async run(setting) {
    const size = sizeOf(setting)
    const measured: Measured[] = []
    for (const marketCount of size.counts) {
      measured.push(await measure({ marketCount, status: 'closed' }, size, setting))
    }
    const open: Measured[] = []
    for (const marketCount of size.openCounts) {
      const without = { ...size, requestCount: 0, restMs: size.filedMs }
      open.push(await measure({ marketCount, status: 'open' }, without, setting))
    }
    const rows = [
      ...measured.flatMap((one) => one.rows),
      ...slopes('a quiet market', measured, { atMost: MARKET_KB_MAX }),
      ...slopes('an open market with the matcher, which is still indexing', open, null),
      ...growth(measured),
    ]
    const lines = measured.flatMap((one) => one.lines)
    const checked = `${lines.length} answers right over ${size.counts.join(', ')} markets, all of which were there`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

/** `--markets` is the largest number. Smaller default numbers also run. */
function sizeOf({ isSmall, markets }: BenchSetting): Size {
  if (markets === null) return isSmall ? SMALL : LARGE
  const most = 2 * Math.ceil(markets / 2)
  return {
    ...LARGE,
    counts: [...LARGE.counts.filter((count) => count < most), most],
    openCounts: [],
  }
}

interface Plan {
  readonly marketCount: number
  readonly status: MarketStatus
}

interface Measured {
  readonly marketCount: number
  readonly rows: readonly Row[]
  readonly anonymousBytes: number
  readonly heapBytes: number
  /** Processor time of the server per request, in milliseconds. */
  readonly processorMs: Readonly<Partial<Record<Question, number>>>
  readonly route: Histogram
  readonly lines: readonly string[]
}

function measure(plan: Plan, size: Size, setting: BenchSetting): Promise<Measured> {
  return inFolder(async (dataDir) => {
    setting.logLine(`${plan.marketCount} ${plan.status} markets: filling a folder`)
    await fillFolder(dataDir, plan)
    const server: Server = new Child('scale/server.ts')
    try {
      return await measureOn(server, dataDir, plan, size, setting)
    } finally {
      await server.end()
    }
  })
}

type Server = Child<typeof serverApi>

async function measureOn(
  server: Server,
  dataDir: string,
  { marketCount, status }: Plan,
  { requestCount, routeCount, restMs }: Size,
  { logLine }: BenchSetting,
): Promise<Measured> {
  const position = await server.call('open', dataDir)
  check(position.marketCount === marketCount, `${position.marketCount} of ${marketCount} markets`)
  const searchableMs = Math.round(await untilSearchable(position))
  await pause(restMs)
  const before = await server.call('look', false)
  const settled = await server.call('look', true)
  const rows: Row[] = []
  const title = `${marketCount} ${status} markets`
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  const start = `serving after ${(position.startMs / 1_000).toFixed(2)} s, the first search answered ${searchableMs} ms later`
  const memory = `${mib(before.anonymousBytes)} anonymous, ${mib(settled.anonymousBytes)} after a collection (main heap ${mib(settled.heapBytes)}, outside of it ${mib(settled.externalBytes)})`
  logLine(`${title}: ${start}; ${memory}`)
  rows.push(figureRow(`${title}, start`, start), figureRow(`${title}, memory`, memory))
  const processorMs: Partial<Record<Question, number>> = {}
  const lines: string[] = []
  for (const question of requestCount > 0 ? QUESTIONS : []) {
    const requested = await askInParts(server, position, question, requestCount)
    processorMs[question] = requested.processorMs
    lines.push(...requested.paths)
    const each = `${requested.processorMs.toFixed(3)} ms of server processor a request`
    rows.push(timesRow(`${title}: ${question}, at the client`, requested.times))
    rows.push(figureRow(`${title}: ${question}`, each))
  }
  const routed = async (ownersMax: number | null) =>
    decodeFromCompressedBase64(await server.call('route', routeCount, ownersMax))
  const route = await routed(BUSY_OWNERS)
  rows.push(timesRow(`${title}: an event to its owner, ${BUSY_OWNERS} busy ones`, route))
  rows.push(timesRow(`${title}: an event to its owner, any of all`, await routed(null)))
  const { anonymousBytes, heapBytes } = settled
  return { marketCount, rows, anonymousBytes, heapBytes, processorMs, route, lines }
}

const PARTS = 5

/** Sends a few untimed requests first. Returns the median of five parts. */
async function askInParts(
  server: Server,
  position: SearchLocation,
  question: Question,
  requestCount: number,
) {
  const count = Math.max(1, Math.round(requestCount / PARTS))
  await ask(position, question, count)
  const parts = []
  for (let part = 0; part < PARTS; part += 1) {
    const before = await server.call('look', false)
    const requested = await ask(position, question, count)
    const after = await server.call('look', false)
    parts.push({
      ...requested,
      ms: (after.processorMicros - before.processorMicros) / 1_000 / count,
    })
  }
  const [first] = parts
  if (first === undefined) throw new Error('there are parts')
  for (const { times } of parts.slice(1)) first.times.add(times)
  const paths = parts.flatMap((part) => part.paths)
  return { times: first.times, paths, processorMs: median(parts.map(({ ms }) => ms)) }
}

/** Cost per additional market between two consecutive numbers. The target applies to the largest two. */
function slopes(
  what: string,
  measured: readonly Measured[],
  aim: { readonly atMost: number } | null,
): Row[] {
  return measured.slice(1).map((more, index) => {
    const fewer = measured[index]
    const count = more.marketCount - (fewer?.marketCount ?? 0)
    const kilobytes = (more.anonymousBytes - (fewer?.anonymousBytes ?? 0)) / count / 1_000
    const heap = (more.heapBytes - (fewer?.heapBytes ?? 0)) / count / 1_000
    const title = `${what}, from ${fewer?.marketCount} to ${more.marketCount}`
    const isLast = index === measured.length - 2
    if (aim !== null && isLast) return aimedRow(`${title}, RssAnon`, kilobytes, aim, 'kB')
    const value = `${kilobytes.toFixed(2)} kB, ${heap.toFixed(2)} kB of it in the main heap`
    return figureRow(`${title}, RssAnon`, value)
  })
}

/** Ratio between the costs at the largest and at the smallest number. */
function growth(measured: readonly Measured[]): Row[] {
  const [least, most] = [measured[0], measured.at(-1)]
  if (least === undefined || most === undefined || least === most) return []
  const span = `${most.marketCount} markets / ${least.marketCount} markets`
  const aim = { atMost: Number(LOG_TIMES_MAX.toFixed(2)) }
  const times = (one: Histogram) => Math.max(one.getValueAtPercentile(50), 1)
  return [
    ...QUESTIONS.map((question) => {
      const ratio =
        (most.processorMs[question] ?? Number.NaN) / (least.processorMs[question] ?? Number.NaN)
      return aimedRow(`${question}, processor a request: ${span}`, ratio, aim)
    }),
    aimedRow(
      `an event to its owner, ${BUSY_OWNERS} busy ones, median: ${span}`,
      times(most.route) / times(least.route),
      aim,
    ),
  ]
}
