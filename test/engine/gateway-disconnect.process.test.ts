import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gateway } from '../../engine/app/gateway.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { SETTINGS } from '../support/rigs/recorded-engine.ts'
import { openRecordedWorld } from '../support/rigs/recorded-world.ts'

test('marks data stale 5 s after a gateway loses the log, and live within 10 s of the log’s return', async (t) => {
  const world = await openRecordedWorld('cut')
  const { server, engine, clock, settle, play, until } = world
  await play(30)
  await settle(engine.checkpoint())
  const link = server.connect()
  const gateway = new Gateway(SETTINGS, {
    clock,
    log: silentLog,
    metrics: new Metrics(),
    cluster: link,
    name: 'g1',
    version: '0',
  })
  await settle(gateway.start())
  t.after(() => settle(Promise.all([gateway.stop(), engine.stop()])))
  /** The engine writes its status and plays three events. */
  const second = async () => {
    engine.feeds()
    await play(3)
    const untilMs = Math.ceil((clock.monotonicMs() + 1) / 1_000) * 1_000
    await until(() => clock.monotonicMs() >= untilMs)
  }
  const books = () => {
    const { catalog } = gateway.view ?? assert.fail('the gateway has no view')
    return [...catalog.markets(null)].map((market) => market.book())
  }
  const hasLive = () => books().some(({ isStale }) => !isStale)
  for (let left = 3; left > 0; left -= 1) await second()
  const { mirror } = gateway
  assert.ok(hasLive())
  link.setLink('down')
  for (let left = 4; left > 0; left -= 1) await second()
  assert.ok(hasLive(), 'books stay live during a short silence')
  for (let left = 2; left > 0; left -= 1) await second()
  for (let left = 54; left > 0; left -= 1) {
    assert.equal(hasLive(), false)
    assert.equal(gateway.view?.isStorageHealthy(), false, 'its health is degraded')
    assert.ok(gateway.view?.venues().every(({ state }) => state !== 'live'))
    await second()
  }
  link.setLink('up')
  for (let left = 10; left > 0; left -= 1) await second()
  await until(
    () => mirror?.publisher.offset('orderbook') === engine.engine.publisher.offset('orderbook'),
  )
  assert.ok(hasLive())
  assert.equal(gateway.mirror, mirror, 'the mirror was replaced')
  assert.deepEqual(gateway.faults, { count: 0, last: null })
  for (const market of engine.engine.catalog.markets(null)) {
    const mirrored = mirror?.catalog.find(market.ref.id)?.book()
    const own = market.book()
    assert.deepEqual([mirrored?.checksum, mirrored?.seq], [own.checksum, own.seq], market.ref.id)
    assert.equal(mirrored?.isStale, own.isStale, market.ref.id)
  }
})
