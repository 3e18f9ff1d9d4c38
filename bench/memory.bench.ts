// The complete service as `npm start` runs it, with the default number of markets. Resident memory is that of the
// engine's process, including file pages, which the system can reclaim. Full garbage collections of the main thread are
// counted, and their pauses are measured.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  type Row,
} from './harness.ts'
import { LiveService } from './live-service.ts'

const MARKETS = 400
const REST_RATE = 50
const RATE = 3_000
const SECONDS = 600
const REST_SECONDS = 60
const SAMPLE_EVERY_S = 20
const REST_MIB_MAX = 220
const LOADED_MB_MAX = 420
const PAUSE_MS_MAX = 10
const SAMPLE = 100

export const bench: Bench = {
  name: 'memory',
  question:
    'How much memory does the engine use at rest, and at 3,000 venue messages a second for ten minutes?',
  excludes: 'the simulator’s memory, subscribers, requests',
  async run(setting) {
    const { isSmall, seconds } = setting
    const marketsPerVenue = isSmall ? 20 : MARKETS
    const rest = await watch(setting, {
      ...{ marketsPerVenue, rate: REST_RATE, seconds: isSmall ? 0 : REST_SECONDS },
    })
    const loaded = await watch(setting, {
      ...{ marketsPerVenue, rate: RATE, seconds: isSmall ? 0 : (seconds ?? SECONDS) },
    })
    const most = (bytes: (poll: MemorySample) => number) =>
      mb(Math.max(...loaded.checks.map(bytes)))
    const last = rest.checks.at(-1)?.resident ?? Number.NaN
    const rows: Row[] = [
      aimedRow('resident at rest', Math.round(last / 2 ** 20), { atMost: REST_MIB_MAX }, 'MiB'),
      figureRow(`resident (${ANONYMOUS}) over time at 3,000 a second`, overTime(loaded.checks)),
      aimedRow('at most', most(resident), { atMost: LOADED_MB_MAX }, 'MB'),
      figureRow(`at most ${ANONYMOUS}`, `${most(anonymous)} MB`),
      figureRow('full collections in that time', fullText(loaded.checks)),
      aimedRow('the longest of them', longestFull(loaded.checks), { atMost: PAUSE_MS_MAX }, 'ms'),
    ]
    const lines = [...rest.lines, ...loaded.lines]
    const checked = `${lines.length} sampled books over REST equal the simulator's own`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

interface Load {
  readonly marketsPerVenue: number
  readonly rate: number
  readonly seconds: number
}

interface MemorySample {
  readonly afterS: number
  readonly resident: number
  readonly files: number
  readonly heap: number
  /**
   * Full collections since the start. `within` maps a number of milliseconds to the number of collections that were not
   * longer.
   */
  readonly full: {
    readonly count: number
    readonly sumMs: number
    readonly within: ReadonlyMap<number, number>
  }
}

function watch({ logLine }: BenchSetting, load: Load) {
  return inFolder(async (folder) => {
    const service = await LiveService.start({
      dataDir: join(folder, 'data'),
      marketsPerVenue: load.marketsPerVenue,
      messagesPerSecond: load.rate,
    })
    try {
      await service.catalogsLoaded()
      const checks: MemorySample[] = []
      for (let afterS = 0; ; afterS += SAMPLE_EVERY_S) {
        const poll = await lookAt(service, afterS)
        checks.push(poll)
        logLine(`${load.rate} a second: ${sampleText(poll)}`)
        if (afterS + SAMPLE_EVERY_S > load.seconds) break
        await pause(SAMPLE_EVERY_S * 1_000)
      }
      const lines = await service.sampledBooks(SAMPLE)
      await service.stop()
      return { checks, lines }
    } finally {
      await service.kill()
    }
  })
}

async function lookAt(service: LiveService, afterS: number): Promise<MemorySample> {
  const text = await service.metrics()
  const read = (name: string) => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)
    check(found !== null, `/metrics shows ${name}`)
    return Number(found?.[1])
  }
  const { resident, files } = service.memoryBytes()
  const count = read('collection_full_ms_count')
  const buckets = text.matchAll(/^collection_full_ms_bucket\{le="([\d.]+)"\} (\d+)$/gm)
  const within = new Map(Array.from(buckets, ([, bound, some]) => [Number(bound), Number(some)]))
  const full = { count, sumMs: read('collection_full_ms_sum'), within }
  return { afterS, resident, files, heap: read('process_heap_bytes'), full }
}

const mb = (bytes: number) => Math.round(bytes / 1e6)

const resident = (poll: MemorySample) => poll.resident
const ANONYMOUS = 'without pages of files'
const anonymous = (poll: MemorySample) => poll.resident - poll.files

const sampleText = ({ afterS, resident, files, heap, full }: MemorySample) =>
  `${afterS} s: ${mb(resident)} MB resident, ${mb(files)} of it files, heap ${mb(heap)}; ${full.count} full collections of ${full.sumMs.toFixed(0)} ms`

function overTime(checks: readonly MemorySample[]): string {
  const step = Math.max(1, Math.floor(checks.length / 10))
  const some = checks.filter((_, index) => index % step === 0)
  const texts = some.map((poll) => {
    return `${poll.afterS} s ${mb(poll.resident)} (${mb(anonymous(poll))}) MB`
  })
  return texts.join(', ')
}

function fullText(checks: readonly MemorySample[]): string {
  const [first, last] = [checks[0], checks.at(-1)]
  if (first === undefined || last === undefined) return 'none'
  const count = last.full.count - first.full.count
  const sumMs = last.full.sumMs - first.full.sumMs
  return `${count}, ${(sumMs / Math.max(count, 1)).toFixed(1)} ms each`
}

/** Upper bound of the longest pause. Excludes pauses of the startup, when the heap is filled. */
function longestFull(checks: readonly MemorySample[]): number {
  const [first, last] = [checks[0]?.full, checks.at(-1)?.full]
  if (first === undefined || last === undefined) return Number.NaN
  const bounds = [...last.within].find(([bound, count]) => {
    return count - (first.within.get(bound) ?? 0) === last.count - first.count
  })
  return bounds?.[0] ?? Number.POSITIVE_INFINITY
}
