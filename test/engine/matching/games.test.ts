import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyGames, compareGames } from '../../../engine/matching/compare/game-comparison.ts'
import { DEFAULT_SCORER } from '../../../engine/matching/compare/pair-scorer.ts'
import { scorePair } from '../../../engine/matching/compare/score.ts'
import { betOf, isSameKind } from '../../../engine/matching/understand/bets.ts'
import {
  competitionOfSeries,
  competitionOfSlug,
  isOtherCompetition,
  NO_COMPETITION,
} from '../../../engine/matching/understand/competitions.ts'
import type { Game } from '../../../engine/matching/understand/game.ts'
import {
  understandEvent,
  understandMarket,
} from '../../../engine/matching/understand/proposition-parser.ts'
import { gradeNames, gradeSides, SAME_SIDE } from '../../../engine/matching/understand/sides.ts'
import { MATCH_SCORE } from '../../../engine/matching/veto/vetoes.ts'
import type { MatchMarket } from '../../../engine/subject.ts'
import { KALSHI_SUBJECTS } from '../../../engine/venues/kalshi/subjects.ts'
import { marketA, marketB } from './subjects.ts'

function gameOf(market: MatchMarket): Game {
  const { game } = understandMarket(market)
  assert.ok(game !== null, market.title)
  return game
}

test('recognises each league and sport by slug, series or title, and recognises no league in other texts', () => {
  const [mlb, mls] = [competitionOfSlug('mlb', ''), competitionOfSeries('KXMLSGAME', '')]
  assert.ok(isOtherCompetition(mlb, mls))
  assert.ok(isOtherCompetition(competitionOfSlug('val', ''), competitionOfSeries('KXLOLMAP', '')))
  assert.ok(!isOtherCompetition(competitionOfSlug('cs2', ''), competitionOfSeries('KXCS2GAME', '')))
  assert.ok(!isOtherCompetition(competitionOfSlug('xyz', ''), competitionOfSeries('KXXYZGAME', '')))
})

test('recognises a team by its long name, short name or initials', () => {
  const same = [
    ['fc grunfeld 1904', 'grunfeld'],
    ['real montoya', 'montoya'],
    ['kashiwa z', 'fc kashiwa zelvia'],
    ['matheus de souza lima', 'de souza lima'],
    ['paris saint germain fc', 'psg'],
  ] as const
  for (const [one, other] of same) assert.ok(gradeNames(one, other) >= SAME_SIDE, `${one} ${other}`)
  assert.equal(gradeNames('grunfeld', 'altdorf'), 0)
})

test('recognises countries by the codes of both venues', () => {
  const side = (venue: 'a' | 'b', code: string) => ({
    ...{ venue, code, name: '' },
    handles: venue === 'a' ? ('slug' as const) : ('ticker' as const),
  })
  assert.equal(gradeSides(side('a', 'ury'), side('b', 'uru'), NO_COMPETITION), 1)
  assert.equal(gradeSides(side('a', 'kor'), side('b', 'cuw'), NO_COMPETITION), 1)
  assert.equal(gradeSides(side('a', 'aus'), side('b', 'aut'), NO_COMPETITION), 0)
})

