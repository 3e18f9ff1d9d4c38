import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { seededRandom } from '../../../../engine/random.ts'
import {
  type Message,
  RebuiltBooks,
  refusedUpgrade,
  StreamClient,
} from '../../../support/clients/stream-client.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { openTapedServer, type TapedServer } from '../../../support/rigs/taped-server.ts'

const FOLDER = join(testFolder('replay-session'), 'tape')
const DAY_MS = 86_400_000
const MARKETS = ['venue_a_one', 'venue_a_two', 'venue_a_three']
const CHANNELS = ['orderbook', 'trades', 'prices', 'lifecycle']
const REPLIES = ['connected', 'subscribed', 'synced', 'replay', 'replay_end', 'heartbeat', 'pong']

let taped: TapedServer
let endMs = 0
before(async () => {
  taped = await openTapedServer(FOLDER)
  endMs = taped.clock.nowMs()
})
after(() => taped.stop())

const query = (set: Readonly<Record<string, string | number>> = {}) =>
  String(
    new URLSearchParams({
      api_key: 'ann-key',
      ...Object.fromEntries(
        Object.entries({ replay_from: taped.startMs, replay_to: endMs, speed: 0, ...set }).map(
          ([name, value]) => [name, String(value)],
        ),
      ),
    }),
  )

const openReplay = (set: Readonly<Record<string, string | number>> = {}) =>
  StreamClient.open(taped.server.port, query(set))

const dataIn = (messages: readonly Message[]) =>
  messages.filter(({ type }) => !REPLIES.includes(`${type}`))

/** A hash that depends neither on the order of the messages nor on that of their fields. */
function canonicalHash(messages: readonly Message[]): string {
  const rows = messages.map((message) =>
    JSON.stringify(Object.entries(message).sort(([one], [other]) => (one < other ? -1 : 1))),
  )
  return createHash('sha256').update(rows.sort().join('\n')).digest('hex')
}

const booksOf = (messages: readonly Message[]) => {
  const books = new RebuiltBooks()
  for (const message of messages) books.read(message)
  assert.deepEqual(books.defects, [])
  return MARKETS.map((id) => books.levels(id))
}

/** Reads all channels of all markets until the replay ends. */
async function readAll(set: Readonly<Record<string, string | number>> = {}) {
  const client = await openReplay(set)
  client.send({ action: 'pause', id: 0 })
  client.send({ action: 'subscribe', id: 1, channels: CHANNELS, market_ids: ['*'] })
  client.send({ action: 'resume', id: 2 })
  while (client.messages.at(-1)?.type !== 'replay_end') {
    await client.next(() => true)
    // Batches are sent once the buffers have been checked.
    if ('batch' in set) taped.clock.advance(100)
  }
  return { messages: client.messages, closed: await client.closed }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await nextTurn()
}

test('replays the same rows as the REST API, in both encodings and in batches', async () => {
  const period = `from=${taped.startMs}&to=${endMs}`
  const response = await fetch(
    `${taped.server.origin}/v1/replay?${period}&channels=${CHANNELS.join(',')}`,
    { headers: { 'X-API-Key': 'ann-key' } },
  )
  const rows: Message[] = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.ok(rows.length > 400)
  for (const set of [{}, { encoding: 'msgpack' }, { batch: 'on' }]) {
    const { messages, closed } = await readAll(set)
    assert.equal(closed.code, 1000)
    const data = dataIn(messages)
    assert.equal(data.length, rows.length)
    assert.equal(canonicalHash(data), canonicalHash(rows))
    assert.deepEqual(booksOf(data), booksOf(rows))
    const changes = (all: readonly Message[]) => all.filter(({ type }) => type === 'update')
    assert.deepEqual(changes(data), changes(rows))
  }
  assert.equal(taped.counts.open, 0)
})

test('answers a subscription with the states at the replay’s time, then sends the changes', async () => {
  const from = taped.startMs + 700
  const client = await openReplay({ replay_from: from })
  const [connected] = client.messages
  assert.equal(connected?.data, 'replay')
  assert.deepEqual(connected?.replay, { from_ms: from, to_ms: endMs, speed: 0 })
  client.send({ action: 'subscribe', id: 1, channel: 'orderbook', market_ids: MARKETS.slice(0, 2) })
  await client.closed
  const types = client.messages.slice(1, 5).map(({ type, market_id }) => [type, market_id])
  assert.deepEqual(types, [
    ['subscribed', undefined],
    ['snapshot', MARKETS[0]],
    ['snapshot', MARKETS[1]],
    ['synced', undefined],
  ])
  const expected = taped.received.filter(
    ({ type, published_ms, market_id }) =>
      type === 'update' && Number(published_ms) >= from && market_id !== MARKETS[2],
  )
  assert.deepEqual(
    client.messages.filter(({ type }) => type === 'update'),
    expected,
  )
})

