// Every veto by itself: near-duplicates that differ in one decisive detail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PairScore, scorePair } from '../../../../engine/matching/compare/score.ts'
import type { Proposition } from '../../../../engine/matching/understand/proposition.ts'
import { understandMarket } from '../../../../engine/matching/understand/proposition-parser.ts'
import { Families } from '../../../../engine/matching/veto/families.ts'
import { capOf, MATCH_SCORE, VETOES } from '../../../../engine/matching/veto/vetoes.ts'
import type { MatchMarket } from '../../../../engine/subject.ts'
import { eventA, eventB, marketA, marketB, same, score, scoreEvents, vetoed } from '../subjects.ts'

const game = (tail = '', title = 'Cubs vs. Padres'): MatchMarket =>
  marketA(title, `mlb-chc-sd-2031-06-10${tail}`)
const ticker = (end: string, date = '31JUN101610', series = 'KXMLBGAME'): MatchMarket =>
  marketB(`${series}-${date}CHCSD-${end}`, 'Chicago C at San Diego')

test('rejects a pair on a single conflict, whatever the similarity', () => {
  for (const [name, { cap }] of Object.entries(VETOES)) assert.ok(cap < 80, name)
  assert.equal(capOf([]), 100)
  same(score(game(), ticker('CHC')))
})

test('rejects a different sport or game', () => {
  assert.ok(
    score(
      game(),
      marketB('KXMLBGAME-31JUN101610CHCNYM-CHC', 'Chicago C at New York M'),
    ).vetoes.includes('other_game'),
  )
  const soccer = marketB('KXMLSGAME-31JUN10CHISD-CHI', 'Chicago Fire vs San Diego FC')
  assert.ok(score(game(), soccer).vetoes.includes('other_sport'))
  // Two games of a day are told by their starts, two schools of a place by what kind of school they are.
  const at = (gameStartTime: string) =>
    marketA('Cubs vs. Padres', 'mlb-chc-sd-2031-06-10', '', { gameStartTime })
  same(score(at('2031-06-10T20:10:00Z'), ticker('CHC')))
  vetoed(score(at('2031-06-11T00:40:00Z'), ticker('CHC')), 'other_game')
  const school = (names: string) => marketA(names, 'cfb-a-b-2031-10-05')
  const tech = marketB(
    'KXNCAAFGAME-31OCT05GTMICH-GT',
    'Will Georgia Tech win the Georgia Tech vs Michigan College Football game?',
    'Georgia Tech',
  )
  same(score(school('Georgia Tech Yellow Jackets vs. Michigan'), tech))
  assert.ok(score(school('Georgia vs. Michigan'), tech).vetoes.includes('other_game'))
})

test('rejects the same teams on a different day of a daily series', () => {
  vetoed(score(game(), ticker('CHC', '31JUN111610')), 'other_date')
  // A football league's games are dated apart by up to a day, and start on one.
  const kick = (gameStartTime: string) =>
    marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05', '', { gameStartTime })
  const lions = marketB('KXNFLGAME-31OCT06CHIDET-CHI', 'Chicago at Detroit', 'Chicago', {
    occurrence_datetime: '2031-10-06T20:00:00Z',
  })
  same(score(kick('2031-10-06T17:00:00Z'), lions))
  vetoed(score(kick('2031-10-05T17:00:00Z'), lions), 'other_date')
  // Venue b's time is three hours after the start: of a late game that is the next day, by any clock.
  const late = marketB('KXNFLGAME-31OCT05CHIDET-CHI', 'Chicago at Detroit', 'Chicago', {
    occurrence_datetime: '2031-10-06T05:20:00Z',
  })
  same(score(kick('2031-10-06T02:20:00Z'), late))
  const speech = (day: string) =>
    eventB('What will Quist say at the gala?', `On ${day}`, 'KXQUIST-31MAY04')
  const a = eventA('What will Quist say at the gala on May 3?', '2031-05-03')
  vetoed(scoreEvents(a, { ...speech('May 4, 2031') }), 'other_date')
})