test('recognises a team by the name or the code in a team list of a venue', () => {
  const row = (venue: 'a' | 'b', league: string, code: string, [position, nickname]: string[]) => ({
    team: {
      venue,
      league,
      code,
      name: `${position} ${nickname}`,
      location: position ?? '',
      nickname: nickname ?? '',
    },
    handles: venue === 'a' ? ('slug' as const) : ('ticker' as const),
  })
  const prince = ['Strelsau', 'Princes']
  const game = () =>
    DEFAULT_SCORER.scoreMarkets(
      DEFAULT_SCORER.readMarket(
        marketA('Princes vs. Lakers', 'nba-prn-lal-2031-11-20', '', {
          outcomes: ['Princes', 'Lakers'],
        }),
      ),
      DEFAULT_SCORER.readMarket(
        marketB('KXNBAGAME-31NOV20STRLAL-STR', 'Strelsau at Los Angeles L Winner?', 'Strelsau'),
      ),
    ).score
  const club = (name: string) => {
    const b = { venue: 'b', handles: 'ticker', code: 'zfw', name } as const
    return gradeSides(
      { venue: 'a', handles: 'slug', code: 'hen', name: '' },
      b,
      competitionOfSlug('epl', ''),
    )
  }
  assert.ok(game() < MATCH_SCORE)
  assert.ok(club('zenda wanderers') < SAME_SIDE)
  DEFAULT_SCORER.addTeams?.([row('a', 'nba', 'prn', prince), row('b', 'nba', 'str', prince)])
  DEFAULT_SCORER.addTeams?.([row('a', 'epl', 'hen', ['Zenda', 'Wanderers'])])
  assert.ok(game() >= MATCH_SCORE)
  assert.ok(club('zenda wanderers') >= SAME_SIDE)
  assert.ok(club('zagreb') < SAME_SIDE)
  DEFAULT_SCORER.addTeams?.(null)
  assert.ok(game() < MATCH_SCORE)
})

test('treats two player names that share one word as different players', () => {
  assert.ok(gradeNames('riley thornton', 'thornton blake') < SAME_SIDE)
  assert.ok(gradeNames('xin wang', 'yue wang') < SAME_SIDE)
})

test('compares the venues’ bet fields before texts, and compares unknown bets by their words', () => {
  const stated = understandMarket(
    marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05-x', '', {
      sportsMarketType: 'first_half_totals',
    }),
  )
  assert.deepEqual([stated.game?.bet.kind, stated.game?.bet.period], ['total', '1h'])
  const scope = { competition: 'Pro Football', competition_scope: 'Point Total' }
  const event = {
    event_ticker: 'KXZZZ-31OCT05CHIDET',
    title: 'Chicago at Detroit',
    product_metadata: scope,
  }
  const row = { ticker: 'KXZZZ-31OCT05CHIDET-41', title: 'Chicago at Detroit' }
  assert.equal(understandMarket(KALSHI_SUBJECTS.market(row, event)).game?.bet.kind, 'total')
  assert.ok(isSameKind('other:card first yellow', 'other:first yellow'))
  assert.ok(!isSameKind('other:card first yellow', 'other:first corner'))
  assert.ok(!isSameKind('winner', 'other:first corner'))
})

test('parses a bet with its period and unit, and retains the words of an unknown bet', () => {
  assert.deepEqual(betOf(' |  | map 2 winner', 'game2', '', ''), {
    kind: 'winner',
    period: 'map2',
    counted: '',
  })
  assert.equal(betOf('', 'first set winner', '', '').period, 'set1')
  assert.deepEqual(betOf('', '', '1h btts', ''), { kind: 'btts', period: '1h', counted: '' })
  assert.equal(betOf('o/u 8.5 total corners', '', '', '').counted, 'corners')
  assert.equal(betOf('ann doe: rebounds o/u 6.5', '', '', '').kind, 'prop:rebounds')
  assert.equal(betOf('', '', 'map', '3').period, 'map3')
  assert.match(betOf('a | | most yellow feathers', '', '', '').kind, /^other:/)
})

test('reads the side of a bet from labels, names, codes or ticker suffixes, and otherwise uses the first team named', () => {
  const plain = marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05')
  assert.equal(gameOf(plain).yesOutcome, 'first')
  assert.equal(gameOf({ ...plain, outcomes: ['Lions', 'Bears'] }).yesOutcome, 'second')
  assert.equal(
    gameOf(
      marketA('Will Altdorf win on 2031-10-05?', 'bun-gru-alt-2031-10-05-alt', '', {
        event_title: 'Grunfeld vs. Altdorf',
      }),
    ).yesOutcome,
    'second',
  )
  assert.equal(
    gameOf(marketB('KXNFLGAME-31OCT05CHIDET-DET', 'Chicago at Detroit', 'Detroit')).yesOutcome,
    'second',
  )
  assert.equal(
    gameOf(marketB('KXEPLGAME-31OCT05ARSTOT-TIE', 'Arsenal vs Tottenham', 'Tie')).yesOutcome,
    'draw',
  )
  const tiemann = marketB('KXATPMATCH-31OCT05TIEBUB-TIE', 'Tiemann vs Bubalo')
  assert.equal(gameOf(tiemann).yesOutcome, 'first', 'TIE may be a player')
  const behind = marketA(
    'Kho Kho League: Marden Lions vs. Osijana Kites - will Osijana Kites win?',
    'marden-lions-osijana-kites-november-14',
    '2031-11-20',
  )
  assert.deepEqual([gameOf(behind).yesOutcome, gameOf(behind).isDayStated], ['second', true])
})