test('marks prices as stale whose books became stale before the subscription', async () => {
  const isPrice = ({ type, published_ms }: Message) =>
    type === 'price' && Number(published_ms) > taped.startMs + 500
  const stale = taped.received.findIndex((message) => isPrice(message) && message.stale === true)
  const from = Number(taped.received[stale]?.published_ms)
  const client = await openReplay({ replay_from: from })
  client.send({ action: 'subscribe', id: 1, channel: 'prices', market_ids: ['*'] })
  await client.closed
  const synced = client.messages.findIndex(({ type }) => type === 'synced')
  const first = client.messages.slice(synced).find(isPrice)
  assert.deepEqual(first, taped.received[stale])
})

test('has the books of a live subscriber at random times when a client seeks', async () => {
  const client = await openReplay()
  await client.ask({ action: 'pause', id: 'pause' }, 'replay')
  await client.ask(
    { action: 'subscribe', id: 'all', channel: 'orderbook', market_ids: MARKETS },
    'synced',
  )
  const random = seededRandom('seek')
  for (let round = 0; round < 12; round += 1) {
    // The tape's clock has microseconds, and updates of one millisecond follow each other in it.
    const to = taped.startMs + 1 + random.below(1_990)
    taped.clock.advance(1_000)
    const state = await client.ask({ action: 'seek', id: round, to }, 'replay')
    assert.equal(state.position_ms, to)
    assert.equal(state.state, 'paused')
    await client.ask({ action: 'ping', id: `p${round}` }, 'pong')
    const since = client.messages.lastIndexOf(state)
    const states = client.messages.slice(since)
    const reasons = states.filter(({ type }) => type === 'resync').map(({ reason }) => reason)
    assert.deepEqual(reasons, ['seek', 'seek', 'seek'])
    const live = taped.received.filter(({ published_ms }) => Number(published_ms) < to)
    assert.deepEqual(booksOf(states), booksOf(live))
  }
  await client.close()
})

test('sends no states for a seek behind which another seek waits', async () => {
  const client = await openReplay()
  await client.ask({ action: 'pause', id: 'pause' }, 'replay')
  await client.ask(
    { action: 'subscribe', id: 'all', channel: 'orderbook', market_ids: MARKETS },
    'synced',
  )
  const begin = client.messages.length
  const times = Array.from({ length: 10 }, (_, index) => taped.startMs + 1 + index * 150)
  let release = (): void => undefined
  taped.reading.until = new Promise((resolve) => {
    release = resolve
  })
  for (const [id, to] of times.entries()) client.send({ action: 'seek', id, to })
  client.send({ action: 'seek', id: 'bad', to: 0 })
  // An unknown action is refused at once, when all seeks have arrived.
  await client.ask({ action: 'none', id: 'none' }, 'error')
  release()
  await client.ask({ action: 'ping', id: 'ping' }, 'pong')
  const replies = client.messages.slice(begin)
  const positions = replies.flatMap((reply) => (reply.type === 'replay' ? [reply.position_ms] : []))
  assert.deepEqual(positions, times)
  const last = replies.findLastIndex(({ type }) => type === 'replay')
  const states = replies.slice(last)
  const live = taped.received.filter(({ published_ms }) => Number(published_ms) < Number(times[9]))
  assert.deepEqual(booksOf(states), booksOf(live))
  const ids = replies.filter(({ type }) => type === 'synced').map(({ id }) => id)
  assert.deepEqual(ids, [0, 9])
  await client.close()
})

test('sends each message at its time, and faster or slower with another speed', async () => {
  for (const speed of [1, 4, 0.5]) {
    const client = await openReplay({ speed })
    await client.ask(
      { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] },
      'synced',
    )
    const dueAt = (ms: number) =>
      taped.received.filter(
        ({ type, published_ms }) =>
          type === 'update' && Number(published_ms) <= taped.startMs + ms * speed,
      ).length
    const sent = () => client.messages.filter(({ type }) => type === 'update').length
    for (const [index, ms] of [100, 250, 400].entries()) {
      taped.clock.advance(ms - ([0, 100, 250][index] ?? 0))
      const pong = await client.ask({ action: 'ping', id: `p${index}` }, 'pong')
      assert.equal(pong.timestamp_ms, taped.startMs + ms * speed)
      assert.equal(sent(), dueAt(ms))
    }
    const { position_ms: before } = await client.ask({ action: 'pause', id: 'x' }, 'replay')
    taped.clock.advance(60_000)
    const { position_ms: later, state } = await client.ask({ action: 'resume', id: 'y' }, 'replay')
    assert.deepEqual([later, state], [before, 'playing'])
    assert.equal(sent(), dueAt(400))
    await client.close()
  }
})

