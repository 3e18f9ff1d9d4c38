import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '@msgpack/msgpack'
import { Packr } from 'msgpackr'
import type { BookUpdate } from '../../engine/events.ts'
import {
  encoded,
  type MsgpackWriter,
  MsgpackWriter as Writer,
} from '../../engine/msgpack-writer.ts'
import { type Random, seededRandom } from '../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs } from '../../engine/units.ts'
import { bookUpdate } from '../../http/ws/channels/orderbook.ts'
import { MsgpackEncoder } from '../../http/ws/encode/msgpack.ts'
import { FakeEngine } from '../support/fakes/engine.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

const library = new Packr({ useRecords: false, variableMapSize: true, useFloat32: 0 })
const EDGES = [0, 1, 31, 32, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536]
const COMPLETE = [...EDGES, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52 + 1]
const NUMBERS = process.env.TEST_LONG === '1' ? 2_000 : 100
const LARGEST = Number.MAX_SAFE_INTEGER

const integerOf = (value: number): number | bigint =>
  value > 2 ** 32 - 1 || value < -(2 ** 31) ? BigInt(value) : value
const bytesOf = (write: (to: MsgpackWriter) => void): Buffer => Buffer.from(encoded(write))

test('encodes a book update to the same bytes as the MessagePack library', () => {
  const random = seededRandom('hand-written', 8)
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const ids = ['plain', 'Größe € 日本 🐙', 'y'.repeat(31 - 'venue_a_'.length), 'é'.repeat(300)]
  const markets = ids.map((id) => engine.add(id).ref)
  const { catalog } = engine
  const encoder = new MsgpackEncoder({ epoch: 'k3f9c2', catalog, nowMs: () => clock.nowMs() })
  for (const count of [...EDGES.filter((edge) => edge < 1_000), 1_000, ...manyCounts(random)]) {
    const update = randomUpdate(random, random.pick(markets), count)
    const { market, changes, checksum } = update
    const sideOf = (wanted: string) =>
      changes
        .filter(({ side }) => side === wanted)
        .map(({ price, size }) => ({
          price: price / 1_000_000,
          size: size / 1_000_000,
          platform: market.platform,
        }))
    const values = {
      type: 'update',
      channel: 'orderbook',
      market_id: market.id,
      epoch: 'k3f9c2',
      offset: integerOf(update.offset),
      seq: integerOf(update.seq),
      timestamp_ms: integerOf(update.venueTimeMs),
      received_ms: integerOf(update.receivedAtMs),
      published_ms: integerOf(clock.nowMs()),
      ...(checksum === null ? {} : { checksum }),
      data: { bids: sideOf('bid'), asks: sideOf('ask') },
    }
    assert.ok(Buffer.from(bookUpdate(encoder, update)).equals(library.pack(values)), String(count))
  }
})

function manyCounts(random: Random): number[] {
  return Array.from({ length: 100 }, () => random.below(random.pick([4, 40, 1_001])))
}

function randomUpdate(random: Random, market: BookUpdate['market'], count: number): BookUpdate {
  const complete = () => random.pick([...COMPLETE, LARGEST])
  return {
    kind: 'book',
    market,
    offset: complete(),
    seq: complete(),
    venueTimeMs: timeMs(complete()),
    receivedAtMs: timeMs(random.below(2 ** 32) * 1_000),
    checksum: random.pick([null, 0, 2 ** 31, 2 ** 32 - 1]),
    changes: Array.from({ length: count }, () => ({
      side: random.pick(['bid', 'ask'] as const),
      price: priceMicros(random.pick([0, 1, 333_333, 1_000_000, random.below(1_000_001)])),
      size: sizeMicros(random.pick([0, 1, 1_000_000, LARGEST, random.below(2 ** 31) * 1_000])),
    })),
  }
}

test('encodes a number in its shortest form: 32-bit integer, 64-bit time or counter, otherwise float', () => {
  const random = seededRandom('numbers', 8)
  const some = Array.from({ length: NUMBERS }, () => random.below(2 ** random.below(53)))
  for (const value of [...COMPLETE, LARGEST, ...some].flatMap((one) => [one, -one])) {
    const written = bytesOf((to) => to.integer(value))
    assert.ok(written.equals(library.pack(integerOf(value))), `${value} as an integer`)
    assert.equal(decode(written), value + 0)
    for (const quantity of [value, value / 1_000_000]) {
      const bytes = bytesOf((to) => to.number(quantity))
      assert.ok(bytes.equals(library.pack(quantity)), `${quantity} as a quantity`)
    }
  }
})

test('encodes texts in any script, lists, maps and bytes with a header that contains their length', () => {
  const lengths = EDGES.flatMap((edge) => [Math.max(edge - 1, 0), edge, edge + 1])
  for (const length of lengths) {
    for (const sign of ['x', 'é', '日', '🐙']) {
      const text = sign.repeat(length)
      assert.equal(decode(encoded((to) => to.text(text))), text, `${length} times ${sign}`)
      const late = `${'x'.repeat(length)}${sign}`
      assert.equal(decode(encoded((to) => to.text(late))), late, `${sign} behind ${length}`)
    }
  }
  for (const count of [0, 15, 16, 255, 256, 65_535, 65_536]) {
    const list = Array.from({ length: count }, (_, index) => index % 7)
    const asList = encoded((to) => {
      to.array(count)
      for (const item of list) to.number(item)
    })
    assert.equal(String(decode(asList)), String(list))
    const asMap = encoded((to) => {
      to.map(count)
      for (const [index, item] of list.entries()) {
        to.text(`k${index}`)
        to.number(item)
      }
    })
    assert.equal(String(Object.values(Object(decode(asMap)))), String(list))
    const bytes = Uint8Array.from(list)
    assert.deepEqual(decode(encoded((to) => to.binary(bytes))), bytes)
  }
})

test('retains an encoded message until the next message begins, and discards an unfinished message completely', () => {
  const writer = new Writer()
  const write = (text: string): Uint8Array => {
    writer.begin()
    writer.array(2)
    writer.text(text)
    writer.nil()
    return writer.end()
  }
  for (const length of [3, 100_000, 3, 3, 20_000, 400_000, 0]) {
    const text = 'z'.repeat(length)
    const frame = write(text)
    assert.deepEqual(decode(frame), [text, null])
    writer.begin()
    writer.text('given up')
    assert.deepEqual(decode(write(text)), [text, null])
  }
})
