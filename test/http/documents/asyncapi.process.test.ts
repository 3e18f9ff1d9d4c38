import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ReplayReader } from '../../../engine/app/replay/replay-reader.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { asyncapi } from '../../../http/documents/asyncapi.ts'
import { INTERVALS } from '../../../http/ws/channels/candles.ts'
import { CHANNEL_NAMES } from '../../../http/ws/channels/channels.ts'
import { closeCodes } from '../../../http/ws/close-codes.ts'
import { heartbeatMessage } from '../../../http/ws/encode/encoder.ts'
import { JsonEncoder } from '../../../http/ws/encode/json.ts'
import { parseCommand } from '../../../http/ws/protocol.ts'
import { type Message, StreamClient } from '../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { fakeTape } from '../../support/fakes/tape.ts'
import { AsyncapiValidator, objectOf } from '../../support/reference/asyncapi-validator.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { bid, level, NAMES } from '../../support/worlds/builders.ts'
import { opportunity, publishedOpportunity } from '../../support/worlds/opportunities.ts'
import { recordingTape, TapeWorld, tapeSettings } from '../../support/worlds/tape-world.ts'

const FOLDER = join(testFolder('asyncapi'), 'tape')
const clock = new ManualClock()
const document = asyncapi({ version: '0.0.0-test', names: NAMES })
const validator = new AsyncapiValidator(document)
const missed = 10_001
let server: ApiServer
let one: FakeMarket
let two: FakeMarket
before(async () => {
  server = await openApiServer({
    clock,
    before: (engine) => {
      one = engine.add('one', { eventSlug: 'both' })
      two = engine.add('two', { venue: 'b', eventSlug: 'both' })
      for (let index = 0; index < missed; index += 1)
        one.trade({ timeMs: timeMs(index), ordinal: 0 })
    },
  })
  one.replace([level(0.4, 100)], [level(0.5, 50)])
})
after(() => server.stop())

