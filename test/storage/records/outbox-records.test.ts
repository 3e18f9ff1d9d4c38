import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeMs } from '../../../engine/units.ts'
import { totalsCodec } from '../../../storage/records/outbox-records.ts'

const TOTALS = {
  ...{ lastNumber: 101, delivered: 2, exhausted: 3, dropped: 4, pending: 5, prunedCount: 6 },
  ...{ failingSinceMs: timeMs(7), throttled: 8, pendingBytes: 9 },
}
/** Nine numbers of eight bytes in the order of the fields of OutboxTotals. Each number is stored plus 2^53. */
const BYTES = [101, 2, 3, 4, 5, 6, 7, 8, 9].map((value) => `00200000${hex(value)}`).join('')

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

test('encodes webhook delivery totals in the same bytes as older versions', () => {
  const key = Buffer.alloc(4)
  assert.equal(Buffer.from(totalsCodec.encode(TOTALS, key)).toString('hex'), BYTES)
  assert.deepEqual(totalsCodec.decode(Buffer.from(BYTES, 'hex'), key, 2), TOTALS)
  const first = Buffer.from(BYTES.slice(0, 7 * 16), 'hex')
  const estimated = { ...TOTALS, throttled: 0, pendingBytes: 5_000 }
  assert.deepEqual(totalsCodec.decode(first, key, 1), estimated)
})
