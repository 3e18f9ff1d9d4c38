import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { serviceSource } from '../../../../engine/app/commands/export-service.ts'
import {
  type ExportOrder,
  type ExportReport,
  exportHours,
} from '../../../../engine/app/export/export-run.ts'
import { type ExportSource, tapeSource } from '../../../../engine/app/export/export-source.ts'
import { Exports } from '../../../../engine/app/export/exports.ts'
import { OutputFolder } from '../../../../engine/app/export/output-folder.ts'
import { systemClock } from '../../../../engine/clock.ts'
import { EXPORT_TABLES } from '../../../../engine/tape/export-names.ts'
import { HOUR_US, hourFolder, MANIFEST_NAME, US_PER_MS } from '../../../../engine/tape/layout.ts'
import { timeMs } from '../../../../engine/units.ts'
import { exportFile } from '../../../../storage/tape/export/export-file.ts'
import { Tape } from '../../../../storage/tape/tape.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { runToEnd } from '../../../support/rigs/run-to-end.ts'
import {
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
} from '../../../support/worlds/tape-world.ts'

const DATA = testFolder('export-run')
const TAPE = join(DATA, 'tape')
const LIVE = new AbortController().signal
let outputs = 0

/** Noon and one o'clock are final, two o'clock is not. */
before(() => {
  const world = new TapeWorld({ seed: 'exported', markets: 4 })
  const tape = recordingTape(tapeSettings(TAPE), NOON_US)
  for (const startUs of [NOON_US, NOON_US + HOUR_US, NOON_US + 2 * HOUR_US]) {
    tape.flush()
    tape.writer.tick(startUs)
    world.us = startUs
    for (const row of world.sweep(true)) tape.put(row)
    for (let count = 0; count < 300; count += 1) tape.put(world.next())
  }
  tape.flush()
})

const newFolder = (): string => {
  outputs += 1
  return join(DATA, `out-${outputs}`)
}

const order = (set: Partial<ExportOrder> = {}): ExportOrder => ({
  ...{ fromUs: NOON_US, toUs: NOON_US + 2 * HOUR_US, tables: EXPORT_TABLES },
  ...{ format: 'parquet', layout: 'twinbook', isPartial: false },
  ...set,
})

/** Returns whether all hours were exported, and a line for each report. */
async function run(
  out: string,
  set: Partial<ExportOrder> = {},
  {
    source = tapeSource(TAPE),
    signal = LIVE,
  }: { source?: ExportSource; signal?: AbortSignal } = {},
) {
  const output = new OutputFolder(out, systemClock, signal)
  const reports: ExportReport[] = []
  const isComplete = await exportHours(order(set), { source, output }, (report) => {
    if (report.kind !== 'progress') reports.push(report)
  })
  const lines = reports.map((report) => {
    if (report.kind === 'table') return report.result.status
    if (report.kind === 'progress') return report.text
    return `${report.kind} ${report.hoursUs.map((us) => (us - NOON_US) / HOUR_US).join(' ')}`
  })
  return { isComplete, lines, reports }
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile() && !path.startsWith('.twinbook-export'))
    .sort()

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const sumsOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    filesIn(folder).map((path) => [path, sha256(readFileSync(join(folder, path)))]),
  )

const PATH = 'venue=venue_a/table=trades/date=2026-11-20/hour=12/part-0.parquet'

test('writes each table of each hour to a Hive folder that DuckDB reads', async () => {
  const out = newFolder()
  const { isComplete, lines } = await run(out)
  assert.equal(isComplete, true)
  assert.deepEqual(lines, Array(2 * EXPORT_TABLES.length).fill('written'))
  const paths = ['12', '13'].flatMap((hour) =>
    EXPORT_TABLES.map(
      (table) => `venue=venue_a/table=${table}/date=2026-11-20/hour=${hour}/part-0.parquet`,
    ),
  )
  assert.deepEqual(filesIn(out), paths.sort())
  const chunks = exportFile(new Tape(TAPE), hourFolder(TAPE, 'venue_a', NOON_US), {
    ...{ table: 'trades', format: 'parquet' },
  })
  const expected = Buffer.concat([...chunks].filter((chunk) => chunk !== null))
  assert.equal(sumsOf(out)[PATH], sha256(expected))
  const duck = await (await DuckDBInstance.create(':memory:')).connect()
  const counted = await duck.runAndReadAll(
    `SELECT venue, hour, count(*) > 0 FROM read_parquet('${out}/*/table=trades/**/*.parquet', hive_partitioning = true) GROUP BY ALL ORDER BY hour`,
  )
  assert.deepEqual(counted.getRowsJson(), [
    ['venue_a', '12', true],
    ['venue_a', '13', true],
  ])
})

