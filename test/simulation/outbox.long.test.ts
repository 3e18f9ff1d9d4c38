// The service sends about 500 events a second to ten webhooks. One receiver refuses requests, one hangs, and one resets
// connections. With TEST_LONG=1: 200 rounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { seededRandom } from '../../engine/random.ts'
import { OutboxChecker, TRIAL_ENV } from '../support/clients/outbox-checker.ts'
import type { ReceiverBehaviour } from '../support/fakes/event-receivers.ts'
import { Rig } from '../support/rigs/full-service.ts'

const isLong = process.env.TEST_LONG === '1'
const rounds = Number(process.env.OUTBOX_ROUNDS ?? (isLong ? 200 : 1))
const seed = process.env.SEED ?? 'outbox'
/** About fifty of these messages are trades. */
const MESSAGES_PER_SECOND = 600
const ROUNDS_UNTIL_WHOLE = 20
const MANNERS: readonly ReceiverBehaviour[] = [
  ...Array.from({ length: 7 }, () => 'accept' as const),
  'refuse',
  'hang',
  'reset',
]

test('loses no webhook event, sends the same bytes on each retry, and counts correctly while the engine is killed several times', async (t) => {
  const random = seededRandom(seed)
  const rig = new Rig()
  let witness: OutboxChecker | null = null
  try {
    await rig.startVenues({
      messagesPerSecond: MESSAGES_PER_SECOND,
      marketsPerVenue: 40,
      faults: 'off',
    })
    let { engine, locations } = await rig.startEngine(TRIAL_ENV)
    witness = await OutboxChecker.open(locations, MANNERS)
    const startedMs = performance.now()
    for (let round = 0; round < rounds; round += 1) {
      await pause(100 + 1_900 * random.next())
      assert.equal(await engine.end('SIGKILL'), null)
      ;({ engine, locations } = await rig.startEngine(TRIAL_ENV))
      await witness.counts(locations)
      // An engine delivers no trades that it missed for more than 15 minutes. On a slow machine these short runs would
      // fall behind by more than that.
      if (round % ROUNDS_UNTIL_WHOLE === ROUNDS_UNTIL_WHOLE - 1) {
        await rig.flow('pause')
        await witness.drained(locations, 300, true)
        await rig.flow('resume')
      }
    }
    const seconds = (performance.now() - startedMs) / 1_000
    await rig.flow('pause')
    await witness.drained(locations, 180, isLong)
    const drainedSeconds = (performance.now() - startedMs) / 1_000 - seconds
    const result = await witness.check(locations)
    const { due, unstored, requests, delivered, duplicates, lost, uncounted, faults } = result
    const rate = Math.round((due * MANNERS.length) / seconds)
    const share = ((100 * duplicates) / Math.max(delivered, 1)).toFixed(2)
    t.diagnostic(
      `${rounds} kills in ${seconds.toFixed(0)} s, drained in ${drainedSeconds.toFixed(0)} s, ${due} trades and ${unstored.length} not fetched yet, ${rate} events a second; ${requests} requests, ${delivered} delivered, ${duplicates} of them repeated (${share} %); ${lost.length} lost`,
    )
    t.diagnostic(JSON.stringify(await witness.counts(locations)))
    if (isLong) assert.deepEqual(unstored.slice(0, 5), [])
    assert.deepEqual(lost.slice(0, 5), [])
    assert.deepEqual(uncounted.slice(0, 5), [])
    assert.deepEqual(faults.slice(0, 5), [], 'all bodies are equal, all signatures valid')
    assert.ok(due > 0 && delivered >= due)
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await witness?.close()
    await rig.close()
  }
})
