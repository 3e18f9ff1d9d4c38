// Kills nats-server under load for some seconds, or for a minute with TEST_LONG=1. Skipped without a nats-server on the
// PATH.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GET_NATS, hasNats } from '../../engine/cluster/nats-server.ts'
import { SimulatedUsers, unannounced } from '../support/clients/simulated-users.ts'
import { ClusterRig } from '../support/rigs/cluster.ts'
import { allMarketIds, compareTrades } from '../support/rigs/full-service.ts'
import { reportText, settled } from '../support/rigs/settled-users.ts'

const AWAY_SECONDS = process.env.TEST_LONG === '1' ? 60 : 8
const CLIENTS = 20
const WORLD = { messagesPerSecond: 200, marketsPerVenue: 40, faults: 'off' }
const skip = hasNats() ? false : GET_NATS

test('continues without nats-server, returns no data as live, and announces every loss after nats-server returns', {
  skip,
}, async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = await ClusterRig.open({ engines: 2, gateways: 2, world: WORLD })
  const { locations } = rig
  let crowd: SimulatedUsers | null = null
  try {
    const [port = 0] = rig.ports
    const watched = { marketIds: await allMarketIds(locations), wideEvery: 4, marketsPerClient: 20 }
    crowd = SimulatedUsers.start({
      ...{ seed: 'outage', host: '127.0.0.1', port, apiKey: locations.key, clients: CLIENTS },
      ...{ ...watched, rough: null },
    })
    assert.deepEqual((await crowd.ask({ kind: 'ready' })).rejected, [])
    const sinceMs = Date.now()
    await rig.waitUntilLive()
    const statuses: Record<string, number> = {}
    const check = async () => {
      for (const url of rig.urls) {
        const headers = { 'x-api-key': locations.key }
        const response = await fetch(rig.booksUrl(url), { headers })
        statuses[response.status] = (statuses[response.status] ?? 0) + 1
        const text = await response.text()
        assert.equal(text.includes('"stale":false'), false, text)
        // A gateway without the engine has quota for some seconds only.
        assert.ok([200, 429, 503].includes(response.status), text)
      }
    }
    logLine(await rig.withoutNats(AWAY_SECONDS, check))
    logLine(
      `requests for books meanwhile, by status: ${JSON.stringify(statuses)}; no book was live`,
    )
    assert.ok(rig.isComplete, rig.logged().join('\n'))
    await rig.venues.flow('pause')
    await crowd.ask({ kind: 'calm' })
    const { report, truth } = await settled(crowd, locations, logLine)
    reportText(report, truth, logLine)
    const trades = await compareTrades(locations, null, sinceMs)
    logLine(
      `${trades.truthTrades} trades at the venues: ${trades.tradesMissing.length} missing, ${trades.tradesDoubled.length} twice, ${trades.tradesExtra.length} extra`,
    )
    assert.ok(rig.isComplete, rig.logged().join('\n'))
    assert.deepEqual(report.faults.slice(0, 5), [])
    assert.deepEqual(report.trades.missing.slice(0, 5), [])
    assert.deepEqual(report.books.wrong.slice(0, 5), [])
    assert.deepEqual(unannounced(report), [])
    assert.equal(report.live, CLIENTS)
    assert.ok(report.trades.due > 0)
    const { tradesMissing, tradesDoubled, tradesExtra } = trades
    assert.deepEqual([tradesMissing, tradesDoubled, tradesExtra], [[], [], []])
  } finally {
    await crowd?.stop()
    await rig.close()
  }
})
