import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bookSnapshotLevels } from '../../../engine/limits.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import type { BookSnapshot } from '../../../storage/contract/storage.ts'
import { groupKey } from '../../../storage/records/keys.ts'
import { snapshotCodec } from '../../../storage/records/snapshot.ts'
import { NOON_MS, snapshot } from '../../support/worlds/stored.ts'

const KEY = groupKey(1, NOON_MS)
const packSnapshot = (value: BookSnapshot) => Buffer.from(snapshotCodec.encode(value, KEY))
const unpackSnapshot = (body: Buffer) => snapshotCodec.decode(body, KEY, 1)

const numRuns = process.env.TEST_LONG === '1' ? 50_000 : 1_000

test('encodes and decodes any book snapshot without a change', () => {
  const unit = fc.constantFrom(1, 10, 1_000, 10_000, 1_000_000)
  const level = fc.tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 2 ** 31 }))
  const side = fc.array(level, { maxLength: bookSnapshotLevels })
  const depth = fc.maxSafeNat()
  const property = fc.property(side, side, depth, depth, unit, (bids, asks, bid, ask, scale) => {
    const levels = (rows: readonly (readonly [number, number])[]) =>
      rows.map(([price, size]) => ({
        price: priceMicros(price - (price % Math.min(scale, 10_000))),
        size: sizeMicros(size * scale),
      }))
    const put = snapshot(NOON_MS, {
      bids: levels(bids),
      asks: levels(asks),
      bidDepth: sizeMicros(bid),
      askDepth: sizeMicros(ask - (ask % scale)),
    })
    assert.deepEqual(unpackSnapshot(packSnapshot(put)), put)
  })
  fc.assert(property, { numRuns, seed: 5 })
  const largest = sizeMicros(Number.MAX_SAFE_INTEGER)
  const extreme = snapshot(NOON_MS, {
    bids: [{ price: priceMicros(0), size: largest }],
    asks: [{ price: priceMicros(1_000_000), size: largest }],
    bidDepth: largest,
    askDepth: sizeMicros(0),
  })
  assert.deepEqual(unpackSnapshot(packSnapshot(extreme)), extreme)
  const empty = snapshot(NOON_MS, {
    bids: [],
    asks: [],
    bidDepth: sizeMicros(0),
    askDepth: sizeMicros(0),
  })
  assert.deepEqual(unpackSnapshot(packSnapshot(empty)), empty)
})

test('encodes a full book snapshot of either venue in less than half of its unpacked size', (t) => {
  const plainBytes = 2 * bookSnapshotLevels * 12 + 2 * 8
  const cents = packSnapshot(fullBook({ tick: 10_000, sizeUnit: 1_000_000 })).length
  const fine = packSnapshot(fullBook({ tick: 1_000, sizeUnit: 10_000 })).length
  const finest = packSnapshot(fullBook({ tick: 100, sizeUnit: 1 })).length
  t.diagnostic(`plain ${plainBytes} bytes; whole contracts ${cents}; hundredths ${fine}`)
  t.diagnostic(`millionths of a contract ${finest}`)
  assert.ok(cents < plainBytes / 3)
  assert.ok(fine < plainBytes / 2)
  assert.ok(finest < plainBytes)
})

test('rejects the bytes of a book snapshot that are truncated or followed by more bytes', () => {
  const bytes = packSnapshot(fullBook({ tick: 1_000, sizeUnit: 10_000 }))
  for (let length = 0; length < bytes.length; length += 1) {
    assert.throws(() => unpackSnapshot(bytes.subarray(0, length)), RangeError)
  }
  const longer = Buffer.concat([bytes, Buffer.of(0)])
  assert.throws(() => unpackSnapshot(longer), RangeError)
  const zeros = Buffer.from(bytes)
  zeros[0] = 0xff
  assert.throws(() => unpackSnapshot(zeros), RangeError)
})

/** Twenty adjacent levels a side with sizes up to 50,000 contracts, as liquid markets have. */
function fullBook({ tick, sizeUnit }: { tick: number; sizeUnit: number }): BookSnapshot {
  const random = seededRandom('full book', String(tick))
  let [bidDepth, askDepth] = [0, 0]
  const size = () => (1 + random.below(Math.floor(50_000_000_000 / sizeUnit))) * sizeUnit
  const bids = Array.from({ length: bookSnapshotLevels }, (_, index) => {
    const level = { price: priceMicros(500_000 - index * tick), size: sizeMicros(size()) }
    bidDepth += level.size
    return level
  })
  const asks = Array.from({ length: bookSnapshotLevels }, (_, index) => {
    const level = { price: priceMicros(500_000 + (index + 1) * tick), size: sizeMicros(size()) }
    askDepth += level.size
    return level
  })
  const depths = { bidDepth: sizeMicros(bidDepth), askDepth: sizeMicros(askDepth) }
  return snapshot(NOON_MS, { bids, asks, ...depths })
}
