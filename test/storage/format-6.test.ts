// A data folder of format 5, which is made here: this program's own, with a market of the first schema, without fees.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../engine/clock.ts'
import { FEES_UNKNOWN } from '../../engine/market/fees.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { checkSentinel, putFormatVersion } from '../../storage/lmdb/sentinel.ts'
import { feeFields } from '../../storage/records/fees.ts'
import { nativeKey, numberKey } from '../../storage/records/keys.ts'
import { eventFields, marketFields } from '../../storage/records/listings.ts'
import { encodeRecord } from '../../storage/records/records.ts'
import { ENVIRONMENT_NAMES, TABLES } from '../../storage/tables.ts'
import { eventListing } from '../support/worlds/builders.ts'
import { marketListing, marketSummary } from '../support/worlds/stored.ts'

const folder = mkdtempSync(join(tmpdir(), 'twinbook-format-6-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function open(dataDir: string): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock: systemClock, log: silentLog, metrics: new Metrics() })
}

test('reads a folder of format 5 with unknown fees and winners, and stores new fees and winners', async () => {
  const dataDir = join(folder, 'data')
  const listing = marketListing('one')
  let storage = await open(dataDir)
  const number = storage.markets.put(listing)
  const event = eventListing('one', { winnerAmong: 3 })
  storage.events.put(event)
  await storage.close()
  const fields = marketFields(marketSummary(listing))
  const { orderSizeMin, otherPayout, resolutionStatus, settledAtMs } = listing
  const later = [orderSizeMin, otherPayout, resolutionStatus, settledAtMs]
  const newer = [...feeFields(listing.fees), ...later]
  const older = fields.slice(0, fields.length - newer.length)
  const side = JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    if (name === TABLES.markets.environment) {
      const key = numberKey(number)
      const row = encodeRecord(TABLES.markets, { key, schema: 1, fields: older })
      openTable(root, TABLES.markets).putSync(key, row)
      const eventKey = nativeKey(event.venue, event.nativeId)
      const eventRow = encodeRecord(TABLES.events, {
        key: eventKey,
        schema: 1,
        fields: eventFields(event).slice(0, -1),
      })
      openTable(root, TABLES.events).putSync(eventKey, eventRow)
    }
    putFormatVersion(root, checkSentinel(root, { dataDir, name, side }), 5)
    await root.close()
  }
  storage = await open(dataDir)
  const unknown = {
    ...{ fees: FEES_UNKNOWN, resolutionStatus: null },
    ...{ previousPrice: null, figuresAtMs: null, dayFiguresAtMs: null },
  }
  const summary = { ...marketSummary(listing), ...unknown }
  assert.deepEqual([...storage.markets.all()], [{ number, summary }])
  assert.deepEqual(
    [...storage.events.all()].map(({ slug, winnerAmong }) => [slug, winnerAmong]),
    [[event.slug, null]],
  )
  storage.events.put(event)
  assert.equal(storage.markets.put(listing), number)
  await storage.close()
  storage = await open(dataDir)
  assert.deepEqual([...storage.markets.all()], [{ number, summary: marketSummary(listing) }])
  assert.equal([...storage.events.all()][0]?.winnerAmong, 3)
  await storage.close()
})
