// Maximum age of an order book served as live when processor time is short. The whole service as `npm start` runs it,
// 200 markets a venue, 12,000 venue messages a second, with four busy loops. A client polls books over REST and follows
// all of them on the stream. A book's age is the time since its venue sent the first change that it lacks. A book with
// `stale`, or whose venue's `status` is not live, is not served as live.
// Excluded: networks (loopback), the subscriber process's wait for the processor. Finally the load stops: every book
// must equal the simulator's, and every trade must be stored.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { BookAges } from './book-ages.ts'
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
import { equalLines, LiveService } from './live-service.ts'

const SECONDS = 60
const POLL_EVERY_MS = 200
const BOOKS_PER_REQUEST = 100
const BUSY_LOOPS = 4
const TRIES_MAX = 50
/** The engine's own limit, doubled for venue and system. */
const AGE_MS_MAX = 2_000

export const bench: Bench = {
  name: 'overload',
  question: 'How old is the oldest book served as live when the processor is short?',
  excludes: 'networks beyond loopback, the subscriber’s own waiting for the processor',
  run: (setting) => inFolder((folder) => overload(setting, join(folder, 'data'))),
}

interface BookPage {
  readonly orderbooks: Parameters<BookAges['noteAnswers']>[0]
}

async function overload({ isSmall, seconds, say: logLine }: BenchSetting, dataDir: string) {
  const marketsPerVenue = isSmall ? 20 : 200
  const messagesPerSecond = isSmall ? 200 : 12_000
  const forMs = isSmall ? 1_000 : (seconds ?? SECONDS) * 1_000
  const service = await LiveService.start({ dataDir, marketsPerVenue, messagesPerSecond })
  const ages = new BookAges(`${service.api.replace('http', 'ws')}/v1/ws?api_key=${service.key}`)
  const loops: ChildProcess[] = []
  try {
    await service.catalogsLoaded()
    const ids = await openMarketIds(service)
    logLine(`${ids.length} open markets`)
    await ages.follow()
    logLine('all books are followed')
    if (!isSmall) for (let loop = 0; loop < BUSY_LOOPS; loop += 1) loops.push(busyLoop())
    ages.isCounting = true
    const states = await poll(service, ages, { ids, forMs, say: logLine })
    ages.isCounting = false
    const memory = service.memoryBytes()
    for (const loop of loops) loop.kill('SIGKILL')
    await service.pauseWorld()
    const truth = await service.truthBooks()
    const lines = await equalLines(truth, (id) => service.book(id))
    const rows = rowsOf(ages, states)
    rows.push(figureRow('resident memory at most', `${Math.round(memory.peak / 2 ** 20)} MiB`))
    check(ages.counts.gaps === 0, 'no gap is told')
    await service.stop()
    const checked = `${lines.length} books equal the simulator's own after the load, no gap told`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  } finally {
    for (const loop of loops) loop.kill('SIGKILL')
    ages.close()
    await service.kill()
  }
}

const busyLoop = () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })

/** An overloaded engine may reject a request; it is retried. */
async function readAgain<Answer>(service: LiveService, path: string): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await service.read<Answer>(path)
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await pause(POLL_EVERY_MS)
    }
  }
}

async function openMarketIds(service: LiveService): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const page: { markets: { id: string }[]; cursor: string | null } = await readAgain(
      service,
      `/v1/markets?status=open&limit=200${after}`,
    )
    ids.push(...page.markets.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  return ids
}

/** Number of health polls with each state. */
interface States {
  ok: number
  degraded: number
}

async function poll(
  service: LiveService,
  ages: BookAges,
  {
    ids,
    forMs,
    say: logLine,
  }: { ids: readonly string[]; forMs: number; say: (line: string) => void },
): Promise<States> {
  const states: States = { ok: 0, degraded: 0 }
  const startedMs = systemClock.monotonicMs()
  let publishedAtMs = startedMs
  for (let from = 0; ; from += BOOKS_PER_REQUEST) {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - startedMs >= forMs) return states
    const start = from % Math.max(ids.length, 1)
    const some = ids.slice(start, start + BOOKS_PER_REQUEST).map(encodeURIComponent)
    if (start + BOOKS_PER_REQUEST >= ids.length) from = -BOOKS_PER_REQUEST
    const page: BookPage = await readAgain(service, `/v1/orderbooks?market_ids=${some.join(',')}`)
    ages.noteAnswers(page.orderbooks)
    const { status } = await readAgain<{ status: keyof States }>(service, '/health')
    states[status] += 1
    if (nowMs - publishedAtMs >= 5_000) {
      publishedAtMs = nowMs
      logLine(progressOf(ages, states))
    }
    await pause(POLL_EVERY_MS)
  }
}

const ms = (nanos: number) => Math.round(nanos / 1e6)

function progressOf(
  { served, toldLive: publishedLive, within, counts, resyncs }: BookAges,
  states: States,
) {
  const shares = `${counts.stale} of ${counts.answers} answers stale, ${states.degraded} of ${states.ok + states.degraded} looks degraded`
  return `oldest served live ${ms(served.maxValue)} ms, told live ${ms(publishedLive.maxValue)} ms, within us ${ms(within.maxValue)} ms (p50 ${ms(within.getValueAtPercentile(50))}); ${counts.updates} updates; ${shares}; resyncs ${JSON.stringify([...resyncs])}`
}

function rowsOf(ages: BookAges, states: States): Row[] {
  const { served, toldLive: publishedLive, told: published, within, counts, resyncs } = ages
  const share = (part: number, complete: number) =>
    `${((100 * part) / Math.max(complete, 1)).toFixed(1)} %`
  const times: readonly (readonly [what: string, times: Histogram])[] = [
    ['books served as live: since the venue sent what they lack', served],
    ['updates told while status is live: from the venue’s time', publishedLive],
    ['updates told: from the venue’s time', published],
    ['updates told: from arrival', within],
  ]
  return [
    // If the machine is so slow that nothing is live, there are no ages.
    ...times.filter(([, { totalCount }]) => totalCount > 0).map(([what, of]) => timesRow(what, of)),
    aimedRow(
      'oldest book served as live over REST',
      ms(served.maxValue),
      { atMost: AGE_MS_MAX },
      'ms',
    ),
    aimedRow(
      'oldest update told while live',
      ms(publishedLive.maxValue),
      { atMost: AGE_MS_MAX },
      'ms',
    ),
    figureRow('books that said stale', share(counts.stale, counts.answers)),
    figureRow('looks that said degraded', share(states.degraded, states.ok + states.degraded)),
    figureRow('updates', String(counts.updates)),
    figureRow('resyncs', JSON.stringify(Object.fromEntries(resyncs))),
  ]
}
