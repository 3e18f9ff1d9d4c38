import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { Searcher } from '../../../engine/search/searcher.ts'
import { queryWords, wordsOf } from '../../../engine/search/tokenizer.ts'
import { WordIndex } from '../../../engine/search/word-index.ts'

const STEPS = process.env.TEST_LONG === '1' ? 6_000 : 1_200

test('splits text into runs of letters and digits, ignoring accents, case and Unicode compatibility forms', () => {
  assert.deepEqual(wordsOf('Will Bogotá beat São-Paulo 3–1?'), [
    'will',
    'bogota',
    'beat',
    'sao',
    'paulo',
    '3',
    '1',
  ])
  assert.deepEqual(wordsOf('Bogot\u00e1 Bogota\u0301'), ['bogota', 'bogota'])
  assert.deepEqual(wordsOf('\uff22\uff34\uff23 o\ufb03ce 東京 مصر'), [
    'btc',
    'office',
    '東京',
    'مصر',
  ])
  assert.deepEqual(wordsOf("O'Neill's"), ['o', 'neill', 's'])
  assert.deepEqual(wordsOf('$104,000 or 1,234,567, é'), ['104000', 'or', '1234567', 'e'])
  assert.deepEqual(wordsOf('3,5 12,3456 2026,100 1,2,3'), [
    ...['3', '5', '12', '3456', '2026', '100', '1', '2', '3'],
  ])
  for (const form of ['104,000', '$104K', '104k', '0.104M', '104.00k']) {
    assert.deepEqual(queryWords(form), ['104000'], form)
  }
  assert.deepEqual(wordsOf('1.5bn 2B 3t 0.5m 1,500k'), [
    ...['1500000000', '2000000000', '3000000000000', '500000', '1500000'],
  ])
  assert.deepEqual(wordsOf('a4k 4kg 1.2345k 4k-tv 4.5.6k'), [
    ...['a4k', '4kg', '1', '2345k', '4000', 'tv', '4', '5', '6k'],
  ])
  assert.deepEqual(wordsOf('?! 🎉 \ud800 \u0000 '), [])
})

test('uses the first 200 characters and 16 distinct words of a query, and ignores the rest', () => {
  assert.deepEqual(queryWords('win the Winner THE the'), ['the', 'winner'])
  assert.deepEqual(queryWords('a an A'), ['a', 'an'])
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index))
  assert.equal(queryWords(letters.join(' ')).join(''), 'abcdefghijklmnop')
  assert.deepEqual(queryWords(`${' '.repeat(199)}bitcoin`), ['b'])
  assert.deepEqual(queryWords(`(${'a'.repeat(300)})+$`), ['a'.repeat(199)])
  assert.deepEqual(queryWords('(a+)+$ [\\ .* %00'), ['a', '00'])
})

test('returns the same search results as a naive scan of all texts after any changes', () => {
  for (const seed of [1, 2, 3]) {
    const random = seededRandom('search twin', seed)
    const index = new WordIndex()
    const texts = new Map<number, string>()
    let foundCount = 0
    for (let step = 0; step < STEPS; step += 1) {
      const number = 1 + random.below(2_000)
      if (random.next() < 0.25) {
        texts.delete(number)
        index.remove(number)
      } else {
        const text = sentence(random, 1 + random.below(8))
        texts.set(number, text)
        index.put(number, new Map(wordsOf(text).map((term) => [term, 1])))
      }
      if (step % 40 !== 0) continue
      const question = sentence(random, 1 + random.below(3))
      const expected = naive(texts, question)
      const found = (isRanked: boolean) => [...index.find(queryWords(question), isRanked)]
      assert.deepEqual(found(false).sort(ascending), expected, question)
      assert.deepEqual(found(true).sort(ascending), expected, question)
      assert.equal(index.count, texts.size)
      foundCount += expected.length
    }
    assert.ok(foundCount > STEPS / 6, `${foundCount} found`)
  }
})

