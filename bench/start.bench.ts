// First, starts with the default number of markets, alternately from the build and through tsx. Each is started on an
// empty folder and again on the resulting folder. Processor time is the main figure, because background load affects it
// least. The build is removed before the first start, which therefore includes building. Second, starts with many
// markets (start/at-size.ts). The memory per market is the difference to an engine with 20 markets per venue. With
// `--markets` only starts with this number of markets run.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { builtFolder } from '../engine/process/build.mjs'
import {
  type Bench,
  type BenchSetting,
  figureRow,
  figureText,
  hashOf,
  inFolder,
  type Row,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { LiveService } from './live-service.ts'
import { startAtSize } from './start/at-size.ts'

const DEFAULT_MARKETS = 400
const QUICK_ROUNDS = 3
const BASELINE_MARKETS = 20
const MARKETS = 20_000
const RATE = 50
const LIVE_SHARE = 0.99
const SAMPLE = 200
const SETTLE_MS = 8_000

export const bench: Bench = {
  name: 'start',
  question:
    'How long does a start take until the first live price and with many markets, and how much memory per market?',
  excludes: 'real networks, the simulator’s memory',
  async run(setting) {
    const { isSmall, markets } = setting
    const rows: Row[] = []
    const lines: string[] = []
    if (markets !== null || isSmall) {
      const measured = await startAtSize(markets ?? 2 * BASELINE_MARKETS, setting)
      rows.push(...measured.rows)
      lines.push(...measured.lines)
    }
    if (markets === null) {
      const measured = await startDefault(setting)
      rows.push(...measured.rows)
      lines.push(...measured.lines)
    }
    const checked = `${lines.length} sampled books over REST equal the simulator's own`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

async function startDefault(setting: BenchSetting) {
  const starts = setting.isSmall ? 2 : 1
  const quick = await builtAndThroughTsx(setting)
  const baseline = await startTwice({ ...setting, marketsPerVenue: BASELINE_MARKETS, starts })
  const rows: Row[] = [...quick, ...baseline.rows]
  const lines = [...baseline.lines]
  if (setting.isSmall) return { rows, lines }
  const measured = await startTwice({ ...setting, marketsPerVenue: MARKETS, starts: 2 })
  const marketCount = measured.marketCount - baseline.marketCount
  const perMarket = (measured.residentBytes - baseline.residentBytes) / marketCount
  // With few markets this figure mostly depends on how far the garbage collector lets the heap grow.
  const value = `${(perMarket / 1_024).toFixed(1)} KiB a market over ${marketCount} markets`
  rows.push(...measured.rows, figureRow(`${MARKETS} a venue, resident above the baseline's`, value))
  return { rows, lines: [...lines, ...measured.lines] }
}

interface QuickStart {
  readonly listeningMs: number
  readonly priceMs: number
  /** Processor time of all processes until the first price. */
  readonly seconds: number
  readonly resident: number
  readonly processes: number
}

async function builtAndThroughTsx({ isSmall, logLine }: BenchSetting): Promise<readonly Row[]> {
  const found = new Map<string, QuickStart[]>()
  const take = (what: string, start: QuickStart) => {
    found.set(what, [...(found.get(what) ?? []), start])
    logLine(`${what}: ${quickText(start)}`)
  }
  const marketsPerVenue = isSmall ? BASELINE_MARKETS : DEFAULT_MARKETS
  // Under test the build stays, because other tests run engines from it.
  const build = isSmall ? null : await builtFolder(process.cwd())
  if (build !== null) rmSync(build, { recursive: true })
  await inFolder(async (folder) =>
    take('built, very first start', await startQuickly(join(folder, 'data'), marketsPerVenue)),
  )
  for (let round = 0; round < (isSmall ? 0 : QUICK_ROUNDS); round += 1) {
    for (const [how, entry] of PROGRAMS) {
      await inFolder(async (folder) => {
        const dataDir = join(folder, 'data')
        take(`${how}, empty folder`, await startQuickly(dataDir, marketsPerVenue, entry))
        take(`${how}, second start`, await startQuickly(dataDir, marketsPerVenue, entry))
      })
    }
  }
  const rows = [...found].map(([what, starts]) => figureRow(what, quickText(medians(starts))))
  const [built, tsx] = PROGRAMS.map(([how]) => found.get(`${how}, second start`))
  if (built === undefined || tsx === undefined) return rows
  const ratio = medianOf(tsx, 'seconds') / medianOf(built, 'seconds')
  const what = 'processor time to the first price, tsx over built'
  return [...rows, figureRow(what, `${figureText(ratio)} times`)]
}

const PROGRAMS = [
  ['built', 'engine/app/start.mjs'],
  ['through tsx', 'engine/app/main.ts'],
] as const

async function startQuickly(
  dataDir: string,
  marketsPerVenue: number,
  entry: 'engine/app/start.mjs' | 'engine/app/main.ts' = 'engine/app/start.mjs',
): Promise<QuickStart> {
  const settings = { dataDir, marketsPerVenue, messagesPerSecond: RATE, entry }
  const service = await LiveService.start(settings)
  try {
    const { startedAtMs, servingAtMs } = service.times
    const listeningMs = servingAtMs - startedAtMs
    const priceMs = (await service.firstPrice()) - startedAtMs
    const start = { listeningMs, priceMs, ...service.whole() }
    await service.stop()
    return start
  } finally {
    await service.kill()
  }
}

const medianOf = (starts: readonly QuickStart[], name: keyof QuickStart): number =>
  median(starts.map((start) => start[name]))

function medians(starts: readonly QuickStart[]): QuickStart {
  const of = (name: keyof QuickStart) => medianOf(starts, name)
  return {
    ...{ listeningMs: of('listeningMs'), priceMs: of('priceMs'), seconds: of('seconds') },
    ...{ resident: of('resident'), processes: of('processes') },
  }
}

function quickText({ listeningMs, priceMs, seconds, resident, processes }: QuickStart): string {
  const times = `listens after ${(listeningMs / 1_000).toFixed(2)} s, first price ${(priceMs / 1_000).toFixed(2)} s`
  return `${times}, processor ${seconds.toFixed(2)} s; ${processes} processes, ${Math.round(resident / 2 ** 20)} MiB`
}

interface Plan extends BenchSetting {
  readonly marketsPerVenue: number
  readonly starts: number
}

interface Measured {
  readonly rows: readonly Row[]
  readonly lines: readonly string[]
  /** Memory after the first start. The second of two measurements. */
  readonly residentBytes: number
  readonly marketCount: number
}

function startTwice(plan: Plan): Promise<Measured> {
  return inFolder(async (folder) => {
    const first = await startOnce(plan, folder, 'first start')
    if (plan.starts === 1) return first
    const { rows, lines } = await startOnce(plan, folder, 'second start')
    return { ...first, rows: [...first.rows, ...rows], lines: [...first.lines, ...lines] }
  })
}

async function startOnce(plan: Plan, folder: string, which: string): Promise<Measured> {
  const { isSmall, marketsPerVenue, logLine } = plan
  const dataDir = join(folder, 'data')
  const service = await LiveService.start({ dataDir, marketsPerVenue, messagesPerSecond: RATE })
  try {
    const { listed, open } = await service.marketCounts()
    const loadedAtMs = await service.catalogsLoaded()
    const liveAtMs = await service.booksLive(Math.floor(open * (1 - LIVE_SHARE)))
    const atLive = service.memoryBytes()
    await pause(isSmall ? 0 : SETTLE_MS)
    const settled = service.memoryBytes()
    const { startedAtMs, venuesUpAtMs, servingAtMs } = service.times
    const seconds = (atMs: number) => `${((atMs - startedAtMs) / 1_000).toFixed(1)} s`
    const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
    const times = `venues up after ${seconds(venuesUpAtMs)}, serving ${seconds(servingAtMs)}, catalogues loaded ${seconds(loadedAtMs)}, 99 % of ${open} open books live ${seconds(liveAtMs)}`
    const memory = `resident ${mib(atLive.resident)} then, ${mib(settled.resident)} settled (${mib(settled.files)} of it pages of files), peak ${mib(settled.peak)}`
    const work = `processor ${service.processorSeconds().toFixed(1)} s`
    const what = `${marketsPerVenue} a venue, ${which}`
    const loop = await service.loopDelayText()
    const rows = [
      figureRow(what, times),
      figureRow(`${what}, memory`, `${memory}; ${work}`),
      figureRow(`${what}, event loop since the start`, loop),
    ]
    logLine(`${what}: ${times}; ${memory}; ${work}`)
    const lines = await service.sampledBooks(SAMPLE)
    await service.stop()
    return { rows, lines, residentBytes: settled.resident, marketCount: listed }
  } finally {
    await service.kill()
  }
}
