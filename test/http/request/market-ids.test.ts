// One market, however a request writes its condition id: REST, the stream and the filters of webhooks.
// Not for: the form itself (test/engine/venues/polymarket/condition-id.test.ts).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { isRecord } from '../../../engine/json-record.ts'
import { startWithToy, until } from '../../support/rigs/toy-engine.ts'

const HEX = `01${'ab'.repeat(30)}`
const ID = `0x${HEX}00`
/** 64 digits, 62, and either in capitals; the capitals of the prefix too. */
const FORMS = [ID, `0x${HEX}`, `0x${HEX.toUpperCase()}00`, `0x${HEX.toUpperCase()}`]
const UNIFIED = `venue_a_${ID}`
const WRITTEN = [...FORMS.map((id) => `venue_a_${id}`), `VENUE_A_0X${HEX.toUpperCase()}`]

const fieldOf = (value: unknown, name: string): unknown => {
  assert.ok(isRecord(value), JSON.stringify(value))
  return value[name]
}
const listOf = (value: unknown, name: string): readonly unknown[] => {
  const list = fieldOf(value, name)
  assert.ok(Array.isArray(list), name)
  return list
}

test('[ID4] 62 digits, 64 and capitals name one market in requests, subscriptions and filters of webhooks', async () => {
  const { engine, key, ask, say, settled } = await startWithToy({
    a: { [ID]: 'Will it rain frogs in Ruritania?', '0xother': 'Will it rain toads?' },
  })
  const received: unknown[] = []
  const ofType = (type: string) => received.filter((message) => fieldOf(message, 'type') === type)
  const socket = new WebSocket(`ws://127.0.0.1:${engine.port}/v1/ws?api_key=${key}`)
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  try {
    for (const id of WRITTEN) {
      for (const part of ['', '/orderbook', '/price', '/trades', '/candles?interval=1h']) {
        const answer = JSON.stringify(await ask(`/v1/markets/${id}${part}`))
        assert.ok(answer.includes(UNIFIED) || /trades|candles/.test(part), `${id}${part} ${answer}`)
      }
    }
    const bulk = await ask(`/v1/prices?market_ids=${WRITTEN.join()}`)
    assert.deepEqual([listOf(bulk, 'prices').length, listOf(bulk, 'missing').length], [1, 0])
    for (const id of FORMS) {
      assert.equal(fieldOf(await ask(`/v1/venue_a/markets/${id}`), 'conditionId'), ID)
    }
    const query = FORMS.map((id) => `condition_id=${id}`).join('&')
    assert.equal(listOf(await ask(`/v1/venue_a/markets?${query}`), 'data').length, 1)

    const filters = { market_ids: WRITTEN }
    const types = { event_types: ['trade.created'] }
    const url = `http://127.0.0.1:${engine.port}/`
    const hook = await ask('/v1/webhooks', { url, ...types, filters })
    assert.deepEqual(fieldOf(fieldOf(hook, 'filters'), 'market_ids'), [UNIFIED])

    await until(() => socket.readyState === WebSocket.OPEN)
    const command = { action: 'subscribe', id: 1, channel: 'trades', market_ids: WRITTEN }
    socket.send(JSON.stringify(command))
    await until(() => ofType('synced').length === 1)
    const [subscribed] = ofType('subscribed')
    assert.deepEqual(listOf(subscribed, 'accepted'), [UNIFIED])
    assert.deepEqual(listOf(subscribed, 'rejected'), [])
    say('trade 0xother t0 0.42 3', 'a')
    // A whale, so that lists of them have it too.
    say(`trade ${ID} t1 0.50 20000`, 'a')
    await until(() => ofType('trade').length > 0)
    assert.deepEqual(
      ofType('trade').map((message) => fieldOf(message, 'market_id')),
      [UNIFIED],
    )
    for (const id of WRITTEN) {
      const whales = listOf(await ask(`/v1/whales?market_id=${id}`), 'trades')
      assert.deepEqual([whales.length, fieldOf(whales[0], 'market_id')], [1, UNIFIED], id)
    }
    const path = `/v1/webhooks/${String(fieldOf(hook, 'id'))}/deliveries`
    assert.equal(listOf(await ask(path), 'deliveries').length, 1)
  } finally {
    socket.terminate()
    await settled(engine.stop())
  }
})
