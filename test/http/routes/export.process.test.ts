import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ExportRequest } from '../../../actors/views.ts'
import { Exports } from '../../../engine/app/export/exports.ts'
import { hourFolder } from '../../../engine/tape/layout.ts'
import { readManifest } from '../../../engine/tape/manifest.ts'
import { exportFile } from '../../../storage/tape/export/export-file.ts'
import { Tape } from '../../../storage/tape/tape.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { NOON_US, recordingTape, TapeWorld, tapeSettings } from '../../support/worlds/tape-world.ts'

const FOLDER = join(testFolder('export'), 'tape')
const HOUR_US = 3_600_000_000
const HOUR = hourFolder(FOLDER, 'venue_a', NOON_US)
const exports = new Exports(FOLDER)
const BASE = '/v1/export/venue_a/trades/2026-11-20'
let server: ApiServer

before(async () => {
  const world = new TapeWorld({ seed: 'served', markets: 5 })
  const tape = recordingTape(tapeSettings(FOLDER), NOON_US)
  for (const row of world.sweep(true)) tape.put(row)
  for (let count = 0; count < 2_000; count += 1) tape.put(world.next())
  tape.flush()
  tape.writer.tick(NOON_US + HOUR_US)
  world.us = NOON_US + HOUR_US
  for (const row of world.sweep(true)) tape.put(row)
  tape.flush()
  server = await openApiServer({
    before: (engine) => {
      engine.exports = exports
      engine.accounts.make('free', { tier: 'free', requestsPerMinute: 1_000, socketsMax: 1 })
    },
  })
})
after(async () => {
  await server.stop()
  await exports.stop()
})

const request = (set: Partial<ExportRequest> = {}): ExportRequest => ({
  ...{ platform: 'venue_a', table: 'trades', date: '2026-11-20', hour: 12 },
  ...{ format: 'parquet', isPartial: false },
  ...set,
})

const HOURS = { platform: null, date: null, limit: 10 }

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function download(path: string, key = 'ann-key') {
  const response = await fetch(`${server.origin}${path}`, { headers: { 'X-API-Key': key } })
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

test('streams the file that the tape gives', async () => {
  for (const [format, type] of [
    ['parquet', 'application/vnd.apache.parquet'],
    ['ndjson.gz', 'application/gzip'],
  ] as const) {
    const { response, bytes } = await download(`${BASE}/12.${format}`)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), type)
    const file = `attachment; filename="venue_a-trades-2026-11-20-12.${format}"`
    assert.equal(response.headers.get('content-disposition'), file)
    const chunks = [...exportFile(new Tape(FOLDER), HOUR, { table: 'trades', format })]
    const expected = Buffer.concat(chunks.filter((chunk) => chunk !== null))
    assert.equal(sha256(bytes), sha256(expected), format)
  }
})

test('lists the final hours with their manifests', async () => {
  const { status, body } = await server.get('/v1/export?platform=venue_a&date=2026-11-20')
  assert.equal(status, 200)
  assert.deepEqual(body.hours, [readManifest(HOUR)])
  assert.equal(body.has_more, false)
  assert.deepEqual((await server.get('/v1/export?platform=venue_b')).body.hours, [])
})

test('refuses an hour that is not final unless partial=true', async () => {
  const refused = await server.get(`${BASE}/13.csv.gz`)
  assert.equal(refused.status, 409)
  assert.match(String(refused.body.detail), /^not_final: .*partial=true/)
  const { response, bytes } = await download(`${BASE}/13.csv.gz?partial=true`)
  assert.equal(response.status, 200)
  assert.match(gunzipSync(bytes).toString(), /^ts_venue,ts_received,ts_published,market_id,/)
})

test('names the hours that exist when an hour does not', async () => {
  const missing = await server.get(`${BASE}/11.parquet`)
  assert.equal(missing.status, 404)
  const named =
    'the tape has no such hour; it has 2 hours of venue_a, from 2026-11-20/12 to 2026-11-20/13 UTC'
  assert.equal(missing.body.detail, named)
  const other = await server.get('/v1/export/venue_b/trades/2026-11-20/12.parquet')
  assert.match(String(other.body.detail), /it has no hours of venue_b/)
  const date = await server.get('/v1/export/venue_a/trades/2026-99-99/12.parquet')
  assert.equal(date.status, 400)
})

test('refuses unknown tables, formats and hours, requests without a key, and old hours of the free tier', async () => {
  for (const path of [
    '/v1/export/venue_a/fills/2026-11-20/12.parquet',
    '/v1/export/venue_c/trades/2026-11-20/12.parquet',
    `${BASE}/24.parquet`,
    `${BASE}/12.xlsx`,
  ]) {
    assert.equal((await server.get(path)).status, 422, path)
  }
  assert.equal((await server.get(`${BASE}/12.parquet`, { headers: {} })).status, 401)
  const old = await server.get(`${BASE}/12.parquet`, { headers: { 'X-API-Key': 'free-key' } })
  assert.equal(old.status, 403)
})

test('refuses a third export of an account at once, and exports again when one ends', async () => {
  const account = 'acc_third'
  const running = [await exports.open(request(), account), await exports.open(request(), account)]
  await assert.rejects(exports.open(request(), account), { code: 'RATE_LIMITED' })
  running[0]?.close()
  await assert.rejects(exports.open(request(), account), { code: 'RATE_LIMITED' })
  // The thread closes the export before it lists the hours.
  await exports.list(HOURS, account)
  const next = await exports.open(request(), account)
  assert.ok((await next.next()) !== null)
  for (const source of [...running, next]) source.close()
})

test('refuses a fifth list of an account while four wait, and lists for other accounts', async () => {
  const lists = ['ann', 'ann', 'ann', 'ann', 'ann', 'bob'].map((owner) =>
    exports.list(HOURS, owner),
  )
  const results = await Promise.allSettled(lists)
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.code : 'listed')),
    ['listed', 'listed', 'listed', 'listed', 'RATE_LIMITED', 'listed'],
  )
})

test('reports a refusal of the thread and releases the account', async () => {
  const account = 'acc_refused'
  for (let count = 0; count < 4; count += 1) {
    const missing = exports.open(request({ hour: 3 }), account)
    await assert.rejects(missing, { code: 'NOT_FOUND' })
  }
})
