// Many clients connect through a proxy that delays, throttles, resets and half-opens connections. With TEST_LONG=1: 200
// clients and 5,000 venue messages a second for a minute.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  SimulatedUsers,
  type SimulatedUsersReport,
  unannounced,
} from '../support/clients/simulated-users.ts'
import { allMarketIds, Rig } from '../support/rigs/full-service.ts'
import { startWatchedEngine, type WatchedEngine } from '../support/rigs/watched-engine.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const seconds = number('CONTINUITY_SECONDS', isLong ? 60 : 5)
const clients = number('CONTINUITY_CLIENTS', isLong ? 200 : 10)
const rate = number('CONTINUITY_RATE', isLong ? 5_000 : 500)
const marketsPerVenue = number('CONTINUITY_MARKETS', isLong ? 250 : 60)
const settleSeconds = number('CONTINUITY_SETTLE_SECONDS', isLong ? 180 : 90)
const seed = process.env.SEED ?? 'continuity'

test('streams books equal to REST and delivers each trade once to clients on a faulty network', (t) =>
  followAll((line) => t.diagnostic(line), 'off'))

const skip = isLong ? false : 'venues that fall silent take a minute to come back: TEST_LONG=1'
test(
  'streams correct books and delivers each trade once on a faulty network while the venues have every simulated fault',
  { skip },
  (t) => followAll((line) => t.diagnostic(line), 'on'),
)

async function followAll(logLine: (line: string) => void, faults: 'on' | 'off'): Promise<void> {
  const rig = new Rig()
  let watched: WatchedEngine | null = null
  let crowd: SimulatedUsers | null = null
  try {
    await rig.startVenues({ messagesPerSecond: rate, marketsPerVenue, faults })
    watched = await startWatchedEngine(rig)
    const { engine, witness, apiKey } = watched
    const api = `http://127.0.0.1:${engine.port}`
    const marketIds = await allMarketIds({ gamma: rig.gamma, api, key: apiKey })
    crowd = SimulatedUsers.start({
      ...{ seed, host: '127.0.0.1', port: engine.port, apiKey, clients, marketIds },
      ...{ wideEvery: 0, marketsPerClient: 20, rough: { lifeMsMax: (seconds * 1_000) / 3 } },
    })
    const { rejected } = await crowd.ask({ kind: 'ready' })
    assert.deepEqual(rejected, [])
    const before = { ...witness.counts }
    const loop = monitorEventLoopDelay({ resolution: 10 })
    loop.enable()
    const cpu = process.cpuUsage()
    const startedMs = performance.now()
    const sampled = await crowd.ask({ kind: 'sample', forMs: seconds * 1_000 })
    await rig.flow('pause')
    const elapsed = (performance.now() - startedMs) / 1_000
    const used = process.cpuUsage(cpu)
    loop.disable()
    await crowd.ask({ kind: 'calm' })
    const books = (witness.counts.book - before.book) / elapsed
    const trades = (witness.counts.trade - before.trade) / elapsed
    logLine(
      `${marketIds.length} markets, ${books.toFixed(0)} book updates and ${trades.toFixed(0)} trades a second published for ${elapsed.toFixed(1)} s; event-loop delay of the engine: p50 ${(loop.percentile(50) / 1e6).toFixed(1)}, p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms, CPU ${((used.user + used.system) / 1e6 / elapsed).toFixed(2)} cores`,
    )
    logLine(
      `during the load: ${sampled.asked} books read over REST, ${sampled.equal} equal to a client's at that seq, ${sampled.different.length} different, ${sampled.unknown} without a client book of that seq`,
    )
    const report = await settled(crowd, watched, logLine)
    logReport(report, logLine)
    assert.deepEqual(sampled.different.slice(0, 5), [])
    assert.ok(sampled.equal >= 10, 'books were compared under load')
    assert.deepEqual(report.faults.slice(0, 5), [])
    assert.deepEqual(report.books.wrong.slice(0, 5), [])
    assert.deepEqual(report.trades.missing.slice(0, 5), [])
    assert.deepEqual(report.trades.extra.slice(0, 5), [])
    assert.equal(report.books.compared, clients * Math.min(20, marketIds.length))
    assert.equal(report.live, clients)
    assert.deepEqual(unannounced(report), [])
    assert.ok(report.trades.due > 0)
    // All trades are stored, so the engine must announce no loss.
    assert.equal(report.trades.handed, report.trades.due)
    assert.ok((report.proxy?.reset ?? 0) > 0)
    assert.ok((report.counts.connections ?? 0) > clients)
  } finally {
    await crowd?.stop()
    await watched?.engine.stop()
    await rig.close()
  }
}

/** Polls until every client has all data or the time is over. */
async function settled(
  crowd: SimulatedUsers,
  { engine, witness }: WatchedEngine,
  logLine: (line: string) => void,
): Promise<SimulatedUsersReport> {
  const startedMs = performance.now()
  for (let published = -1; ; ) {
    await pause(2_000)
    const offset = engine.publisher.offset('orderbook') + engine.publisher.offset('trades')
    const seconds = (performance.now() - startedMs) / 1_000
    const isLate = seconds > settleSeconds
    if (offset !== published && !isLate) {
      published = offset
      continue
    }
    const report = await crowd.ask({ kind: 'check', trades: witness.trades })
    const wrong = report.books.wrong.length + report.trades.missing.length
    if (isLate || (wrong === 0 && report.live === report.clients)) {
      logLine(`all data correct ${seconds.toFixed(0)} s after the pause`)
      return report
    }
    logLine(
      `${seconds.toFixed(0)} s after the pause: ${JSON.stringify(report.states)}, ${report.books.wrong.length} books (${report.books.wrong[0]}), ${report.trades.missing.length} trades`,
    )
  }
}

function logReport(report: SimulatedUsersReport, logLine: (line: string) => void): void {
  const { trades, books, loop } = report
  logLine(
    `${report.clients} clients, ${report.live} live: ${JSON.stringify(report.counts)}; proxy ${JSON.stringify(report.proxy)}`,
  )
  logLine(
    `${trades.due} trades due over all clients, ${trades.handed} handed once, ${trades.announced} announced as lost, ${trades.missing.length} missing, ${trades.extra.length} extra`,
  )
  logLine(
    `${books.compared} books compared, ${books.wrong.length} wrong; gaps reported: ${JSON.stringify(report.gaps)}; ${report.faults.length} faults`,
  )
  logLine(
    `event-loop delay of the clients: p50 ${loop.p50Ms.toFixed(1)}, p99 ${loop.p99Ms.toFixed(1)} ms, CPU ${loop.cpuSeconds.toFixed(1)} s`,
  )
}
