import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflictsOf, marksOf } from '../../../../engine/matching/understand/marks.ts'
import {
  type Quantity,
  quantityOf,
  relateRanges,
} from '../../../../engine/matching/understand/quantity.ts'
import { fold, meanings } from '../../../../engine/matching/understand/text-normalization.ts'

function range(text: string): string {
  const found = quantityOf(fold(text))
  if (found === null) return ''
  return `${found.isLowOpen ? '(' : '['}${found.low} ${found.high}${found.isHighOpen ? ')' : ']'}`
}

function known(text: string): Quantity {
  const found = quantityOf(fold(text))
  assert.ok(found !== null, text)
  return found
}

const marks = (text: string) => marksOf(fold(text), meanings(fold(text)))

test('parses numeric ranges and their bounds from comparison words, signs and suffixes', () => {
  assert.equal(range('above 41,300'), '(41300 Infinity]')
  assert.equal(range('$41,300 or above'), '[41300 Infinity]')
  assert.equal(range('at least 31'), '[31 Infinity]')
  assert.equal(range('12+ goals'), '[12 Infinity]')
  assert.equal(range('below 3.5%'), '[-Infinity 3.5)')
  assert.equal(range('61° or lower'), '[-Infinity 61]')
  assert.equal(range('to top $41K'), '(41000 Infinity]')
  assert.equal(range('tops 3 million'), '(3000000 Infinity]')
  assert.equal(range('the top 3 finishers'), '')
  assert.equal(range('reach $41K'), '[41000 Infinity]')
  assert.equal(known('dip to $7').touch, 'down')
  assert.equal(range('no number here'), '')
})

test('applies the scale and unit of a range to both bounds, and rounds a bound just below a round number', () => {
  assert.equal(range('between 40-49 million views'), '[40000000 49000000]')
  assert.equal(range('$3,150 to 3,199.99'), '[3150 3200)')
  assert.equal(range('between $1.40 and $1.4599'), '[1.4 1.46)')
})

test('classifies two numeric ranges as equal, containing, complementary, separate, or different at the boundary', () => {
  const relate = (a: string, b: string) => relateRanges(known(a), known(b))
  assert.equal(relate('above 70', 'above 70'), 'same')
  assert.equal(relate('above 70', 'at least 70'), 'boundary')
  assert.equal(relate('above 70', 'below 70'), 'complement')
  assert.equal(relate('between 70 and 80', 'above 60'), 'inside')
  assert.equal(relate('above 60', 'between 70 and 80'), 'around')
  assert.equal(relate('between 70 and 80', 'between 80 and 90'), 'apart')
  assert.equal(relate('above 200', 'above 300'), 'around')
  assert.equal(relate('over 73.5', 'at least 74'), 'same')
  assert.equal(relate('over 73.5', 'at least 75'), 'around')
})

test('rates different ordinals, groups, seasons or classes in two texts as conflicts', () => {
  const conflict = (a: string, b: string) => conflictsOf(marks(a), marks(b))
  assert.deepEqual(conflict('Group C winner', 'Group D winner'), ['group'])
  assert.deepEqual(conflict('Top 5 finish', 'Top 10 finish'), ['placing'])
  assert.deepEqual(marks('fifth or better'), marks('a top five place'))
  assert.deepEqual(conflict('fourth or better', 'Top 5 finish'), ['placing'])
  assert.deepEqual(conflict('opens to $3 million', 'second weekend'), ['weekN'])
  assert.deepEqual(conflict('Top 5 finish', 'the winner'), ['placing'])
  assert.deepEqual(conflict('#2 song', 'top song'), ['placing'])
  assert.deepEqual(conflict('opening weekend', 'second weekend'), ['weekN'])
  assert.equal(marks('second-tallest tower').get('placing')?.has('place 2'), true)
  assert.deepEqual(conflict('Season 7 winner', 'who wins Season 8'), ['season'])
  assert.deepEqual(conflict('Danish election', 'Polish election'), ['country'])
  assert.deepEqual(conflict('most goals', 'fewest goals'), ['extreme'])
  assert.deepEqual(conflict('TX-03 winner', 'TX-04 winner'), ['district'])
  assert.deepEqual(conflict('Texas governor', 'Texas Senator'), ['office'])
  assert.deepEqual(conflict('Group C winner', 'the winner'), [])
})
