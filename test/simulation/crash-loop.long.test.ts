// Kills the service repeatedly after 0.2 to 3 s of mixed load. With TEST_LONG=1: 100 rounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { seededRandom } from '../../engine/random.ts'
import { MixedLoad } from '../support/clients/mixed-load.ts'
import { TRIAL_ENV } from '../support/clients/outbox-checker.ts'
import { EventReceiver } from '../support/fakes/event-receivers.ts'
import {
  checkCandles,
  checkPeople,
  checkTrades,
  damagedRecords,
} from '../support/reference/storage-checks.ts'
import { allMarketIds, Rig, type ServiceLocations } from '../support/rigs/full-service.ts'

const isLong = process.env.TEST_LONG === '1'
const rounds = Number(process.env.CRASH_ROUNDS ?? (isLong ? 100 : 1))
const seed = process.env.SEED ?? 'crash loop'
/** Accounts before the first kill. */
const FIRST_CHANGES = 20
/** The engine polls once a minute for trades that it served but did not commit. */
const FETCHED_AGAIN_SECONDS = 120

test('loses no acknowledged change or served trade, and leaves no unreadable record, when the engine is killed under load', async (t) => {
  const random = seededRandom(seed)
  const rig = new Rig()
  const receiver = await EventReceiver.open('accept', [])
  const load = new MixedLoad(random, receiver.url)
  const problems: string[] = []
  try {
    await rig.startVenues({ messagesPerSecond: 400, marketsPerVenue: 40, faults: 'off' })
    let { engine, locations } = await rig.startEngine(TRIAL_ENV)
    for (let round = 0; round < rounds; round += 1) {
      const loaded = load.run(locations)
      if (round === 0) await load.hasAcknowledged(FIRST_CHANGES)
      else await pause(200 + 2_800 * random.next())
      assert.equal(await engine.end('SIGKILL'), null)
      await loaded
      ;({ engine, locations } = await rig.startEngine(TRIAL_ENV))
      problems.push(...(await checkPeople(locations, load, receiver)))
      for (const market of (await someMarkets(locations)).slice(0, 3)) {
        problems.push(...(await checkCandles(locations, market)))
      }
      assert.equal(await damagedRecords(locations), 0)
      assert.deepEqual([...problems, ...load.problems].slice(0, 5), [], `round ${round}`)
    }
    const missing = await lastingly(() => checkTrades(locations, load))
    for (const market of await someMarkets(locations)) {
      problems.push(...(await checkCandles(locations, market)))
    }
    t.diagnostic(
      `${rounds} kills; ${load.people.length} accounts, ${load.acknowledged} changes acknowledged, ${load.unanswered} without a response; ${load.trades.size} trades served, ${missing.length} missing`,
    )
    assert.deepEqual(missing.slice(0, 5), [])
    assert.deepEqual(problems.slice(0, 5), [])
    assert.equal(await damagedRecords(locations), 0)
    assert.ok(load.people.length > 0 && load.trades.size > 0)
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await receiver.close()
    await rig.close()
  }

  async function someMarkets(locations: ServiceLocations): Promise<readonly string[]> {
    const ids = await allMarketIds(locations)
    return Array.from({ length: 12 }, () => random.pick(ids))
  }
})

/** Repeats the check until no differences remain or the time is over. Returns the remaining differences. */
async function lastingly(validator: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const endsAtMs = performance.now() + FETCHED_AGAIN_SECONDS * 1_000
  for (;;) {
    const problems = await validator()
    if (problems.length === 0 || performance.now() > endsAtMs) return problems
    await pause(2_000)
  }
}
