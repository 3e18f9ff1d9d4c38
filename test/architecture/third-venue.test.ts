// A third venue is a folder and a row of the table: a toy goes through the whole engine beside two silent venues.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { startWithToy, until } from '../support/rigs/toy-engine.ts'
import { TOY } from './toy-venue/facts.ts'

describe('a third venue', () => {
  test('[THIRDVENUE1] goes through catalogue, search, book, trades, stream and webhooks by a row of the table alone', async () => {
    const { engine, key, ask, say, settled } = await startWithToy({
      [TOY.key]: { m1: 'Will it rain frogs in Ruritania?' },
    })
    const received: string[] = []
    const socket = new WebSocket(`ws://127.0.0.1:${engine.port}/v1/ws?api_key=${key}`)
    socket.on('message', (data) => received.push(String(data)))
    try {
      const markets = JSON.stringify(await ask('/v1/markets?platform=toy'))
      assert.match(markets, /"toy_m1"/)
      assert.match(JSON.stringify(await ask('/v1/markets/search?q=frogs')), /"toy_m1"/)
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
      say('book m1 0.40 0.44')
      say('trade m1 t1 0.42 3')
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
