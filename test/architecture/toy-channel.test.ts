// A new channel needs only a descriptor and a table row.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { usdMicros } from '../../engine/units.ts'
import { CHANNELS as CLIENT_CHANNELS } from '../../http/client/channels.ts'
import { asyncapi } from '../../http/documents/asyncapi.ts'
import { CHANNEL_NAMES, CHANNELS } from '../../http/ws/channels/channels.ts'
import { type Message, StreamClient } from '../support/clients/stream-client.ts'
import type { FakeMarket } from '../support/fakes/engine.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { AsyncapiValidator, objectOf } from '../support/reference/asyncapi-validator.ts'
import { type ApiServer, openApiServer } from '../support/rigs/api-server.ts'
import { NAMES } from '../support/worlds/builders.ts'
import { settled } from '../support/worlds/market-activity.ts'
import { flow } from './toy-channel.ts'

const channels = [...CHANNELS, flow]
const document = asyncapi({ version: '0.0.0-test', names: NAMES, channels })
const validator = new AsyncapiValidator(document)
const clock = new ManualClock()
let apiServer: ApiServer
before(async () => {
  apiServer = await openApiServer({ clock, channels })
})
after(() => apiServer.stop())

function flowsOf(messages: readonly Message[]): readonly unknown[] {
  return messages
    .filter(({ type }) => type === 'flow')
    .map((message) => {
      assert.equal(validator.problem('flowMessage', message), null)
      const { data } = message
      return typeof data === 'object' && data !== null ? Reflect.get(data, 'net_usd') : undefined
    })
}

function trade(market: FakeMarket, side: 'buy' | 'sell', dollars: number): void {
  market.trade({ side, usd: usdMicros(dollars * 1_000_000) })
}

for (const form of ['json', 'msgpack'] as const) {
  test(`serves a new stream channel that consists of one descriptor and one table row (${form})`, async () => {
    const market = apiServer.engine.add(form)
    const client = await StreamClient.open(apiServer.port, `api_key=ann-key&encoding=${form}`)
    trade(market, 'buy', 10)
    const ids = { market_ids: [market.ref.id] }
    const command = { action: 'subscribe', id: 1, channel: 'flow', ...ids }
    assert.equal(validator.problem('subscribeCommand', command), null)
    const synced = await client.ask(command, 'synced')
    assert.equal(synced.offset, apiServer.engine.publisher.offset('trades'))
    trade(market, 'sell', 4)
    trade(market, 'sell', 8.5)
    assert.deepEqual(flowsOf(await settled(clock, client)), [10, 6, -2.5])
    const from = client.messages.length
    const paced = { ...command, id: 2, pace_ms: 1_000 }
    const subscribed = await client.ask(paced, 'subscribed')
    assert.equal(subscribed.pace_ms, 1_000)
    await client.ofType('synced')
    for (const dollars of [1, 2, 3]) trade(market, 'buy', dollars)
    assert.deepEqual(flowsOf((await settled(clock, client)).slice(from)), [-2.5, -1.5, 3.5])
    const { subscriptions } = await client.ask({ action: 'list', id: 3 }, 'subscriptions')
    const seq = market.seq('trades')
    assert.deepEqual(subscriptions, [
      { channel: 'flow', pace_ms: 1_000, market_id: market.ref.id, seq },
    ])
    await client.ask({ action: 'unsubscribe', id: 4, channel: 'flow', ...ids }, 'unsubscribed')
    const last = client.messages.length
    trade(market, 'buy', 1)
    assert.deepEqual(flowsOf((await settled(clock, client)).slice(last)), [])
    await client.close()
  })
}

test('rejects invalid options of a new channel, and answers UNKNOWN_CHANNEL when the channel has no table row', async () => {
  const client = await StreamClient.open(apiServer.port)
  const target = { market_ids: ['*'] }
  const wrong = { action: 'subscribe', channel: 'flow', pace_ms: 5, ...target }
  const refusal = await client.ask({ ...wrong, id: 1 }, 'error')
  assert.equal(refusal.message, 'pace_ms of flow is one of 0, 1000')
  const other = { action: 'subscribe', channel: 'trades', pace_ms: 0, ...target }
  const foreign = await client.ask({ ...other, id: 2 }, 'error')
  assert.equal(foreign.message, 'pace_ms is an option of flow only')
  await client.close()
  const plain = await openApiServer({ clock })
  const stranger = await StreamClient.open(plain.port)
  const command = { action: 'subscribe', id: 1, channel: 'flow', ...target }
  assert.equal((await stranger.ask(command, 'error')).code, 'UNKNOWN_CHANNEL')
  await stranger.close()
  await plain.stop()
})

test('lists the messages, options and example of a new channel in the served AsyncAPI document', async () => {
  assert.deepEqual(await (await fetch(`${apiServer.origin}/asyncapi.json`)).json(), document)
  const { schemas, messages } = objectOf(document.components)
  assert.ok('Flow' in objectOf(schemas))
  assert.equal(objectOf(objectOf(messages).flowMessage).name, 'flow')
  assert.equal(objectOf(objectOf(document.operations).tellFlow).action, 'send')
})

test('lists the same stream channels in the README of http/ws, in the channel table and in the client', () => {
  const page = readFileSync(new URL('../../http/ws/README.md', import.meta.url), 'utf8')
  const rows = CHANNELS.map(({ name, options, row }) => {
    const listed = Object.entries(options).map(([option, { allowed, default: usual }]) => {
      return `\`${option}\` ${allowed.join(', ')} (${usual})`
    })
    const chosen = listed.length === 0 ? '–' : listed.join('; ')
    return `| \`${name}\` | ${row.messages} | ${row.when} | ${chosen} | ${row.begins} |`
  })
  assert.ok(page.includes(rows.join('\n')), rows.join('\n'))
  assert.deepEqual(Object.keys(CLIENT_CHANNELS), CHANNEL_NAMES)
})

test('gives each stream channel example messages that the AsyncAPI document allows', () => {
  for (const { name, messages } of channels) {
    assert.ok(Object.keys(messages).length > 0, name)
    for (const [type, { example }] of Object.entries(messages)) {
      assert.equal(validator.problem(`${type}Message`, example), null)
    }
  }
})
