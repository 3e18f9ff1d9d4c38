import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventTitles } from '../../../actors/catalog/event-titles.ts'
import { TermSets, Terms } from '../../../actors/catalog/terms.ts'
import { Columns } from '../../../actors/rows/columns.ts'
import { sortedPositions } from '../../../actors/rows/sort.ts'
import { seededRandom } from '../../../engine/random.ts'

test('retains the values of the remaining rows when rows are added, removed and compacted', () => {
  const random = seededRandom('columns')
  const columns = new Columns()
  const bytes = columns.bytes()
  const floats = columns.floats()
  const objects = columns.objects<string | null>(null)
  const matchedMarket = new Map<number, number>()
  let last = 0
  for (let step = 0; step < 30_000; step += 1) {
    if (random.below(5) < 3) {
      last += 1 + random.below(3)
      const slot = columns.add(last)
      bytes.values[slot] = last % 251
      floats.values[slot] = last / 2
      objects.values[slot] = `row ${last}`
      matchedMarket.set(last, last)
    } else {
      const number = 1 + random.below(last + 2)
      columns.remove(number)
      matchedMarket.delete(number)
    }
  }
  assert.equal(columns.count, matchedMarket.size)
  assert.ok(columns.length < matchedMarket.size * 1.4, 'free rows do not accumulate')
  for (const number of matchedMarket.keys()) {
    const slot = columns.slot(number)
    assert.deepEqual(
      [columns.numbers[slot], bytes.values[slot], floats.values[slot], objects.values[slot]],
      [number, number % 251, number / 2, `row ${number}`],
    )
  }
  const numbers = [...columns.numbers.subarray(0, columns.length)]
  assert.deepEqual(
    numbers.filter((_, slot) => columns.isRemoved[slot] === 0),
    [...matchedMarket.keys()],
  )
  assert.equal(columns.slot(last + 1), -1)
  assert.throws(() => columns.add(last))
})

test('assigns the same number to texts that differ in case and in nothing else, and to equal sets', () => {
  const terms = new Terms()
  const sports = terms.take('Sports')
  assert.equal(terms.take('SPORTS'), sports)
  assert.equal(terms.take(null), 0)
  terms.release(sports)
  assert.equal(terms.find('sPorts'), sports)
  terms.release(sports)
  assert.equal(terms.find('sports'), -1)
  assert.equal(terms.take('Politics'), sports, 'the released number is reused')
  const sets = new TermSets()
  const [both, one, odd] = [
    sets.take(['NFL', 'Sports']),
    sets.take(['Crypto']),
    sets.take(['a","b']),
  ]
  assert.equal(sets.take([]), 0)
  assert.equal(sets.take(['nfl', 'sports']), both)
  const having = (...texts: string[]) => [both, one, odd].map((id) => sets.having(texts)[id])
  assert.deepEqual(having('SPORTS', 'none'), [1, 0, 0])
  assert.deepEqual(having('crypto', 'nfl'), [1, 1, 0])
  assert.deepEqual(having('a'), [0, 0, 0])
  sets.release(one)
  assert.equal(sets.having(['crypto'])[one], 0)
  sets.release(both)
  assert.equal(sets.having(['nfl'])[both], 1, 'the term is still used by another set')
})

test('sorts rows like a stable comparison sort, with unknown values last in both directions', () => {
  const random = seededRandom('sorting')
  const bounds = [1, 2, 100, 2 ** 11, 2 ** 31, 2 ** 32, 2 ** 33, 2 ** 45, Number.MAX_SAFE_INTEGER]
  for (let round = 0; round < 300; round += 1) {
    const bound = bounds[random.below(bounds.length)] ?? 1
    const count = random.below(round % 20 === 0 ? 9_000 : 200)
    const keys = Float64Array.from({ length: count + 5 }, () =>
      random.below(6) === 0 ? Number.NaN : Math.floor(random.next() * bound) - random.below(3),
    )
    const order = round % 2 === 0 ? 'asc' : 'desc'
    const wanted = Array.from({ length: count }, (_, position) => position).sort((one, two) => {
      const [left, right] = [keys[one] ?? 0, keys[two] ?? 0]
      if (Number.isNaN(left) || Number.isNaN(right)) {
        return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
      }
      return order === 'asc' ? left - right : right - left
    })
    assert.deepEqual([...sortedPositions(keys, count, order)], wanted, `round ${round}`)
  }
  const unknown = new Float64Array(4).fill(Number.NaN)
  assert.deepEqual([...sortedPositions(unknown, 4, 'desc')], [0, 1, 2, 3])
  assert.equal(sortedPositions(unknown, 0, 'asc').length, 0)
})

test('matches a title that contains every word of the search, ignoring accents, case and word endings', () => {
  const titles = new EventTitles()
  titles.put(1, 'Élection in Bogotá, 2026')
  titles.put(2, 'ELECTION night')
  titles.put(4, 'A bog standard')
  const found = (text: string) => [...titles.find(text)].flatMap((is, number) => (is ? number : []))
  assert.deepEqual(found('election'), [1, 2])
  assert.deepEqual(found('BOG élec'), [1])
  assert.deepEqual(found('bog'), [1, 4])
  assert.deepEqual(found('a'), [4], 'a single character matches only a complete word')
  assert.deepEqual(found('elect election el'), [1, 2])
  assert.deepEqual(found('lection'), [1, 2], 'one typing error')
  assert.deepEqual(found('ection'), [])
  assert.deepEqual(found('?! —'), [])
  assert.deepEqual(found('\u0000 \ud800'), [])
  titles.remove(2, 'ELECTION night')
  titles.put(2, 'Rain')
  assert.deepEqual(found('election'), [1])
  assert.deepEqual(found('rain'), [2])
})