test('keeps the other subscriptions in order when a client subscribes and unsubscribes meanwhile', async () => {
  const client = await openReplay({ speed: 1 })
  await client.ask(
    { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: MARKETS[0] },
    'synced',
  )
  taped.clock.advance(300)
  await client.ask(
    { action: 'subscribe', id: 2, channel: 'orderbook', market_ids: MARKETS[1] },
    'synced',
  )
  taped.clock.advance(300)
  await client.ask({ action: 'subscribe', id: 3, channel: 'trades', platform: 'venue_a' }, 'synced')
  const list = await client.ask({ action: 'list', id: 4 }, 'subscriptions')
  assert.deepEqual(list.subscriptions, [
    { channel: 'orderbook', market_id: MARKETS[0] },
    { channel: 'orderbook', market_id: MARKETS[1] },
    { channel: 'trades', platform: 'venue_a' },
  ])
  taped.clock.advance(300)
  await client.ask(
    { action: 'unsubscribe', id: 5, channel: 'orderbook', market_ids: MARKETS[1] },
    'unsubscribed',
  )
  const { length } = client.messages
  taped.clock.advance(300)
  await client.ask({ action: 'ping', id: 6 }, 'pong')
  const after = client.messages.slice(length)
  assert.equal(
    after.some(({ channel, market_id }) => channel === 'orderbook' && market_id === MARKETS[1]),
    false,
  )
  assert.ok(after.some(({ channel }) => channel === 'trades'))
  booksOf(client.messages)
  const whole = taped.received.filter(
    ({ type, market_id, published_ms }) =>
      type === 'update' &&
      market_id === MARKETS[0] &&
      Number(published_ms) <= taped.startMs + 1_200,
  )
  const own = client.messages.filter(
    ({ type, market_id }) => type === 'update' && market_id === MARKETS[0],
  )
  assert.deepEqual(own, whole)
  await client.close()
})

test('sends a snapshot of the replay’s time on request', async () => {
  const client = await openReplay({ replay_from: taped.startMs + 900 })
  await client.ask({ action: 'snapshot', id: 1, market_ids: [MARKETS[1]] }, 'synced')
  const live = taped.received.filter(
    ({ published_ms }) => Number(published_ms) < taped.startMs + 900,
  )
  assert.deepEqual(booksOf(client.messages)[1], booksOf(live)[1])
  const error = await client.ask(
    { action: 'snapshot', id: 2, market_ids: ['venue_a_none'] },
    'error',
  )
  assert.equal(error.code, 'UNKNOWN_MARKET')
  await client.close()
})

test('refuses commands that a replay cannot carry out, with a reason', async () => {
  const client = await openReplay()
  const subscribe = { action: 'subscribe', market_ids: ['*'] }
  const commands: readonly [Readonly<Record<string, unknown>>, string, RegExp][] = [
    [{ ...subscribe, channel: 'depth' }, 'UNKNOWN_CHANNEL', /channels of a replay are orderbook/],
    [{ ...subscribe, channel: 'prices', conflate_ms: 250 }, 'INVALID_FILTER', /conflate_ms is 0/],
    [
      { ...subscribe, channel: 'trades', since: { epoch: 'k', offset: 1 } },
      'INVALID_FILTER',
      /takes no since/,
    ],
    [
      { action: 'subscribe', channel: 'trades', platform: 'venue_z' },
      'INVALID_FILTER',
      /platform is/,
    ],
    [{ action: 'seek' }, 'INVALID_FILTER', /Unix milliseconds/],
    [{ action: 'seek', to: taped.startMs - 1 }, 'INVALID_FILTER', /a time of this replay/],
    [{ action: 'seek', to: endMs }, 'INVALID_FILTER', /a time of this replay/],
    [{ action: 'seek', to: 'noon' }, 'INVALID_FILTER', /to must be integer/],
  ]
  for (const [id, [command, code, message]] of commands.entries()) {
    const error = await client.ask({ ...command, id }, 'error')
    assert.equal(error.code, code)
    assert.match(String(error.message), message)
  }
  const unknown = await client.ask(
    { action: 'subscribe', id: 'u', channel: 'trades', market_ids: ['venue_a_none'] },
    'subscribed',
  )
  assert.deepEqual(unknown.rejected, [{ market_id: 'venue_a_none', code: 'UNKNOWN_MARKET' }])
  await client.close()
  const live = await StreamClient.open(taped.server.port)
  for (const action of ['pause', 'resume', 'seek']) {
    const error = await live.ask({ action, id: action, to: endMs - 1 }, 'error')
    assert.equal(error.code, 'UNKNOWN_ACTION')
    assert.match(String(error.message), /command of replays: connect with replay_from/)
  }
  await live.close()
})

