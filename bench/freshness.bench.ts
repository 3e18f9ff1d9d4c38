// Compares trades of the service with those of the venues, as public monitors of aggregators do. A proxy delays all
// data of the venues by 50 ms in each direction, for the service and for the monitor alike. The lag is the time from
// the arrival of the venue's trade at the monitor to the arrival of ours, without the network delay. Trades are joined
// by market, price, size and bucket of five seconds.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { Child } from './child.ts'
import type { api as monitorApi } from './freshness/monitor.ts'
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
import { LiveService } from './live-service.ts'
import { type SeparateVenues, startVenues } from './separate-venues.ts'

const DELAY_MS = 50
const SECONDS = 60
/** Seconds before the measurement, in which the compiler sees all code. */
const WARM_UP_SECONDS = 15
const MARKETS = 400
const RATE = 1_000
/** Share of the open books that must be live before the measurement. */
const LIVE_SHARE = 0.99
const SAMPLE = 100
const AIMS = { p50Ms: 1, p99Ms: 5, matchedPercent: 100 }

export const bench: Bench = {
  name: 'freshness',
  question:
    'How long after the venue’s own stream does a trade reach a user, and is every trade there?',
  excludes: 'the network between venue and service, the internet between service and user',
  run: (setting) =>
    inFolder(async (folder) => {
      const marketsPerVenue = setting.isSmall ? 20 : MARKETS
      const size = { marketsPerVenue, messagesPerSecond: RATE }
      const venues = await startVenues({ folder, ...size, delayMs: DELAY_MS })
      try {
        const dataDir = join(folder, 'data')
        const service = await LiveService.start({ dataDir, ...size, env: venues.env })
        try {
          const { rows, tradeCount } = await measure(service, venues, setting)
          const lines = await service.sampledBooks(SAMPLE)
          await service.stop()
          const checked = `${tradeCount} trades of the venues compared; ${lines.length} sampled books over REST equal the simulator's own`
          return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
        } finally {
          await service.kill()
        }
      } finally {
        await venues.stop()
      }
    }),
}

async function measure(
  service: LiveService,
  { urls, keyId, privateKeyPem }: SeparateVenues,
  { isSmall, seconds, logLine }: BenchSetting,
): Promise<{ readonly rows: readonly Row[]; readonly tradeCount: number }> {
  const { open } = await service.marketCounts()
  await service.catalogsLoaded()
  await service.booksLive(Math.floor(open * (1 - LIVE_SHARE)))
  const monitor: Child<typeof monitorApi> = new Child('freshness/monitor.ts')
  try {
    const kalshi = { url: urls.kalshiWs, keyId, privateKeyPem }
    const { api, key: apiKey } = service
    await monitor.call('connect', { rtdsUrl: urls.rtdsWs, kalshi, api, apiKey })
    await pause(isSmall ? 0 : WARM_UP_SECONDS * 1_000)
    await monitor.call('begin')
    await pause(isSmall ? 3_000 : (seconds ?? SECONDS) * 1_000)
    const seen = await monitor.call('finish')
    const unknown = Object.values(seen).flatMap((one) => one.unknown)
    logLine(`trades compared; ours that the venues do not have: ${unknown.join('; ') || 'none'}`)
    return rowsOf(seen)
  } finally {
    await monitor.end()
  }
}

type Seen = Awaited<ReturnType<(typeof monitorApi)['finish']>>

function rowsOf(seen: Seen): { readonly rows: readonly Row[]; readonly tradeCount: number } {
  const all = Object.values(seen)
  const sum = (of: (one: (typeof all)[number]) => number) =>
    all.reduce((total, one) => total + of(one), 0)
  const tradeCount = sum(({ venueCount }) => venueCount)
  const matchedCount = sum(({ matchedCount }) => matchedCount)
  const unknown = all.flatMap((one) => one.unknown)
  check(matchedCount > 0, `none of ${tradeCount} trades was matched`)
  const times = newTimes()
  const rows: Row[] = []
  for (const [venue, one] of Object.entries(seen)) {
    const own = decodeFromCompressedBase64(one.times)
    times.add(own)
    rows.push(timesRow(`venue ${venue}: its trade → ours`, own))
    const share = `${one.matchedCount} of ${one.venueCount} trades`
    rows.push(figureRow(`venue ${venue}: matched`, share))
  }
  const lag = (rank: number) => times.getValueAtPercentile(rank) / 1e6
  rows.push(
    timesRow('both venues: the venue’s trade → ours', times),
    aimedRow('lag beyond the network, p50', lag(50), { atMost: AIMS.p50Ms }, 'ms'),
    aimedRow('lag beyond the network, p99', lag(99), { atMost: AIMS.p99Ms }, 'ms'),
    aimedRow(
      'matched of the venues’ trades',
      (100 * matchedCount) / tradeCount,
      { atLeast: AIMS.matchedPercent },
      '%',
    ),
    aimedRow('ours that the venues do not have', unknown.length, { atMost: 0 }, 'trades'),
  )
  return { rows, tradeCount }
}
