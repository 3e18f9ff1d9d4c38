import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type BlockingKeys,
  keysOfMarket,
} from '../../../../engine/matching/search/blocking-keys.ts'
import { CANDIDATES_MAX, Candidates } from '../../../../engine/matching/search/candidates.ts'
import { Postings } from '../../../../engine/matching/search/postings.ts'
import { seededRandom } from '../../../../engine/random.ts'
import type { MatchMarket } from '../../../../engine/subject.ts'
import { subject } from '../../../support/reference/word-scorer.ts'
import { matchingWorld } from '../../../support/worlds/matching-world.ts'

const isLong = process.env.TEST_LONG === '1'
const STEPS = isLong ? 12_000 : 6_000
const MAY_10 = Date.UTC(2026, 4, 10, 20)

function shared(a: MatchMarket, b: MatchMarket): number {
  const filed = new Set(keysOfMarket(b).filed)
  return [...keysOfMarket(a).queried].filter((key) => filed.has(key)).length
}

describe('search keys of a market', () => {
  test('limits the number of search keys, however many words, numbers, days and codes a market’s texts contain', () => {
    const many = (nth: (index: number) => string) =>
      Array.from({ length: 5_000 }, (_, at) => nth(at))
    const words = many((index) => `${(index * 7_919).toString(36).replaceAll(/\d/g, 'z')}q`)
    const numbers = many((index) => String(101 + index * 7)).join(' ')
    const days = many((index) => `2026-05-${1 + (index % 28)}`).join(' ')
    const text = words.join(' ')
    for (const handle of [`KX-26MAY10${text}`, `a-${words.join('-')}-2026-05-10-b`]) {
      const titles = { title: `at 3pm ${text}`, subtitle: `at 4pm ${numbers}`, eventTitle: days }
      const outcomes = [numbers, days, `at 6pm ${text}`]
      const market = subject({ venue: 'b', handle, ...titles, outcomes, closeMs: MAY_10 })
      const keys = keysOfMarket(market)
      for (const { length } of [keys.filed, keys.queried]) {
        assert.ok(length < 1_500, `${length} keys of ${handle.slice(0, 20)}`)
      }
    }
  })

  test('ranks the noon market above markets of other hours for a price question without an hour', () => {
    const requested = subject({
      venue: 'a',
      title: 'Will the price of Bitcoin be above $72,000 on May 10?',
      handle: 'bitcoin-above-72k-on-may-10',
      closeMs: MAY_10,
    })
    const at = (hour: number) =>
      shared(
        requested,
        subject({
          venue: 'b',
          handle: `KXBTCD-26MAY10${hour}-T71999.99`,
          title: `Bitcoin price on May 10, 2026 at ${hour - (hour > 12 ? 12 : 0)}pm EDT? $72,000 or above`,
          closeMs: MAY_10,
        }),
      )
    assert.ok(at(12) > at(16), `${at(12)} keys against ${at(16)}`)
  })

  test('generates common search keys for different spellings of codes, countries, strikes and days', () => {
    const pairs: (readonly [Partial<MatchMarket>, Partial<MatchMarket>, number])[] = [
      [{ handle: 'mlb-lad-pit-2026-06-10' }, { handle: 'KXMLBGAME-26JUN101840LADPIT-PIT' }, 3],
      [
        { handle: 'fif-prt-nga-2026-06-10' },
        { handle: 'KXINTLFRIENDLYSPREAD-26JUN10PORNGR-NGR2' },
        2,
      ],
      [
        { handle: 'cs2-omega1-havu-2026-05-09' },
        { handle: 'KXCS2MAP-26MAY091000HAVUOME-2-OME' },
        1,
      ],
      [{ handle: 'atp-navone-medjedo-2026-05-12' }, { handle: 'KXATPMATCH-26MAY11NAVMED-MED' }, 2],
      [
        { title: 'Bitcoin above 79,200 on May 10?', closeMs: MAY_10 },
        { title: 'Bitcoin price?', handle: 'KXBTCD-26MAY1012-T79199.99' },
        4,
      ],
      [
        { title: 'Will Trump say "Pope" this week?', closeMs: MAY_10 },
        { title: 'What will Trump say?', handle: 'KXTRUMPSAY-26MAY11-POPE' },
        3,
      ],
    ]
    for (const [a, b, least] of pairs) {
      const count = shared(subject({ venue: 'a', ...a }), subject({ venue: 'b', ...b }))
      assert.ok(count >= least, `${count} keys shared by ${JSON.stringify([a, b])}`)
    }
  })
})

