// Every veto by itself: near-duplicates that differ in one decisive detail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Corpus } from '../../../engine/matching/corpus.ts'
import { ruleDifferences } from '../../../engine/matching/rule-differences.ts'
import { type PairScore, scorePair } from '../../../engine/matching/score.ts'
import type { MatchEvent, MatchMarket } from '../../../engine/matching/subject.ts'
import { understandEvent, understandMarket } from '../../../engine/matching/understand.ts'
import { capOf, VETOES } from '../../../engine/matching/vetoes.ts'
import { eventA, eventB, marketA, marketB } from './subjects.ts'

const corpus = new Corpus([])

function score(a: MatchMarket, b: MatchMarket): PairScore {
  return scorePair(understandMarket(a), understandMarket(b), corpus)
}

function scoreEvents(a: MatchEvent, b: MatchEvent): PairScore {
  return scorePair(understandEvent(a), understandEvent(b), corpus)
}

/** The veto is the only one, and it keeps the pair from matching. */
function vetoed(found: PairScore, reason: string): void {
  assert.deepEqual(found.vetoes, [reason], found.explanation)
  assert.ok(found.score < 80)
}

function same(found: PairScore): void {
  assert.deepEqual(found.vetoes, [])
  assert.ok(found.score >= 80, `${found.score}: ${found.explanation}`)
  assert.equal(found.relation, 'identical')
}

const game = (tail = '', title = 'Cubs vs. Padres'): MatchMarket =>
  marketA(title, `mlb-chc-sd-2031-06-10${tail}`)
const ticker = (end: string, date = '31JUN101610', series = 'KXMLBGAME'): MatchMarket =>
  marketB(`${series}-${date}CHCSD-${end}`, 'Chicago C at San Diego')

test('[VETO1] one conflict outweighs any likeness: no cap reaches a match', () => {
  for (const [name, { cap }] of Object.entries(VETOES)) assert.ok(cap < 80, name)
  assert.equal(capOf([]), 100)
  same(score(game(), ticker('CHC')))
})

test('[VETO2] another sport or another game', () => {
  assert.ok(
    score(
      game(),
      marketB('KXMLBGAME-31JUN101610CHCNYM-CHC', 'Chicago C at New York M'),
    ).vetoes.includes('other_game'),
  )
  const soccer = marketB('KXMLSGAME-31JUN10CHISD-CHI', 'Chicago Fire vs San Diego FC')
  assert.ok(score(game(), soccer).vetoes.includes('other_sport'))
})

test('[VETO3] the same teams on another day, where games follow each other daily', () => {
  vetoed(score(game(), ticker('CHC', '31JUN111610')), 'other_date')
  const speech = (day: string) =>
    eventB('What will Quist say at the gala?', `On ${day}`, 'KXQUIST-31MAY04')
  const a = eventA('What will Quist say at the gala on May 3?', '2031-05-03')
  vetoed(scoreEvents(a, { ...speech('May 4, 2031') }), 'other_date')
})

test('[VETO4] another bet, part or line of one game', () => {
  vetoed(score(game('-total-8pt5', 'Cubs vs. Padres: O/U 8.5'), ticker('CHC')), 'other_bet')
  const total = (end: string) => ticker(end, '31JUN101610', 'KXMLBTOTAL')
  same(score(game('-total-8pt5', 'Cubs vs. Padres: O/U 8.5'), total('9')))
  vetoed(score(game('-total-8pt5', 'Cubs vs. Padres: O/U 8.5'), total('10')), 'other_line')
  const map = (n: number) =>
    marketB(`KXCS2MAP-31MAR041500SABNW-${n}-NW`, `Sable vs. Northwind: Map ${n}`)
  const a = marketA(
    'Counter-Strike: Northwind vs Sable - Map 1 Winner',
    'cs2-nw-sab-2031-03-04-game1',
  )
  same(score(a, map(1)))
  vetoed(score(a, map(2)), 'other_period')
})

test('[VETO5] the opposite side is inverted; another of three outcomes is not', () => {
  const opposite = score(game(), ticker('SD'))
  vetoed(opposite, 'opposite_side')
  assert.equal(opposite.score, 79)
  assert.equal(opposite.inverted, true)
  assert.deepEqual(opposite.outcomeMap, [1, 0])
  const draw = marketA('Will Arsenal vs. Tottenham end in a draw?', 'epl-ars-tot-2031-10-05-draw')
  const team = marketB('KXEPLGAME-31OCT05ARSTOT-ARS', 'Arsenal vs Tottenham', 'Arsenal')
  const other = score(draw, team)
  vetoed(other, 'other_side')
  assert.equal(other.inverted, false)
})

test('[VETO6] another group, season, place or country in the same words', () => {
  const b = (group: string) => eventB(`Nations Cup Group ${group} winner?`, '', 'KXNCG-31')
  same(scoreEvents(eventA('Nations Cup Group C winner'), b('C')))
  vetoed(scoreEvents(eventA('Nations Cup Group C winner'), b('D')), 'other_mark')
})

const price = (question: string): MatchMarket => marketA(question, 'x', '2031-05-11')
const strike = (hour: string, at: number): MatchMarket =>
  marketB(
    `KXBTCD-31MAY11${hour}-T${at - 0.01}`,
    `Bitcoin price on May 11, 2031 at ${Number(hour)}:00?`,
    `$${at} or above`,
  )

