import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  MatchChanges,
  MatchTask,
  PairOverride,
} from '../../../../engine/matching/match-task.ts'
import {
  confirmed,
  openPairFinder,
  PairFinder,
} from '../../../../engine/matching/search/pair-finder.ts'
import type { MatchMarket } from '../../../../engine/subject.ts'
import { pairScore, subject, wordScorer } from '../../../support/reference/word-scorer.ts'
import { marketA, marketB } from '../subjects.ts'

class Bench {
  readonly chosen = new Map<string, MatchChanges['begun'][number]['pairScore']>()
  readonly #finder: Pick<PairFinder<unknown>, 'run'>
  readonly #numbers: readonly number[]
  #seq = 0

  constructor(finder: Pick<PairFinder<unknown>, 'run'>, markets: readonly MatchMarket[]) {
    this.#finder = finder
    const put = markets.map((market, index) => ({ number: index + 1, market }))
    this.#numbers = put.map(({ number }) => number)
    this.#run((seq) => ({ seq, kind: 'change', put, removed: [], overrides: [] }))
    this.#run((seq) => ({ seq, kind: 'find', numbers: this.#numbers }))
  }

  say(a: number, b: number, term: PairOverride['decision']): void {
    this.#run((seq) => ({
      seq,
      kind: 'change',
      put: [],
      removed: [],
      overrides: [{ a, b, decision: term }],
    }))
    for (const number of [a, b]) this.#run((seq) => ({ seq, kind: 'find', numbers: [number] }))
  }

  remove(number: number): void {
    this.#run((seq) => ({ seq, kind: 'change', put: [], removed: [number], overrides: [] }))
  }

  findAll(): void {
    this.#run((seq) => ({ seq, kind: 'find', numbers: this.#numbers }))
  }

  get pairs(): readonly string[] {
    return [...this.chosen].map(([pair, { score }]) => `${pair} ${score}`).sort()
  }

  #run(task: (seq: number) => MatchTask): void {
    this.#seq += 1
    const result = this.#finder.run(task(this.#seq))
    assert.ok(result !== 'lost')
    for (const { a, b } of result.ended) this.chosen.delete(`${a}-${b}`)
    for (const { a, b, pairScore: checked } of result.begun) this.chosen.set(`${a}-${b}`, checked)
  }
}

const titled = (venue: 'a' | 'b', title: string): MatchMarket => subject({ venue, title })

describe('pair that an operator confirmed', () => {
  const markets = [
    titled('a', 'red green blue black'),
    titled('a', 'one two three four'),
    titled('a', 'red green blue white'),
    titled('b', 'red green blue black'),
    titled('b', 'one two three four'),
  ]
  const open = () => new Bench(new PairFinder(wordScorer), markets)

  test('selects a confirmed pair instead of two pairs with higher scores, and frees the other markets of the two pairs', () => {
    const bench = open()
    assert.deepEqual(bench.pairs, ['1-4 100', '2-5 100'])
    bench.say(1, 5, 'confirmed')
    assert.deepEqual(bench.pairs, ['1-5 100', '3-4 60'])
    bench.findAll()
    assert.deepEqual(bench.pairs, ['1-5 100', '3-4 60'])
  })

  test('ends a confirmed pair when a market or the confirmation is removed, and selects the pairs with higher scores', () => {
    const bench = open()
    bench.say(1, 5, 'confirmed')
    bench.say(1, 5, null)
    assert.deepEqual(bench.pairs, ['1-4 100', '2-5 100'])
    bench.say(1, 5, 'confirmed')
    bench.remove(1)
    assert.deepEqual(bench.pairs, ['2-5 100', '3-4 60'])
  })

  test('updates the score of a confirmed pair without ending the pair', () => {
    const bench = open()
    bench.say(3, 4, 'confirmed')
    assert.deepEqual(bench.pairs, ['2-5 100', '3-4 100'])
    assert.deepEqual(bench.chosen.get('3-4')?.reasons, ['confirmed by hand'])
    bench.say(3, 4, 'rejected')
    assert.deepEqual(bench.pairs, ['1-4 100', '2-5 100'])
  })

  test('leaves a confirmed pair inverted when the two markets name opposite sides', () => {
    const game = marketA('Cubs vs. Padres', 'mlb-chc-sd-2031-06-10')
    const ticker = (end: string, date: string) =>
      marketB(`KXMLBGAME-${date}CHCSD-${end}`, 'Chicago C at San Diego')
    const reported = (theirs: MatchMarket) => {
      const bench = new Bench(openPairFinder(), [game, theirs])
      bench.say(1, 2, 'confirmed')
      const found = bench.chosen.get('1-2')
      return [found?.score, found?.inverted, found?.outcomeMap, found?.vetoes, found?.relation]
    }
    const inverted = [100, true, [1, 0], ['opposite_side'], 'identical']
    const straight = [100, false, [0, 1], [], 'identical']
    assert.deepEqual(reported(ticker('SD', '31JUN101610')), inverted)
    assert.deepEqual(
      reported(ticker('SD', '31JUN111610')),
      inverted,
      'of what was read as another day',
    )
    assert.deepEqual(reported(ticker('CHC', '31JUN101610')), straight)
    assert.deepEqual(reported(ticker('CHC', '31JUN111610')), straight)
    const { explanation } = confirmed(pairScore(30, { vetoes: ['other_date', 'opposite_side'] }))
    assert.match(explanation, /^The same question: confirmed by hand, but .*Yes of one is No/)
    const unread = confirmed(pairScore(20, { vetoes: ['other_side'], inverted: null }))
    assert.deepEqual([unread.score, unread.inverted], [100, false])
    assert.match(unread.explanation, /could not be read and count as equal\.$/)
  })
})
