// Starts of the service at the venues' real size: on an empty folder, and again on the resulting folder. The simulated
// venues are another process that keeps running, and the service connects to them as to real venues.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aimedRow, type BenchSetting, figureRow, inFolder, type Row } from '../harness.ts'
import { sum } from '../latency-recorder.ts'
import { LiveService } from '../live-service.ts'
import { startVenues } from '../separate-venues.ts'

const RATE = 500
const MOST_TRADED = 1_000
/** Maximum share of stale books, and number of books that a default policy covers at both venues together. */
const STALE_SHARE = 0.01
const COVERED_MAX = 40_000
const LIST_MAX = 200
const BOOKS_MAX = 100
const POLL_MS = 250
const SETTLE_MS = 10_000
const SAMPLE = 200
const AIMS = { servingS: 10, mostTradedS: 20, coveredS: 300, socketsLost: 0 }

interface Started {
  readonly rows: readonly Row[]
  readonly lines: readonly string[]
}

export function startAtSize(marketCount: number, setting: BenchSetting): Promise<Started> {
  return inFolder(async (folder) => {
    const size = { marketsPerVenue: Math.ceil(marketCount / 2), messagesPerSecond: RATE }
    const venues = await startVenues({ folder, ...size, delayMs: 0 })
    try {
      const start = async (which: 'empty' | 'warm') => {
        const dataDir = join(folder, 'data')
        const service = await LiveService.start({ dataDir, ...size, env: venues.env })
        try {
          const what = `${marketCount} markets, ${which} folder`
          const { rows, aims } = await measure(service, what, setting)
          const lines = which === 'warm' ? await service.sampledBooks(SAMPLE) : []
          await service.stop()
          return { rows: which === 'warm' ? [...rows, ...aims] : rows, lines }
        } finally {
          await service.kill()
        }
      }
      const [cold, warm] = [await start('empty'), await start('warm')]
      return { rows: [...cold.rows, ...warm.rows], lines: warm.lines }
    } finally {
      await venues.stop()
    }
  })
}

async function measure(service: LiveService, what: string, { isSmall, logLine }: BenchSetting) {
  const { startedAtMs, servingAtMs } = service.times
  const { open } = await service.marketCounts()
  const first = Math.min(MOST_TRADED, open)
  const [loadedAtMs, mostTradedAtMs, coveredAtMs] = await Promise.all([
    service.catalogsLoaded(),
    service.until('books of the most traded', async () => {
      await pause(POLL_MS)
      return (await liveCount(service, first)) === first
    }),
    service.booksLive(Math.floor(STALE_SHARE * Math.min(open, COVERED_MAX))),
  ])
  await pause(isSmall ? 0 : SETTLE_MS)
  const after = (atMs: number) => (atMs - startedAtMs) / 1_000
  const text = (atMs: number) => `${after(atMs).toFixed(1)} s`
  const { resident, files, peak } = service.memoryBytes()
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
  const metrics = await service.metrics()
  const counts = metrics.matchAll(/^venue_socket_losses_total\{[^}]*\} (\d+)$/gm)
  const lost = sum(Array.from(counts, ([, count]) => Number(count)))
  const times = `serving after ${text(servingAtMs)}, books of the ${first} most traded markets live ${text(mostTradedAtMs)}, all covered ${text(coveredAtMs)}, catalogues loaded ${text(loadedAtMs)}`
  const memory = `resident ${mib(resident)} (${mib(files)} of it pages of files), peak ${mib(peak)}; processor ${service.processorSeconds().toFixed(1)} s`
  logLine(`${what}: ${times}; ${lost} sockets lost; ${memory}`)
  const rows = [
    figureRow(what, times),
    figureRow(`${what}, memory`, memory),
    figureRow(`${what}, event loop since the start`, await service.loopDelayText()),
    figureRow(`${what}, sockets lost`, String(lost)),
  ]
  const aims = [
    aimedRow(`${what}: serving`, after(servingAtMs), { atMost: AIMS.servingS }, 's'),
    aimedRow(
      `${what}: books of the most traded`,
      after(mostTradedAtMs),
      { atMost: AIMS.mostTradedS },
      's',
    ),
    aimedRow(`${what}: all covered`, after(coveredAtMs), { atMost: AIMS.coveredS }, 's'),
    aimedRow(`${what}: sockets lost`, lost, { atMost: AIMS.socketsLost }, 'sockets'),
  ]
  return { rows, aims }
}

async function liveCount(service: LiveService, count: number): Promise<number> {
  let live = 0
  for (let offset = 0; offset < count; offset += LIST_MAX) {
    const query = `status=open&sort_by=volume&limit=${Math.min(LIST_MAX, count - offset)}`
    const { markets } = await service.read<{ markets: readonly { readonly id: string }[] }>(
      `/v1/markets?${query}&offset=${offset}`,
    )
    for (let from = 0; from < markets.length; from += BOOKS_MAX) {
      const ids = markets.slice(from, from + BOOKS_MAX).map(({ id }) => encodeURIComponent(id))
      const { orderbooks } = await service.read<{
        orderbooks: readonly { readonly stale: boolean }[]
      }>(`/v1/orderbooks?market_ids=${ids.join(',')}`)
      live += orderbooks.filter(({ stale }) => !stale).length
    }
  }
  return live
}
