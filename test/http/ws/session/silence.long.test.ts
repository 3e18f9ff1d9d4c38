// The library's idle timeout is a minute, so the test runs only with TEST_LONG=1.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../../../engine/clock.ts'
import { socketIdleSeconds } from '../../../../engine/limits.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { RequestHead } from '../../../../http/request/head.ts'
import { PeerAddresses } from '../../../../http/request/peer-address.ts'
import { UnsentAnswers } from '../../../../http/request/unsent.ts'
import { Tickets } from '../../../../http/ws/session/tickets.ts'
import { streamBehavior } from '../../../../http/ws/session/upgrade.ts'
import { RawReader } from '../../../support/clients/raw-reader.ts'
import { StreamClient } from '../../../support/clients/stream-client.ts'
import { openApiServer } from '../../../support/rigs/api-server.ts'

const COMMAND = { action: 'subscribe', id: 1, channel: 'lifecycle', market_ids: ['*'] }

test('sends pings of the WebSocket library, and disconnects a client that is silent for a minute', async () => {
  const server = await openApiServer()
  const behavior = streamBehavior({
    ...{ hub: server.server.hub, accounts: server.engine.accounts, clock: systemClock },
    ...{
      log: silentLog,
      corsOrigins: [],
      head: new RequestHead(),
      peers: new PeerAddresses([]),
      tickets: new Tickets(systemClock),
      isDraining: () => false,
    },
    unsent: new UnsentAnswers({ clock: systemClock, metrics: new Metrics() }),
  })
  assert.equal(socketIdleSeconds, 60)
  assert.equal(behavior.idleTimeout, socketIdleSeconds)
  assert.equal(behavior.sendPingsAutomatically, true)
  await server.stop()
})

const skip = process.env.TEST_LONG === '1' ? false : 'a minute of silence: TEST_LONG=1'
test('disconnects a client that is silent for a minute, frees its slot, and does not disconnect clients that answer pings', {
  skip,
}, async (t) => {
  const server = await openApiServer()
  server.engine.accounts.make('free', { requestsPerMinute: 1_000, socketsMax: 2 })
  const connectionCount = () =>
    [...server.engine.accounts.accounts.values()].find(({ caller }) => caller.socketsMax === 2)
      ?.socketCount
  const startMs = performance.now()
  // A bare TCP connection does not answer pings.
  const silent = await RawReader.open(server.port, 'api_key=free-key', [COMMAND])
  const answering = await StreamClient.open(server.port, 'api_key=free-key')
  await answering.ask(COMMAND, 'synced')
  assert.equal(connectionCount(), 2)
  await silent.closed
  const seconds = (performance.now() - startMs) / 1_000
  t.diagnostic(`cut after ${seconds.toFixed(1)} s`)
  assert.equal(silent.closeCode, 1006)
  assert.ok(seconds > socketIdleSeconds - 5, 'not before the timeout')
  while (connectionCount() !== 1) await pause(10)
  const again = await StreamClient.open(server.port, 'api_key=free-key')
  assert.equal(connectionCount(), 2, 'another connection is accepted')
  await answering.ask({ action: 'ping', id: 'still here' }, 'pong')
  for (const client of [answering, again]) await client.close()
  await server.stop()
})
