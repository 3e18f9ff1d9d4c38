import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeMulti } from '@msgpack/msgpack'
import { TapeRecorder } from '../../../actors/tape/tape-recorder.ts'
import { ReplayReader } from '../../../engine/app/replay/replay-reader.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { tapeDisk } from '../../../engine/tape/disk.ts'
import type { TapeTask } from '../../../engine/tape/tape-task.ts'
import { TapeTaskRunner } from '../../../engine/tape/task-runner.ts'
import { type Message, RebuiltBooks, StreamClient } from '../../support/clients/stream-client.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import type { FakeMarket } from '../../support/fakes/market.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'
import { tapeSettings } from '../../support/worlds/tape-world.ts'

const FOLDER = join(testFolder('replay'), 'tape')
const clock = new ManualClock()
const START_MS = clock.nowMs()
const DAY_MS = 86_400_000

let server: ApiServer
let recorder: TapeRecorder
/** What a subscriber of all markets received. */
let received: readonly Message[]
let openCount = 0
let openedCount = 0

/** Messages about changes. Snapshots repeat what the changes before them state. */
const changesIn = (messages: readonly Message[]) =>
  messages.filter(({ type }) => ['update', 'trade', 'resync', 'stale', 'fresh'].includes(`${type}`))

const booksOf = (messages: readonly Message[]) => {
  const books = new RebuiltBooks()
  for (const message of messages) books.read(message)
  return ['one', 'two', 'three'].map((name) => books.levels(`venue_a_${name}`))
}

const path = (query: Readonly<Record<string, string | number>>) =>
  `/v1/replay?${new URLSearchParams({
    from: String(START_MS),
    to: String(clock.nowMs()),
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  })}`

