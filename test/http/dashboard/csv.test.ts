import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../../http/dashboard/csv.ts'
import { readCsv } from '../../support/reference/csv-reader.ts'

test('writes texts that another program reads unchanged, with every kind of special character', async () => {
  const texts = [
    'plain',
    'a,b',
    'say "yes"',
    '"',
    'two\r\nlines',
    'two\nlines',
    'Zürich 😀 ¢',
    ' spaced ',
    '1e5',
    'a=b',
  ]
  const rows = await readCsv(
    csvOf(texts.map((text, index) => ({ index, 'a "name", quoted': text }))),
  )
  assert.deepEqual(
    rows.map((row) => row['a "name", quoted']),
    texts,
  )
  assert.deepEqual(
    rows.map(({ index }) => Number(index)),
    texts.map((_, index) => index),
  )
})

test('puts an apostrophe before texts that a spreadsheet would run, and leaves negative numbers as they are', async () => {
  const formulas = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '=HYPERLINK("http://x","y")',
    '＝1',
  ]
  const rows = await readCsv(csvOf(formulas.map((text) => ({ text, number: -0.25 }))))
  assert.deepEqual(
    rows.map(({ text }) => text),
    formulas.map((text) => `'${text}`),
  )
  assert.deepEqual(new Set(rows.map(({ number }) => number)), new Set(['-0.25']))
  const [row] = await readCsv(csvOf([{ '=cmd': 1, other: 2 }]))
  assert.deepEqual(row, { "'=cmd": '1', other: '2' })
})

test('writes a column for each nested field, times as ISO 8601, and empty cells for missing values', async () => {
  const records = [
    {
      id: 'one',
      closes_at: 1_764_288_000,
      timestamp: 1_764_288_000,
      timestamp_ms: 1_764_288_000_123,
      legs: [{ price: 0.4 }, { price: 0.55 }],
      open: null,
    },
    { id: 'two', legs: [], extra: true },
  ]
  assert.deepEqual(await readCsv(csvOf(records)), [
    {
      ...{
        id: 'one',
        closes_at: '2025-11-28T00:00:00.000Z',
        timestamp: '2025-11-28T00:00:00.123Z',
      },
      ...{ 'legs.0.price': '0.4', 'legs.1.price': '0.55', open: null, extra: null },
    },
    {
      ...{ id: 'two', closes_at: null, timestamp: null },
      ...{ 'legs.0.price': null, 'legs.1.price': null, open: null, extra: 'true' },
    },
  ])
  assert.equal(csvOf([]), '\u{feff}\r\n')
})
