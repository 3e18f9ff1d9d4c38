// Kills the engine, a gateway and nats-server in a seeded order under load. Full size: CLUSTER_KILLS=100
// CLUSTER_CLIENTS=60. Skipped without nats-server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { GET_NATS, hasNats } from '../../engine/cluster/nats-server.ts'
import { seededRandom } from '../../engine/random.ts'
import { AccountClient } from '../support/clients/account-client.ts'
import { SimulatedUsers, unannounced } from '../support/clients/simulated-users.ts'
import { ClusterRig } from '../support/rigs/cluster.ts'
import { allMarketIds, compareTrades } from '../support/rigs/full-service.ts'
import { reportText, settled } from '../support/rigs/settled-users.ts'

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const isLong = process.env.TEST_LONG === '1'
const kills = number('CLUSTER_KILLS', isLong ? 5 : 3)
const clients = number('CLUSTER_CLIENTS', 20)
const rate = number('CLUSTER_RATE', 100)
const secondsBetween = number('CLUSTER_SECONDS', 4)
/** Minimum downtime of nats-server, which also stays down until all data is stale. */
const awaySeconds = number('CLUSTER_AWAY_SECONDS', 0)
const engines = number('CLUSTER_ENGINES', 1)
const seed = process.env.SEED ?? 'cluster'
const GATEWAYS = 3
const KINDS = ['engine', 'gateway', 'nats'] as const

const skip = hasNats() ? false : GET_NATS

test('announces every lost message and retains acknowledged changes when engines, gateways and nats-server are killed', {
  skip,
}, async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const random = seededRandom(seed, 'kills')
  const world = { messagesPerSecond: rate, marketsPerVenue: 40, faults: 'off' }
  const rig = await ClusterRig.open({ engines, gateways: GATEWAYS, world })
  const { locations } = rig
  let crowd: SimulatedUsers | null = null
  const clerk = new AccountClient(rig.urls, seededRandom(seed, 'clerk'))
  try {
    crowd = SimulatedUsers.start({
      ...{ seed, host: '127.0.0.1', port: rig.ports[0] ?? 0, apiKey: locations.key, clients },
      ...{ marketIds: await allMarketIds(locations), wideEvery: 10, marketsPerClient: 20 },
      rough: { lifeMsMax: 20_000, gateways: rig.ports },
    })
    assert.deepEqual((await crowd.ask({ kind: 'ready' })).rejected, [])
    const sinceMs = Date.now()
    clerk.start()
    const done: Record<string, number> = {}
    for (let round = 0; round < kills; round += 1) {
      // The first kills cover each kind once. Later kinds are random.
      const kind = KINDS[round] ?? random.pick(KINDS)
      await pause(secondsBetween * 1_000 * (0.2 + random.next()))
      if (kind === 'engine') await rig.killEngine(random.below(engines))
      else if (kind === 'gateway') await rig.killGateway(random.below(GATEWAYS))
      else {
        await rig.killNats()
        await rig.startNats()
      }
      done[kind] = (done[kind] ?? 0) + 1
    }
    logLine(`${kills} kills: ${JSON.stringify(done)}`)
    await rig.listening()
    await rig.waitUntilLive()
    logLine(await rig.withoutNats(awaySeconds))
    for (const index of rig.ports.keys()) assert.equal(await rig.restartGateway(index), 0)
    await clerk.stop()
    await rig.venues.flow('pause')
    await crowd.ask({ kind: 'calm' })
    const { report, truth } = await settled(crowd, locations, logLine)
    reportText(report, truth, logLine)
    const lost = await clerk.lost()
    logLine(`acknowledged: ${JSON.stringify(clerk.acknowledged)}; ${lost.length} lost`)
    const trades = await compareTrades(locations, null, sinceMs)
    logLine(
      `${trades.truthTrades} trades at the venues: ${trades.tradesMissing.length} missing, ${trades.tradesDoubled.length} twice, ${trades.tradesExtra.length} extra`,
    )
    assert.deepEqual(lost, [])
    assert.deepEqual(report.faults.slice(0, 5), [])
    assert.deepEqual(report.trades.missing.slice(0, 5), [])
    assert.deepEqual(report.trades.extra.slice(0, 5), [])
    assert.deepEqual(report.books.wrong.slice(0, 5), [])
    assert.deepEqual(unannounced(report), [])
    assert.equal(report.live, clients)
    assert.ok(report.trades.due > 0)
    assert.deepEqual(trades.tradesMissing.slice(0, 5), [])
    assert.deepEqual(trades.tradesDoubled, [])
    assert.deepEqual(trades.tradesExtra, [])
  } finally {
    await clerk.stop()
    await crowd?.stop()
    await rig.close()
    for (const line of rig.logged().slice(-20)) logLine(line)
  }
})