describe('GET /asyncapi.json', () => {
  test('serves the generated AsyncAPI document without a key, and counts no request', async () => {
    const remaining: (string | null)[] = []
    for (let time = 0; time < 2; time += 1) {
      const response = await fetch(`${server.origin}/asyncapi.json`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('cache-control'), 'no-cache')
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      remaining.push(response.headers.get('x-ratelimit-remaining'))
      assert.deepEqual(await response.json(), document)
    }
    assert.equal(remaining[0], remaining[1])
  })

  test('contains a valid example for each message and command, with ids in the venue’s format', () => {
    const messages = objectOf(objectOf(document.components).messages)
    for (const name of validator.names) {
      const { examples } = objectOf(messages[name])
      assert.ok(Array.isArray(examples) && examples.length > 0, `${name} has no example`)
      for (const example of examples)
        assert.equal(validator.problem(name, objectOf(example).payload), null)
    }
    for (const [id] of JSON.stringify(messages).matchAll(/venue_a_[^"]*/g))
      assert.match(id, /^venue_a_0x[0-9a-f]{64}$/)
  })

  test('lists every message in an operation, an operation for every channel, and all close codes', () => {
    const operations = objectOf(document.operations)
    const listed = new Set(
      [...JSON.stringify(operations).matchAll(/#\/channels\/stream\/messages\/(\w+)/g)].map(
        ([, name]) => name ?? '',
      ),
    )
    assert.deepEqual([...listed].sort(), [...validator.names].sort())
    for (const channel of CHANNEL_NAMES) {
      const name = `tell${channel.charAt(0).toUpperCase()}${channel.slice(1)}`
      assert.equal(objectOf(operations[name]).action, 'send', name)
    }
    const codes = document['x-close-codes']
    assert.ok(Array.isArray(codes))
    assert.deepEqual(
      codes.map((row) => row.code),
      Object.values(closeCodes).map(({ code }) => code),
    )
  })
})

/** Causes messages of all types. Returns the messages that a client received. */
async function everything(encoding: 'json' | 'msgpack'): Promise<readonly Message[]> {
  const { publisher } = server.engine
  const client = await StreamClient.open(server.port, `api_key=ann-key&encoding=${encoding}`)
  let id = 0
  const sendCommand = (command: Readonly<Record<string, unknown>>, type: string) => {
    id += 1
    // The server limits commands per second.
    clock.advance(1_001)
    const sent = { id, ...command }
    assert.equal(validator.problem(`${String(command.action)}Command`, sent), null)
    return client.ask(sent, type)
  }
  const subscribe = (channel: string, set: Readonly<Record<string, unknown>> = {}) =>
    sendCommand({ action: 'subscribe', channel, market_ids: ['*'], ...set }, 'synced')
  for (const channel of CHANNEL_NAMES) await subscribe(channel)
  await sendCommand(
    { action: 'unsubscribe', channels: ['depth'], market_ids: ['*'] },
    'unsubscribed',
  )
  const ids = [one.ref.id, 'venue_a_none']
  const depth = { channel: 'depth', levels: 5, conflate_ms: 100, market_ids: ids }
  await sendCommand({ action: 'subscribe', ...depth, event_slugs: ['nowhere'] }, 'synced')
  for (let index = 0; index < 51; index += 1) one.change(bid(0.3, 1 + index))
  one.replace([level(0.4, 100)], [], 'venue_gap')
  one.markStale('silent')
  one.confirm()
  one.reprice(430_000)
  one.trade({ usd: usdMicros(7_000_000_000), maker: '0xabc', txHash: '0xdef' })
  const nowMs = clock.nowMs()
  const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
  const whale = {
    ...one.trade(),
    outcome: null,
    question: 'Will it?',
    slug: 'it',
    eventSlug: null,
    category: 'x',
    wallet: '0xtaker',
    fills: 3,
  }
  const stamp = (channel: 'whales' | 'lifecycle' | 'arbitrage') =>
    publisher.stamp(channel, one.ref.number)
  publisher.publish({ kind: 'whale', market: one.ref, ...stamp('whales'), ...times, whale })
  const facts = { ...one.summary, settlementPrice: priceMicros(1_000_000) }
  for (const event of ['matched', 'resolved'] as const) {
    const matchedMarket = event === 'matched' ? two.ref : null
    const life = {
      market: one.ref,
      ...stamp('lifecycle'),
      ...times,
      event,
      facts,
      matchedMarket,
    }
    publisher.publish({ kind: 'lifecycle', ...life })
  }
  const opened = publishedOpportunity(opportunity([one.ref, two.ref]))
  publisher.publish({ ...opened, ...stamp('arbitrage'), ...times })
  const gap = { venue: 'a', platform: 'venue_a', toMs: timeMs(2_000), channel: 'trades' } as const
  publisher.publish({ kind: 'gap', ...gap, market: one.ref, fromMs: timeMs(1_000), count: 2 })
  publisher.publish({ kind: 'gap', ...gap, market: null, fromMs: timeMs(1_000), count: null })
  clock.advance(5_001)
  await sendCommand({ action: 'list' }, 'subscriptions')
  await sendCommand({ action: 'snapshot', market_ids: [one.ref.id] }, 'synced')
  await sendCommand({ action: 'ping' }, 'pong')
  await sendCommand({ action: 'unsubscribe', channel: 'trades', market_ids: ['*'] }, 'unsubscribed')
  const since = { epoch: publisher.epoch, offset: 0 }
  const again = { action: 'subscribe', channel: 'trades', market_ids: ['*'] }
  const limited = await sendCommand({ ...again, since }, 'resume_limited')
  const offset = Number(limited.offset)
  await sendCommand({ ...again, since: { ...since, offset } }, 'resumed')
  await sendCommand({ ...again, since: { epoch: 'unknown', offset: 1 } }, 'synced')
  client.send({ action: 'dance', id: 'x' })
  await client.ofType('error')
  await client.close()
  return client.messages
}

/** Records two runs. The service was stopped between them, and the disk was slow in both. */
function recordRuns(): { readonly fromMs: number; readonly toMs: number } {
  const fromMs = clock.nowMs()
  for (const epoch of ['run1', 'run2']) {
    const world = new TapeWorld({ seed: epoch, markets: 2, fromUs: clock.nowMs() * 1_000 })
    const tape = recordingTape(tapeSettings(FOLDER, { epoch }), world.us)
    for (const record of world.sweep(true)) tape.put(record)
    for (let count = 0; count < 40; count += 1) tape.put(world.next())
    clock.advance(10_000)
    const lost = { cause: 'slow_disk', fromUs: world.us, toUs: world.us + 1, rows: 3 } as const
    tape.put({ us: world.us + 2, item: { kind: 'lost', ...lost, offsets: [] } })
    tape.close()
  }
  return { fromMs, toMs: clock.nowMs() }
}

/** Causes messages of all types of a replay. */
async function everythingReplayed(encoding: 'json' | 'msgpack'): Promise<readonly Message[]> {
  const { engine } = server
  const { fromMs, toMs } = recordRuns()
  const { tape, replays } = fakeTape(clock.nowMs())
  engine.tape = tape
  engine.replays = {
    reserve: () => ({
      ...replays.reserve('ann'),
      read(query) {
        const reader = new ReplayReader(FOLDER, query)
        return { next: async () => reader.next(), close: () => reader.close() }
      },
    }),
  }
  const period = `replay_from=${fromMs}&replay_to=${toMs}&speed=0`
  const query = `api_key=ann-key&encoding=${encoding}&${period}`
  const client = await StreamClient.open(server.port, query)
  const commands = [
    { action: 'pause', id: 1 },
    { action: 'subscribe', id: 2, channels: ['orderbook', 'trades', 'prices'], market_ids: ['*'] },
    { action: 'seek', id: 3, to: fromMs + 1 },
    { action: 'resume', id: 4 },
  ]
  for (const command of commands) {
    assert.equal(validator.problem(`${command.action}Command`, command), null)
    client.send(command)
  }
  await client.ofType('replay_end')
  await client.closed
  assert.ok(client.messages.some(({ reason }) => reason === 'slow_disk'))
  return client.messages
}

describe('messages in the AsyncAPI document', () => {
  for (const encoding of ['json', 'msgpack'] as const) {
    test(`describes every message type of a real API server exactly (${encoding})`, async (t) => {
      const messages = [...(await everything(encoding)), ...(await everythingReplayed(encoding))]
      const seen = new Set<string>()
      for (const message of messages) {
        const letters = String(message.type).replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
        const name = `${letters}Message`
        seen.add(name)
        assert.equal(validator.problem(name, message), null)
      }
      t.diagnostic(`${messages.length} messages of ${seen.size} kinds`)
      const named = validator.names.filter((name) => name.endsWith('Message'))
      assert.deepEqual([...seen].sort(), named.sort())
    })
  }

  test('describes the heartbeat of a connection whose subscription is still loading', () => {
    const { catalog } = server.engine
    const encoder = new JsonEncoder({ epoch: 'k', catalog, nowMs: () => clock.nowMs() })
    const beat = { timestampMs: clock.nowMs(), counter: 1, epoch: 'k', offsets: null }
    const text = encoder.reply(heartbeatMessage(beat))
    assert.equal(validator.problem('heartbeatMessage', JSON.parse(text)), null)
  })

  test('has message schemas that reject undocumented or missing properties', () => {
    const pong = { type: 'pong', id: 1, timestamp_ms: 5, published_ms: 5 }
    assert.equal(validator.problem('pongMessage', pong), null)
    assert.match(validator.problem('pongMessage', { ...pong, more: 1 }) ?? '', /additional/)
    assert.match(
      validator.problem('pongMessage', { type: 'pong', id: 1, published_ms: 5 }) ?? '',
      /timestamp_ms/,
    )
  })

  test('has command schemas that accept documented client messages and reject undocumented client messages', () => {
    const ids = ['a']
    const good: readonly Readonly<Record<string, unknown>>[] = [
      ...CHANNEL_NAMES.map((channel) => ({ action: 'subscribe', channel, market_ids: ids })),
      ...INTERVALS.map((interval) => {
        return { action: 'subscribe', channel: 'candles', interval, market_ids: ['*'] }
      }),
      { action: 'subscribe', channel: 'prices', conflate_ms: 0, event_slugs: ids, id: 'x' },
      { action: 'subscribe', channel: 'depth', levels: 20, conflate_ms: 1_000, platform: 'a' },
      { action: 'unsubscribe', channels: ['trades', 'whales'], market_ids: ids },
      { action: 'snapshot', market_ids: ids, id: 1.5 },
      { action: 'list' },
      { action: 'ping' },
      { action: 'pause' },
      { action: 'resume', id: 'x' },
      { action: 'seek', to: 1_763_700_000_000 },
    ]
    const kindOf = (command: unknown) =>
      parseCommand(Buffer.from(JSON.stringify(command)), false).kind
    for (const command of good) {
      assert.equal(validator.problem(`${String(command.action)}Command`, command), null)
      assert.equal(kindOf(command), command.action)
    }
    const bad: readonly Readonly<Record<string, unknown>>[] = [
      { action: 'subscribe', channel: 'books', market_ids: ids },
      { action: 'subscribe', channel: 'depth', levels: 7, market_ids: ids },
      { action: 'subscribe', channel: 'candles', interval: '2m', market_ids: ids },
      { action: 'subscribe', channel: 'trades', market_ids: Array(101).fill('a') },
      {
        action: 'subscribe',
        channel: 'trades',
        market_ids: ids,
        since: { epoch: 'k', offset: -1 },
      },
      { action: 'snapshot' },
      { action: 'seek' },
      { action: 'seek', to: -1 },
    ]
    for (const command of bad) {
      assert.notEqual(validator.problem(`${String(command.action)}Command`, command), null)
      assert.equal(kindOf(command), 'refused', JSON.stringify(command))
    }
  })
})
