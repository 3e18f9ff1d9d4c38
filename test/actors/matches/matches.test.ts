import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Matches } from '../../../actors/matches/matches.ts'
import { seededRandom } from '../../../engine/random.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'

function markets(countPerVenue: number) {
  const engine = new FakeEngine(new ManualClock())
  const ofVenue = (venue: 'a' | 'b') =>
    Array.from({ length: countPerVenue }, (_, index) => engine.add(`${venue}${index}`, { venue }))
  return { a: ofVenue('a'), b: ofVenue('b') }
}

test('returns a matched pair for both of its markets, with at most one match per market', () => {
  const { a, b } = markets(6)
  const random = seededRandom(5)
  const matches = new Matches()
  let pairs: [(typeof a)[number], (typeof a)[number]][] = []
  for (let step = 0; step < 500; step += 1) {
    const one = random.pick(a)
    const other = random.pick(b)
    if (random.next() < 0.5) {
      if (random.next() < 0.5) matches.put(one, other)
      else matches.put(other, one)
      pairs = pairs.filter(([left, right]) => left !== one && right !== other)
      pairs.push([one, other])
    } else {
      const removed = random.next() < 0.5 ? one : other
      if (random.next() < 0.5) matches.remove(removed.ref)
      else matches.onRemoved(removed)
      pairs = pairs.filter((pair) => !pair.includes(removed))
    }
    assert.equal(matches.count, pairs.length)
    for (const market of a) {
      const matchedMarket = pairs.find(([left]) => left === market)?.[1] ?? null
      assert.equal(matches.matchedMarketOf(market.ref), matchedMarket)
    }
    for (const market of b) {
      const matchedMarket = pairs.find(([, right]) => right === market)?.[0] ?? null
      assert.equal(matches.matchedMarketOf(market.ref), matchedMarket)
    }
  }
})

test('increments the version of the matches when a match changes, and at no other time', () => {
  const { a, b } = markets(2)
  const [one, other] = [a[0], b[0]]
  const second = b[1]
  assert.ok(one !== undefined && other !== undefined && second !== undefined)
  const matches = new Matches()
  const grew = (act: () => void) => {
    const before = matches.version
    act()
    return matches.version > before
  }
  assert.equal(
    grew(() => matches.remove(one.ref)),
    false,
  )
  assert.equal(
    grew(() => matches.put(one, other)),
    true,
  )
  assert.equal(
    grew(() => matches.put(other, one)),
    false,
  )
  assert.equal(
    grew(() => matches.put(one, second)),
    true,
  )
  assert.equal(
    grew(() => matches.onRemoved(other)),
    false,
  )
  assert.equal(
    grew(() => matches.onRemoved(second)),
    true,
  )
})

test('does not match two markets of the same venue', () => {
  const { a } = markets(2)
  const [one, other] = a
  assert.ok(one !== undefined && other !== undefined)
  assert.throws(() => new Matches().put(one, other), /different venues/)
})

test('pairs markets that are certainly equivalent, and publishes high-confidence pairs', () => {
  const { a, b } = markets(5)
  const matches = new Matches()
  const judgements = [
    pairScore(95),
    pairScore(79),
    pairScore(95, { relation: 'subset' }),
    pairScore(95, { inverted: null }),
    pairScore(95, { inverted: true }),
  ]
  for (const [index, checked] of judgements.entries()) {
    const [one, other] = [a[index], b[index]]
    assert.ok(one !== undefined && other !== undefined)
    matches.put(one, other, checked)
    assert.equal(matches.matchedMarketOf(other.ref), index === 0 ? one : null)
    assert.equal(matches.matchOf(other.ref)?.pairScore, checked)
    assert.equal(matches.matchOfFirst(other.ref.number), null)
  }
  assert.deepEqual([matches.count, matches.total, matches.highCount], [1, 5, 4])
  for (const market of a) matches.remove(market.ref)
  assert.deepEqual([matches.count, matches.total, matches.highCount], [0, 0, 0])
})

test('retains a pair when its score changes, and updates the score of its match', () => {
  const { a, b } = markets(1)
  const [one, other] = [a[0], b[0]]
  assert.ok(one !== undefined && other !== undefined)
  const matches = new Matches()
  for (const [score, count] of [
    [70, 0],
    [90, 1],
    [85, 1],
    [60, 0],
  ] as const) {
    matches.put(one, other, pairScore(score))
    assert.deepEqual([matches.count, matches.total, matches.highCount], [count, 1, count])
  }
})