test('rejects a different bet, part or line of the same game', () => {
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

test('inverts the opposite side, but not another of three outcomes', () => {
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
  // National teams play soccer, whatever league is not known.
  const nations = marketA('Brazil vs. Serbia', 'zemcup-bra-srb-2031-05-11', '2031-05-11', {
    outcomes: '["Brazil","Serbia"]',
  })
  const serbia = marketB('KXZEMCUPGAME-31MAY11BRASRB-SRB', 'Brazil vs Serbia Winner?', 'Serbia')
  vetoed(score(nations, serbia), 'other_side')
})

test('reports an opposite side along with other differences', () => {
  const found = score(game(), ticker('SD', '31JUN111610'))
  assert.deepEqual(found.vetoes, ['other_date', 'opposite_side'])
  // It is no inverted pair yet: it is another game as far as is known.
  assert.deepEqual([found.score, found.inverted, found.outcomeMap], [30, false, null])
  assert.deepEqual(score(game(), ticker('CHC', '31JUN111610')).vetoes, ['other_date'])
  const another = marketB('KXMLBGAME-31JUN101610NYMSD-SD', 'New York M at San Diego')
  assert.ok(!score(game(), another).vetoes.includes('opposite_side'))
})

test('parses days and hours in everyday wording and rejects games on different days', () => {
  const published = score(game(), ticker('CHC', '31JUN111610')).explanation
  assert.match(
    published,
    /^Both agree \(same teams, .*but: another date or deadline \(1 day apart\)\.$/,
  )
  assert.match(
    score(game(), ticker('CHC', '31JUN121610')).explanation,
    /\(same teams, .*\(2 days apart\)/,
  )
  assert.match(score(game(), ticker('CHC')).explanation, /same game/)
  const at = (gameStartTime: string) =>
    marketA('Cubs vs. Padres', 'mlb-chc-sd-2031-06-10', '', { gameStartTime })
  assert.match(
    score(at('2031-06-11T00:40:00Z'), ticker('CHC')).explanation,
    /\(same teams, .*but: another game \(starts 5 hours apart\)/,
  )
  const a = price('Bitcoin above 90,000 on May 11, 5:25AM ET?')
  assert.match(score(a, strike('17', 90_000)).explanation, /\(05:25 against 17:00 ET\)/)
})

test('rejects a different group, season, location or country in otherwise equal wording', () => {
  const b = (group: string) => eventB(`Nations Cup Group ${group} winner?`, '', 'KXNCG-31')
  same(scoreEvents(eventA('Nations Cup Group C winner'), b('C')))
  vetoed(scoreEvents(eventA('Nations Cup Group C winner'), b('D')), 'other_mark')
  const figure = (position: string) =>
    marketA(`Will core inflation in ${position} be above 1% in May 2031?`, '', '', {
      groupItemTitle: '1%',
    })
  const cpi = marketB(
    'KXCPI-31MAY-T1',
    'Will core inflation in the United States be above 1% in May 2031?',
    'Above 1%',
  )
  same(score(figure('the United States'), cpi))
  vetoed(score(figure('the Eurozone'), cpi), 'other_mark')
  const golf = (deed: string) => marketA(`Will Mara Voss ${deed} the Orbex Open?`, '', '2031-05-11')
  const cut = marketB('KXCUT-31-X', 'Will Mara Voss make the cut of the Orbex Open?', 'Mara Voss', {
    close_time: '2031-05-11T14:00:00Z',
  })
  same(score(golf('make the cut of'), cut))
  assert.ok(score(golf('finish in the top 10 of'), cut).vetoes.includes('other_mark'))
  const prize = (deed: string) => marketA(`Will Mara Voss ${deed} the 2031 Quill Prize?`)
  const listed = marketB(
    'KXQUILL-31-MV',
    'Who is shortlisted for the 2031 Quill Prize?',
    'Mara Voss',
  )
  same(score(prize('be shortlisted for'), listed))
  assert.ok(score(prize('win'), listed).score < MATCH_SCORE)
})

test('does not match winning a competition with winning its award, reaching its stage or being promoted from it', () => {
  const close = { close_time: '2031-06-30T14:00:00Z' }
  const a = (deed: string) => marketA(`Will Mara Voss ${deed}?`, 'orbex', '2031-06-30')
  const b = (title: string) => marketB('KXORBEX-31-MV', title, 'Mara Voss', close)
  const winner = b('Who will win the 2031 Orbex Series?')
  const others = [
    'win Rookie of the Year in the 2031 Orbex Series',
    'be promoted to the Alta League after the 2031 Orbex Series',
    'qualify for the 2031 Orbex Series',
    'reach the final of the 2031 Orbex Series',
  ]
  for (const other of others) assert.ok(score(a(other), winner).score < MATCH_SCORE, other)
  same(score(a('win the 2031 Orbex Series'), winner))
  same(score(a(others[0] ?? ''), b('2031 Orbex Series Rookie of the Year')))
  // Who wins the runoff wins the election, and who wins a round advances by it.
  const election = marketB(
    'KXALTA-31-MV',
    'Who will win the 2031 Altland election?',
    'Mara Voss',
    close,
  )
  const isOther = (found: PairScore) => found.vetoes.includes('other_mark')
  assert.ok(!isOther(score(a('win the 2031 Altland election runoff'), election)))
  const round = b('Who will win Round 2 of the 2031 Orbex Series?')
  assert.ok(!isOther(score(a('advance in Round 2 of the 2031 Orbex Series'), round)))
})

test('does not match the question whether a figure rises with the question of its level', () => {
  const grid = ['Below 42', '42 to 42.9', 'At least 43'].map(
    (range) => `Will the rating be ${range}?`,
  )
  const level = eventA('Rating of Quist on May 9, 2031?', '2031-05-09', grid)
  const rises = eventB("Will Quist's rating increase this week?", 'On May 9, 2031', 'KXQ-31MAY09')
  assert.ok(scoreEvents(level, rises).score < MATCH_SCORE)
  const both = eventA("Will Quist's rating increase on May 9, 2031?", '2031-05-09')
  assert.ok(!scoreEvents(both, rises).vetoes.includes('other_kind'))
})

test('does not match a question about what a person says with a question about a number', () => {
  const coin = marketA('Will the price of Bitcoin be above $90,000 on May 11?', '', '2031-05-11')
  const term = marketB('KXSAYQ-31MAY11-BTC', 'What will Quist say on May 11, 2031?', 'Bitcoin')
  assert.ok(score(coin, term).vetoes.includes('other_kind'))
  same(score(marketA('Will Quist say "Bitcoin" on May 11, 2031?'), term))
})

const price = (question: string): MatchMarket => marketA(question, 'x', '2031-05-11')
const strike = (hour: string, at: number): MatchMarket =>
  marketB(
    `KXBTCD-31MAY11${hour}-T${at - 0.01}`,
    `Bitcoin price on May 11, 2031 at ${Number(hour)}:00?`,
    `$${at} or above`,
  )

test('rejects a different hour, and assumes noon for crypto questions without an hour', () => {
  same(score(price('Will the price of Bitcoin be above $90,000 on May 11?'), strike('12', 90_000)))
  vetoed(
    score(price('Will the price of Bitcoin be above $90,000 on May 11?'), strike('17', 90_000)),
    'other_hour',
  )
  same(score(price('Bitcoin above 90,000 on May 11, 5PM ET?'), strike('17', 90_000)))
  vetoed(
    score(price('Bitcoin above 90,000 on May 11, 12PM ET?'), strike('00', 90_000)),
    'other_hour',
  )
})

test('rejects a different threshold, a range inside the other range, and integers at the boundary', () => {
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

test('rejects a different asset', () => {
  const b = marketB(
    'KXETHD-31MAY1112-T2999.99',
    'Ethereum price on May 11, 2031 at 12pm?',
    '$3,000 or above',
  )
  const found = score(price('Will the price of Solana be above $3,000 on May 11?'), b)
  assert.ok(found.vetoes.includes('other_asset'))
})

test('does not match reaching a price at any time in a month with a price at one time on a day', () => {
  const b = marketB(
    'KXBTCD-31MAY3112-T89999.99',
    'Bitcoin price on May 31, 2031 at 12pm?',
    '$90,000 or above',
  )
  const found = score(price('Will Bitcoin reach $90,000 in May?'), b)
  assert.ok(found.vetoes.includes('touch_or_close'))
})

test('requires the same answer behind Yes', () => {
  const b = (yes: string) =>
    marketB('KXBAKE-31-X', 'Who will win the Great Baking Show?', yes, {
      close_time: '2031-05-11T14:00:00Z',
    })
  const a = marketA('Will Cameron Holt win the Great Baking Show?', 'bake', '2031-05-11')
  same(score(a, b('Cameron Holt')))
  assert.deepEqual(score(a, b('Mara Voss')).vetoes, ['other_answer', 'other_subject'])
  assert.deepEqual(score(a, b('Holt Barker')).vetoes, ['other_answer', 'other_subject'])
  const cup = (name: string) =>
    marketB('KXCUP-31-X', `${name} Masters: Top 20 Finishers`, 'Mara Voss')
  const voss = marketA(
    'Will Mara Voss finish in the Top 20 at the 2031 Orbex Bay Masters?',
    'x',
    '2031-05-11',
  )
  assert.ok(score(voss, cup('Vellum')).vetoes.includes('other_subject'), 'another tournament')
})

test('compares the distinctive words of two names that share a first name or competition type', () => {
  const a = (who: string, cup = 'Orbex Bay Masters') =>
    marketA(`Will ${who} finish in the Top 20 at the 2031 ${cup}?`, 'x', '2031-05-11')
  const b = (who: string, cup = 'Orbex Bay Masters', more = {}) =>
    marketB('KXCUP-31-X', `${cup}: Top 20 Finishers — ${who}`, '', {
      close_time: '2031-05-11T14:00:00Z',
      ...more,
    })
  same(score(a('Sam Stevens'), b('Sam Stevens')))
  same(score(a('Sam Burns'), b('Sam Burns')))
  // A family name that is an ordinary word, a given name that begins like another or like a family name.
  vetoed(score(a('Sam Stevens'), b('Sam Burns')), 'other_subject')
  vetoed(score(a('Sam Burns'), b('Sam Stevens')), 'other_subject')
  vetoed(score(a('Christo Quarlen'), b('Christiaan Vosshout')), 'other_subject')
  vetoed(score(a('Nicolas Quarlen'), b('Nicolai Vosgaard')), 'other_subject')
  vetoed(score(a('Peter Quarlen'), b('Paul Peterson')), 'other_subject')
  for (const who of [
    'S. Quarlen',
    'Sam J. Quarlen',
    'Sam Quarlen Jr',
    'Quarlen Sam',
    'Sam Quarlen-Voss',
  ]) {
    const found = score(a('Sam Quarlen'), b(who))
    assert.ok(!found.vetoes.includes('other_subject'), `${who}: ${found.explanation}`)
  }
  // The tour's name beside a tournament's is no other tournament's.
  const events = (one: string, other: string) =>
    scoreEvents(eventA(one), eventB(other, '', 'KXCUP'))
  const orbex = 'PGA Tour: Orbex Championship Winner'
  vetoed(events(orbex, 'PGA Championship Winner?'), 'other_subject')
  vetoed(events('PGA Championship Winner', orbex), 'other_subject')
  for (const other of ['Orbex Championship Winner?', 'PGA Orbex Championship Winner?'])
    assert.ok(!events(orbex, other).vetoes.includes('other_subject'), other)
})

test('does not treat a unit beside a range as a name', () => {
  const close = { close_time: '2031-05-31T14:00:00Z' }
  const a = (text: string) => marketA(`Will Kestrel coffee ${text} in May 2031?`, 'k', '2031-05-31')
  const b = (yes: string, title = 'Kestrel coffee in May 2031?') =>
    marketB('KXKESTREL-31MAY-X', title, yes, close)
  same(score(a('cost 82¢ or more'), b('At least 82 cents')))
  same(score(a('cost $0.82 or more'), b('82¢ or more')))
  vetoed(score(a('cost 82¢ or more'), b('At least 83 cents')), 'containment')
  same(score(a('rise to 82 or more'), b('At least 82 points')))
  vetoed(score(a('rise to 82 or more'), b('Mara 82 or more')), 'other_answer')
})

test('does not match a placeholder with any name or any other placeholder', () => {
  const a = (who: string) => marketA(`Will ${who} win the Quill Prize?`, 'quill', '2031-05-11')
  const b = (yes: string) =>
    marketB('KXQUILL-31-X', 'Who will win the Quill Prize?', yes, {
      close_time: '2031-05-11T14:00:00Z',
    })
  for (const who of ['Person Z', 'Candidate AB', '"Show B"', 'Fighter F', 'A']) {
    for (const yes of ['Mara Voss', who]) {
      const found = score(a(who), b(yes))
      assert.ok(found.vetoes.includes('other_answer'), found.explanation)
      assert.match(found.explanation, /a placeholder, for whom nobody stands/)
    }
  }
  const listed = marketA('Who will win the Quill Prize?', 'quill', '2031-05-11', {
    groupItemTitle: 'Person Z',
  })
  vetoed(score(listed, b('Mara Voss')), 'other_answer')
  // Names that look alike.
  for (const who of ['Team WE', 'X', 'Show Boat']) same(score(a(who), b(who)))
})

test('does not match bands with thresholds, or questions of how many with questions of which name', () => {
  const a = eventA('How many launches will Orbex have in 2031?', '2031-12-31', [
    'Will Orbex have between 10 and 19 launches in 2031?',
    'Will Orbex have between 20 and 29 launches in 2031?',
  ])
  const b = eventB('How many launches will Orbex have in 2031?', 'In 2031', 'KXORBEX-31', [
    'Will Orbex have above 15 launches?',
    'Will Orbex have above 25 launches?',
  ])
  assert.ok(scoreEvents(a, b).vetoes.includes('other_grid'))
  // Of outcomes that exclude each other none is a threshold, also where no market is known.
  const bands = eventA('Bitcoin price on May 11, 12PM ET?', '2031-05-11', [
    'Will the price of Bitcoin be between $90,000 and $92,000 on May 11?',
    'Will the price of Bitcoin be between $92,000 and $94,000 on May 11?',
  ])
  const published = eventB('Bitcoin price on May 11, 2031 at 12pm EDT?', '', 'KXBTC-31MAY1112')
  same(scoreEvents(bands, { ...published, isExclusive: true }))
  vetoed(scoreEvents(bands, { ...published, isExclusive: false }), 'other_grid')
  // One level of many is contained in them.
  const level = eventA('Bitcoin above $90,000 on May 11, 12PM ET?', '2031-05-11')
  vetoed(scoreEvents(level, { ...published, isExclusive: false }), 'containment')
  const margin = eventB('Margin of victory in the Zembla election?', 'In 2031', 'KXZEM-31')
  const listing = (...samples: readonly string[]): PairScore =>
    scoreEvents(eventA('Zembla election margin in 2031', '2031-12-31', samples), margin)
  const names = listing('Will Quarvo win in Zembla?', 'Will Tarvona win in Zembla?')
  assert.ok(names.score < MATCH_SCORE && /outcomes by either/.test(names.explanation))
  const numbers = listing('Quarvo by 5% to 10%?', 'Quarvo by 10% to 15%?')
  assert.ok(!/outcomes/.test(numbers.explanation), numbers.explanation)
})

test('does not match “which” or “how many” with “whether”, and does not swap subject and object', () => {
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
  // Who wins beats the other.
  const beats = marketA('Will Zembla FC beat Quarvo on May 11, 2031?', '', '2031-05-11')
  const winner = (yes: string): MatchMarket =>
    marketB('', 'Zembla FC vs Quarvo on May 11, 2031: winner?', yes)
  assert.ok(score(beats, winner('Quarvo')).vetoes.includes('other_roles'))
  same(score(beats, winner('Zembla FC')))
  // Who speaks is a role too, under either spelling; without a named person none is exchanged.
  const talk = (title: string) => eventA(title, '2031-05-11')
  const vell = eventB('What will Vell say during his meeting with Quist?', '', 'KXSV-31MAY11')
  assert.ok(
    scoreEvents(talk('What will Quist say during Vell events on May 11?'), vell).vetoes.includes(
      'other_roles',
    ),
  )
  const spelt = scoreEvents(talk('What will Zelensky say at the gala on May 11?'), {
    ...eventB('What will Zelenskyy say at the gala?', 'On May 11, 2031', 'KXZ-31MAY11'),
  })
  assert.ok(!spelt.vetoes.includes('other_roles'), spelt.explanation)
  // A question of the first to come is not one of any who come; a next occasion does not make "will anyone" an open question.
  const first = scoreEvents(
    eventA('Who will drop out of the Zembla mayor race first?'),
    eventB('Who will drop out of the Zembla mayoral race?', '', 'KXDROP-31'),
  )
  assert.match(first.explanation, /rank by the second/)
  assert.ok(
    scoreEvents(
      eventA('How many dissent at the Orbex meeting on May 11?', '2031-05-11'),
      eventB('Will anyone dissent at the next Orbex meeting?', 'On May 11, 2031', 'KXD-31MAY11'),
    ).vetoes.includes('other_form'),
  )
})

test('rejects a temperature at a different station', () => {
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
  const days = eventA('Highest temperature in Port Vale on May 11, 2031?', '2031-05-11')
  const theirs = eventB('Highest temperature in Port Vale on May 11, 2031?', '', 'KXHIGHPV-31MAY11')
  vetoed(scoreEvents(days, theirs), 'not_said')
  same(score(a, b('The reading at LaGuardia counts.')))
})

test('never matches families that a manual review found to settle differently', () => {
  const title = 'Will Trump recognize Somaliland before 2027?'
  const b = marketB('KXRECOGSOMALI-29-27', title, 'Before 2027')
  const found = score(marketA(title, 'will-trump-recognize-somaliland-before-2027'), b)
  assert.deepEqual(found.vetoes, ['other_rules'], found.explanation)
  assert.match(found.explanation, /family: acts against formal recognition/)
  same(score(marketA(title, 'x'), b))
})

test('ranks a confirmed family above wording and rules, but not above a different date, outcome or side', () => {
  const families = new Families([
    { a: 'acme-*-drop', b: 'KXQUOTA', word: 'confirmed', why: 'by hand' },
    { a: 'acme-never', b: 'KXQ*', word: 'rejected', why: 'both of a pattern' },
  ])
  const reported = (slug: string, end: string, answer: string) => {
    const a = marketA(`Yellow ladder outcome: Ada Quill by March 31, 2031?`, slug)
    const b = marketB(`KXQUOTA-${end}`, 'Who tops the ministry list of spring?', answer)
    const checked = scorePair(understandMarket(a), understandMarket(b), 0, families)
    return [checked.score, ...checked.vetoes]
  }
  assert.deepEqual(reported('acme-spring-drop', '31MAR31-AQ', 'Ada Quill'), [100])
  assert.ok(Number(reported('acme-spring-fall', '31MAR31-AQ', 'Ada Quill')[0]) < 80, 'of no family')
  assert.ok(reported('acme-spring-drop', '31MAR31-BX', 'Bob Xu').includes('other_answer'))
  assert.ok(reported('acme-spring-drop', '32MAR31-AQ', 'Ada Quill').includes('other_date'))
  assert.ok(reported('acme-never', '31MAR31-AQ', 'Ada Quill').includes('other_rules'))
})

test('confirms a confirmed family’s pair despite a touch-or-close difference, but not when only one side has a threshold', () => {
  const families = new Families([{ a: 'acme-*', b: 'KX*', word: 'confirmed', why: 'by hand' }])
  const scores = (a: MatchMarket, b: MatchMarket) => {
    const pair = [understandMarket(a), understandMarket(b)] as const
    return [scorePair(...pair), scorePair(...pair, 0, families)].map(({ score: value, vetoes }) => [
      value,
      ...vetoes,
    ])
  }
  const touch = marketA('Will Bitcoin reach $90,000 on May 11?', 'acme-btc', '2031-05-11')
  assert.deepEqual(scores(touch, strike('12', 90_000)), [[40, 'touch_or_close'], [100]])
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

test('ranks a rejection above a confirmation of the same families, in any order of entries', () => {
  const confirmed = { a: 'acme-*', b: 'KXQUOTA', word: 'confirmed', why: 'by hand' } as const
  const rejected = { a: 'acme-never', b: 'KXQ*', word: 'rejected', why: 'both' } as const
  for (const verdicts of [
    [confirmed, rejected],
    [rejected, confirmed],
  ]) {
    const families = new Families(verdicts)
    assert.equal(families.of(['acme-never'], ['kxquota'])?.word, 'rejected')
    assert.equal(families.of(['acme-spring'], ['kxquota'])?.word, 'confirmed')
  }
})

test('scores a pair with an unstated decisive fact below a match, and names the side without it', () => {
  const unsaid = (a: MatchMarket, b: MatchMarket, what: RegExp) => {
    const found = score(a, b)
    vetoed(found, 'not_said')
    assert.match(found.explanation, what)
    return found
  }
  const close = '2031-05-11'
  const at = { close_time: `${close}T14:00:00Z` }
  const jobless = (bound: string) =>
    marketA(`Will Altland have ${bound}jobless in May 2031?`, 'x', close)
  const requested = marketB('KXAJ-31MAY', 'Will Altland have over 4% jobless in May 2031?', '', at)
  same(score(jobless('over 4% '), requested))
  unsaid(jobless(''), requested, /not said \(threshold by the first\)/)
  const cup = (round: string) => `Will Mara Voss win ${round}the 2031 Orbex Cup?`
  const second = marketB('KXOC-31-MV', cup('Round 2 of '), 'Mara Voss', at)
  unsaid(marketA(cup(''), 'x', close), second, /round by the first/)
  const coin = marketB('KXBTC-31MAY11', 'Bitcoin price on May 11, 2031?', '', at)
  unsaid(marketA('Bitcoin price on May 11, 2031?', 'x', close), coin, /threshold by either/)
  // Two meetings that no text tells apart: trading ends months from one another.
  const cut = 'Will the Altland council cut its harbor levy?'
  same(score(marketA(cut, 'x', close), marketB('KXLEVY-A', cut, '', at)))
  const later = marketB('KXLEVY-B', cut, '', { close_time: '2031-09-20T14:00:00Z' })
  unsaid(marketA(cut, 'x', close), later, /date by either/)
  // Which side Yes means is never guessed, and is told where one of three outcomes could be meant.
  const side = unsaid(
    marketA('Marden vs. Osijana', 'hr1-mar-osi-2031-03-08', '', {
      outcomes: '["Marden","Osijana"]',
    }),
    marketB('KXHNLGAME-31MAR08MAROSI-XYZ', 'Marden vs Osijana Winner?'),
    /side by the second/,
  )
  assert.deepEqual([side.inverted, side.outcomeMap], [null, null])
})

test('treats a modifier found in only one venue’s title as unstated by the other side', () => {
  const a = marketA('Will Oslo count two hurricanes in 2031?', 'x')
  const { score: found, explanation } = score(
    a,
    marketB('KXH', 'Will Oslo count two major hurricanes in 2031?'),
  )
  assert.ok(found < MATCH_SCORE && explanation.includes('modifier by the first'), explanation)
  assert.ok(
    score(a, marketB('KXH', 'Will Oslo count two hurricanes in 2031?')).score >= MATCH_SCORE,
  )
})

test('rejects questions with mutually exclusive words, even in the rule sentence that restates the question', () => {
  const a = (question: string, description = '') =>
    understandMarket(marketA(question, 'x', '2031-06-30', { description }))
  const b = (title: string, yes = '') => understandMarket(marketB('KXC', title, yes))
  const isApart = (one: Proposition, other: Proposition) => {
    const { vetoes, explanation } = scorePair(one, other)
    assert.deepEqual(vetoes, ['other_mark'], explanation)
  }
  const deal = (deed: string) => `Will the Orbex takeover of Quarvo be ${deed} by June 30, 2031?`
  isApart(a(deal('approved')), b(deal('completed')))
  assert.ok(scorePair(a(deal('approved')), b(deal('cleared by regulators'))).vetoes.length < 2)
  isApart(
    a('Will Mara Voss be engaged by June 30, 2031?'),
    b('Will Mara Voss marry by June 30, 2031?'),
  )
  // The first sentence of the rules says what the title leaves out.
  const gross = 'Will "The Harbor" open above $40 million?'
  const domestic = 'This market resolves by the domestic gross of "The Harbor".'
  isApart(a(gross, domestic), b('Worldwide gross: will "The Harbor" open above $40 million?'))
  same(
    scorePair(a(gross, domestic), b('Domestic gross: will "The Harbor" open above $40 million?')),
  )
})

test('scores a pair below a match and names the word when the word narrows only one question', () => {
  const published = (one: string, other: string) =>
    score(marketA(one, 'x', '2031-06-30'), marketB('KXN', other))
  const sold = 'Will Orbex sell 500 boats by June 30, 2031?'
  const total = 'Will Orbex sell 500 boats in total by June 30, 2031?'
  same(published(sold, sold))
  same(published(total, total))
  assert.match(published(sold, total).explanation, /tally by the first/)
  const backed = published(
    'Will the Altland council back Mara Voss for mayor?',
    'Will Mara Voss be the next mayor of Altland?',
  )
  assert.match(backed.explanation, /stage by the second/)
  const final = published(
    'Will Mara Voss reach the 2031 Orbex Cup final?',
    'Will Mara Voss win the 2031 Orbex Cup?',
  )
  assert.match(final.explanation, /stage by the second/)
  const port = published(
    'Will Oslo be the busiest port in 2031?',
    'Will Oslo be the busiest inland port in 2031?',
  )
  assert.match(port.explanation, /modifier by the first/)
  const fleet = published(
    'Will Orbex own 50 boats by June 30, 2031?',
    'Will Orbex own 50 boats, including its orders, by June 30, 2031?',
  )
  assert.match(fleet.explanation, /counted by the first/)
  // Any country that does it is not the next one.
  const next = scoreEvents(
    eventA('Next country to recognize Altland?', '2031-06-30'),
    eventB('Which countries will recognize Altland?', 'Before Jul 1, 2031', 'KXR-31JUL01'),
  )
  assert.ok(next.score < MATCH_SCORE, next.explanation)
})

test('accepts soft words beside known words, merger partners in either order, and “hit” as reaching a price', () => {
  const requested = (question: string) => marketA(question, 'x', '2031-06-30')
  const record = requested("Will the men's marathon record be broken in Oslo in 2031?")
  const race = (yes: string) =>
    score(record, marketB('KXR', 'Marathon record in Oslo in 2031?', yes))
  assert.ok(!race("Men's race").vetoes.includes('other_answer'))
  assert.ok(race("Women's race").vetoes.includes('other_answer'))
  const level = marketB('KXL', 'How high will the jackpot get by June 30, 2031?', '$8 or above')
  same(score(requested('Will the jackpot hit $8 by June 30, 2031?'), level))
  const merger = requested('Orbex–Quarvo merger approved by June 30, 2031?')
  const takeover = 'Will regulators approve the takeover of Quarvo by Orbex by June 30, 2031?'
  assert.ok(!score(merger, marketB('KXM', takeover)).vetoes.includes('other_roles'))
})

test('takes the year of an event without a date from its markets', () => {
  const race = (years: readonly number[]) =>
    eventA(
      'Utah Senate Election Winner',
      '',
      years.map((year, each) => `Will Candidate ${each} win the Utah Senate race in ${year}?`),
    )
  const found = (years: readonly number[]) =>
    scoreEvents(race(years), eventB('Utah Senate winner? (2033)', '', 'SENATEUT-33'))
  same(found([2033, 2033]))
  vetoed(found([2031, 2031]), 'other_date')
  same(found([2031, 2033]))
})

test('matches a short form of a first name, and not a different first name', () => {
  const out = (name: string) => marketA(`Will ${name} resign by June 30, 2031?`, 'x', '2031-06-30')
  const requested = marketB('KXQ', 'Will Matthew Quist resign by June 30, 2031?')
  same(score(out('Matt Quist'), requested))
  assert.ok(score(out('Mark Quist'), requested).vetoes.includes('other_subject'))
})

test('matches “any other” answers only with each other', () => {
  const a = marketA('Will another team win the Oslo Cup in 2031?', 'x')
  const b = (answer: string) => marketB('KXCUP', 'Who will win the Oslo Cup in 2031?', answer)
  same(score(a, b('Other')))
  same(score(a, b('Someone else')))
  assert.ok(score(a, b('Bergen')).score < MATCH_SCORE)
  assert.ok(score(a, marketB('KXCUP', 'Will a team win the Oslo Cup in 2031?')).score < MATCH_SCORE)
})

test('does not match teams with the same nickname from different locations, even when only the rules name the location', () => {
  const requested = (position: string) =>
    understandMarket(
      marketA('Will the Rangers reach the playoffs in 2031?', '', '', {
        description: `This market resolves to "Yes" if the ${position} Rangers do.`,
      }),
    )
  const answer = understandMarket(marketB('KXP-31-R', '2031 playoffs?', 'New York Rangers'))
  assert.ok(scorePair(requested('Texas'), answer).vetoes.includes('other_subject'))
  assert.ok(!scorePair(requested('New York'), answer).vetoes.includes('other_subject'))
})

test('rejects differing words in the same position, two teams of one city, and spoken words against winners', () => {
  const apart = (one: string, other: string) => {
    const found = scoreEvents(eventA(one, 'x'), eventB(other, '', 'KXT'))
    assert.ok(found.score < MATCH_SCORE, `${found.score}: ${found.explanation}`)
  }
  apart('Will Quist announce a tariff in 2031?', 'Will Quist announce a festival in 2031?')
  apart('Top paid app in Altland on July 3, 2031?', 'Top free app in Altland on July 3, 2031?')
  apart('Who will be the next Giants head coach?', 'Next head coach of the New York Jets?')
  apart('What will Quist say at the Altland election debate?', 'Who will win the Altland election?')
  apart('Indian Premier League: Oslo Kings vs Bergen Kings', 'IPL champion?')
  apart('Will the Fen Act pass the House in 2031?', 'Will the Fen Act become law in 2031?')
  same(
    scoreEvents(
      eventA('Next Giants head coach?', 'x'),
      eventB('New York Giants next head coach?', '', 'KXT'),
    ),
  )
})

test('gives a reason for every pair just below a match, and none for dissimilar pairs', () => {
  const a = marketA('Will the Altland harbor tapestry be spoiled on loan in Oslo in 2031?', 'x')
  const near = score(a, marketB('KXTAP', 'Altland harbor tapestry harmed on loan in Oslo in 2031?'))
  assert.ok(near.score >= 40 && near.score < MATCH_SCORE, `${near.score}`)
  assert.deepEqual(near.vetoes, ['not_said'])
  assert.deepEqual(score(a, marketB('KXTAPS', 'Altland zither sold by winter?')).vetoes, [])
})
