// A third venue is a folder and a row of the venue table.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { createEngine } from '../../engine/app/engine.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import type { Venue } from '../../engine/venues/venue.ts'
import { VENUES } from '../../engine/venues/venues.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { NOON } from '../support/worlds/builders.ts'
import { TOY } from './toy-venue/facts.ts'
import { openToy, type ToyVenue } from './toy-venue/toy.ts'

const SECRET = 'x'.repeat(32)
const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
  ...{ isMetricsPublic: false, retentionDays: 30, dataBytesMax: 1e10 },
  ...{ jwtSecret: SECRET, jwtSecretPrevious: null, secretsKey: SECRET },
  webhookPolicy: { allowsHttp: true, allowsPrivate: true },
}

/** `key` belongs to the engine's local account. */
async function startWithToy(storage = openMemoryStorage()) {
  const clock = new ManualClock(NOON)
  let toy: ToyVenue | null = null
  const engine = createEngine(SETTINGS, {
    ...{ clock, storage, random: seededRandom('third venue') },
    ...{ log: silentLog, metrics: new Metrics(), epoch: 'test', version: '0' },
    table: [...VENUES, TOY],
    venues: (parts) => {
      toy = openToy(parts, { m1: 'Will it rain frogs in Ruritania?' })
      const unsubscribed = (key: Venue['key']) => openToy(parts, { quiet: 'Nothing?' }, key).venue
      return [...VENUES.map(({ key }) => unsubscribed(key)), toy.venue]
    },
  })
  const key = await engine.accounts.openLocalAccount(null)
  await engine.start()
  const settled = async <Result>(promise: Promise<Result>): Promise<Result> => {
    let isDone = false
    const note = () => {
      isDone = true
    }
    promise.then(note, note)
    await until(
      () => isDone,
      () => clock.advance(1),
    )
    return promise
  }
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const request = () =>
      fetch(`http://127.0.0.1:${engine.port}${path}`, {
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
    let answer = await settled(request())
    for (let again = 0; again < 20 && answer.status === 503; again += 1) {
      await answer.text()
      answer = await settled(request())
    }
    const text = await answer.text()
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const logLine = (line: string): void => {
    assert.ok(toy !== null)
    toy.say(line)
  }
  return { engine, key, ask, say: logLine, settled }
}

/** Fails after a large number of event-loop ticks. */
async function until(isSo: () => boolean, between = () => {}): Promise<void> {
  for (let tick = 0; tick < 1_000_000 && !isSo(); tick += 1) {
    between()
    await nextTurn()
  }
  assert.ok(isSo())
}

describe('third venue added to the venue table', () => {
  test('serves catalogue, search, books, trades, stream and webhooks of a third venue that has a row in the venue table', async () => {
    const { engine, key, ask, say: logLine, settled } = await startWithToy()
    const received: string[] = []
    const socket = new WebSocket(`ws://127.0.0.1:${engine.port}/v1/ws?api_key=${key}`)
    socket.on('message', (data) => received.push(String(data)))
    try {
      const markets = JSON.stringify(await ask('/v1/markets?platform=toy'))
      assert.match(markets, /"toy_m1"/)
      for (const text of ['frogs', 'forgs']) {
        assert.match(JSON.stringify(await ask(`/v1/markets/search?q=${text}`)), /"toy_m1"/)
      }
      assert.match(JSON.stringify(await ask('/v1/stats')), /"toy":1/)
      const hook = JSON.stringify(
        await ask('/v1/webhooks', {
          url: `http://127.0.0.1:${engine.port}/`,
          event_types: ['trade.created'],
          filters: { platform: 'toy' },
        }),
      )
      await until(() => socket.readyState === WebSocket.OPEN)
      socket.send('{"action":"subscribe","channels":["orderbook","trades"],"platform":"toy"}')
      await until(() => received.filter((text) => text.includes('"synced"')).length === 2)
      logLine('book m1 0.40 0.44')
      logLine('trade m1 t1 0.42 3')
      await until(() =>
        received.some((text) => text.includes('"channel":"trades"') && text.includes('t1')),
      )
      assert.ok(
        received.some((text) => text.includes('"channel":"orderbook"') && text.includes('0.44')),
      )
      assert.match(JSON.stringify(await ask('/v1/markets/toy_m1/orderbook')), /0\.44/)
      assert.match(JSON.stringify(await ask('/v1/markets/toy_m1/trades')), /"native_trade_id":"t1"/)
      const id = /"id":"(wh_[^"]+)"/.exec(hook)?.[1] ?? ''
      assert.match(JSON.stringify(await ask(`/v1/webhooks/${id}/deliveries`)), /"trade\.created"/)
      assert.match(JSON.stringify(await ask('/openapi.json')), /"toy"/)
    } finally {
      socket.terminate()
      await settled(engine.stop())
    }
  })
})
