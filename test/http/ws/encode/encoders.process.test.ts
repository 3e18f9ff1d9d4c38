import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decode } from '@msgpack/msgpack'
import { seededRandom } from '../../../../engine/random.ts'
import { CHANNELS } from '../../../../http/ws/channels/channels.ts'
import type { Encoder } from '../../../../http/ws/encode/encoder.ts'
import { JsonEncoder } from '../../../../http/ws/encode/json.ts'
import { MsgpackEncoder } from '../../../../http/ws/encode/msgpack.ts'
import { decodeWire, numbersOf, plain } from '../../../support/clients/stream-wire.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { randomMessages, type Written } from '../../../support/worlds/stream-messages.ts'

const engine = new FakeEngine(new ManualClock())
const markets = [
  engine.add('plain'),
  engine.add('"quoted" \\ ü', { venue: 'b' }),
  engine.add('labels', {
    outcomes: ['Ja "sicher"', '日本'].map((label, index) => ({
      label,
      id: engine.add(`o${index}`).summary.outcomes[0]?.id ?? assert.fail(),
    })),
  }),
]
const nowMs = () => engine.clock.nowMs()
const parts = { epoch: 'k3f9c2', catalog: engine.catalog, nowMs }
const json = new JsonEncoder(parts)
const binary = new MsgpackEncoder(parts)

const textOf = ({ name, write }: Written): Record<string, unknown> => {
  const frame = write(json)
  assert.ok(typeof frame === 'string', name)
  return JSON.parse(frame)
}
const bytesOf = ({ name, write }: Written): Uint8Array => {
  const frame = write(binary)
  assert.ok(frame instanceof Uint8Array, name)
  // The encoder reuses its buffer.
  return Uint8Array.from(frame)
}

test('encodes stream messages with the same fields, values and order in JSON and MessagePack', () => {
  const random = seededRandom('wire', 6)
  for (let round = 0; round < 700; round += 1) {
    for (const message of randomMessages(random, markets)) {
      const text = textOf(message)
      const bytes = bytesOf(message)
      const own = plain(decodeWire(bytes))
      assert.deepEqual(own, text, message.name)
      assert.equal(JSON.stringify(own), JSON.stringify(text), message.name)
      const theirs = decode(bytes)
      assert.deepEqual(theirs, text, `${message.name}, by @msgpack/msgpack`)
    }
  }
})

test('encodes times, counters and checksums as integers of any size', () => {
  const random = seededRandom('whole', 2)
  const isCounted = (name: string) =>
    /(_ms|_ts|_time|_count)$/.test(name) ||
    ['seq', 'offset', 'checksum', 'counter', 'fills', 'price_cents'].includes(name)
  const seen = new Set<string>()
  for (let round = 0; round < 300; round += 1) {
    for (const message of randomMessages(random, markets)) {
      for (const { name, isInteger } of numbersOf(decodeWire(bytesOf(message)))) {
        if (!isCounted(name)) continue
        seen.add(name)
        assert.ok(isInteger, `${name} of ${message.name}`)
      }
    }
  }
  for (const name of ['timestamp_ms', 'seq', 'offset', 'end_period_ts', 'close_time', 'fills']) {
    assert.ok(seen.has(name), name)
  }
})

test('has a test message for every message type that an encoder can write', () => {
  const random = seededRandom('kinds', 1)
  const written = new Set<string>()
  const types = new Set<unknown>()
  const noting = new Proxy(json, {
    get: (target, name) => {
      written.add(String(name))
      return Reflect.get(target, name).bind(target)
    },
  })
  for (const message of randomMessages(random, markets)) {
    types.add(textOf({ ...message, write: () => message.write(noting satisfies Encoder) }).type)
  }
  const methods = Object.getOwnPropertyNames(JsonEncoder.prototype)
  assert.deepEqual(new Set(methods.filter((name) => name !== 'constructor')), written)
  for (const { messages } of CHANNELS) {
    for (const type of Object.keys(messages)) assert.ok(types.has(type), type)
  }
})

const python = spawnSync('python3', ['--version']).status === 0
test('encodes 10,000 stream messages that a Python decoder of the specification decodes to the same values', {
  skip: python ? false : 'no python3 here',
}, () => {
  const random = seededRandom('another language', 4)
  const expected: Record<string, unknown>[] = []
  const frames: Uint8Array[] = []
  while (expected.length < 10_000) {
    for (const message of randomMessages(random, markets)) {
      const bytes = bytesOf(message)
      const head = Buffer.alloc(4)
      head.writeUInt32BE(bytes.length)
      frames.push(head, bytes)
      expected.push(textOf(message))
    }
  }
  const file = fileURLToPath(
    new URL('../../../support/reference/msgpack-reader.py', import.meta.url),
  )
  const ran = spawnSync('python3', [file], {
    ...{ input: Buffer.concat(frames), maxBuffer: 256 * 1_048_576, encoding: 'utf8' },
  })
  assert.equal(ran.status, 0, ran.stderr)
  const lines = ran.stdout.trimEnd().split('\n')
  assert.equal(lines.length, expected.length)
  for (const [index, line] of lines.entries()) assert.deepEqual(JSON.parse(line), expected[index])
})
