// Packs a book snapshot. Common trailing zeros of prices and sizes are dropped. Prices are differences to the previous
// level. Numbers are varints.
//
//   dropped zeros (u8: 8 × zeros of prices + zeros of sizes) | bidDepth | askDepth | bid count | ask count |
//   each bid: signed price difference, size | each ask: the same, starting from 0

import type { Level } from '../../engine/events.ts'
import { bookSnapshotLevels } from '../../engine/limits.ts'
import { priceMicros, type SizeMicros, sizeMicros, timeMs } from '../../engine/units.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from '../../engine/varints.ts'
import type { BookSnapshot } from '../contract/rows.ts'
import { readInteger } from './keys.ts'
import type { RecordCodec } from './records.ts'

const UNITS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as const
const ZEROS_MAX = UNITS.length - 1
const NUMBERS_MAX = 4 + 2 * 2 * bookSnapshotLevels

/** Packs the first 20 levels a side. Sizes and depths must not be negative. */
function packSnapshot(snapshot: BookSnapshot): Buffer {
  const { bidDepth, askDepth } = snapshot
  const sides = [firstLevels(snapshot.bids), firstLevels(snapshot.asks)]
  let priceZeros = ZEROS_MAX
  let sizeZeros = trailingZeros(askDepth, trailingZeros(bidDepth, ZEROS_MAX))
  for (const levels of sides) {
    for (const { price, size } of levels) {
      priceZeros = trailingZeros(price, priceZeros)
      sizeZeros = trailingZeros(size, sizeZeros)
    }
  }
  const priceUnit = unitOf(priceZeros)
  const sizeUnit = unitOf(sizeZeros)
  const scratch = Buffer.allocUnsafe(1 + NUMBERS_MAX * varintBytesMax)
  scratch[0] = priceZeros * 8 + sizeZeros
  let position = writeVarint(scratch, 1, bidDepth / sizeUnit)
  position = writeVarint(scratch, position, askDepth / sizeUnit)
  for (const levels of sides) position = writeVarint(scratch, position, levels.length)
  for (const levels of sides) {
    let before = 0
    for (const { price, size } of levels) {
      position = writeSigned(scratch, position, (price - before) / priceUnit)
      position = writeVarint(scratch, position, size / sizeUnit)
      before = price
    }
  }
  return scratch.subarray(0, position)
}

/** Throws RangeError if the bytes are not a snapshot. */
function unpackSnapshot(time: number, body: Buffer): BookSnapshot {
  const zeros = body.readUInt8(0)
  const priceUnit = unitOf(Math.floor(zeros / 8))
  const sizeUnit = unitOf(zeros % 8)
  const reader = new VarintReader(body, 1)
  const readSize = (): SizeMicros => sizeMicros(reader.next() * sizeUnit)
  const bidDepth = readSize()
  const askDepth = readSize()
  const bidCount = reader.next()
  const askCount = reader.next()
  const readLevels = (count: number): readonly Level[] => {
    const levels: Level[] = []
    let price = 0
    for (let index = 0; index < count; index += 1) {
      price += reader.nextSigned() * priceUnit
      levels.push({ price: priceMicros(price), size: readSize() })
    }
    return levels
  }
  const bids = readLevels(bidCount)
  const asks = readLevels(askCount)
  if (!reader.isAtEnd) throw new RangeError('bytes are left over')
  return { timeMs: timeMs(time), bids, asks, bidDepth, askDepth }
}

function firstLevels(levels: readonly Level[]): readonly Level[] {
  return levels.length > bookSnapshotLevels ? levels.slice(0, bookSnapshotLevels) : levels
}

function trailingZeros(value: number, zerosMax: number): number {
  let zeros = zerosMax
  while (zeros > 0 && value % unitOf(zeros) !== 0) zeros -= 1
  return zeros
}

function unitOf(zeros: number): number {
  const unit = UNITS[zeros]
  if (unit === undefined) throw new RangeError('a snapshot drops at most six zeros')
  return unit
}

/** The time of a snapshot is in its key. */
export const snapshotCodec: RecordCodec<BookSnapshot> = {
  newest: 1,
  encode: packSnapshot,
  decode: (body, key) => unpackSnapshot(readInteger(key, 4), body),
}
