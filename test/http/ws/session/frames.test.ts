// Invalid and hostile WebSocket frames. The server must keep serving.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import { CHANNEL_NAMES } from '../../../../http/ws/channels/channels.ts'
import { frame, OPCODES, RawStream } from '../../../support/clients/raw-stream.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'

const PATH = '/v1/ws?api_key=ann-key'
const PING = JSON.stringify({ action: 'ping', id: 7 })
let apiServer: ApiServer
before(async () => {
  apiServer = await openApiServer()
})
after(() => apiServer.stop())

const longPing = (length: number) => {
  const short = JSON.stringify({ action: 'ping', id: 7, x: '' })
  return JSON.stringify({ action: 'ping', id: 7, x: 'x'.repeat(length - short.length) })
}
const { more, text, binary, close, ping, pong } = OPCODES
/** `pong`: the command was answered. A text: the error code. `cut`: closed with 1006. A number: the close code. */
type Outcome = 'pong' | 'RATE_LIMITED' | 'MESSAGE_TOO_LARGE' | 'PARSE_ERROR' | 'cut' | number
const pieces = (bytes: Uint8Array, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    Buffer.from(bytes.subarray(index * size, index * size + size)),
  )
const fragments = (message: string, size: number): Buffer[] => {
  const parts = pieces(Buffer.from(message), size)
  return parts.map((part, index) =>
    frame(index === 0 ? text : more, part, { isLast: index === parts.length - 1 }),
  )
}
const closing = (code: number, reason: Uint8Array | string = '') => {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return frame(close, Buffer.concat([payload, Buffer.from(reason)]))
}

const CASES: readonly (readonly [name: string, bytes: readonly Buffer[], outcome: Outcome])[] = [
  ['a text frame', [frame(text, PING)], 'pong'],
  ['JSON in a binary frame', [frame(binary, PING)], 'pong'],
  ['a length of 125', [frame(text, longPing(125))], 'pong'],
  ['a length of 126', [frame(text, longPing(126))], 'pong'],
  ['a length of 127', [frame(text, longPing(127))], 'pong'],
  ['a short length in the 16-bit form', [frame(text, PING, { lengthForm: 16 })], 'pong'],
  ['a short length in the 64-bit form', [frame(text, PING, { lengthForm: 64 })], 'pong'],
  ['16 KiB', [frame(text, longPing(16_384))], 'pong'],
  ['16 KiB and a byte', [frame(text, longPing(16_385))], 'MESSAGE_TOO_LARGE'],
  ['64 KiB', [frame(text, longPing(65_536))], 'MESSAGE_TOO_LARGE'],
  ['64 KiB and a byte', [frame(text, longPing(65_537))], 'cut'],
  [
    'a declared length of 2^40 bytes',
    [Buffer.from('81ff0000010000000000aabbccdd0000', 'hex')],
    'cut',
  ],
  [
    'a declared length of 2^63 bytes',
    [Buffer.from('81ff8000000000000000aabbccdd0000', 'hex')],
    'cut',
  ],
  ['byte by byte', pieces(frame(text, PING), 1), 'pong'],
  ['in fragments', fragments(PING, 5), 'pong'],
  ['in fragments of a byte', fragments(PING, 1), 'pong'],
  ['with an empty last fragment', [frame(text, PING, { isLast: false }), frame(more)], 'pong'],
  ['a ping between fragments', interleaved(frame(ping, 'x')), 'pong'],
  ['a pong between fragments', interleaved(frame(pong)), 'pong'],
  ['fragments beyond 64 KiB together', fragments(longPing(80_000), 20_000), 'cut'],
  [
    'a new message between fragments',
    [frame(text, '{', { isLast: false }), frame(text, PING)],
    'cut',
  ],
  ['a continuation without a first fragment', [frame(more, PING)], 'cut'],
  ['an empty message', [frame(text)], 'PARSE_ERROR'],
  ['an empty binary message', [frame(binary)], 'PARSE_ERROR'],
  ['bad UTF-8', [frame(text, Buffer.from([0x7b, 0xff, 0x7d]))], 'cut'],
  ['half a UTF-8 character', [frame(text, Buffer.from([0x7b, 0xe2, 0x82]))], 'cut'],
  ['a surrogate in UTF-8', [frame(text, Buffer.from([0xed, 0xa0, 0x80]))], 'cut'],
  ['bad UTF-8 in a binary frame', [frame(binary, Buffer.from([0x7b, 0xff]))], 'PARSE_ERROR'],
  ['reserved bit 1', [frame(text, PING, { reserved: 4 })], 'cut'],
  ['reserved bit 2', [frame(text, PING, { reserved: 2 })], 'cut'],
  ['reserved bit 3', [frame(text, PING, { reserved: 1 })], 'cut'],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
    (opcode) => [`opcode ${opcode}`, [frame(opcode, PING)], 'cut'] as const,
  ),
  ['a fragmented ping', [frame(ping, 'x', { isLast: false })], 'cut'],
  ['a ping of 125 bytes', [frame(ping, 'x'.repeat(125)), frame(text, PING)], 'pong'],
  ['a ping of 126 bytes', [frame(ping, 'x'.repeat(126))], 'cut'],
  ['29 pings', [...Array.from({ length: 29 }, () => frame(ping)), frame(text, PING)], 'pong'],
  ['1,000 pings', Array.from({ length: 1_000 }, () => frame(ping)), 'RATE_LIMITED'],
  ['1,000 pongs', [...Array.from({ length: 1_000 }, () => frame(pong)), frame(text, PING)], 'pong'],
  ['a close without a code', [frame(close)], 1000],
  ['a close with 1000', [closing(1000)], 1000],
  ['a close with a reason', [closing(1000, 'bye')], 1000],
  // The library accepts only close codes of the standard and of applications.
  ['a close with 3000', [closing(3000)], 1000],
  ['a close with 4999', [closing(4999)], 4999],
  ['a command after a close', [closing(1000), frame(text, PING)], 1000],
]

