import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scorePair } from '../../../../engine/matching/compare/score.ts'
import { understandMarket } from '../../../../engine/matching/understand/proposition-parser.ts'
import { Families } from '../../../../engine/matching/veto/families.ts'
import { capOf, VETOES } from '../../../../engine/matching/veto/vetoes.ts'
import type { MatchMarket } from '../../../../engine/subject.ts'
import { marketA, marketB, same, score, vetoed } from '../subjects.ts'

const game = marketA('Cubs vs. Padres', 'mlb-chc-sd-2031-06-10')
const ticker = (end: string): MatchMarket =>
  marketB(`KXMLBGAME-31JUN101610CHCSD-${end}`, 'Chicago C at San Diego')

test('rejects a pair with a single conflict, whatever the similarity of the texts', () => {
  for (const [name, { cap }] of Object.entries(VETOES)) assert.ok(cap < 80, name)
  assert.equal(capOf([]), 100)
  same(score(game, ticker('CHC')))
})

test('inverts a pair of opposite sides, and does not invert a pair with different sides among three outcomes', () => {
  const opposite = score(game, ticker('SD'))
  vetoed(opposite, 'opposite_side')
  assert.equal(opposite.score, 79)
  assert.equal(opposite.inverted, true)
  assert.deepEqual(opposite.outcomeMap, [1, 0])
  const draw = marketA('Will Arsenal vs. Tottenham end in a draw?', 'epl-ars-tot-2031-10-05-draw')
  const team = marketB('KXEPLGAME-31OCT05ARSTOT-ARS', 'Arsenal vs Tottenham', 'Arsenal')
  const other = score(draw, team)
  vetoed(other, 'other_side')
  assert.equal(other.inverted, false)
  const nations = marketA('Brazil vs. Serbia', 'zemcup-bra-srb-2031-05-11', '2031-05-11', {
    outcomes: '["Brazil","Serbia"]',
  })
  const serbia = marketB('KXZEMCUPGAME-31MAY11BRASRB-SRB', 'Brazil vs Serbia Winner?', 'Serbia')
  vetoed(score(nations, serbia), 'other_side')
})

test('ranks a confirmed event family above wording and rules, and below a different date, outcome or side', () => {
  const families = new Families([
    { a: 'acme-*-drop', b: 'KXQUOTA', word: 'confirmed', why: 'by hand' },
    { a: 'acme-never', b: 'KXQ*', word: 'rejected', why: 'both of a pattern' },
  ])
  const scoreOf = (slug: string, end: string, answer: string) => {
    const a = marketA(`Yellow ladder outcome: Ada Quill by March 31, 2031?`, slug)
    const b = marketB(`KXQUOTA-${end}`, 'Who tops the ministry list of spring?', answer)
    const checked = scorePair(understandMarket(a), understandMarket(b), 0, families)
    return [checked.score, ...checked.vetoes]
  }
  assert.deepEqual(scoreOf('acme-spring-drop', '31MAR31-AQ', 'Ada Quill'), [100])
  assert.ok(
    Number(scoreOf('acme-spring-fall', '31MAR31-AQ', 'Ada Quill')[0]) < 80,
    'no family matches',
  )
  assert.ok(scoreOf('acme-spring-drop', '31MAR31-BX', 'Bob Xu').includes('other_answer'))
  assert.ok(scoreOf('acme-spring-drop', '32MAR31-AQ', 'Ada Quill').includes('other_date'))
  assert.ok(scoreOf('acme-never', '31MAR31-AQ', 'Ada Quill').includes('other_rules'))
})

test('accepts a pair of a confirmed event family despite a touch-or-close difference, unless one market has no threshold', () => {
  const families = new Families([{ a: 'acme-*', b: 'KX*', word: 'confirmed', why: 'by hand' }])
  const scores = (a: MatchMarket, b: MatchMarket) => {
    const pair = [understandMarket(a), understandMarket(b)] as const
    return [scorePair(...pair), scorePair(...pair, 0, families)].map(({ score: value, vetoes }) => [
      value,
      ...vetoes,
    ])
  }
  const level = marketB(
    'KXBTCD-31MAY1112-T89999.99',
    'Bitcoin price on May 11, 2031 at 12:00?',
    '$90000 or above',
  )
  const touch = marketA('Will Bitcoin reach $90,000 on May 11?', 'acme-btc', '2031-05-11')
  assert.deepEqual(scores(touch, level), [[40, 'touch_or_close'], [100]])
  const plain = marketA('Quota of the ministry on March 31, 2031?', 'acme-quota', '2031-03-31')
  const above = marketB(
    'KXQUOTA-31MAR31-70',
    'Quota of the ministry on March 31, 2031?',
    'Above 70',
  )
  assert.deepEqual(scores(plain, above), [
    [40, 'not_said'],
    [40, 'not_said'],
  ])
})

test('ranks a rejection above a confirmation of the same event families, in any order of entries', () => {
  const confirmed = { a: 'acme-*', b: 'KXQUOTA', word: 'confirmed', why: 'by hand' } as const
  const rejected = { a: 'acme-never', b: 'KXQ*', word: 'rejected', why: 'both' } as const
  for (const overrides of [
    [confirmed, rejected],
    [rejected, confirmed],
  ]) {
    const families = new Families(overrides)
    assert.equal(families.of(['acme-never'], ['kxquota'])?.word, 'rejected')
    assert.equal(families.of(['acme-spring'], ['kxquota'])?.word, 'confirmed')
  }
})
