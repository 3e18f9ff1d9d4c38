// The query string, read by us and not by the library.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseQuery } from '../../../http/request/query.ts'

const read = (text: string | undefined) => {
  const raw = parseQuery(text)
  return raw === null ? null : Object.fromEntries(raw)
}

test('[HTTP3] names and values are decoded, and a parameter without a value hides no other', () => {
  assert.deepEqual(read('a&b=%C3%A9+x&a=2&&c==&%6eame=v'), {
    a: ['', '2'],
    b: ['é x'],
    c: ['='],
    name: ['v'],
  })
  assert.deepEqual(read(''), {})
  assert.deepEqual(read(undefined), {})
})

test('[HTTP3] malformed percent-encoding and UTF-8 are refused, wherever they stand', () => {
  for (const text of ['x=%zz', '%=1', 'x=%C3', 'a=1&x=%ff', 'x=%E0%80%80', 'x=%']) {
    assert.equal(read(text), null, text)
  }
  assert.deepEqual(read('x=%00'), { x: ['\0'] })
})

test('[HTTP3] a query beyond its bound is refused', () => {
  assert.equal(read(`x=${'a'.repeat(40_000)}`), null)
})
