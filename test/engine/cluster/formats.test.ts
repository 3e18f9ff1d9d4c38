import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BatchHeader, decodeBatch, encodeBatch } from '../../../engine/cluster/batch.ts'
import {
  type CheckpointHeader,
  decodeCheckpoint,
  encodeCheckpoint,
} from '../../../engine/cluster/checkpoint.ts'
import { clusterBatchBytesMax } from '../../../engine/cluster/cluster-log.ts'
import {
  gatewayRequestMessage,
  gatewayResponseMessage,
  revocationMessage,
} from '../../../engine/cluster/gateway-messages.ts'
import { encoded, writeValue } from '../../../engine/msgpack-writer.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { NOON } from '../../support/worlds/builders.ts'

const ITEMS = [
  [17, 3],
  [14, 7],
]
const bytesOf = (items: readonly unknown[]) =>
  encoded((writer) => {
    for (const item of items) writeValue(writer, item)
  })
const HEADER: BatchHeader = {
  epoch: '0badcafe',
  term: 3,
  batch: 2 ** 33,
  offsets: [{ channel: 'orderbook', first: 1, last: 2 ** 40 }],
  count: 2,
}
const CHECKPOINT: CheckpointHeader = {
  epoch: '0badcafe',
  term: 3,
  takenAtMs: NOON,
  runs: [
    { number: 1, epoch: 'older', startedAtMs: timeMs(0), endOffset: 17 },
    { number: 2, epoch: '0badcafe', startedAtMs: NOON, endOffset: null },
  ],
  recordsSinceMs: timeMs(5),
  names: [{ venue: 'a', platform: 'venue_a' }],
  shards: [{ shard: 'books', sequence: 12, batch: 4 }],
  offsets: { orderbook: 2 ** 40, trades: 0 },
  version: 99,
  count: 2,
  losses: [
    { run: 1, offset: 5, venue: 'a', market: 7, fromMs: NOON, toMs: NOON, count: null },
    { run: 2, offset: 0, venue: 'b', market: null, fromMs: timeMs(0), toMs: NOON, count: 3 },
  ],
}

/** Yields damaged copies with one changed byte, all shorter copies, and random bytes. */
function* damaged(bytes: Uint8Array): Iterable<Uint8Array> {
  const random = seededRandom('damaged batches')
  for (let at = 0; at < bytes.length; at += 1) {
    yield bytes.slice(0, at)
    const other = Uint8Array.from(bytes)
    other[at] = random.below(256)
    yield other
  }
  for (let round = 0; round < 2_000; round += 1) {
    yield Uint8Array.from({ length: random.below(64) }, () => random.below(256))
  }
}

test('decodes a batch to the values that were encoded', () => {
  assert.deepEqual(decodeBatch(encodeBatch(HEADER, bytesOf(ITEMS))), { ...HEADER, items: ITEMS })
})

test('rejects bytes that do not contain exactly one batch, without throwing', () => {
  const good = encodeBatch(HEADER, bytesOf(ITEMS))
  for (const bytes of damaged(good)) {
    const read = decodeBatch(bytes)
    if (read !== null) assert.equal(read.items.length, read.count)
  }
  for (let end = 0; end < good.length; end += 1) assert.equal(decodeBatch(good.slice(0, end)), null)
  const refused: readonly [string, BatchHeader, readonly unknown[]][] = [
    ['one item less than the count', HEADER, ITEMS.slice(1)],
    ['one item more than the count', { ...HEADER, count: 1 }, ITEMS],
    ['no item', HEADER, [[17, 3], 'text']],
    ['no kind', HEADER, [[17, 3], ['text']]],
    ['no epoch', { ...HEADER, epoch: '' }, ITEMS],
    ['a term below zero', { ...HEADER, term: -1 }, ITEMS],
    [
      'a last offset below the first',
      { ...HEADER, offsets: [{ channel: 'x', first: 2, last: 1 }] },
      ITEMS,
    ],
  ]
  for (const [what, header, items] of refused) {
    assert.equal(decodeBatch(encodeBatch(header, bytesOf(items))), null, what)
  }
  const otherFormat = Uint8Array.from(good)
  otherFormat[1] = 9
  assert.equal(decodeBatch(otherFormat), null, 'of another format')
})

test('rejects a batch above the size limit, whatever the batch contains', () => {
  const long = bytesOf([[17, 'x'.repeat(clusterBatchBytesMax)]])
  assert.equal(decodeBatch(encodeBatch({ ...HEADER, count: 1 }, long)), null)
})

test('decodes a checkpoint to the encoded values, and rejects the checkpoint after a change of any byte', () => {
  const good = encodeCheckpoint(
    CHECKPOINT,
    ITEMS.map((item) => bytesOf([item])),
  )
  assert.deepEqual(decodeCheckpoint(good), { ...CHECKPOINT, items: ITEMS })
  for (const bytes of damaged(good)) {
    if (!Buffer.from(bytes).equals(good)) assert.equal(decodeCheckpoint(bytes), null)
  }
  const shards: CheckpointHeader['shards'] = Object([{ shard: 'none', sequence: 1, batch: 1 }])
  const wrong = { ...CHECKPOINT, shards }
  const items = [bytesOf(ITEMS)]
  assert.equal(decodeCheckpoint(encodeCheckpoint(wrong, items)), null, 'no shard of this log')
})

test('decodes requests, answers and revocations to the encoded values, and rejects all other bytes', () => {
  const body = Uint8Array.of(0, 255, 7)
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', path: '/v1/keys?x=%20', headers, body }
  assert.deepEqual(gatewayRequestMessage.decode(gatewayRequestMessage.encode(request)), {
    ...request,
    body: Buffer.from(body),
  })
  const answer = { status: 201, headers, body }
  assert.deepEqual(gatewayResponseMessage.decode(gatewayResponseMessage.encode(answer)), {
    ...answer,
    body: Buffer.from(body),
  })
  const revocation = { of: 'key', id: 'key_1' } as const
  assert.deepEqual(revocationMessage.decode(revocationMessage.encode(revocation)), revocation)
  for (const bytes of damaged(gatewayRequestMessage.encode(request)))
    gatewayRequestMessage.decode(bytes)
  const other = gatewayResponseMessage.encode({ ...answer, status: 42 })
  assert.equal(gatewayResponseMessage.decode(other), null, 'no status')
  assert.equal(gatewayRequestMessage.decode(other), null)
  assert.equal(revocationMessage.decode(other), null)
  assert.equal(
    gatewayRequestMessage.decode(
      gatewayRequestMessage.encode({ ...request, path: 'http://elsewhere/' }),
    ),
    null,
  )
})
