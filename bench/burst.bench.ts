// Maximum delay of 50,000 venue messages within one second, and completeness afterwards. The whole service as `npm
// start` runs it, 200 markets a venue, 500 messages a second besides the bursts; a client follows all books and trades.
// Times run from the venue's time to the publication, so the maximum bounds how long a burst's messages are published
// after its end. Finally the load stops: every book must equal the simulator's, and every trade since the first burst
// must have arrived.
// Excluded: networks (loopback), the subscriber process's wait for the processor.
// Precision: the simulated venues share the two cores; their own lateness is included.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BookAges, tradeKey } from './book-ages.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  timesRow,
} from './harness.ts'
import { equalLines, LiveService } from './live-service.ts'

const MESSAGES = 50_000
const BURSTS = 5
/** From the start of one burst to the next. */
const BURST_EVERY_MS = 6_000
const AGE_MS_MAX = 2_000
const PUBLISH_TRIES_MAX = 200
const POLL_MS = 50

export const bench: Bench = {
  name: 'burst',
  question: 'How late is the latest of 50,000 venue messages that come within one second?',
  excludes: 'networks beyond loopback, the subscriber’s own waiting for the processor',
  run: (setting) => inFolder((folder) => burst(setting, join(folder, 'data'))),
}

async function burst({ isSmall, say: logLine }: BenchSetting, dataDir: string) {
  const marketsPerVenue = isSmall ? 20 : 200
  const messagesPerSecond = isSmall ? 100 : 500
  const messages = isSmall ? 500 : MESSAGES
  const bursts = isSmall ? 1 : BURSTS
  const service = await LiveService.start({ dataDir, marketsPerVenue, messagesPerSecond })
  const ages = new BookAges(`${service.api.replace('http', 'ws')}/v1/ws?api_key=${service.key}`)
  try {
    await service.catalogsLoaded()
    await service.booksLive(0)
    await service.pauseWorld()
    await ages.follow()
    const before = new Set(await service.trueTrades())
    await service.resumeWorld()
    ages.isCounting = true
    for (let count = 1; count <= bursts; count += 1) {
      await service.burst(messages)
      await pause(isSmall ? 1_500 : BURST_EVERY_MS)
      logLine(
        `burst ${count} of ${bursts}: the latest ${latestMs(ages)} ms, ${ages.counts.updates} updates`,
      )
    }
    await service.pauseWorld()
    const lines = await equalLines(await service.truthBooks(), (id) => service.book(id))
    const due = (await service.trueTrades()).filter((name) => !before.has(name)).map(tradeKey)
    const missing = await untold(ages, due)
    check(missing === 0, `${missing} of ${due.length} trades were never told`)
    check(ages.counts.gaps === 0, 'no gap is told')
    const memory = service.memoryBytes()
    await service.stop()
    const checked = `${lines.length} books equal the simulator's own, ${due.length} trades told, no gap`
    const { told: published, within, counts, resyncs } = ages
    return {
      rows: [
        timesRow('updates told: from the venue’s time', published),
        timesRow('updates told: from arrival', within),
        aimedRow(
          'the latest update, from the venue’s time',
          latestMs(ages),
          { atMost: AGE_MS_MAX },
          'ms',
        ),
        figureRow('updates of books', String(counts.updates)),
        figureRow('resyncs', JSON.stringify(Object.fromEntries(resyncs))),
        figureRow('resident memory at most', `${Math.round(memory.peak / 2 ** 20)} MiB`),
      ],
      state: { hash: hashOf(lines), checked, isRepeatable: false },
    }
  } finally {
    ages.close()
    await service.kill()
  }
}

const latestMs = ({ told: published }: BookAges): number => Math.round(published.maxValue / 1e6)

/** Number of these trades that did not arrive; polled while messages are still in transit. */
async function untold(ages: BookAges, due: readonly string[]): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const missing = due.filter((key) => !ages.trades.has(key)).length
    if (missing === 0 || tries === PUBLISH_TRIES_MAX) return missing
    await pause(POLL_MS)
  }
}
