// The recorded rows of `/v2/trades` through the connector's reader. Without the recordings it says so.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isRecord } from '../../engine/json-record.ts'
import { readDataTrade } from '../../engine/venues/polymarket/messages.ts'
import { readTrade } from '../../engine/venues/polymarket/trades/trades.ts'

const FOLDER = '../shared/data/fixtures'
const FILES = [
  'polymarket-data-v2/trades.json',
  'polymarket-protocol-v2/data-v2-trades-v1-page1.json',
  'polymarket-protocol-v2/data-v2-trades-v1-page2.json',
  'polymarket-protocol-v2/data-v2-trades-v2-empty.json',
]

test('[POLYHIST4] recorded rows of the Data API v2 are trades', (t) => {
  if (!existsSync(FOLDER)) return t.skip(`recordings are absent: ${FOLDER}`)
  let count = 0
  for (const file of FILES) {
    const answer: unknown = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
    assert.ok(isRecord(answer) && Array.isArray(answer.data))
    for (const value of answer.data) {
      const wire = readDataTrade(value)
      assert.ok(typeof wire !== 'string', `${file}: ${String(wire)}`)
      assert.notEqual(typeof readTrade(wire), 'string')
      count += 1
    }
    t.diagnostic(`${file}: ${answer.data.length} rows`)
  }
  assert.equal(count, 6)
})