test('verifies finished files, writes missing ones again, and refuses changed ones', async () => {
  const out = newFolder()
  await run(out, { tables: ['trades'] })
  const sums = sumsOf(out)
  assert.deepEqual((await run(out, { tables: ['trades'] })).lines, ['verified', 'verified'])
  rmSync(join(out, PATH))
  assert.deepEqual((await run(out, { tables: ['trades'] })).lines, ['written', 'verified'])
  assert.deepEqual(sumsOf(out), sums)
  writeFileSync(join(out, PATH), 'changed')
  const { isComplete, lines, reports } = await run(out, { tables: ['trades'] })
  assert.deepEqual([isComplete, lines], [false, ['refused', 'verified']])
  assert.match(
    JSON.stringify(reports),
    /hour=12\/part-0\.parquet is not overwritten: it was changed/,
  )
  assert.equal(readFileSync(join(out, PATH), 'utf8'), 'changed')
})

test('refuses a file without a record that differs, and accepts one that is equal', async () => {
  const out = newFolder()
  await run(out, { tables: ['trades'] })
  rmSync(join(out, '.twinbook-export'), { recursive: true })
  writeFileSync(join(out, PATH), 'of another program')
  assert.deepEqual((await run(out, { tables: ['trades'] })).lines, ['refused', 'written'])
  assert.equal(readFileSync(join(out, PATH), 'utf8'), 'of another program')
  assert.equal(filesIn(out).length, 2)
})

test('refuses a file of another tape', async () => {
  const other = join(testFolder('export-other'), 'tape')
  const tape = recordingTape(tapeSettings(other), NOON_US)
  const world = new TapeWorld({ seed: 'other', markets: 2 })
  for (const row of world.sweep(true)) tape.put(row)
  tape.flush()
  tape.writer.tick(NOON_US + HOUR_US)
  const out = newFolder()
  const noon = { tables: ['trades'], toUs: NOON_US + HOUR_US } as const
  await run(out, noon)
  const { reports } = await run(out, noon, { source: tapeSource(other) })
  assert.match(JSON.stringify(reports), /not overwritten: it is of another tape/)
})

test('reports hours that are not final and hours that the tape does not have', async () => {
  const set = { tables: ['trades'], fromUs: NOON_US - 2 * HOUR_US } as const
  const until = { ...set, toUs: NOON_US + 4 * HOUR_US }
  const out = newFolder()
  const { isComplete, lines } = await run(out, until)
  assert.equal(isComplete, false)
  assert.deepEqual(lines, ['written', 'written', 'not_final 2', 'missing -2 -1 3'])
  const partial = await run(out, { ...until, isPartial: true })
  assert.deepEqual(partial.lines, ['verified', 'verified', 'written', 'missing -2 -1 3'])
  const again = await run(out, { ...until, isPartial: true })
  assert.deepEqual(again.lines.slice(0, 3), ['verified', 'verified', 'refused'])
  assert.match(JSON.stringify(again.reports), /its hour was not final at its export/)
  const nowhere = run(out, set, { source: tapeSource(join(DATA, 'nowhere')) })
  await assert.rejects(nowhere, { code: 'NOT_FOUND' })
})

test('leaves no incomplete file when it is stopped, and continues', async () => {
  const out = newFolder()
  const stopping = new AbortController()
  const source = tapeSource(TAPE)
  let files = 0
  const stopped = run(
    out,
    { tables: ['trades', 'book_changes'] },
    {
      signal: stopping.signal,
      source: {
        ...source,
        *file(...args) {
          files += 1
          const chunks = source.file(...args)
          assert.ok(Symbol.iterator in chunks)
          for (const chunk of chunks) {
            yield chunk
            if (files === 2) stopping.abort()
          }
        },
      },
    },
  )
  await assert.rejects(stopped, { name: 'AbortError' })
  assert.deepEqual(filesIn(out), [PATH])
  const { lines } = await run(out, { tables: ['trades', 'book_changes'] })
  assert.deepEqual(lines, ['verified', 'written', 'written', 'written'])
})

test('writes and verifies a file of each market for a catalog of nautilus_trader', async () => {
  const out = newFolder()
  const set = { layout: 'nautilus', tables: ['book_snapshots', 'trades'] } as const
  assert.deepEqual((await run(out, set)).lines, Array(4).fill('written'))
  const hours = ['12', '13'].map((hour) => {
    const time = (rest: string) => `2026-11-20T${hour}-${rest}`
    return `${time('00-00-000000000Z')}_${time('59-59-999999999Z')}.parquet`
  })
  const expected = ['order_book_deltas', 'trade_tick'].flatMap((type) =>
    [0, 1, 2, 3].flatMap((market) =>
      hours.map((hour) => `data/${type}/market-${market}.VENUE_A/${hour}`),
    ),
  )
  assert.deepEqual(filesIn(out), expected)
  assert.deepEqual((await run(out, set)).lines, Array(4).fill('verified'))
})

