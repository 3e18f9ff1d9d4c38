import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { startStub } from '../../../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { StubWorld } from '../../../../support/worlds/kalshi-world.ts'

test('leaves no timer or listener after the simulated server stops or when the port is in use', async () => {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const venue = await startStub({ world, clock })
  const client = await venue.connect()
  const closed = once(client.socket, 'close')
  const other = new ManualClock()
  await assert.rejects(startStub({ world, clock: other, port: venue.port }), /EADDRINUSE/)
  assert.equal(other.timerCount, 0)
  assert.equal(world.listenerCount, 1)
  await venue.stop()
  await closed
  assert.equal(clock.timerCount, 0)
  assert.equal(world.listenerCount, 0)
})
