import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '../../../../engine/process/log.ts'
import {
  type SimulatorOptions,
  startSimulator,
} from '../../../../engine/venues/simulator/simulator.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

const optionsWith = (clock: ManualClock, basePort = 0): SimulatorOptions => ({
  seed: 1,
  marketsPerVenue: 40,
  messagesPerSecond: 1_000,
  faults: [],
  clock,
  log: silentLog,
  basePort,
  kalshiPublicKeyPem: null,
})

test('serves both simulated venues and the simulator’s state, and closes all servers on stop', async () => {
  const clock = new ManualClock()
  const simulator = await startSimulator(optionsWith(clock))
  const { gamma, clob, data, kalshiRest } = simulator.urls
  const paths = [
    `${gamma}/sim/state`,
    `${gamma}/events?limit=1`,
    `${clob}/time`,
    `${data}/v2/trades`,
    `${kalshiRest}/exchange/status`,
  ]
  try {
    clock.advance(2_000)
    for (const path of paths) assert.equal((await fetch(path)).status, 200, path)
    const trades = simulator.world.trades('a').length + simulator.world.trades('b').length
    assert.ok(trades > 0, 'the world is stepped')
    assert.match(simulator.kalshiPrivateKeyPem, /BEGIN PRIVATE KEY/)
  } finally {
    await simulator.stop()
  }
  assert.equal(clock.timerCount, 0, 'no timer is left')
  for (const path of paths) await assert.rejects(fetch(path), path)
})

test('rejects the start and leaves no listener when a port is in use', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => blocker.once('listening', resolve))
  const address: AddressInfo | string | null = blocker.address()
  assert.ok(typeof address === 'object' && address !== null)
  const clock = new ManualClock()
  try {
    // Occupies the port of Kalshi’s server, so that Polymarket’s four servers start before the error.
    const options = optionsWith(clock, address.port - 10)
    await assert.rejects(startSimulator(options), /EADDRINUSE|in use/i)
    assert.equal(clock.timerCount, 0)
    await assert.rejects(fetch(`http://127.0.0.1:${address.port - 10}/sim/state`))
  } finally {
    await new Promise((resolve) => blocker.close(resolve))
  }
})