function interleaved(between: Buffer): Buffer[] {
  const parts = fragments(PING, 10)
  return parts.flatMap((part, index) => (index === 0 ? [part, between] : [part]))
}

async function outcomeOf(stream: RawStream): Promise<Outcome> {
  const ended = await stream.next(({ opcode, payload }) => {
    if (opcode === close) return true
    const message = opcode === text ? JSON.parse(String(payload)) : null
    return message?.type === 'pong' || message?.type === 'error'
  })
  if (ended === null) return 'cut'
  if (ended.opcode === close) {
    return ended.payload.length < 2 ? 1000 : ended.payload.readUInt16BE(0)
  }
  const message = JSON.parse(String(ended.payload))
  return message.type === 'pong' ? 'pong' : message.code
}

test('answers every WebSocket frame as documented or closes the connection, and serves other connections', async () => {
  for (const [name, frames, outcome] of CASES) {
    const stream = new RawStream(apiServer.port, PATH)
    await stream.opened()
    for (const bytes of frames) stream.write(bytes)
    assert.equal(await outcomeOf(stream), outcome, name)
    await stream.end()
  }
  const stream = new RawStream(apiServer.port, PATH)
  await stream.opened()
  stream.write(frame(text, PING))
  assert.equal(await outcomeOf(stream), 'pong', 'still there')
  await stream.end()
  for (let round = 0; apiServer.server.hub.sessions.size > 0; round += 1) {
    assert.ok(round < 1_000, 'the hub retains no closed connection')
    await new Promise((resolve) => setImmediate(resolve))
  }
})

test('tolerates WebSocket frames sent before the handshake response, and an unmasked frame', async () => {
  // A client must not send before the handshake is answered. The library may ignore the data or close the connection.
  const early = new RawStream(apiServer.port, PATH, frame(text, PING))
  await early.opened()
  assert.match(early.head, /^HTTP\/1.1 101 /)
  await early.end()
  const bare = new RawStream(apiServer.port, PATH)
  await bare.opened()
  bare.write(frame(text, PING, { isMasked: false }))
  bare.write(frame(text, PING))
  assert.ok(['pong', 'PARSE_ERROR', 'cut'].includes(String(await outcomeOf(bare))))
  await bare.end()
})

/** Has invalid values and is often damaged, in either encoding. */
function hostile(random: Random): Buffer {
  const value = () =>
    random.pick<unknown>([
      ...[null, true, -1, 0, 1e20, 1e300, 2 ** 53, '', '*', 'venue_a_m0', 'x'.repeat(300), [], {}],
      ...[['*'], ['venue_a_m0', 'venue_a_m1'], [[[]]], { epoch: 'k3f9c2', offset: 1e15 }],
      { epoch: 'k3f9c2', offset: random.below(9) },
    ])
  const names = ['id', 'platform', 'market_ids', 'since', 'levels', 'conflate_ms', 'event_slugs']
  const fields = Array.from({ length: random.below(4) }, () => [random.pick(names), value()])
  const command = {
    action: random.pick(['subscribe', 'unsubscribe', 'snapshot', 'list', 'ping']),
    channel: random.pick(CHANNEL_NAMES),
    ...(random.next() < 0.7
      ? { market_ids: random.pick([['*'], ['venue_a_m0', 'venue_a_m1']]) }
      : {}),
    ...Object.fromEntries(fields),
  }
  const bytes = Buffer.from(random.next() < 0.5 ? JSON.stringify(command) : encode(command))
  for (let edits = random.next() < 0.5 ? 0 : random.below(4); edits > 0; edits -= 1) {
    bytes[random.below(bytes.length)] = random.below(256)
  }
  return bytes
}

test('never closes with 4011 when clients send many complete, damaged or fragmented malicious commands', async () => {
  const random = seededRandom('hostile frames', 15)
  for (const name of ['m0', 'm1', 'm2']) apiServer.engine.add(name)
  for (let round = 0; round < 150; round += 1) {
    const encoding = random.pick(['json', 'msgpack'])
    const stream = new RawStream(apiServer.port, `${PATH}&encoding=${encoding}`)
    await stream.opened()
    for (let count = 1 + random.below(40); count > 0; count -= 1) {
      const bytes = hostile(random)
      const opcode = random.pick([text, binary, binary, binary])
      if (random.next() < 0.8) stream.write(frame(opcode, bytes))
      else {
        const cut = random.below(bytes.length)
        stream.write(frame(opcode, bytes.subarray(0, cut), { isLast: false }))
        if (random.next() < 0.5) stream.write(frame(random.pick([ping, pong]), 'x'))
        if (random.next() < 0.9) stream.write(frame(more, bytes.subarray(cut)))
      }
    }
    stream.write(closing(1000))
    const end = await stream.next(({ opcode }) => opcode === close)
    const code = end === null ? 1006 : end.payload.length < 2 ? 1000 : end.payload.readUInt16BE(0)
    assert.ok([1000, 1006, 4000].includes(code), `round ${round}: ${code}`)
    await stream.end()
  }
  const stream = new RawStream(apiServer.port, PATH)
  await stream.opened()
  stream.write(frame(text, PING))
  assert.equal(await outcomeOf(stream), 'pong', 'still there')
  await stream.end()
})
