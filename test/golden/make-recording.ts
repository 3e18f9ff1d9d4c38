// Process entry: records ten minutes of both simulated venues in test/fixtures/golden/recording.jsonl.gz. A new
// recording changes every digest in answers.json.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pause } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { Recorder } from '../../engine/venues/recording/recorder.ts'
import { startSimulator } from '../../engine/venues/simulator/simulator.ts'
import type { Venue } from '../../engine/venues/venue.ts'
import { openVenues } from '../../engine/venues/venues.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { waitOneTick } from '../support/fakes/real-time-step.ts'
import { watchBooks } from '../support/fakes/watch-books.ts'
import { goldenFile } from '../support/reference/golden.ts'

const MINUTES = 10

/** Records the venue's list of markets and subscribes to all of them. */
async function follow(venue: Venue, recorder: Recorder): Promise<void> {
  await venue.catalog.crawl((page) => {
    recorder.addCatalog(venue.key, page)
    watchBooks(
      venue.feed,
      page.markets.map(({ nativeId, outcomes, status, openAtMs, closeAtMs }) => ({
        ...{ nativeId, status, openAtMs, closeAtMs },
        outcomes: outcomes.map((outcome) => outcome.id),
      })),
    )
  }, new AbortController().signal)
}

const clock = new ManualClock()
const stopClock = waitOneTick(clock)
const random = seededRandom('recording')
const simulator = await startSimulator({
  ...{ seed: 7, marketsPerVenue: 20, messagesPerSecond: 5, gapsPerMinute: 6, faults: [] },
  ...{ clock, random, log: silentLog, basePort: 0, kalshiPublicKeyPem: null, hasPast: true },
})
const file = join(mkdtempSync(join(tmpdir(), 'recording-')), 'recording.jsonl')
const recorder = new Recorder({ file, clock })
const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = simulator
const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
const parts = { clock, random, log: silentLog, metrics: new Metrics(), emit: () => undefined }
const venues = openVenues(parts, { polymarket: urls, kalshi }, recorder.tap)
for (const venue of venues) await follow(venue, recorder)
for (const { feed } of venues) feed.start()
await pause(clock, MINUTES * 60_000)
for (const { feed } of venues) await feed.stop()
await recorder.stop()
stopClock()
await simulator.stop()
const bytes = gzipSync(readFileSync(file), { level: 9 })
writeFileSync(goldenFile('recording.jsonl.gz'), bytes)
process.stdout.write(`${recorder.frameCount} frames, ${bytes.length} bytes\n`)
process.exit(0)
