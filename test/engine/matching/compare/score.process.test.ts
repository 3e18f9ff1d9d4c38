import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compare, EXPECTED_WEIGHTS, FEATURES } from '../../../../engine/matching/compare/compare.ts'
import { calibrated, chanceOf, train, WEIGHTS } from '../../../../engine/matching/compare/model.ts'
import { scorePair } from '../../../../engine/matching/compare/score.ts'
import {
  CROSS_VALIDATION_SPLITS,
  comparePairs,
  countAt,
  crossScore,
  foldOf,
  scoreAll,
  vetoCounts,
  wilson,
} from '../../../../engine/matching/offline/evaluation.ts'
import { pairReport } from '../../../../engine/matching/offline/evaluation-report.ts'
import {
  type LabelledPair,
  labelledPairOf,
} from '../../../../engine/matching/offline/labelled-pair.ts'
import { learnWords, tableOf } from '../../../../engine/matching/offline/learn-words.ts'
import {
  understandEvent,
  understandMarket,
} from '../../../../engine/matching/understand/proposition-parser.ts'
import { isOrdinary, weightOf } from '../../../../engine/matching/understand/text-normalization.ts'
import { KALSHI } from '../../../../engine/venues/kalshi/facts.ts'
import { POLYMARKET } from '../../../../engine/venues/polymarket/facts.ts'
import { eventA, eventB, marketA, marketB } from '../subjects.ts'

const PAIRED = [POLYMARKET, KALSHI] as const

test('trains a match model whose probabilities are calibrated', () => {
  const examples = Array.from({ length: 2_000 }, (_, index) => ({
    features: [1, index % 2],
    isSame: index % 2 === 0 ? index % 20 === 0 : index % 20 !== 1,
  }))
  const model = train(examples, [0, 1])
  assert.ok(Math.abs(chanceOf(model, [1, 0]) - 0.1) < 0.02)
  assert.ok(Math.abs(chanceOf(model, [1, 1]) - 0.9) < 0.02)
  assert.deepEqual(train([], [-2, 1]).weights, [-2, 1])
  assert.equal(WEIGHTS.weights.length, FEATURES.length)
  assert.equal(EXPECTED_WEIGHTS.length, FEATURES.length)
})

test('scores empty, very long, foreign, marked-up and nonsense texts low, and never throws', () => {
  const odd = [
    '',
    ' ',
    '?',
    '<b><script>',
    '🎲🎲',
    'a',
    '今日は雨が降りますか',
    '%PDF-1.4',
    '"'.repeat(500),
    'Will '.repeat(20_000),
    '---',
    '0x00',
    'vs. vs. vs.',
    '- 26MAY10 -',
  ]
  const text = fc.oneof(fc.constantFrom(...odd), fc.string({ unit: 'binary', maxLength: 300 }))
  const real = marketB('KXNFLGAME-31OCT05CHIDET-DET', 'Chicago at Detroit', 'Detroit')
  fc.assert(
    fc.property(text, text, text, (title, slug, other) => {
      const a = understandMarket(
        marketA(title, slug, other, { description: title, groupItemTitle: other }),
      )
      const b = understandMarket(marketB(`${other}-${slug}-X`, other, slug))
      const { score } = scorePair(a, b)
      assert.ok(score >= 0 && score <= 100)
      assert.ok(scorePair(a, understandMarket(real)).score < 80)
      const group = understandEvent(eventA(title, slug, [other, title], slug))
      assert.ok(scorePair(group, understandEvent(eventB(other, slug, other))).score <= 100)
    }),
    { numRuns: process.env.TEST_LONG === '1' ? 400 : 30 },
  )
  for (const title of ['', '?', '<b></b>', '🎲']) {
    const found = scorePair(understandMarket(marketA(title)), understandMarket(marketB('', title)))
    assert.ok(found.score < 80, title)
  }
  // A word of the slug is a property of every object.
  const champion = understandMarket(marketA('Champion', 'f1-constructor-2031-12-06-fer'))
  assert.ok(scorePair(champion, understandMarket(real)).score < 80)
})