const fetchReplay = (
  query: Readonly<Record<string, string | number>> = {},
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(`${server.origin}${path(query)}`, {
    headers: { 'X-API-Key': 'ann-key', 'Accept-Encoding': 'identity', ...headers },
  })

const linesOf = (text: string): readonly Message[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null

function act(market: FakeMarket, number: number): void {
  const random = seededRandom('replay', number)
  const price = (1 + random.below(49)) / 100
  const kind = random.below(10)
  if (kind < 6) market.change(bid(price, random.below(300)), ask(1 - price, 1 + random.below(9)))
  else if (kind < 8) market.trade()
  else if (kind === 8) market.replace([level(price, 5)], [level(1 - price, 6)], 'venue_gap')
  else market.markStale('silent')
}

before(async () => {
  server = await openApiServer({ clock })
  const { engine } = server
  const runner = new TapeTaskRunner(tapeDisk)
  const port = { run: async (task: TapeTask) => runner.run(task), close: async () => undefined }
  recorder = new TapeRecorder({
    ...{ clock, log: silentLog, metrics: new Metrics(), port, venues: ['a', 'b'] },
    ...{ publisher: engine.publisher, catalog: engine.catalog },
    settings: tapeSettings(FOLDER, { epoch: engine.epoch }),
    selection: { kind: 'all' },
  })
  engine.publisher.watch(recorder)
  engine.tape = recorder
  engine.replays = {
    reserve() {
      openCount += 1
      openedCount += 1
      const readers: ReplayReader[] = []
      return {
        read(query) {
          const reader = new ReplayReader(FOLDER, query)
          readers.push(reader)
          return { next: async () => reader.next(), close: () => reader.close() }
        },
        release() {
          openCount -= 1
          for (const reader of readers) reader.close()
        },
      }
    },
  }
  engine.accounts.make('free', { tier: 'free', requestsPerMinute: 1_000, socketsMax: 2 })
  const markets = ['one', 'two', 'three'].map((name) => engine.add(name, { venue: 'a' }))
  await recorder.start()
  const client = await StreamClient.open(server.port)
  for (const [id, channel] of ['orderbook', 'trades'].entries()) {
    await client.ask({ action: 'subscribe', id, channel, market_ids: ['*'] }, 'subscribed')
  }
  for (const market of markets) market.replace([level(0.4, 1)], [level(0.6, 1)])
  for (let step = 0; step < 400; step += 1) {
    const market = markets[step % 3]
    if (market !== undefined) act(market, step)
    clock.advance(5)
    if (step % 20 === 0) await nextTurn()
  }
  await client.ask({ action: 'ping', id: 9 }, 'pong')
  received = client.messages
  clock.advance(1_000)
  await nextTurn()
  await client.close()
})
after(async () => {
  await recorder.stop()
  await server.stop()
})

test('replays the changes that the stream sent, in the same order and with the same books', async () => {
  const response = await fetchReplay()
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  const messages = linesOf(await response.text())
  const expected = changesIn(received)
  assert.ok(expected.length > 350)
  assert.deepEqual(changesIn(messages), expected)
  assert.deepEqual(booksOf(messages), booksOf(received))
  assert.equal(openCount, 0)
})

test('replays the same messages as JSON, as MessagePack and compressed', async () => {
  const lines = linesOf(await (await fetchReplay()).text())
  const packed = await (await fetchReplay({ format: 'msgpack' })).arrayBuffer()
  assert.deepEqual([...decodeMulti(new Uint8Array(packed))].filter(isMessage), lines)
  const response = await fetchReplay({}, { 'Accept-Encoding': 'gzip' })
  assert.equal(response.headers.get('content-encoding'), 'gzip')
  assert.deepEqual(linesOf(await response.text()), lines)
})

test('begins a replay with a snapshot of each selected market', async () => {
  const from = START_MS + 1_000
  const market_ids = 'venue_a_one,venue_a_three'
  const messages = linesOf(
    await (await fetchReplay({ from, market_ids, channels: 'orderbook' })).text(),
  )
  const snapshots = messages.slice(0, 2)
  assert.deepEqual(
    snapshots.map(({ type, market_id, published_ms }) => [type, market_id, published_ms]),
    [
      ['snapshot', 'venue_a_one', from],
      ['snapshot', 'venue_a_three', from],
    ],
  )
  const expected = changesIn(received).filter(
    ({ published_ms, market_id, channel }) =>
      Number(published_ms) >= from && market_id !== 'venue_a_two' && channel === 'orderbook',
  )
  assert.deepEqual(changesIn(messages), expected)
})

test('continues a replay after a given offset', async () => {
  const all = linesOf(await (await fetchReplay({ channels: 'trades' })).text())
  const from_offset = Number(all[20]?.offset)
  const rest = linesOf(await (await fetchReplay({ channels: 'trades', from_offset })).text())
  assert.deepEqual(rest, all.slice(21))
})

test('refuses an invalid replay request with a reason', async () => {
  const refusals: readonly [Readonly<Record<string, string | number>>, number, RegExp][] = [
    [{ from: START_MS + 5, to: START_MS + 5 }, 400, /must be before/],
    [{ from: clock.nowMs() + 1_000, to: clock.nowMs() + 9_000 }, 400, /in the past/],
    [{ channels: 'candles' }, 400, /orderbook, trades/],
    [{ from_offset: 3 }, 400, /exactly one channel/],
    [{ market_ids: 'venue_a_none' }, 404, /no such market/],
    [{ event_slug: 'none' }, 404, /no such event/],
    [
      { from: START_MS - DAY_MS, to: START_MS - DAY_MS + 5 },
      404,
      /the tape begins at 2026-11-20T12/,
    ],
    [{ from: 'yesterday' }, 422, /from/],
  ]
  for (const [query, status, detail] of refusals) {
    const response = await server.get(path(query))
    assert.equal(response.status, status, response.text)
    assert.match(response.text, detail)
  }
  const inSeconds = Math.floor(START_MS / 1_000)
  const alias = await server.get(`/v1/replay?start_time=${inSeconds}&end=${inSeconds + 60}`)
  assert.equal(alias.status, 422)
  assert.match(alias.text, /"query","from".*"query","to"/)
  const headers = { 'X-API-Key': 'free-key' }
  const free = await server.get(path({ from: START_MS - 2 * DAY_MS }), { headers })
  assert.equal(free.status, 403)
  assert.match(free.text, /last 24 hours/)
  const { tape } = server.engine
  server.engine.tape = undefined
  const without = await server.get(path({}))
  server.engine.tape = tape
  assert.equal(without.status, 404)
  assert.match(without.text, /TAPE=on/)
  assert.equal(openCount, 0)
})

test('closes the replay of a HEAD request, also when the address has used up its quota', async () => {
  const init = { method: 'HEAD', headers: { 'X-API-Key': 'ann-key' } }
  const head = await fetch(`${server.origin}${path({})}`, init)
  assert.equal(head.status, 200)
  assert.equal(openCount, 0)
  const { accounts } = server.engine
  const before = openedCount
  accounts.fileLimit = -1
  await assert.rejects(fetch(`${server.origin}${path({})}`, init))
  accounts.fileLimit = Number.MAX_SAFE_INTEGER
  assert.ok(openedCount > before)
  assert.equal(openCount, 0)
})
