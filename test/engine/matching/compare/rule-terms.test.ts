// What rule texts, negations and windows decide beside the words of the question.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coinOfCode } from '../../../../engine/matching/understand/price-question.ts'
import {
  isNegative,
  understandMarket,
} from '../../../../engine/matching/understand/proposition-parser.ts'
import { otherTerms } from '../../../../engine/matching/veto/rule-vetoes.ts'
import { VETOES } from '../../../../engine/matching/veto/vetoes.ts'
import { marketA, marketB, same, score, vetoed } from '../subjects.ts'

/** Each clause that departs from the plain reading, and a sentence with its words that does not. */
const CLAUSES: Readonly<Record<string, readonly [string, string]>> = {
  overtime: ['Only regulation time counts.', 'Overtime counts.'],
  retirement: [
    'A match in which a player retires resolves to $0.50 for each side.',
    'If a player retires, the other player wins.',
  ],
  measure: [
    'The price is not the index but the median of the last trades on three exchanges.',
    'The price is the CF Benchmarks index.',
  ],
  release: [
    'The second release of the figure counts, not the first.',
    'Resolution will take place upon release of the figure.',
  ],
  meeting: [
    'Moves between meetings in the two weeks before count as part of the decision.',
    'Moves between meetings do not count.',
  ],
  office: [
    'The market resolves on who is sworn in as Mayor, not on the count of the votes.',
    'The winner will be sworn in as Mayor.',
  ],
  poll: [
    'The rating is that of the latest single poll, not the average itself.',
    'The rating is the average of all polls.',
  ],
  wording: [
    'Only the exact form of the word counts; plurals and possessives do not.',
    'Plural and possessive forms of the word will count.',
  ],
  announcement: [
    'An announcement alone does not suffice: the change must have taken effect.',
    'An announcement is sufficient.',
  ],
  confirmation: ['A rumour or an unofficial leak also counts.', 'Rumours do not count.'],
  trace: ['A trace (T) resolves to Yes.', 'A trace (T) resolves to No.'],
  readings: [
    'Hourly readings count, not the daily summary.',
    'The daily summary counts and hourly readings do not.',
  ],
  chart: ['The chart counts paid streams only.', 'The chart counts all streams.'],
  critics: [
    'The Top Critics score is used, not that of all critics.',
    'The "All Critics" score is used.',
  ],
  weekend: [
    'The four-day weekend counts, Monday included.',
    'The gross of the 3-day opening weekend counts.',
  ],
  joint: [
    'If the prize is awarded jointly, the first name in alphabetical order wins.',
    'Each of the joint winners wins.',
  ],
  tie: ['Dead heats are settled by count-back.', 'Ties count as the better place.'],
}

describe('rule terms', () => {
  for (const [name, [departs, plain]] of Object.entries(CLAUSES)) {
    test(`detects terms by which two rule texts settle differently: ${name}`, () => {
      const published = otherTerms('It resolves to Yes if it happens.', departs)
      assert.deepEqual(
        published.map((term) => term.split(':')[0]),
        [name],
      )
      assert.deepEqual(otherTerms(departs, departs), [])
      assert.deepEqual(otherTerms('It resolves to Yes if it happens.', plain), [])
      assert.deepEqual(otherTerms('', departs), [], 'an unknown text settles nothing')
    })
  }

  test('caps the score when only one rule text states a term, even for games', () => {
    const [departs = '', plain = ''] = CLAUSES.overtime ?? []
    const a = marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05', '', {
      description: 'If the Bears win, this market resolves to Bears.',
    })
    const b = (rules: string) =>
      marketB('KXNFLGAME-31OCT05CHIDET-CHI', 'Chicago at Detroit', 'Chicago', {
        rules_primary: rules,
      })
    same(score(a, b(plain)))
    vetoed(score(a, b(departs)), 'other_rules')
    assert.equal(score(a, b(departs)).score, VETOES.other_rules.cap)
  })

  test('treats a station named after the question’s location as that location’s station', () => {
    const a = (rules: string) =>
      marketA(
        'Will the highest temperature in Denver be between 70-71°F on May 4, 2031?',
        '',
        '2031-05-04',
        { description: rules },
      )
    const b = (rules: string) =>
      marketB(
        'KXHIGHDEN-31MAY04-B70.5',
        'Will the highest temperature in Denver be between 70°-71° on May 4, 2031?',
        '70° to 71°',
        { rules_primary: rules },
      )
    const city = 'If the temperature recorded in Denver is right, it resolves to Yes.'
    same(score(a('Recorded at the Denver International Airport Station.'), b(city)))
    vetoed(score(a('Recorded at the Buckley Space Force Base Station.'), b(city)), 'not_said')
    vetoed(score(a('Recorded at the Denver International Airport Station.'), b('')), 'not_said')
  })
})

