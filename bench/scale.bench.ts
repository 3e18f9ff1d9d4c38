// For each number of markets a separate process runs the complete engine on a data folder as it is after a first start.
// Memory is RssAnon (Linux) after a collection, which excludes file pages. The memory per market is the slope between
// two numbers of markets. Most markets are closed, so that the matcher's thread indexes few texts. Requests are sent in
// sequence, so processor time per request is that of the server alone. Finally the largest number of markets is
// measured as open markets, some with live books.

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
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { fillFolder } from './scale/fill.ts'
import { BUSY_OWNERS, growth, MARKET_KB_MAX, type Measured, slopes } from './scale/growth.ts'
import {
  ask,
  QUESTIONS,
  type Question,
  type SearchLocation,
  untilSearchable,
} from './scale/requests.ts'
import type { api as serverApi } from './scale/server.ts'

const OPEN_AIMS = { listMs: 5, searchMs: 50, memoryMib: 4_096 }

interface Size {
  readonly counts: readonly number[]
  readonly openCounts: readonly number[]
  readonly requestCount: number
  readonly routeCount: number
  readonly restMs: number
  readonly filedMs: number
  /** Number of live books and of requests of each kind in the last measurement. */
  readonly bookCount: number
  readonly openRequestCount: number
}

const SMALL: Size = {
  counts: [80],
  openCounts: [],
  requestCount: 10,
  routeCount: 1_000,
  restMs: 10,
  filedMs: 0,
  bookCount: 10,
  openRequestCount: 10,
}
const LARGE: Size = {
  counts: [1_000, 10_000, 100_000],
  openCounts: [1_000, 10_000],
  requestCount: 300,
  routeCount: 200_000,
  restMs: 1_000,
  filedMs: 8_000,
  bookCount: 20_000,
  openRequestCount: 1_000,
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
      const plan: Plan = { marketCount, status: 'closed', bookCount: 0 }
      measured.push(await measure(plan, size, setting))
    }
    const open: Measured[] = []
    for (const marketCount of size.openCounts) {
      const without = { ...size, requestCount: 0, restMs: size.filedMs }
      const plan: Plan = { marketCount, status: 'open', bookCount: 0 }
      open.push(await measure(plan, without, setting))
    }
    const live = await measureLive(size, setting)
    const rows = [
      ...measured.flatMap((one) => one.rows),
      ...slopes('a quiet market', measured, { atMost: MARKET_KB_MAX }),
      ...slopes('an open market with the matcher, which is still indexing', open, null),
      ...growth(measured),
      ...live.rows,
    ]
    const lines = [...measured, live].flatMap((one) => one.lines)
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
    bookCount: Math.min(LARGE.bookCount, most),
  }
}

interface Plan {
  readonly marketCount: number
  readonly status: MarketStatus
  readonly bookCount: number
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
  { marketCount, status, bookCount }: Plan,
  { requestCount, routeCount, restMs }: Size,
  { logLine }: BenchSetting,
): Promise<Measured> {
  const position = await server.call('open', dataDir)
  check(position.marketCount === marketCount, `${position.marketCount} of ${marketCount} markets`)
  const searchableMs = Math.round(await untilSearchable(position))
  const live = bookCount === 0 ? 0 : await server.call('fillBooks', bookCount)
  check(live === bookCount, `${live} of ${bookCount} books are live`)
  await pause(restMs)
  const before = await server.call('look', false)
  const settled = await server.call('look', true)
  const rows: Row[] = []
  const books = bookCount === 0 ? '' : `, ${bookCount} with live books`
  const title = `${marketCount} ${status} markets${books}`
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  const start = `serving after ${(position.startMs / 1_000).toFixed(2)} s, the first search answered ${searchableMs} ms later`
  const memory = `${mib(before.anonymousBytes)} anonymous, ${mib(settled.anonymousBytes)} after a collection (main heap ${mib(settled.heapBytes)}, outside of it ${mib(settled.externalBytes)})`
  logLine(`${title}: ${start}; ${memory}`)
  rows.push(figureRow(`${title}, start`, start), figureRow(`${title}, memory`, memory))
  const processorMs: Partial<Record<Question, number>> = {}
  const times: Partial<Record<Question, Histogram>> = {}
  const lines: string[] = []
  for (const question of requestCount > 0 ? QUESTIONS : []) {
    const requested = await askInParts(server, position, question, requestCount)
    processorMs[question] = requested.processorMs
    times[question] = requested.times
    lines.push(...requested.paths)
    const each = `${requested.processorMs.toFixed(3)} ms of server processor a request`
    rows.push(timesRow(`${title}: ${question}, at the client`, requested.times))
    // Excluded with live books, because the processor time would include the matcher's thread.
    if (bookCount === 0) rows.push(figureRow(`${title}: ${question}`, each))
  }
  const { anonymousBytes, heapBytes } = settled
  const measured = { marketCount, rows, anonymousBytes, heapBytes, times, processorMs, lines }
  const uncollectedBytes = before.anonymousBytes
  // A change of a live book would be applied, so that its time would not be that of the routing.
  if (bookCount > 0) return { ...measured, uncollectedBytes, route: newTimes() }
  const routed = async (ownersMax: number | null) =>
    decodeFromCompressedBase64(await server.call('route', routeCount, ownersMax))
  const route = await routed(BUSY_OWNERS)
  rows.push(timesRow(`${title}: an event to its owner, ${BUSY_OWNERS} busy ones`, route))
  rows.push(timesRow(`${title}: an event to its owner, any of all`, await routed(null)))
  return { ...measured, uncollectedBytes, route }
}

/** The largest number of markets, all of them open and some with live books. */
async function measureLive(size: Size, setting: BenchSetting): Promise<Measured> {
  const { bookCount, openRequestCount: requestCount, filedMs: restMs } = size
  const marketCount = size.counts.at(-1) ?? 0
  const plan: Plan = { marketCount, status: 'open', bookCount }
  const measured = await measure(plan, { ...size, requestCount, restMs }, setting)
  const title = `${marketCount} open markets, ${bookCount} with live books`
  const p99 = (question: Question) =>
    (measured.times[question]?.getValueAtPercentile(99) ?? Number.NaN) / 1e6
  const mib = measured.uncollectedBytes / 2 ** 20
  const rows = [
    ...measured.rows,
    aimedRow(`${title}: list, p99`, p99('list'), { atMost: OPEN_AIMS.listMs }, 'ms'),
    aimedRow(`${title}: search, p99`, p99('search'), { atMost: OPEN_AIMS.searchMs }, 'ms'),
    aimedRow(`${title}: RssAnon`, mib, { atMost: OPEN_AIMS.memoryMib }, 'MiB'),
  ]
  return { ...measured, rows }
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
