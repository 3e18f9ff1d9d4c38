import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { startPolymarketServer } from '../../../../../engine/venues/simulator/polymarket/server.ts'
import { request } from '../../../../support/clients/venue-client.ts'
import { SetChance, startStubVenue } from '../../../../support/fakes/stub-venue.ts'

test('returns 429 to requests above the venue’s rate limit until tokens are refilled', async () => {
  const venue = await startStubVenue({ isRateLimited: true })
  try {
    const statuses = async (count: number) => {
      const all = await Promise.all(
        Array.from({ length: count }, () => request(`${venue.data}/v2/trades?limit=1`)),
      )
      return all.filter((answer) => answer.status === 200).length
    }
    assert.equal(await statuses(310), 300)
    venue.clock.advance(1_000)
    assert.equal(await statuses(40), 30)
    assert.equal((await request(`${venue.data}/v2/oi`)).status, 200)
    const answer = await request(`${venue.data}/v2/trades`)
    assert.equal(answer.status, 429)
  } finally {
    await venue.stop()
  }
})

test('closes every socket, timer and listener when the simulated server stops or a port is in use', async () => {
  const venue = await startStubVenue()
  const [market, rtds] = [await venue.market(), await venue.rtds()]
  const { world, clock } = venue
  assert.equal(world.listenerCount, 3)
  await assert.rejects(
    startPolymarketServer({
      world,
      faults: new Faults([], new SetChance()),
      clock,
      wallets: venue.wallets,
      log: silentLog,
      host: '127.0.0.1',
      ports: { ...venue.server.ports, gamma: 0, clob: 0 },
      state: () => null,
    }),
    /EADDRINUSE/,
  )
  assert.equal(world.listenerCount, 3)
  await venue.stop()
  await Promise.all([market.closed, rtds.closed])
  assert.equal(world.listenerCount, 0)
  assert.equal(clock.timerCount, 0)
  await assert.rejects(fetch(`${venue.gamma}/status`))
})
