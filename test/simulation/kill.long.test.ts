// With TEST_LONG=1: 100 clients and more kills.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { seededRandom } from '../../engine/random.ts'
import { SimulatedUsers, unannounced } from '../support/clients/simulated-users.ts'
import { allMarketIds, Rig } from '../support/rigs/full-service.ts'
import { freePorts } from '../support/rigs/processes.ts'
import { reportText, settled } from '../support/rigs/settled-users.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const clients = number('KILL_CLIENTS', isLong ? 100 : 20)
const kills = number('KILL_ROUNDS', isLong ? 6 : 2)
const rate = number('KILL_RATE', isLong ? 2_000 : 300)
const marketsPerVenue = number('KILL_MARKETS', isLong ? 250 : 40)
const secondsBetween = number('KILL_SECONDS', isLong ? 10 : 3)
const seed = process.env.SEED ?? 'kill'

test('delivers every trade once to each client while the server is killed several times', (t) =>
  killAgainAndAgain((line) => t.diagnostic(line), null))

const skip = isLong ? false : 'clients that back off on a rough network take a minute: TEST_LONG=1'
test(
  'delivers every trade exactly once over a faulty network while the server is killed several times',
  { skip },
  (t) => killAgainAndAgain((line) => t.diagnostic(line), { lifeMsMax: 8_000 }),
)

async function killAgainAndAgain(
  logLine: (line: string) => void,
  rough: { readonly lifeMsMax: number } | null,
): Promise<void> {
  const random = seededRandom(seed)
  const rig = new Rig()
  let crowd: SimulatedUsers | null = null
  try {
    const venues = await rig.startVenues({
      messagesPerSecond: rate,
      marketsPerVenue,
      faults: 'off',
    })
    const port = await freePorts(1)
    const start = () => rig.startEngine({ PORT: String(port) })
    let { engine, locations } = await start()
    const marketIds = await allMarketIds(locations)
    crowd = SimulatedUsers.start({
      ...{ seed, host: '127.0.0.1', port, apiKey: locations.key, clients, marketIds },
      ...{ wideEvery: 10, marketsPerClient: 20, rough },
    })
    const { rejected } = await crowd.ask({ kind: 'ready' })
    assert.deepEqual(rejected, [])
    const downMs: number[] = []
    for (let round = 0; round < kills; round += 1) {
      // Some kills follow soon after a start, while clients still reconnect.
      await pause(secondsBetween * 1_000 * (0.3 + random.next()))
      assert.equal(await engine.end('SIGKILL'), null)
      const killedMs = performance.now()
      ;({ engine, locations } = await start())
      downMs.push(Math.round(performance.now() - killedMs))
    }
    await pause(secondsBetween * 1_000)
    assert.ok(isAlive(venues.pid), 'the venues ran throughout')
    await rig.flow('pause')
    await crowd.ask({ kind: 'calm' })
    logLine(
      `${kills} kills; back after ${downMs.join(', ')} ms; ${marketIds.length} markets, ${rate} venue messages a second`,
    )
    const { report, truth } = await settled(crowd, locations, logLine)
    reportText(report, truth, logLine)
    assert.deepEqual(report.faults.slice(0, 5), [])
    assert.deepEqual(report.trades.missing.slice(0, 5), [])
    assert.deepEqual(report.trades.extra.slice(0, 5), [])
    assert.deepEqual(report.books.wrong.slice(0, 5), [])
    // No trade may be missing or announced as lost.
    assert.equal(report.trades.announced, 0)
    assert.equal(report.trades.handed, report.trades.due)
    assert.equal(report.live, clients)
    assert.deepEqual(unannounced(report), [])
    assert.ok(report.trades.due > 0)
    assert.ok((report.counts.connections ?? 0) >= clients * 2)
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await crowd?.stop()
    await rig.close()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
