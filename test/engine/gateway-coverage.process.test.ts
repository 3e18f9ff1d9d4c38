// The engine's policy covers no market.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Gateway } from '../../engine/app/gateway.ts'
import { readCoveragePolicy } from '../../engine/coverage-policy.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { SETTINGS } from '../support/rigs/recorded-engine.ts'
import { openRecordedWorld } from '../support/rigs/recorded-world.ts'

test('covers a market while a gateway demands the market’s book, and for ten minutes after the gateway ends', async (t) => {
  const { server, engine, clock, settle, play, until } = await openRecordedWorld('coverage')
  t.after(() => settle(engine.engine.stop()))
  const { venues, catalog } = engine.engine
  const policy = readCoveragePolicy('market:none')
  assert.ok('rules' in policy)
  for (const { actor } of venues.values()) actor.setCoverage(policy, 'test')
  await play(5)
  await settle(engine.checkpoint())
  const gateway = new Gateway(SETTINGS, {
    ...{ clock, log: silentLog, metrics: new Metrics(), cluster: server.connect() },
    ...{ name: 'g1', version: '0' },
  })
  await settle(gateway.start())
  const market = [...catalog.markets('a')].find(({ summary }) => summary.status === 'open')
  assert.ok(market !== undefined)
  const { number } = market.ref
  const coverage = venues.get('a')?.actor.coverage ?? assert.fail('venue a has no coverage')
  const pass = async (minutes: number) => {
    for (let second = 0; second < minutes * 60; second += 1) {
      clock.advance(1_000)
      await nextTurn()
    }
  }
  assert.equal(coverage.isCovered(number), false)
  assert.equal(gateway.view?.coverage('a')?.hold(number, 'acc_ann', 'subscription'), true)
  assert.ok(await until(() => coverage.isCovered(number)))
  assert.equal(coverage.counts.byReason.request, 1)
  await pass(11)
  assert.equal(coverage.isCovered(number), true, 'the gateway reports the market again')
  await settle(gateway.stop())
  await pass(11)
  assert.equal(coverage.isCovered(number), false)
})
