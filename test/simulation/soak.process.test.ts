// Compares each book and trade of an engine with the paused simulator. The books come from REST and from a stream.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pause } from '../../engine/clock.ts'
import { FAULT_NAMES } from '../../engine/fault-names.ts'
import { silentLog } from '../../engine/process/log.ts'
import type { SimFault } from '../../engine/venues/simulator/model.ts'
import { startSimulator } from '../../engine/venues/simulator/simulator.ts'
import { StreamFollower } from '../support/clients/stream-follower.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { waitOneTick } from '../support/fakes/real-time-step.ts'
import { compareBooks, compareTrades, read } from '../support/rigs/full-service.ts'
import { openWatchedEngine } from '../support/rigs/watched-engine.ts'

const FLOW_MS = 10_000
const POLL_EVERY_MS = 3_000
/** Five minutes of simulated time, in which the engine recovers from all faults. */
const POLLS_MAX = 100

interface Soak {
  readonly faults: readonly SimFault[]
  readonly hasKalshiKey: boolean
}

async function soak(t: TestContext, { faults, hasKalshiKey }: Soak): Promise<void> {
  const clock = new ManualClock()
  const simulator = await startSimulator({
    ...{ seed: 5, marketsPerVenue: 40, messagesPerSecond: 100, faults, clock, log: silentLog },
    ...{ basePort: 0, kalshiPublicKeyPem: null },
  })
  const { urls } = simulator
  const keyId = hasKalshiKey ? simulator.kalshiKeyId : null
  const privateKeyPem = hasKalshiKey ? simulator.kalshiPrivateKeyPem : null
  const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-soak-'))
  const stopTime = waitOneTick(clock)
  const { engine, apiKey } = await openWatchedEngine({
    ...{ dataDir, addresses: { polymarket: urls, kalshi }, clock },
  })
  const locations = { gamma: urls.gamma, api: `http://127.0.0.1:${engine.port}`, key: apiKey }
  const follower = new StreamFollower(`ws://127.0.0.1:${engine.port}/v1/ws?api_key=${apiKey}`)
  try {
    await follower.follow('orderbook')
    await follower.follow('trades')
    const sinceMs = clock.nowMs()
    await pause(clock, FLOW_MS)
    await read(`${urls.gamma}/sim/state?action=pause`)
    const check = async () => ({
      ...(await compareBooks(locations, follower)),
      ...(await compareTrades(locations, follower, sinceMs)),
    })
    let found = await check()
    const wrong = () => [
      ...[found.booksWrong, found.rebuiltWrong, found.tradesMissing, found.tradesUnstreamed],
    ]
    for (
      let checks = 1;
      wrong().some(({ length }) => length > 0) && checks < POLLS_MAX;
      checks += 1
    ) {
      await pause(clock, POLL_EVERY_MS)
      found = await check()
    }
    t.diagnostic(
      `${found.booksCompared} books, ${found.truthTrades} true trades; all correct ${clock.nowMs() - sinceMs - FLOW_MS} ms after the pause`,
    )
    for (const texts of [...wrong(), found.tradesExtra, found.tradesDoubled, follower.faults]) {
      assert.deepEqual(texts.slice(0, 5), [])
    }
    assert.ok(found.truthTrades > 0 && found.booksCompared > 0)
    t.diagnostic(`${found.tradesMerged.length} fills are part of a combined trade`)
    if (faults.length === 0) assert.deepEqual(found.tradesMerged, [])
  } finally {
    follower.close()
    await engine.stop()
    stopTime()
    await simulator.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

test('serves books equal to the simulator’s and delivers each trade once while every simulated venue fault occurs', (t) =>
  soak(t, { faults: FAULT_NAMES, hasKalshiKey: true }))

test('reads correct books and every trade from Kalshi’s public REST API when no Kalshi key is configured', (t) =>
  soak(t, { faults: [], hasKalshiKey: false }))