test('ranks texts higher for rare words, for exact words and for words of the question', () => {
  const searcher = new Searcher()
  const rows = [
    ['Will it rain in Paris?', 'Weather', 'Yes No'],
    ['Will the market rally?', 'Paris this week', 'Yes No'],
    ['Who wins?', 'Cup', 'Paris London'],
    ['Will Parisians vote today?', 'Votes', 'Yes No'],
    ['Will it rain in Paris?', 'Weather', 'Yes No'],
    ['Will it rain in Rome, where it has not rained for many days, or not?', 'Weather', 'Yes No'],
  ] as const
  searcher.run({
    kind: 'change',
    seq: 1,
    texts: {
      numbers: rows.map((_, index) => index + 1),
      questions: rows.map(([question]) => question),
      events: rows.map(([, event]) => event),
      words: rows.map(([, , terms]) => terms),
    },
    removed: [],
  })
  const found = (text: string) => {
    const result = searcher.run({ kind: 'find', seq: 1, text, isRanked: true })
    assert.ok(result instanceof Uint32Array)
    return [...result]
  }
  assert.deepEqual(found('paris').slice(0, 3), [1, 5, 2])
  assert.deepEqual(found('paris').slice(3).sort(), [3, 4])
  assert.deepEqual(found('PARIS rain'), [1, 5])
  assert.deepEqual(found('rain paris'), found('paris rain'))
  assert.deepEqual(found('rain'), [1, 5, 6])
  assert.deepEqual(found('paris london rain'), [])
  assert.deepEqual(found('?'), [])
})

test('finds texts despite one typing error in a rare word, after all texts without one', () => {
  const index = new WordIndex()
  const texts: readonly (readonly [count: number, text: string])[] = [
    [40, 'bitcoin above 104,000'],
    [1, 'bitcon festival'],
    [15, 'bitcoin mining'],
    [16, 'dogecoin mining'],
    [1, 'dogecon mining'],
    [17, 'dogemoin mining'],
  ]
  const numbers = new Map<string, number[]>()
  let last = 0
  for (const [count, text] of texts) {
    for (let copy = 0; copy < count; copy += 1) {
      last += 1
      numbers.set(text, [...(numbers.get(text) ?? []), last])
      index.put(last, new Map(wordsOf(text).map((word) => [word, 1])))
    }
  }
  const found = (text: string) => [...index.find(queryWords(text), true)]
  const of = (...wanted: readonly string[]) => wanted.flatMap((text) => numbers.get(text) ?? [])
  const bitcoin = of('bitcoin above 104,000', 'bitcoin mining')
  for (const typo of ['bticoin', 'bicoin', 'bitccoin', 'bitcoim', 'vitcoin', 'itcoin']) {
    assert.deepEqual(found(typo).sort(ascending), bitcoin, typo)
  }
  assert.deepEqual(found('bitcon')[0], of('bitcon festival')[0], 'the exact word is first')
  assert.deepEqual(found('bitcon').slice(1).sort(ascending), bitcoin)
  assert.deepEqual(
    [...index.find(queryWords('bitcon'), false)],
    of('bitcon festival'),
    'an unranked result has no corrections beside exact texts',
  )
  assert.deepEqual(found('bitcon minig'), of('bitcoin mining'), 'a typing error in each word')
  assert.deepEqual(found('bitcon 104k'), of('bitcoin above 104,000'))
  assert.deepEqual(
    found('dogecon').sort(ascending),
    of('dogecoin mining', 'dogecon mining'),
    'another word is a correction only if it is 16 times as frequent',
  )
  assert.deepEqual(found('dogemoin'), of('dogemoin mining'), 'a frequent word is correct')
  for (const none of ['btcn', 'bitcpom', '105000', 'bitcoin1', '10400']) {
    assert.deepEqual(found(none), none === '10400' ? of('bitcoin above 104,000') : [], none)
  }
})

function sentence(random: Random, wordCount: number): string {
  const letter = () => random.pick(['a', 'b', 'c', 'É', 'o'])
  const term = () => Array.from({ length: 1 + random.below(4) }, letter).join('')
  return Array.from({ length: wordCount }, term).join(random.pick([' ', '-', ', ']))
}

function naive(texts: ReadonlyMap<number, string>, question: string): number[] {
  const split = (text: string) => text.replaceAll('É', 'e').split(/[ ,-]+/)
  const requested = split(question)
  const has = (text: string) =>
    requested.every((term) =>
      split(text).some((other) => (term.length > 1 ? other.startsWith(term) : other === term)),
    )
  return [...texts].flatMap(([number, text]) => (has(text) ? [number] : [])).sort(ascending)
}

const ascending = (one: number, other: number) => one - other
