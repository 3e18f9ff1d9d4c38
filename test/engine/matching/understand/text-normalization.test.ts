import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countryOfCode } from '../../../../engine/matching/understand/locations.ts'
import { quantityOf } from '../../../../engine/matching/understand/quantity.ts'
import {
  fold,
  meanings,
  rawWords,
  TITLE_CHARACTERS_MAX,
} from '../../../../engine/matching/understand/text-normalization.ts'

const read = (text: string): readonly string[] => meanings(fold(text))

test('normalises text of any length and script up to a length limit', () => {
  assert.equal(fold('ŁÓDŹ  Őr\tÇa'), 'lodz or ca')
  assert.equal(fold('x'.repeat(100_000)).length, TITLE_CHARACTERS_MAX)
  assert.deepEqual(rawWords(fold("J.J. O'Neil's car")), ['jj', 'oneil', 'car'])
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      const folded = fold(text)
      assert.ok(Array.isArray(meanings(folded)))
      quantityOf(folded)
    }),
    { numRuns: 300 },
  )
})

test('normalises synonyms, abbreviations and country adjectives to one word', () => {
  const pairs = [
    ['Ruritania GOP primary winner', 'Ruritania Republican nominee'],
    ['Swedish parliamentary elections', 'Sweden parliament election'],
    ['Pro Hockey Rookie of the Year', 'NHL ROTY'],
    ['BTC price', 'Bitcoin price'],
    ['500M visitors, 3,000,000 boats', '500 million visitors, 3 million boats'],
    ['UN Secretary-General', 'Secretary General of the United Nations'],
    ['Ruritania launches a folding kite', 'Ruritania releases a foldable kite'],
    ['The WHO on avian flu', 'World Health Organization on H5N1'],
    ['SCOTUS on the DHS', 'Supreme Court on the Department of Homeland Security'],
    ['The fourteenth flight', '14th flight'],
    ['Biggest storm to hit Oslo', 'Largest storm to make landfall in Oslo'],
  ] as const
  for (const [one, other] of pairs) {
    assert.deepEqual([...read(one)].sort(), [...read(other)].sort(), one)
  }
  assert.notDeepEqual(read('Boeing'), read('BoE'))
  assert.notDeepEqual(read('Orbex files for an IPO'), read('Orbex IPO'))
  assert.notDeepEqual(read('Top of the THE Ranking'), read('Top of the Ranking'))
  assert.deepEqual(read('TOP OF THE RANKING'), read('Top of the Ranking'))
  assert.equal(countryOfCode('sui'), countryOfCode('che'))
  assert.equal(countryOfCode('kor', 'slug'), countryOfCode('cuw', 'ticker'))
  assert.equal(countryOfCode('kr', 'slug'), countryOfCode('kor', 'ticker'))
})

test('parses a district as state and number, and an at-large district as the state', () => {
  assert.deepEqual(read('OR-04'), read('Oregon district4'))
  assert.deepEqual(read('WY-AL seat'), read('Wyoming seat'))
})