test('reads a whole number in a ticker suffix as the line half above or half below, depending on league and text', () => {
  const line = (ticker: string, yes = '') => gameOf(marketB(ticker, '', yes)).line
  assert.equal(line('KXMLBTOTAL-31JUN101610CINSD-9'), 8.5)
  assert.equal(line('KXNHLTOTAL-31JAN10BOSTOR-6'), 6.5)
  assert.equal(line('KXMLBTOTAL-31JUN101610CINSD-9', 'Over 9.5 runs'), 9.5)
  assert.equal(line('KXLALIGATOTAL-31MAY10MALVIL-4'), 4.5)
  assert.equal(line('KXBUNDESLIGASPREAD-31MAY10M05UNI-M051'), 1.5)
  const tagged = (teams: string, event: string) => {
    const native = { ticker: `${event}-2`, event_ticker: event, title: `${teams}: Totals` }
    return gameOf(KALSHI_SUBJECTS.market({ ...native, tags: ['Soccer'] }, null)).line
  }
  assert.equal(tagged('Grunfeld vs Altmark', 'KXQUILLCUPTOTAL-31MAY12GRUALT'), 2.5)
  assert.equal(tagged('Portugal vs Nigeria', 'KXQUILLCUPTOTAL-31MAY12PORNGA'), 1.5)
  assert.equal(tagged('Portugal vs Sorland', 'KXQUILLCUPTOTAL-31MAY12PORSOR'), 2.5)
  assert.equal(
    gameOf(marketA('Spread: Grunfeld (-2.5)', 'bun-gru-alt-2031-10-05-spread-home-2pt5')).line,
    2.5,
  )
})

test('matches two markets of one game and maps the sides of the markets, whichever team each venue names first', () => {
  const a = gameOf(marketA('Northwind vs. Sable Esports', 'cs2-nw-sab1-2031-03-04'))
  const b = gameOf(marketB('KXCS2GAME-31MAR041500SABNW-NW', 'Sable Esports vs. Northwind'))
  const found = compareGames(a, b)
  assert.equal(classifyGames(found), 'same')
  assert.equal(found.side, 'same')
  const other = gameOf(marketB('KXCS2GAME-31MAR041500SABNW-SAB', 'Sable Esports vs. Northwind'))
  assert.equal(compareGames(a, other).side, 'opposite')
})

const CODED = [
  ['9z vs 3DMAX', 'KXCS2GAME-31APR029Z3DMAX', '9Z', 'first'],
  ['9z vs 3DMAX', 'KXCS2GAME-31APR0218009Z3DMAX', '3DMAX', 'second'],
  ['NRG vs Cloud9', 'KXLOLGAME-31APR02NRGC9', 'C9', 'second'],
  ['100 Thieves vs G2 Esports', 'KXVALORANTGAME-31APR02100TG2', '100T', 'first'],
  ['Grunfeld vs Sorland 04', 'KXBUNDESLIGAGAME-31OCT04GRUS04', 'S04', 'second'],
  ['Grunfeld vs Sorland 04', 'KXBUNDESLIGASPREAD-31OCT04GRUS04', 'S042', 'second'],
  ['Al Naval vs Al Hadid', 'KXSAUDIPLGAME-31FEB03AL-NAL-H', 'AL-H', 'second'],
  ['Al Naval vs Al Hadid', 'KXSAUDIPLGAME-31FEB03ALNALH', 'ALN', 'first'],
] as const

