import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { decodeMulti } from '@msgpack/msgpack'
import { type Message, RebuiltBooks } from '../../support/clients/stream-client.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { openTapedServer, type TapedServer } from '../../support/rigs/taped-server.ts'

const FOLDER = join(testFolder('replay'), 'tape')
const DAY_MS = 86_400_000

let taped: TapedServer

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
    from: String(taped.startMs),
    to: String(taped.clock.nowMs()),
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  })}`

const fetchReplay = (
  query: Readonly<Record<string, string | number>> = {},
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(`${taped.server.origin}${path(query)}`, {
    headers: { 'X-API-Key': 'ann-key', 'Accept-Encoding': 'identity', ...headers },
  })

const linesOf = (text: string): readonly Message[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null

before(async () => {
  taped = await openTapedServer(FOLDER)
})
after(() => taped.stop())

test('replays the changes that the stream sent, in the same order and with the same books', async () => {
  const response = await fetchReplay()
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  const messages = linesOf(await response.text())
  const expected = changesIn(taped.received).filter(({ channel }) => channel !== 'prices')
  assert.ok(expected.length > 300)
  assert.deepEqual(changesIn(messages), expected)
  assert.deepEqual(booksOf(messages), booksOf(taped.received))
  assert.equal(taped.counts.open, 0)
})

test('replays prices with the staleness of their books, and again after a book was replaced', async () => {
  // A price that is sent again has the offset of the channel in the stream, and of its market in a replay.
  const pricesIn = (messages: readonly Message[]) =>
    messages
      .filter(({ channel, published_ms }) => {
        return channel === 'prices' && Number(published_ms) > taped.startMs
      })
      .map((message): Message => ({ ...message, offset: null }))
  const messages = linesOf(await (await fetchReplay({ channels: 'prices' })).text())
  const expected = pricesIn(taped.received)
  assert.deepEqual(pricesIn(messages), expected)
  for (const type of ['price', 'stale', 'fresh', 'resync']) {
    assert.ok(
      expected.some((message) => message.type === type),
      type,
    )
  }
  assert.ok(expected.some(({ type, stale }) => type === 'price' && stale === true))
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
  const from = taped.startMs + 1_000
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
  const expected = changesIn(taped.received).filter(
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
    [{ from: taped.startMs + 5, to: taped.startMs + 5 }, 400, /must be before/],
    [{ from: taped.clock.nowMs() + 1_000, to: taped.clock.nowMs() + 9_000 }, 400, /in the past/],
    [{ channels: 'candles' }, 400, /orderbook, trades/],
    [{ from_offset: 3 }, 400, /exactly one channel/],
    [{ market_ids: 'venue_a_none' }, 404, /no such market/],
    [{ event_slug: 'none' }, 404, /no such event/],
    [
      { from: taped.startMs - DAY_MS, to: taped.startMs - DAY_MS + 5 },
      404,
      /the tape begins at 2026-11-20T12/,
    ],
    [{ from: 'yesterday' }, 422, /from/],
  ]
  for (const [query, status, detail] of refusals) {
    const response = await taped.server.get(path(query))
    assert.equal(response.status, status, response.text)
    assert.match(response.text, detail)
  }
  const inSeconds = Math.floor(taped.startMs / 1_000)
  const alias = await taped.server.get(`/v1/replay?start_time=${inSeconds}&end=${inSeconds + 60}`)
  assert.equal(alias.status, 422)
  assert.match(alias.text, /"query","from".*"query","to"/)
  const headers = { 'X-API-Key': 'free-key' }
  const free = await taped.server.get(path({ from: taped.startMs - 2 * DAY_MS }), { headers })
  assert.equal(free.status, 403)
  assert.match(free.text, /last 24 hours/)
  const { tape } = taped.server.engine
  taped.server.engine.tape = undefined
  const without = await taped.server.get(path({}))
  taped.server.engine.tape = tape
  assert.equal(without.status, 404)
  assert.match(without.text, /TAPE=on/)
  assert.equal(taped.counts.open, 0)
})

test('closes the replay of a HEAD request, also when the address has used up its quota', async () => {
  const init = { method: 'HEAD', headers: { 'X-API-Key': 'ann-key' } }
  const head = await fetch(`${taped.server.origin}${path({})}`, init)
  assert.equal(head.status, 200)
  assert.equal(taped.counts.open, 0)
  const { accounts } = taped.server.engine
  const before = taped.counts.opened
  accounts.fileLimit = -1
  await assert.rejects(fetch(`${taped.server.origin}${path({})}`, init))
  accounts.fileLimit = Number.MAX_SAFE_INTEGER
  assert.ok(taped.counts.opened > before)
  assert.equal(taped.counts.open, 0)
})
