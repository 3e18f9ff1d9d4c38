// Parses every file of venue rows and frames and compares the results with fixture-readings.json. A new file fails the
// test.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { Fates } from '../support/rigs/book-paths.ts'
import {
  answersTo,
  CASE_READERS,
  dataTrades,
  fatesOf,
  gammaEvents,
  gammaMarkets,
  kalshiConnection,
  kalshiFrames,
  kalshiGrids,
  kalshiRows,
  polymarketExamples,
  polymarketFrames,
  polymarketOther,
  polymarketSession,
  type Reader,
} from '../support/rigs/fixture-readers.ts'
import {
  casesOf,
  INVENTED,
  type Origin,
  RECORDED,
  rowsOfFile,
  type Sources,
  testOnBoth,
} from '../support/worlds/recordings.ts'

const ROOTS: Sources = { invented: INVENTED, recorded: `${RECORDED}/fixtures` }
const FOLDERS: Readonly<Record<Origin, readonly string[]>> = {
  invented: ['polymarket', 'kalshi'],
  recorded: [
    ...['polymarket', 'polymarket-data-v2', 'polymarket-protocol-v2'],
    ...['kalshi', 'kalshi-golden', 'kalshi-2026-autumn'],
  ],
}

/** The file's reader and the expected result, or the reason why the file has no reader. */
type Expected = readonly [read: Reader, becomes: string] | string
type Table = Readonly<Record<string, Expected>>

const RECORDED_READINGS: Readonly<
  Record<string, string | readonly [reader: string, becomes: string]>
> = JSON.parse(readFileSync(new URL('fixture-readings.json', import.meta.url), 'utf8'))

const READERS: Readonly<Record<string, Reader>> = {
  ...{ dataTrades, gammaEvents, gammaMarkets, kalshiConnection, kalshiFrames, kalshiGrids },
  ...{ kalshiRows, polymarketExamples, polymarketFrames, polymarketOther, polymarketSession },
}

/** Invented files without expected results in the file. */
const INVENTED_FILES: Table = {
  ...Object.fromEntries(
    Object.entries(CASE_READERS).map(([path, read]) => {
      const fates = casesOf(`${INVENTED}/${path}`).flatMap(({ becomes }) => becomes)
      return [path, [read, textOf(fatesOf(fates.map((fate) => ({ fate, value: null }))))] as const]
    }),
  ),
  'polymarket/book-stream-2025.jsonl': 'a stream: recorded-streams.process.test.ts',
  'polymarket/book-stream.jsonl': 'a stream: test/engine/venues/polymarket/fixtures.test.ts',
  'polymarket/data-positions.jsonl': [polymarketOther, 'rejected no_condition_id 7'],
  'kalshi/orderbook-stream.jsonl': 'a stream: recorded-streams.process.test.ts',
  'kalshi/candles.jsonl': [kalshiRows, ''],
}

/** Each recorded file's reader. Files with answers also have the requested path. */
const RECORDED_FILES: Table = Object.fromEntries(
  Object.entries(RECORDED_READINGS).map(([path, expected]) => {
    if (typeof expected === 'string') return [path, expected]
    const [reader, becomes] = expected
    const [name = '', requested] = reader.split(' ')
    const read = requested === undefined ? READERS[name] : answersTo(requested)
    return [path, [read ?? assert.fail(reader), becomes]]
  }),
)

const EXPECTED: Readonly<Record<Origin, Table>> = {
  invented: INVENTED_FILES,
  recorded: RECORDED_FILES,
}

testOnBoth(
  'lists every existing fixture file in this test, and no missing file',
  ROOTS,
  (_, root, origin) => {
    const files = FOLDERS[origin].flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1)),
    )
    assert.deepEqual(files.sort(), Object.keys(EXPECTED[origin]).sort())
  },
)

testOnBoth(
  'converts every fixture row to a record of the engine, or rejects the row for the expected reason',
  ROOTS,
  async (t, root, origin) => {
    const sums = { rows: 0, taken: 0, refused: 0 }
    t.diagnostic(tableRow(['file', 'rows', 'read', 'refused', 'what they became']))
    for (const [path, expected] of Object.entries(EXPECTED[origin])) {
      if (typeof expected === 'string') t.diagnostic(tableRow([path, 0, 0, 0, expected]))
      if (typeof expected === 'string') continue
      const [read, becomes] = expected
      const became = await read(rowsOf(`${root}/${path}`, origin))
      const refused = became.filter(({ fate }) => fate.startsWith('rejected')).length
      const taken = became.length - refused
      sums.rows += became.length
      sums.taken += taken
      sums.refused += refused
      const text = textOf(fatesOf(became))
      t.diagnostic(tableRow([path, became.length, taken, refused, text || 'nothing of ours']))
      assert.equal(text, becomes, path)
    }
    t.diagnostic(tableRow(['all', sums.rows, sums.taken, sums.refused, '']))
  },
)

function textOf(fates: Fates): string {
  return [...fates]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([fate, count]) => `${fate} ${count}`)
    .join(', ')
}

function rowsOf(path: string, origin: Origin): readonly unknown[] {
  return origin === 'invented' ? casesOf(path).map(({ row }) => row) : rowsOfFile(path)
}

function tableRow(actorRefs: readonly (string | number)[]): string {
  const [file, rows, taken, refused, became] = actorRefs.map(String)
  return `${file?.padEnd(60)} ${rows?.padStart(5)} ${taken?.padStart(5)} ${refused?.padStart(7)}  ${became}`
}
