import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { coinOfCode } from '../../../../engine/matching/understand/price-question.ts'
import {
  isNegative,
  understandMarket,
} from '../../../../engine/matching/understand/proposition-parser.ts'
import { otherTerms } from '../../../../engine/matching/veto/rule-vetoes.ts'
import { marketA, marketB } from '../subjects.ts'

const CLAUSES: Readonly<Record<string, { departs: string; plain: string }>> = JSON.parse(
  readFileSync(new URL('./rule-clauses.json', import.meta.url), 'utf8'),
)

for (const [name, { departs, plain }] of Object.entries(CLAUSES)) {
  test(`detects terms by which two rule texts settle differently: ${name}`, () => {
    const terms = otherTerms('It resolves to Yes if it happens.', departs)
    assert.deepEqual(
      terms.map((term) => term.split(':')[0]),
      [name],
    )
    assert.deepEqual(otherTerms(departs, departs), [])
    assert.deepEqual(otherTerms('It resolves to Yes if it happens.', plain), [])
    assert.deepEqual(otherTerms('', departs), [], 'an unknown text has no terms')
  })
}

test('distinguishes a negation from a name or answer with the same first letters', () => {
  const is = (title: string, answer = '', around = '') => isNegative(title, answer, around)
  for (const denied of [
    is('will mira yorwick not resign before may 1'),
    is("mira won't resign"),
    is('will denver stay dry on may 4?'),
    is('denver rain on may 4?', 'no rain'),
    is('when will she resign?', 'not before may 1'),
    is('will she fail to qualify?'),
  ])
    assert.equal(denied, true)
  for (const plain of [
    is('will mira resign?'),
    is('will she say "do not" today?'),
    is('best documentary?', 'no other land'),
    is('fed decision?', 'no change'),
    is('who will win?', 'no one'),
    is('will it happen, and not only once?'),
    is('rank?', 'no. 1'),
  ])
    assert.equal(plain, false)
})

test('recognises a coin by its code, or by its name near words of a price question or an exchange', () => {
  assert.equal(coinOfCode('XLM price up in next 15 mins?', ''), 'xlm')
  assert.equal(coinOfCode('', 'the Binance LINK/USDT close'), 'chainlink')
  assert.equal(coinOfCode('', 'the CF Benchmarks SOL index before 4pm'), 'solana')
  assert.equal(coinOfCode('', 'Will it rain?'), null)
  const description = 'The resolution source is Binance, specifically XLM/USDT.'
  const stellar = marketA('Stellar Up or Down - May 4, 2031, 12PM ET', '', '', { description })
  assert.equal(understandMarket(stellar).asset, 'xlm')
  const code = marketB('KXXLM15M-31MAY041215', 'XLM price up in next 15 mins?', 'Price up')
  assert.equal(understandMarket(code).asset, 'xlm')
})

test('does not match a question about single games of a series with a question about the winner of the series', () => {
  const { game } = understandMarket(
    marketB('KXNHLGOAL-31OCT05CHIDET-X', 'CHI Hawks at DET Wings: Anytime Goal'),
  )
  assert.equal(game?.bet.kind, 'prop:goalscorer')
  const kinds = [
    ['KXNHLGAME-31OCT05CHIDET', 'Chicago at Detroit: Game 1 Winner?'],
    ['KXMLBSERIESEXACT-31OCT05CHIDET', 'Chicago vs Detroit Series Exact Result'],
    ['KXNFLREC-31OCT05CHIDET', 'Chicago at Detroit: Receptions'],
    ['KXNFLPREPACKSGP-31OCT05CHIDET', 'Pro Football Combo: Chicago at Detroit'],
    ['KXNFL1HWINNER-31OCT05CHIDET', 'Chicago at Detroit: First Half Winner'],
  ].map(([ticker = '', title = '']) => {
    const found = understandMarket(marketB(`${ticker}-X`, title)).game
    return [found?.bet.kind, found?.bet.period]
  })
  assert.deepEqual(kinds, [
    ['winner', 'game'],
    ['score', 'game'],
    ['other:reception', 'game'],
    ['combo', 'game'],
    ['winner', '1h'],
  ])
  for (const title of [
    'What will the announcers say during the Chicago at Detroit game?',
    'S&P price range on Oct 5, 2031 at 4pm EDT?',
  ])
    assert.equal(understandMarket(marketB('KXNFLMENTION-31OCT05CHIDET-X', title)).game, null)
})