describe('order of rule differences', () => {
  const explained = (rulesA: string, rulesB: string) => {
    const found = score(
      marketA(
        'Will the highest temperature in Denver be between 70-71°F on May 4, 2031?',
        '',
        '2031-05-04',
        {
          description: rulesA,
        },
      ),
      marketB(
        'KXHIGHDEN-31MAY04-B70.5',
        'Will the highest temperature in Denver be between 70°-71° on May 4, 2031?',
        '70° to 71°',
        { rules_primary: rulesB },
      ),
    )
    assert.ok(found.score <= VETOES.other_rules.cap, found.explanation)
    assert.deepEqual(found.vetoes, ['other_rules'])
    return found.explanation
  }

  test('reports differences in temperature station and source before minor terms', () => {
    assert.match(
      explained(
        'The source is Wunderground for the Denver International Airport Station.',
        'The value is taken at the harbor station of Denver by the NWS, and hourly readings count.',
      ),
      /\(station: denver.* against harbor, source: wunderground against weather service, readings: hourly readings\)\.$/,
    )
    // Equal stations are not told, and neither are equal sources.
    assert.match(
      explained(
        'Told by the NWS at the Denver Airport.',
        'Told by the NWS in Denver; hourly readings count.',
      ),
      /\(readings: hourly readings\)\.$/,
    )
  })
})

describe('polarity', () => {
  test('distinguishes negations from names and answers with the same beginning', () => {
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

  test('inverts the outcomes of a question and its negation', () => {
    const a = marketA('Will Mira Yorwick resign by May 1, 2031?', '', '2031-05-01')
    const b = (title: string) => marketB('KXRESIGN-31MAY01', title)
    same(score(a, b('Will Mira Yorwick resign before May 2, 2031?')))
    const found = score(a, b('Will Mira Yorwick not resign before May 2, 2031?'))
    vetoed(found, 'opposite_side')
    assert.deepEqual([found.inverted, found.outcomeMap], [true, [1, 0]])
  })
})

describe('up-or-down questions', () => {
  const a = (window: string, more = {}) =>
    marketA(`Stellar Up or Down - May 4, 2031, ${window} ET`, '', '2031-05-04', {
      description: 'The resolution source is Binance, specifically XLM/USDT.',
      ...more,
    })
  const b = (window: string, requested = 'up', code = 'XLM') =>
    marketB(
      `KX${code}15M-31MAY041215`,
      `${code} price ${requested} in next 15 mins?`,
      `Price ${requested}`,
      {
        event_title: `${code} Up or Down - 15 minutes`,
        sub_title: `May 4 - ${window}`,
      },
    )

  test('recognises a coin by its name or by its code in the surrounding text', () => {
    assert.equal(coinOfCode('XLM price up in next 15 mins?', ''), 'xlm')
    assert.equal(coinOfCode('', 'the Binance LINK/USDT close'), 'chainlink')
    assert.equal(coinOfCode('', 'the CF Benchmarks SOL index before 4pm'), 'solana')
    assert.equal(coinOfCode('', 'Will it rain?'), null)
    assert.equal(understandMarket(a('12PM-12:15PM')).asset, 'xlm')
    assert.equal(understandMarket(b('12pm EDT to 12:15pm EDT')).asset, 'xlm')
  })

  test('requires the same asset, window and direction for up-or-down questions', () => {
    const theirs = b('12pm EDT to 12:15pm EDT')
    same(score(a('12PM-12:15PM'), theirs))
    vetoed(score(a('12:10PM-12:25PM'), theirs), 'other_hour')
    vetoed(score(a('12PM-1PM'), theirs), 'other_hour')
    vetoed(score(a('12PM'), theirs), 'other_hour')
    vetoed(score(a('12PM-12:15PM'), b('12pm EDT to 12:15pm EDT', 'down')), 'opposite_side')
    const other = score(a('12PM-12:15PM'), b('12pm EDT to 12:15pm EDT', 'up', 'XMR'))
    assert.ok(other.vetoes.includes('other_asset'), other.explanation)
  })
})

describe('quantities beside the question', () => {
  test('reads policy rates in quarter-point steps: more than 25 basis points means 50 or more', () => {
    const a = (size: string) =>
      marketA(`Fed decision: ${size} bps decrease after the May 2031 meeting?`, '', '', {
        groupItemTitle: `${size} bps decrease`,
      })
    const b = (size: string) =>
      marketB(
        'KXFEDDECISION-31MAY-C26',
        `Will the Federal Reserve decide "Cut ${size}bps" at its May 2031 meeting?`,
        `Cut ${size}bps`,
      )
    assert.deepEqual(score(a('50+'), b('>25')).vetoes, [])
    assert.deepEqual(score(a('25'), b('25')).vetoes, [])
    assert.ok(score(a('25'), b('50')).vetoes.length > 0)
  })
})

test('rejects recurring occasions unless their dates are equal', () => {
  const a = marketA('Will MrBeast say "giveaway" during his next video?')
  const b = marketB('KXSAYB-31-GIVE', 'What will MrBeast say during his next video?', 'Giveaway')
  vetoed(score(a, b), 'other_occasion')
})

test('does not treat other questions about a game’s series as the question of its winner', () => {
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
  // What is said during a game, and prices at an hour, are no games.
  for (const title of [
    'What will the announcers say during the Chicago at Detroit game?',
    'S&P price range on Oct 5, 2031 at 4pm EDT?',
  ])
    assert.equal(understandMarket(marketB('KXNFLMENTION-31OCT05CHIDET-X', title)).game, null)
})