test('explains the agreements and differences of a pair in one sentence', () => {
  const a = understandMarket(marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05'))
  const b = understandMarket(
    marketB('KXNFLGAME-31OCT05CHIDET-CHI', 'Chicago at Detroit', 'Chicago'),
  )
  const found = scorePair(a, b)
  assert.equal(found.explanation, 'The same question: same game, same bet, same side, same date.')
  assert.deepEqual(found.reasons, ['same game', 'same bet', 'same side', 'same date'])
  const other = understandMarket(
    marketB('KXNFLTOTAL-31OCT05CHIDET-41', 'Chicago at Detroit: Total Points'),
  )
  assert.match(
    scorePair(a, other).explanation,
    /but: another kind of bet \(winner against total\)\.$/,
  )
})

test('maps outcomes between equal questions and no others, and does not invert equal sides', () => {
  const a = understandMarket(marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05'))
  const b = understandMarket(
    marketB('KXNFLGAME-31OCT05CHIDET-CHI', 'Chicago at Detroit', 'Chicago'),
  )
  const found = scorePair(a, b)
  assert.deepEqual([found.relation, found.inverted, found.outcomeMap], ['identical', false, [0, 1]])
  const other = understandMarket(
    marketB('KXNFLTOTAL-31OCT05CHIDET-41', 'Chicago at Detroit: Total Points'),
  )
  assert.equal(scorePair(a, other).outcomeMap, null)
})

test('weights a word by its rarity among question families, and never treats common words as names', () => {
  const families = [
    'Will Quist open the harbor?',
    'Will Quist close the harbor?',
    'Will Quist see the tower?',
  ].map((title) => ({ titles: [title, title], prose: ['If the harbor opens to ships, then yes.'] }))
  const learned = learnWords(families)
  assert.deepEqual([learned.familyCount, learned.counts.get('quist')], [3, 3])
  assert.equal(learned.counts.has('tower'), false)
  assert.ok(learned.ordinary.includes('harbor') && !learned.ordinary.includes('quist'))
  assert.match(JSON.stringify(tableOf(learned)), /"quist"/)
  const rivals = (...titles: string[]) =>
    learnWords([
      { titles, prose: ['Once they host or perform, or finish or win, a major storm is over.'] },
    ]).rivals
  assert.ok(rivals('Will Quist see a storm?', 'Will Quist see a major storm?').includes(' major'))
  assert.ok(rivals('Will Quist host Vell?', 'Will Quist perform Vell?').includes('hosting perform'))
  assert.deepEqual(rivals('Will Quist finish Vell?', 'Will Quist win Vell?'), [])
  assert.ok(weightOf('quist') > weightOf('album') && weightOf('album') > weightOf('winx'))
  assert.ok(isOrdinary('open') && !isOrdinary('trump'))
})

function pair(label: string, team: string, day: number): LabelledPair {
  const slug = `nfl-chi-det-2031-10-0${day}`
  const ticker = `KXNFLGAME-31OCT0${day}CHIDET-${team}`
  const row = {
    ...{ label, grain: 'market' },
    polymarket: { question: 'Bears vs. Lions', slug },
    kalshi: { ticker, event_ticker: ticker.slice(0, -4), title: 'Chicago at Detroit' },
  }
  const found = labelledPairOf(row, PAIRED)
  assert.ok(found !== null)
  return found
}

test('counts errors of the match model at the match threshold, with confidence intervals', () => {
  const checked = comparePairs([
    pair('same', 'CHI', 1),
    pair('related', 'DET', 2),
    pair('same', 'DET', 3),
  ])
  const scored = scoreAll(checked, WEIGHTS)
  assert.deepEqual(countAt(scored, 80), { n: 3, same: 2, accepted: 1, right: 1 })
  const [low, high] = wilson(98, 100)
  assert.ok(Math.abs(low - 0.93) < 0.001 && Math.abs(high - 0.9945) < 0.001)
  assert.ok(
    pairReport([{ name: 'as served', scored }], scored, 5).some((line) =>
      line.includes('opposite side'),
    ),
  )
  assert.equal(labelledPairOf({ label: 'same' }, PAIRED), null)
})

test('treats a word that occurs in one market of an event as one of several answers', () => {
  const b = understandEvent(eventB('Quarvo nominations in 2031?', 'In 2031', 'KXQ-31'))
  const lacked = (...samples: readonly string[]): number => {
    const a = understandEvent(eventA('Record nominations in 2031?', '2031-12-31', samples))
    return compare(a, b).features[FEATURES.indexOf('missedB')] ?? -1
  }
  assert.equal(lacked('Will Quarvo have a nomination?', 'Will the record of Quarvo?'), 0)
  assert.ok(lacked('Will Quarvo have a nomination?', 'Will Tarvona have a nomination?') > 0)
})

test('moves uncertain probabilities toward the overall rate without changing the order of pairs', () => {
  const chances = Array.from({ length: 101 }, (_, at) => at / 100)
  const bent = chances.map(calibrated)
  assert.deepEqual(
    bent,
    bent.toSorted((one, other) => one - other),
  )
  for (const [at, chance] of chances.entries()) {
    if (chance <= 0.4 || chance >= 0.8) assert.equal(bent[at], chance)
    else assert.ok((bent[at] ?? 1) <= chance + 1e-9 && (bent[at] ?? 0) >= 0.4)
  }
  assert.ok(calibrated(0.7) < 0.5)
})

test('never splits the pairs of one event between training and evaluation', () => {
  const pairs = [1, 2, 3, 4, 5, 6].flatMap((day) => [
    pair('same', 'CHI', day),
    pair('related', 'DET', day),
  ])
  for (let at = 0; at < pairs.length; at += 2) {
    const [one, other] = [pairs[at], pairs[at + 1]]
    assert.ok(one !== undefined && other !== undefined)
    assert.equal(foldOf(one, 5), foldOf(other, 5))
  }
  const scored = crossScore(comparePairs(pairs), (one) => foldOf(one, 3))
  assert.equal(scored.length, pairs.length)
})

test('counts the correct and the wrong removals by each veto, and gives every pair a kind and source', () => {
  const pairs = [pair('same', 'CHI', 1), pair('same', 'DET', 2), pair('related', 'DET', 3)]
  const checked = comparePairs(pairs)
  const opposite = vetoCounts(scoreAll(checked, WEIGHTS)).find(
    ({ reason }) => reason === 'opposite_side',
  )
  assert.deepEqual(opposite, {
    ...{ reason: 'opposite_side', same: 1, others: 1 },
    ...{ aloneSame: 1, aloneOthers: 1 },
  })
  assert.deepEqual(
    pairs.map(({ kind }) => kind),
    ['game: american football', 'game: american football', 'game: american football'],
  )
  const [, byKind] = CROSS_VALIDATION_SPLITS
  assert.equal(byKind?.[1](checked[0]?.pair ?? pair('same', 'CHI', 4)), 'game: american football')
  const [first] = crossScore(checked, ({ kind }) => kind)
  assert.deepEqual(first?.result, scoreAll(checked, { weights: EXPECTED_WEIGHTS })[0]?.result)
})

test('extracts the meaning of Yes, the asset, the hour and the form of a question', () => {
  const coin = understandMarket(
    marketA('Will the price of Bitcoin be above $90,000 on May 11?', 'x', '2031-05-11'),
  )
  assert.deepEqual([coin.kind, coin.asset, coin.hour], ['price', 'bitcoin', 12])
  const reported = understandMarket(
    marketB('KXSAY-31MAY11-TEA', 'What will Quist say this week?', 'Tea'),
  )
  assert.deepEqual([reported.kind, reported.form, reported.answer], ['speech', 'open', ['tea']])
  assert.equal(understandEvent(eventA('How many seats will the Larks win?')).form, 'count')
})
