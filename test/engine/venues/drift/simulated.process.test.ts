import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../engine/clock.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { readDrift } from '../../../../engine/venues/drift/drift-report.ts'
import { startSimulator } from '../../../../engine/venues/simulator/simulator.ts'
import { openVenues } from '../../../../engine/venues/venues.ts'

test('reports no drift of healthy simulated venues after all probes and a complete crawl', async () => {
  const simulator = await startSimulator({
    ...{ seed: 7, marketsPerVenue: 200, messagesPerSecond: 50, faults: [], basePort: 0 },
    ...{ clock: systemClock, log: silentLog, kalshiPublicKeyPem: null, hasPast: true },
  })
  const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = simulator
  const venues = openVenues(
    {
      ...{ clock: systemClock, random: seededRandom('drift'), log: silentLog },
      ...{ metrics: new Metrics(), emit: () => undefined },
    },
    {
      polymarket: urls,
      kalshi: { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem },
    },
  )
  try {
    const { signal } = new AbortController()
    for (const venue of venues) {
      let count = 0
      const onMarkets = (read: number) => {
        count = read
      }
      assert.deepEqual(await readDrift(venue, venue.key, onMarkets, signal), {
        lines: [`drift ${venue.key}: none; ${count} markets read`],
        hasLoss: false,
        isComplete: true,
      })
      assert.ok(count >= 100, `${count} markets of ${venue.key}`)
    }
  } finally {
    for (const { feed } of venues) await feed.stop()
    await simulator.stop()
  }
})