for (const [title, event, end, side] of CODED) {
  test(`recognises a team code with digits or hyphens: ${end} of ${event}`, () => {
    const native = { ticker: `${event}-${end}`, event_ticker: event, title: `${title} Winner?` }
    const game = gameOf(KALSHI_SUBJECTS.market(native, null))
    assert.equal(game.yesOutcome, side)
    assert.equal(game.run, '', 'both codes are recognised')
    const complete = understandEvent(KALSHI_SUBJECTS.event({ event_ticker: event, title }))
    assert.equal(classifyGames(compareGames(game, complete.game ?? game)), 'same')
    assert.ok(complete.game !== null)
  })
}

test('parses titles without slugs and tickers as games, in the same way for both venues', () => {
  const ours = (question: string, more = {}) =>
    marketA(question, '', '2031-11-02T00:00:00Z', {
      gameStartTime: '2031-11-02T00:00:00Z',
      ...more,
    })
  const bare = (title: string, yes: string) =>
    KALSHI_SUBJECTS.market({ title, yes_sub_title: yes, close_time: '2031-11-02T03:00:00Z' }, null)
  const teams = { outcomes: '["Celtics","Knicks"]' }
  const [one, other] = [ours('Celtics vs. Knicks', teams), 'Boston at New York K Winner? (Nov 1)']
  assert.equal(gameOf(one).competition.league, 'nba')
  assert.equal(gameOf(one).isDayStated, true)
  const found = (a: MatchMarket, b: MatchMarket) => {
    const { score, vetoes } = scorePair(understandMarket(a), understandMarket(b))
    return [score >= MATCH_SCORE, ...vetoes]
  }
  assert.deepEqual(found(one, bare(other, 'Boston')), [true])
  assert.deepEqual(found(one, bare(other, 'New York K')), [false, 'opposite_side'])
  assert.deepEqual(found(one, bare(other.replace('Nov 1', 'Nov 3'), 'Boston')), [
    false,
    'other_date',
  ])
  const total = 'Boston at New York K: Total Points (Nov 1)'
  assert.deepEqual(found(ours('Celtics vs. Knicks: O/U 221.5'), bare(total, 'Over 221.5 points')), [
    true,
  ])
  const dated = bare('Arsenal vs Tottenham Winner? (Nov 1)', 'Arsenal')
  const undated = marketA('Arsenal vs. Tottenham', '', '2031-11-01T16:00:00Z')
  assert.deepEqual(found(undated, dated), [true])
  assert.deepEqual(found(one, bare('Boston at New York K Winner?', 'Boston')), [false, 'not_said'])
  assert.equal(understandMarket(bare('Will rain fall at noon?', 'Yes')).game, null)
  assert.equal(understandMarket(bare('What will Quist say at the gala?', 'Gala')).game, null)
})

test('reads sport and competition from the venue’s fields and from the text', () => {
  const ours = marketA('Marden vs. Osijana', 'hr1-mar-osi-2031-03-08', '', {
    outcomes: '["Marden","Osijana"]',
    tags: [{ label: 'Sports' }, { label: 'Soccer' }],
  })
  const theirs = (end: string, more = {}) =>
    marketB(`KXHNLGAME-31MAR08MAROSI-${end}`, 'Marden vs Osijana Winner?', '', more)
  const vetoes = (b: MatchMarket) => scorePair(understandMarket(ours), understandMarket(b)).vetoes
  assert.deepEqual(vetoes(theirs('MAR')), [])
  assert.deepEqual(vetoes(theirs('OSI')), ['other_side'])
  const metadata = (competition: string) => ({ product_metadata: { competition } })
  assert.ok(vetoes(theirs('MAR', metadata('College Lacrosse'))).includes('other_sport'))
  const esports = (competition: string) =>
    gameOf(theirs('MAR', { tags: ['Esports'], ...metadata(competition) })).competition
  assert.ok(isOtherCompetition(esports('Counter-Strike 2'), esports('Dota 2')))
})