describe('candidate index', () => {
  test('finds nearly every pair that the simulator creates within a limited number of best candidates', () => {
    const { a, b, planted } = matchingWorld({ seed: 4, marketsPerVenue: isLong ? 3_000 : 1_500 })
    const index = new Candidates()
    for (const [number, market] of b.markets.entries()) index.put(number, keysOfMarket(market))
    let requested = 0
    let found = 0
    for (const market of a.markets) {
      const pair = planted.get(market.key)
      if (pair === undefined) continue
      const numbers = index.find(keysOfMarket(market))
      assert.ok(numbers.length <= CANDIDATES_MAX)
      assert.equal(new Set(numbers).size, numbers.length)
      requested += 1
      if (numbers.some((number) => b.markets[number]?.key === pair.other)) found += 1
    }
    assert.ok(requested > (isLong ? 1_000 : 500))
    assert.ok(found >= requested * 0.98, `${found} of ${requested}`)
  })

  test('returns the same results after insertions, replacements and removals as a newly built index', () => {
    const random = seededRandom(11)
    const keys = (): BlockingKeys => {
      const set = new Set(Array.from({ length: 6 }, () => random.below(400)))
      const sorted = Uint32Array.from(set).sort()
      return { filed: sorted, queried: sorted }
    }
    const index = new Candidates()
    const living = new Map<number, BlockingKeys>()
    for (let step = 0; step < STEPS; step += 1) {
      const id = random.below(1_500)
      if (random.next() < 0.7) {
        const filed = keys()
        index.put(id, filed)
        living.set(id, filed)
      } else {
        index.remove(id)
        living.delete(id)
      }
    }
    assert.equal(index.count, living.size)
    const scratch = new Candidates()
    for (const [id, filed] of living) scratch.put(id, filed)
    for (let question = 0; question < 100; question += 1) {
      const requested = keys()
      const [one, other] = [index.find(requested, 5), scratch.find(requested, 5)]
      assert.ok(one.every((id) => living.has(id)))
      assert.equal(one.length > 0, other.length > 0)
      assert.deepEqual(sharedBy(one[0], requested, living), sharedBy(other[0], requested, living))
    }
  })

  test('finds no candidate by a word common to nearly all titles, but uses the word for ranking', () => {
    const index = new Candidates()
    for (let id = 0; id < 2_000; id += 1) {
      const filed = Uint32Array.from(id === 7 ? [2, 10, 5_000] : [2, 5_000 + id])
      index.put(id, { filed, queried: filed })
    }
    const ask = (...requested: number[]) =>
      index.find({ filed: Uint32Array.of(), queried: Uint32Array.from(requested) })
    assert.deepEqual(ask(2), [])
    assert.deepEqual(ask(2, 10), [7])
    assert.deepEqual(ask(2, 5_000)[0], 0)
  })
})

test('stores growing posting lists of the index with the same entries as a plain map', () => {
  const random = seededRandom(3)
  const postings = new Postings()
  const naive = new Map<number, number[]>()
  for (let position = 0; position < 5_000; position += 1) {
    const keys = Uint32Array.from(
      new Set(Array.from({ length: 8 }, () => random.below(3_000))),
    ).sort()
    assert.equal(postings.add(keys), position)
    assert.deepEqual([...postings.keysOf(position)], [...keys])
    for (const key of keys) naive.set(key, [...(naive.get(key) ?? []), position])
  }
  for (let key = 0; key < 3_100; key += 1) {
    const locations: number[] = []
    postings.each(key, (position) => locations.push(position))
    assert.deepEqual(locations, naive.get(key) ?? [])
    assert.equal(postings.length(key), locations.length)
  }
})

function sharedBy(
  id: number | undefined,
  { queried: requested }: BlockingKeys,
  living: ReadonlyMap<number, BlockingKeys>,
): number {
  const filed = new Set(id === undefined ? [] : living.get(id)?.filed)
  return [...requested].filter((key) => filed.has(key)).length > 0 ? 1 : 0
}
