// Compares the replies to equal commands in JSON and in MessagePack.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { decode, Encoder, ExtData } from '@msgpack/msgpack'
import { WebSocket } from 'ws'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { level } from '../../../support/worlds/builders.ts'

/** Keeps the test below ten errors a minute and below the command limit. */
const PAUSE_MS = 7_000
const clock = new ManualClock()
let server: ApiServer
const markets: FakeMarket[] = []
before(async () => {
  server = await openApiServer({ clock })
  server.engine.accounts.make('cat', { requestsPerMinute: 10_000, socketsMax: 1_000 })
  for (const name of ['plain', 'Größe 🐙', 'other']) {
    const market = server.engine.add(name, { venue: name === 'other' ? 'b' : 'a', eventSlug: 'e1' })
    market.replace([level(0.4, 5)], [level(0.6, 7)], 'first')
    markets.push(market)
  }
})
after(() => server.stop())

/** Writes values that JSON.stringify cannot write: infinities, NaN and large integers. */
function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return '-0'
    return Number.isFinite(value) ? String(value) : `${value < 0 ? '-' : ''}1e999`
  }
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const fields = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}:${toJson(item)}`,
  )
  return `{${fields.join(',')}}`
}

/** Allows deeper nesting than the encoder's default. */
const toMsgpack = (value: unknown): Uint8Array =>
  new Encoder({ useBigInt64: true, maxDepth: 2_000 }).encode(value)

class Talker {
  readonly messages: unknown[] = []
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  readonly #isBinary: boolean
  #wake: (() => void) | null = null

  constructor(reads: 'json' | 'msgpack', sends: 'json' | 'msgpack') {
    this.#isBinary = sends === 'msgpack'
    this.#socket = new WebSocket(
      `ws://127.0.0.1:${server.port}/v1/ws?api_key=cat-key&encoding=${reads}`,
    )
    this.#socket.on('message', (bytes, isBinary) => {
      assert.ok(Buffer.isBuffer(bytes))
      assert.equal(isBinary, reads === 'msgpack')
      this.messages.push(isBinary ? decode(bytes) : JSON.parse(String(bytes)))
      this.#wake?.()
    })
    this.closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.closed.then(() => this.#wake?.())
  }

  async open(): Promise<void> {
    await once(this.#socket, 'open')
    await this.until('connected', undefined)
  }

  send(command: unknown): void {
    this.#socket.send(this.#isBinary ? toMsgpack(command) : toJson(command))
  }

  sendRaw(frame: Uint8Array | string): void {
    this.#socket.send(frame)
  }

  /** Earlier messages remain in `messages`. */
  async until(type: string, id: unknown): Promise<void> {
    const fits = (message: unknown) =>
      typeof message === 'object' &&
      message !== null &&
      Reflect.get(message, 'type') === type &&
      Reflect.get(message, 'id') === id
    while (!this.messages.some(fits)) {
      assert.ok(this.#socket.readyState === WebSocket.OPEN, 'closed before the answer')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  end(): void {
    this.#socket.terminate()
  }
}

/** Ends a round. The subscription also prevents the close after 60 s without a subscription. */
const marker = (number: number) => {
  const channel = 'lifecycle'
  return { action: 'subscribe', id: number + 0.125, channel, market_ids: ['venue_b_other'] }
}

const FORMS = ['json', 'msgpack'] as const

async function openAll(): Promise<Talker[]> {
  const talkers = FORMS.flatMap((reads) => FORMS.map((sends) => new Talker(reads, sends)))
  await Promise.all(talkers.map((talker) => talker.open()))
  for (const talker of talkers) {
    await talker.until('status', undefined)
    talker.messages.length = 0
  }
  return talkers
}

const IDS: readonly unknown[] = [
  ...[0, -0, 1, -1, 7.5, 2 ** 31, 2 ** 32, -(2 ** 32), 2 ** 53, -(2 ** 53), 2 ** 53 + 2],
  ...[
    2 ** 62,
    2 ** 63,
    -(2 ** 63),
    2 ** 64,
    -(2 ** 64),
    1e20,
    -1e20,
    1e300,
    5e-324,
    Number.MAX_VALUE,
  ],
  ...[1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n, -(2n ** 63n)],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ...[
    '',
    'x',
    'ü',
    '🐙',
    '\0',
    '"\\\n',
    'x'.repeat(64),
    'x'.repeat(65),
    '🐙'.repeat(64),
    '🐙'.repeat(65),
  ],
  ...['x'.repeat(3_000), null, true, false, [], {}, [1], { id: 1 }, ['x'.repeat(300)]],
]
test('returns a valid command id unchanged, refuses an invalid id with the accepted format, and counts each refusal', async () => {
  for (const id of IDS) {
    clock.advance(60_001)
    const talkers = await openAll()
    const isText = typeof id === 'string' && Array.from(id).length <= 64
    const isNumber = typeof id === 'bigint' || Number.isFinite(id)
    const isId = isText || isNumber || id === null
    const shown = typeof id === 'bigint' ? Number(id) : id
    for (const talker of talkers) {
      talker.send({ action: 'ping', id })
      talker.send({ action: 'nope', id })
      talker.send({ action: 'ping', id: 'last' })
      await talker.until('pong', 'last')
      const [pong, error] = talker.messages
      if (isId) assert.deepEqual(Reflect.get(Object(pong), 'id'), Object.is(shown, -0) ? 0 : shown)
      else {
        const message = 'id is a text of at most 64 characters or a finite number'
        const published_ms = clock.nowMs()
        const refusal = { type: 'error', id: null, code: 'INVALID_FILTER', message, published_ms }
        assert.deepEqual(pong, refusal)
      }
      assert.equal(Reflect.get(Object(error), 'code'), 'UNKNOWN_ACTION')
      assert.deepEqual(
        Reflect.get(Object(error), 'id'),
        isId ? (Object.is(shown, -0) ? 0 : shown) : null,
      )
      for (let count = isId ? 1 : 2; count < 10; count += 1) talker.send({ action: 'nope', id })
      assert.equal(await talker.closed, 4000)
    }
  }
})

test('refuses commands with values that JSON or MessagePack cannot represent: extensions, non-string keys, lone surrogates', async () => {
  const [, talker] = await openAll()
  assert.ok(talker !== undefined)
  const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes)
  const head = [...toMsgpack({ action: 'ping', id: 1, x: 1 }).subarray(0, -1)]
  const sent: readonly (Uint8Array | string)[] = [
    ...[new Date(0), new ExtData(114, bytesOf(1)), new ExtData(1, bytesOf(1, 2, 3, 4))].map((x) =>
      new Encoder().encode({ action: 'ping', x }),
    ),
    // Invalid commands: a msgpackr record, a numeric key, text that is not UTF-8, two truncated values, and two values
    // in one frame.
    bytesOf(...head, 0xd4, 0x72, 0x40),
    bytesOf(0x82, 0xa2, 0x6f, 0x70, 0xa4, 0x70, 0x69, 0x6e, 0x67, 0x05, 0x06),
    bytesOf(...head, 0xa1, 0xff),
    bytesOf(...head, 0xdf, 0xff, 0xff, 0xff, 0xff),
    bytesOf(...head, 0xdb, 0xff, 0xff, 0xff, 0xff),
    bytesOf(...head, 0x01, 0x01),
    '{"action":"ping","id":"\\ud800"}',
    '{"action":"subscribe","channel":"trades","market_ids":["\\uDFFF"]}',
  ]
  for (const [index, frame] of sent.entries()) {
    clock.advance(PAUSE_MS)
    talker.messages.length = 0
    talker.sendRaw(frame)
    talker.send(marker(index))
    await talker.until('synced', index + 0.125)
    const codes = talker.messages.map((message) => Reflect.get(Object(message), 'code'))
    assert.ok(codes.includes('PARSE_ERROR'), `${index}: ${JSON.stringify(talker.messages)}`)
  }
  talker.sendRaw('{"action":"ping","id":"\\ud83d\\udc19"}')
  await talker.until('pong', '🐙')
  talker.end()
})