test('refuses a handshake whose replay is invalid, with a reason', async () => {
  const refusals: readonly [Readonly<Record<string, string | number>>, number, RegExp][] = [
    [{ replay_to: taped.startMs }, 400, /`replay_from` must be before `replay_to`/],
    [{ replay_from: endMs + DAY_MS, replay_to: endMs + 2 * DAY_MS }, 400, /must be in the past/],
    [{ replay_from: endMs + DAY_MS, replay_to: '' }, 400, /must be in the past/],
    [{ replay_from: 'noon' }, 422, /replay_from/],
    [{ speed: -1 }, 422, /speed/],
    [{ speed: 1_001 }, 422, /speed/],
    [{ speed: 0.001 }, 400, /`speed` is 0 or from 0.01 to 1000/],
    [{ replay_from: '' }, 400, /need `replay_from`/],
    [
      { replay_from: taped.startMs - DAY_MS, replay_to: taped.startMs - DAY_MS + 5 },
      404,
      /the tape begins at 2026-11-20T12/,
    ],
    [{ api_key: 'free-key', replay_from: taped.startMs - 2 * DAY_MS }, 403, /last 24 hours/],
  ]
  for (const [set, status, detail] of refusals) {
    const refused = await refusedUpgrade(taped.server.port, query(set))
    assert.equal(refused.status, status, refused.body)
    assert.match(refused.body, detail)
  }
  const { engine } = taped.server
  const { tape } = engine
  engine.tape = undefined
  const without = await refusedUpgrade(taped.server.port, query())
  engine.tape = tape
  assert.equal(without.status, 404)
  assert.match(without.body, /TAPE=on/)
})

test('counts replays of the stream and of the REST API together, and frees them', async () => {
  const clients = [await openReplay(), await openReplay()]
  const refused = await refusedUpgrade(taped.server.port, query())
  assert.equal(refused.status, 429)
  assert.match(refused.body, /2 replays at once/)
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  const period = `from=${taped.startMs}&to=${endMs}`
  assert.equal((await taped.server.get(`/v1/replay?${period}`)).status, 429)
  for (const client of clients) await client.close()
  await until(() => taped.counts.open === 0)
  assert.equal(taped.server.server.hub.replays.size, 0)
})

test('closes a replay whose client stops reading, with at most one chunk of messages in memory', async () => {
  const { engine } = taped.server
  const { replays } = engine
  let readCount = 0
  let isReleased = false
  const bytes = Buffer.from(JSON.stringify({ type: 'update', text: 'x'.repeat(262_144) }))
  const chunk = { bytes, marks: Float64Array.of(taped.startMs * 1_000, bytes.length), epoch: null }
  engine.replays = {
    reserve: () => ({
      read: ({ states, fromUs }) => ({
        async next() {
          await nextTurn()
          readCount += 1
          const isLast = states !== 'omit'
          const endUs = fromUs + readCount
          return isLast
            ? { ...chunk, marks: Float64Array.of(), isLast, endUs }
            : { ...chunk, isLast, endUs }
        },
        close: () => undefined,
      }),
      release: () => {
        isReleased = true
      },
    }),
  }
  const client = await openReplay()
  engine.replays = replays
  client.socket.pause()
  client.send({ action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] })
  const { replays: open } = taped.server.server.hub
  const [session] = open
  // The sockets of the kernel take several chunks before the client counts as one that does not read.
  while (open.size > 0) {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    assert.ok((session?.bufferedBytes ?? 0) < 2 * bytes.length)
    taped.clock.advance(11_000)
  }
  assert.equal(isReleased, true)
  await client.close()
})

test('closes a replay without subscriptions, and one that is paused for long', async () => {
  const none = await openReplay()
  taped.clock.advance(59_000)
  assert.equal(taped.counts.open, 1)
  taped.clock.advance(2_000)
  assert.equal((await none.closed).code, 4001)
  const paused = await openReplay({ speed: 1 })
  await paused.ask(
    { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] },
    'synced',
  )
  await paused.ask({ action: 'pause', id: 2 }, 'replay')
  taped.clock.advance(599_000)
  assert.equal(taped.counts.open, 1)
  taped.clock.advance(2_000)
  assert.equal((await paused.closed).code, 4013)
})

test('sends heartbeats with the time of the replay and without offsets', async () => {
  const client = await openReplay({ speed: 0.01 })
  await client.ask(
    { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] },
    'synced',
  )
  taped.clock.advance(5_000)
  const { timestamp_ms: time, offsets, epoch } = await client.ofType('heartbeat')
  assert.ok(Number(time) >= taped.startMs && Number(time) <= taped.startMs + 50)
  assert.equal(offsets, undefined)
  assert.equal(epoch, taped.server.engine.epoch)
  await client.close()
})
