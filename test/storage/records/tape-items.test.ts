import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unpackAll } from '../../../engine/cluster/batch.ts'
import { encoded } from '../../../engine/msgpack-writer.ts'
import { marketOfItem, TAPE_CODES } from '../../../engine/tape/item-codes.ts'
import { type Lost, lostItem, readLost } from '../../../engine/tape/lost.ts'
import {
  readTapeItem,
  type TapeItem,
  tapeItemNames,
  writeTapeItem,
} from '../../../storage/records/tape-items.ts'
import { NOON } from '../../support/worlds/builders.ts'
import { TapeWorld } from '../../support/worlds/tape-world.ts'

const LOST: Lost = {
  ...{ cause: 'slow_disk', fromUs: 2 ** 50, toUs: 2 ** 50 + 1, rows: null },
  offsets: [{ channel: 'orderbook', first: 1, last: 2 ** 40 }],
}
const OWN: readonly TapeItem[] = [
  { kind: 'lost', ...LOST },
  { kind: 'swept', fromUs: 2 ** 50, isFull: true },
  {
    ...{ kind: 'completed', market: 7, nativeId: '0xabc', timeMs: NOON, ordinal: 1 },
    ...{ role: 'maker', wallet: '0xdef' },
  },
]

const rawOf = (item: TapeItem): readonly unknown[] => {
  const [raw] = unpackAll(encoded((writer) => writeTapeItem(writer, item))) ?? []
  assert.ok(Array.isArray(raw))
  return raw
}

test('encodes and decodes tape items without a change, and rejects incomplete items', () => {
  for (const item of OWN) {
    const raw = rawOf(item)
    assert.deepEqual(
      readTapeItem(raw, () => null),
      item,
    )
    assert.equal(
      readTapeItem(raw.slice(0, -1), () => null),
      'damaged',
    )
    assert.equal(
      readTapeItem([...raw, 0], () => null),
      'damaged',
    )
  }
})

test('encodes a loss in the same bytes in the tape thread and on the main thread', () => {
  assert.deepEqual(lostItem(LOST), rawOf({ kind: 'lost', ...LOST }))
  assert.deepEqual(readLost(rawOf({ kind: 'lost', ...LOST })), LOST)
})

test('finds the market of an encoded tape item without decoding the item', () => {
  const world = new TapeWorld({ seed: 'codes', markets: 3 })
  const items = [...world.sweep(true), ...Array.from({ length: 50 }, () => world.next())]
  for (const { item } of items) {
    const market =
      item.kind === 'update' && 'market' in item.update ? item.update.market?.number : null
    const expected = item.kind === 'state' ? item.state.market : market
    assert.equal(marketOfItem(rawOf(item)), expected ?? null)
  }
})

test('has a name for each item code that the tape writer reads', () => {
  for (const [kind, code] of Object.entries(TAPE_CODES)) assert.equal(tapeItemNames.get(code), kind)
})