test('writes the trades of a final hour that had none when it was exported before its end', async () => {
  const folder = join(testFolder('export-later'), 'tape')
  const tape = recordingTape(tapeSettings(folder), NOON_US)
  const world = new TapeWorld({ seed: 'later', markets: 2 })
  for (const row of world.sweep(true)) tape.put(row)
  tape.flush()
  const out = newFolder()
  const source = tapeSource(folder)
  const set = { layout: 'nautilus', tables: ['trades'], toUs: NOON_US + HOUR_US } as const
  await run(out, { ...set, isPartial: true }, { source })
  assert.deepEqual(filesIn(out), [])
  for (let count = 0; count < 100; count += 1) tape.put(world.next())
  tape.flush()
  tape.writer.tick(NOON_US + HOUR_US)
  assert.deepEqual((await run(out, set, { source })).lines, ['written'])
  assert.equal(filesIn(out).length, 2)
})

test('writes no file when the hour is deleted during its export', async () => {
  const out = newFolder()
  const source = tapeSource(TAPE)
  const path = join(hourFolder(TAPE, 'venue_a', NOON_US).path, MANIFEST_NAME)
  const manifest = readFileSync(path)
  const failed = run(
    out,
    {},
    {
      source: {
        ...source,
        *file(...args) {
          const chunks = source.file(...args)
          assert.ok(Symbol.iterator in chunks)
          for (const chunk of chunks) {
            rmSync(path, { force: true })
            yield chunk
          }
        },
      },
    },
  )
  try {
    await assert.rejects(failed, /deleted from the tape/)
  } finally {
    writeFileSync(path, manifest)
  }
  assert.deepEqual(filesIn(out), [])
})

test('prints a JSON line for each file and the missing hours, and exits with 1 if some are missing, 2 for a bad request', async () => {
  const out = newFolder()
  const command = (...args: readonly string[]) =>
    runToEnd('engine/app/commands/export.ts', [...args, '--out', out], { env: { DATA_DIR: DATA } })
  const args = [
    '--from',
    '2026-11-20T11',
    '--to',
    '2026-11-20T13:00Z',
    '--tables',
    'trades,markets',
  ]
  const [bad, done] = await Promise.all([
    command('--from', '20.11.2026', '--to', '2026-11-21'),
    command(...args, '--json'),
  ])
  assert.deepEqual([bad.code, bad.stdout], [2, ''])
  assert.match(bad.stderr, /^--from is 20\.11\.2026; it accepts a UTC date or hour, such as /)
  assert.deepEqual([done.code, done.stderr], [1, ''])
  const lines = done.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const file = { path: PATH, bytes: statSync(join(out, PATH)).size, sha256: sumsOf(out)[PATH] }
  assert.deepEqual(lines[0], {
    ...{ venue: 'venue_a', hour: '2026-11-20T12:00Z', table: 'trades', status: 'written', gaps: 0 },
    files: [file],
  })
  const missing = { venue: 'venue_a', status: 'missing', hours: ['2026-11-20T11:00Z'] }
  assert.deepEqual(lines.slice(2), [missing])
})

test('writes the same files from a service, and waits when the service rejects an export for now', async () => {
  const exports = new Exports(TAPE)
  const now = timeMs((NOON_US + 2.5 * HOUR_US) / US_PER_MS)
  const server: ApiServer = await openApiServer({
    before: (engine) => {
      engine.exports = exports
      const state = { state: 'recording', bytes: 1, hours: 3, lostRows: 0 } as const
      const times = { oldestMs: timeMs(NOON_US / US_PER_MS), newestMs: now }
      engine.tape = { status: () => ({ ...state, ...times }) }
    },
  })
  after(async () => {
    await server.stop()
    await exports.stop()
  })
  const busy = { platform: 'venue_a', table: 'trades', date: '2026-11-20', hour: 12 } as const
  const request = { ...busy, format: 'parquet', isPartial: false } as const
  const ann = 'acc_ann'
  const running = [await exports.open(request, ann), await exports.open(request, ann)]
  const waits: number[] = []
  const clock = {
    ...systemClock,
    nowMs: () => now,
    after(delayMs: number, action: () => void) {
      waits.push(delayMs)
      for (const open of running) open.close()
      // The thread closes the exports before it lists the hours.
      exports.list({ platform: null, date: null, limit: 1 }, ann).then(action, action)
      return () => undefined
    },
  }
  const url = new URL(server.origin)
  const source = serviceSource({ url, key: 'ann-key', clock, signal: LIVE })
  const [local, remote] = [newFolder(), newFolder()]
  const tables = ['trades', 'book_snapshots'] as const
  const until = { fromUs: NOON_US - HOUR_US, toUs: NOON_US + 4 * HOUR_US, tables }
  const { lines } = await run(remote, until, { source })
  const [written, missing] = [Array(4).fill('written'), 'missing -1 0 1 2 3']
  assert.deepEqual(lines, [...written, 'not_final 2', 'missing -1 3', missing])
  assert.deepEqual((await run(local, until)).lines, lines.slice(0, -1))
  assert.deepEqual(sumsOf(remote), sumsOf(local))
  assert.ok(waits.length > 0)
  const stranger = serviceSource({ url, key: 'no-key', clock, signal: LIVE })
  await assert.rejects(run(newFolder(), until, { source: stranger }), /answered 401/)
})