test('[VETO7] another hour; crypto without an hour is decided at noon', () => {
  same(score(price('Will the price of Bitcoin be above $90,000 on May 11?'), strike('12', 90_000)))
  vetoed(
    score(price('Will the price of Bitcoin be above $90,000 on May 11?'), strike('17', 90_000)),
    'other_hour',
  )
  same(score(price('Bitcoin above 90,000 on May 11, 5PM ET?'), strike('17', 90_000)))
})

test('[VETO8] another threshold, a range within the other, and whole numbers at the boundary', () => {
  const a = price('Bitcoin above 90,000 on May 11, 5PM ET?')
  vetoed(score(a, strike('17', 91_000)), 'containment')
  const film = marketA(
    'Will "Glass Harbor" score at least 70 on the Tomatometer?',
    'g',
    '2031-05-11',
  )
  const b = marketB('KXRT-GLA-70', '"Glass Harbor" Rotten Tomatoes score?', 'Above 70', {
    close_time: '2031-05-11T14:00:00Z',
  })
  vetoed(score(film, b), 'boundary')
})

test('[VETO9] another asset', () => {
  const b = marketB(
    'KXETHD-31MAY1112-T2999.99',
    'Ethereum price on May 11, 2031 at 12pm?',
    '$3,000 or above',
  )
  const found = score(price('Will the price of Solana be above $3,000 on May 11?'), b)
  assert.ok(found.vetoes.includes('other_asset'))
})

test('[VETO10] any moment of a month is not one moment of a day', () => {
  const b = marketB(
    'KXBTCD-31MAY3112-T89999.99',
    'Bitcoin price on May 31, 2031 at 12pm?',
    '$90,000 or above',
  )
  const found = score(price('Will Bitcoin reach $90,000 in May?'), b)
  assert.ok(found.vetoes.includes('touch_or_close'))
})

test('[VETO11] Yes must stand for the same answer; a short first name needs the surname', () => {
  const b = (yes: string) =>
    marketB('KXBAKE-31-X', 'Who will win the Great Baking Show?', yes, {
      close_time: '2031-05-11T14:00:00Z',
    })
  const a = marketA('Will Cameron Holt win the Great Baking Show?', 'bake', '2031-05-11')
  same(score(a, b('Cam Holt')))
  vetoed(score(a, b('Mara Voss')), 'other_answer')
  vetoed(score(a, b('Holt Barker')), 'other_answer')
  const cup = (name: string) =>
    marketB('KXCUP-31-X', `${name} Masters: Top 20 Finishers`, 'Mara Voss')
  const voss = marketA(
    'Will Mara Voss finish in the Top 20 at the 2031 Orbex Bay Masters?',
    'x',
    '2031-05-11',
  )
  assert.ok(score(voss, cup('Vellum')).vetoes.includes('other_subject'), 'another tournament')
})

test('[VETO12] numbers cut into bands are not numbers cut at thresholds', () => {
  const a = eventA('How many launches will Orbex have in 2031?', '2031-12-31', [
    'Will Orbex have between 10 and 19 launches in 2031?',
    'Will Orbex have between 20 and 29 launches in 2031?',
  ])
  const b = eventB('How many launches will Orbex have in 2031?', 'In 2031', 'KXORBEX-31', [
    'Will Orbex have above 15 launches?',
    'Will Orbex have above 25 launches?',
  ])
  assert.ok(scoreEvents(a, b).vetoes.includes('other_grid'))
})

test('[VETO13] which or how many is not whether; roles are not exchanged', () => {
  const count = eventA('How many votes will the Larks get in the Zembla election?', '2031-05-11')
  const whether = eventB(
    'Will the Larks win votes in the Zembla election?',
    'On May 11, 2031',
    'KXL-31MAY11',
  )
  assert.ok(scoreEvents(count, whether).vetoes.includes('other_form'))
  const a = marketA('Will Dana Quist endorse Omar Vell?', 'x', '2031-05-11')
  const b = marketB('KXEND-31', 'Will Omar Vell endorse Dana Quist?', '', {
    close_time: '2031-05-11T14:00:00Z',
  })
  assert.ok(score(a, b).vetoes.includes('other_roles'))
})

test('[VETO14] another station settles another temperature', () => {
  const a = marketA(
    'Will the highest temperature in Port Vale be 70°F or higher on May 11?',
    'x',
    '2031-05-11',
    {
      description: 'Resolves by the reading at LaGuardia airport.',
    },
  )
  const b = (rules: string): MatchMarket =>
    marketB(
      'KXHIGHPV-31MAY11-T69',
      'Highest temperature in Port Vale on May 11, 2031?',
      '70° or above',
      { rules_primary: rules },
    )
  vetoed(score(a, b('The reading in Central Park counts.')), 'other_rules')
  same(score(a, b('The reading at LaGuardia counts.')))
  assert.deepEqual(
    ruleDifferences('Prices of Binance.', 'CF Benchmarks decides.').map(({ name }) => name),
    ['source'],
  )
  assert.deepEqual(
    ruleDifferences('Counts until Dec 31, 2031.', 'Counts until Nov 30, 2031.').map(
      ({ name }) => name,
    ),
    ['window'],
  )
})
