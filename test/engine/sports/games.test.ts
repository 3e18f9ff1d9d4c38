import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addDays,
  easternDate,
  easternMs,
  isCalendarDate,
} from '../../../engine/sports/eastern-date.ts'
import type { GameClue } from '../../../engine/sports/game-clue.ts'
import { pairGames } from '../../../engine/sports/game-pairs.ts'
import { clueOfGolf, tournamentOf } from '../../../engine/sports/golf-clue.ts'
import { leagueOfSeries, leagueOfWord } from '../../../engine/sports/leagues.ts'
import { clueOfSlug } from '../../../engine/sports/slug-clue.ts'
import { sidesOfTitle } from '../../../engine/sports/team-names.ts'
import { TeamTable } from '../../../engine/sports/team-table.ts'
import { clueOfTicker } from '../../../engine/sports/ticker-clue.ts'

const NOTHING = { series: null, subtitle: '', suffixes: [], startMs: null, endMs: null }
const table = new TeamTable()

function slug(nativeId: string, title: string, startMs: number | null = null): GameClue {
  const clue = clueOfSlug('a', { ...NOTHING, nativeId, title, startMs })
  assert.ok(clue !== null, nativeId)
  return clue
}

function ticker(nativeId: string, title: string, more: object = {}): GameClue {
  const clue = clueOfTicker('b', { ...NOTHING, nativeId, title, ...more }, table)
  assert.ok(clue !== null, nativeId)
  return clue
}

const codes = ({ sides }: GameClue) => sides.map(({ code }) => code)

function keys(...clues: readonly GameClue[]) {
  return pairGames(clues, table).map(
    ({ key, sides }) => `${key} ${sides.map(({ clue }) => clue.venue).join('')}`,
  )
}

describe('leagues', () => {
  test('returns the league of a Kalshi series by its longest matching prefix, and no league for combination markets', () => {
    assert.equal(leagueOfSeries('KXNFLGAME')?.league.name, 'nfl')
    assert.equal(leagueOfSeries('KXNCAAFSPREAD')?.league.name, 'cfb')
    assert.equal(leagueOfSeries('KXNCAAWBGAME')?.league.sport, 'cbb')
    assert.equal(leagueOfSeries('KXATPCHALLENGERMATCH')?.league.name, 'atp')
    assert.equal(leagueOfSeries('KXBUNDESLIGA2GAME')?.league.name, 'bl2')
    assert.equal(leagueOfSeries('KXMVENFLSINGLEGAME'), null)
    assert.equal(leagueOfSeries('KXBTCD'), null)
  })
})

describe('clues that identify a game in texts and ids', () => {
  test('parses league, team codes and date of a slug, and assigns all events of a game the same anchor', () => {
    const game = slug('nfl-dal-phi-2025-09-04', 'Cowboys vs. Eagles')
    assert.deepEqual(codes(game), ['dal', 'phi'])
    assert.equal(game.date, '2025-09-04')
    assert.equal(slug('nfl-dal-phi-2025-09-04-more-markets', '').anchor, game.anchor)
    const tennis = slug(
      'atp-auger-aliassime-vs-ruud-2025-09-22',
      'Open: Felix Auger-Aliassime vs Casper Ruud',
    )
    assert.deepEqual(codes(tennis), ['auger-aliassime', 'ruud'])
    for (const id of [
      'nfl-champion-2026',
      'btc-updown-15m-2025-09-04',
      'nfl-dal-phi-2025-13-04',
      'nfl-mvp-2025-09-04',
    ]) {
      assert.equal(clueOfSlug('a', { ...NOTHING, nativeId: id, title: 'Who?' }), null, id)
    }
  })

  test('converts the UTC date in a slug to the US Eastern date of the game’s start', () => {
    const late = Date.parse('2025-11-03T00:00:00Z')
    assert.equal(slug('nba-chi-nyk-2025-11-03', 'Bulls vs. Knicks', late).date, '2025-11-02')
    const usual = Date.parse('2025-11-04T00:30:00Z')
    assert.equal(slug('nba-chi-nyk-2025-11-03', 'Bulls vs. Knicks', usual).date, '2025-11-03')
    // A date in the listing is not a start time.
    const listed = Date.parse('2025-10-20T01:00:00Z')
    assert.equal(slug('nba-chi-nyk-2025-11-03', 'Bulls vs. Knicks', listed).startMs, null)
  })

  test('splits two joined team codes by team list, subtitle, suffix or names', () => {
    assert.deepEqual(codes(ticker('KXNFLGAME-25NOV02DENHOU', 'Denver at Houston')), ['den', 'hou'])
    assert.deepEqual(codes(ticker('KXNHLGAME-25OCT15CGYUTA', 'Calgary vs Utah')), ['cgy', 'uta'])
    assert.deepEqual(
      codes(
        ticker('KXNCAAFGAME-25SEP06M-OHRUTG', 'Miami (OH) at Rutgers', {
          subtitle: 'M-OH at RUTG (Sep 6)',
        }),
      ),
      ['m-oh', 'rutg'],
    )
    assert.deepEqual(
      codes(ticker('KXNCAAMBGAME-26JAN31SMUSF', 'SMU at San Francisco', { suffixes: ['SMU'] })),
      ['smu', 'sf'],
    )
    assert.deepEqual(
      codes(ticker('KXNCAAFGAME-25AUG28ECUNCST', 'East Carolina at North Carolina St.')),
      ['ecu', 'ncst'],
    )
    assert.deepEqual(codes(ticker('KXATPMATCH-25OCT15KOVUGO', 'Kovacevic vs Ugo Carabelli')), [
      'kov',
      'ugo',
    ])
  })

  test('assigns spreads and props to their game, and assigns futures and unknown team pairs to no game', () => {
    const game = ticker('KXNBAGAME-26JAN09MILLAL', 'Milwaukee at Los Angeles L')
    assert.equal(
      ticker('KXNBASPREAD-26JAN09MILLAL', 'Milwaukee at Los Angeles L: Spread').anchor,
      game.anchor,
    )
    assert.equal(
      ticker('KXNBAPTS-26JAN09MILLAL', 'Milwaukee at Los Angeles L: Points').anchor,
      game.anchor,
    )
    for (const id of [
      'KXNBA-26',
      'KXNBAMVP-26',
      'KXNBAGAME-25OCT13GUAMIN',
      'KXNBADRAFT-26JUN25PICK',
      'KXMVESPORTS-25NOV02DENHOU',
    ]) {
      assert.equal(clueOfTicker('b', { ...NOTHING, nativeId: id, title: 'Who?' }, table), null, id)
    }
  })

  test('distinguishes two games of the same teams on one day by start time and ticker digit', () => {
    const timed = ticker('KXMLBGAME-26JUL282210SEALAD', 'Seattle at Los Angeles D')
    assert.equal(timed.startMs, Date.parse('2026-07-29T02:10:00Z'))
    assert.equal(timed.date, '2026-07-28')
    assert.equal(ticker('KXMLBGAME-25APR18ATHMIL2', "A's vs Milwaukee").number, 2)
    assert.equal(ticker('KXWTAMATCH-25SEP10MARMAR2', 'Maria vs Marino').number, null)
  })

  test('extracts the two teams from a title, and no teams from titles of several games, dates and questions', () => {
    assert.deepEqual(sidesOfTitle('Toronto vs Seattle (Game 5)'), ['Toronto', 'Seattle'])
    assert.deepEqual(sidesOfTitle('WTA Hamburg: Schunk or Galfi advances?'), ['Schunk', 'Galfi'])
    assert.deepEqual(sidesOfTitle('Raiders  vs. Seahawks '), ['Raiders', 'Seahawks'])
    assert.deepEqual(sidesOfTitle('North Carolina St. at Miami (FL)'), [
      'North Carolina St.',
      'Miami (FL)',
    ])
    assert.equal(sidesOfTitle('NFL MVP 2026'), null)
  })
})

describe('teams', () => {
  const team = (league: string, code: string, name: string) => {
    const found = leagueOfSeries(`KX${league}GAME`)?.league
    assert.ok(found !== undefined)
    return table.team(found, { venue: 'b', code, name })
  }
  test('resolves a team’s code, name, nickname and location at either venue to the same team', () => {
    for (const [code, name] of [
      ['jac', 'Jacksonville'],
      ['jax', 'Jaguars'],
      ['', 'Jacksonville Jaguars'],
    ] as const) {
      assert.equal(team('NFL', code, name), 'jax')
    }
    assert.equal(team('NHL', 'vgk', 'Vegas'), team('NHL', 'las', 'Golden Knights'))
    assert.equal(team('MLB', 'az', 'Arizona'), team('MLB', 'ari', 'Diamondbacks'))
    assert.equal(team('MLB', 'ath', "A's"), team('MLB', 'oak', 'Athletics'))
    // Two teams share the place name, so the code decides.
    assert.equal(team('NHL', 'nyi', 'New York'), 'nyi')
    assert.equal(team('NFL', '', 'New York'), null)
  })

  test('matches colleges and clubs by name in the short forms of either venue', () => {
    const same = (league: string, one: string, other: string) =>
      assert.equal(team(league, 'x', one), team(league, 'y', other), `${one} and ${other}`)
    same('NCAAF', 'North Carolina St.', 'NC State')
    same('NCAAMB', 'Ohio State Buckeyes', 'Ohio St.')
    same('NCAAMB', "Saint Mary's", "St. Mary's Gaels")
    same('NCAAMB', 'Connecticut Huskies', 'UConn')
    same('NCAAF', "Hawai'i", 'Hawaii Rainbow Warriors')
    same('SERIEA', 'Inter', 'FC Internazionale Milano')
    same('BUNDESLIGA', 'M´gladbach', 'Borussia Mönchengladbach')
    same('EPL', 'Nottingham', 'Nottingham Forest FC')
    assert.notEqual(team('NCAAF', 'x', 'Michigan'), team('NCAAF', 'y', 'Michigan State Spartans'))
    assert.notEqual(team('NCAAF', 'moh', 'Miami'), team('NCAAF', 'mia', 'Miami (FL)'))
    assert.notEqual(team('LIGUE1', 'par', 'Paris'), team('LIGUE1', 'psg', 'PSG'))
  })

  test('takes the team codes in keys of Kalshi games from Kalshi’s list of teams', () => {
    const taught = new TeamTable()
    const b = () =>
      [
        clueOfTicker(
          'b',
          {
            ...NOTHING,
            nativeId: 'KXNCAAFGAME-25OCT18CINOKST',
            title: 'Cincinnati at Oklahoma St.',
          },
          taught,
        ),
      ].filter((clue) => clue !== null)
    assert.deepEqual(
      pairGames(b(), taught).map(({ key }) => key),
      ['cfb-cin-okst-2025-10-18'],
    )
    taught.learn(
      {
        venue: 'a',
        league: 'cfb',
        code: 'okstcow',
        name: 'Oklahoma State Cowboys',
        location: '',
        nickname: 'Cowboys',
      },
      'slug',
    )
    assert.deepEqual(
      pairGames(b(), taught).map(({ key }) => key),
      ['cfb-cin-okstcow-2025-10-18'],
    )
  })
})

describe('team lists', () => {
  const league = leagueOfWord('cfb')
  const row = (code: string, name = `School ${code}`) =>
    ({ venue: 'a', league: 'cfb', code, name, location: '', nickname: '' }) as const

  test('uses no more memory when an equal list of teams is added every day', () => {
    assert.ok(league !== null)
    const taught = new TeamTable()
    for (let day = 0; day < 8; day += 1) {
      for (let index = 0; index < 5_000; index += 1) taught.learn(row(`x${index}`), 'slug')
    }
    taught.learn(row('newu', 'New University'), 'slug')
    assert.ok(taught.hasCode(league, 'a', 'newu'))
  })

  test('limits the number of teams of an endless list, and still updates known teams', () => {
    assert.ok(league !== null)
    const taught = new TeamTable()
    for (let index = 0; index < 50_000; index += 1) taught.learn(row(`x${index}`), 'slug')
    assert.ok(taught.hasCode(league, 'a', 'x100'))
    assert.ok(!taught.hasCode(league, 'a', 'x49999'))
    const team = () => taught.team(league, { venue: 'a', code: 'x100', name: '' })
    const before = team()
    taught.learn(row('x100', 'Quite Another Academy'), 'slug')
    assert.notEqual(team(), before)
  })
})

describe('games', () => {
  test('assigns a game the same key at both venues in either team order, based on Polymarket’s slug', () => {
    assert.deepEqual(
      keys(
        slug('nhl-lak-mon-2025-11-11', 'Kings vs. Canadiens'),
        ticker('KXNHLGAME-25NOV11MTLLA', 'Montreal vs Los Angeles'),
      ),
      ['nhl-lak-mon-2025-11-11 ab'],
    )
    assert.deepEqual(keys(ticker('KXNHLGAME-25NOV11MTLLA', 'Montreal vs Los Angeles')), [
      'nhl-mon-lak-2025-11-11 b',
    ])
  })

  test('assigns the second game of a day a separate key at both venues, by digit or start time', () => {
    const first = slug(
      'mlb-oak-mil-2025-04-18',
      'Athletics vs. Brewers',
      easternMs('2025-04-18', 780),
    )
    const second = slug(
      'mlb-oak-mil-2025-04-18-2',
      'Athletics vs. Brewers',
      easternMs('2025-04-18', 1_150),
    )
    const named = [
      ticker('KXMLBGAME-25APR18ATHMIL', "A's vs Milwaukee"),
      ticker('KXMLBGAME-25APR18ATHMIL2', "A's vs Milwaukee"),
    ]
    const timed = [
      ticker('KXMLBGAME-25APR181300ATHMIL', "A's at Milwaukee"),
      ticker('KXMLBGAME-25APR181910ATHMIL', "A's at Milwaukee"),
    ]
    const both = ['mlb-oak-mil-2025-04-18 ab', 'mlb-oak-mil-2025-04-18-2 ab']
    assert.deepEqual(keys(first, second, ...named), both)
    assert.deepEqual(keys(...timed, second, first), both)
    assert.deepEqual(keys(first, ...timed.slice(1)).length, 2)
  })

  test('matches tennis players by surname or prefix, on the date of Polymarket or an adjacent day', () => {
    const a = slug('wta-tomljan-jovic-2026-02-26', 'Austin: Ajla Tomljanovic vs Iva Jovic')
    const b = ticker('KXWTAMATCH-26FEB25TOMJOV', 'Tomljanovic vs Jovic')
    assert.deepEqual(keys(a, b), ['wta-jovic-tomljanovic-2026-02-26 ab'])
    assert.deepEqual(
      keys(
        {
          ...a,
          sides: [
            { code: 'tomljan', name: '' },
            { code: 'jovic', name: 'Iva Jovic' },
          ],
        },
        b,
      ),
      ['wta-jovic-tomljan-2026-02-26 ab'],
    )
    const far = ticker('KXWTAMATCH-26FEB23TOMJOV', 'Tomljanovic vs Jovic')
    assert.equal(keys(a, far).length, 2)
    const man = ticker('KXATPMATCH-26FEB26TOMJOV', 'Tomljanovic vs Jovic')
    assert.equal(keys(a, man).length, 2)
    // Known start times exclude the game of the same pair on the next day.
    assert.equal(
      keys(
        { ...a, startMs: Date.parse('2026-02-26T18:00:00Z') },
        { ...b, endMs: Date.parse('2026-02-25T20:00:00Z') },
      ).length,
      2,
    )
  })

  test('identifies a golf tournament by its title without the placing, and its week by the end date', () => {
    assert.equal(
      tournamentOf('PGA TOUR: The Players Championship Winner (March 15, 2026)'),
      'players championship',
    )
    assert.equal(tournamentOf('Farmers Insurance Open Top 10 Finisher'), 'farmers insurance open')
    assert.equal(tournamentOf('3M Open Champion?'), '3m open')
    assert.equal(tournamentOf('2025 Ryder Cup Winner'), null)
    assert.equal(tournamentOf('Will the Players be great?'), null)
    const clue = clueOfGolf(
      { venue: 'b', handles: 'ticker' },
      {
        ...NOTHING,
        nativeId: 'KXPGATOP10-FAIO26',
        title: 'Farmers Insurance Open Top 10 Finisher',
        endMs: Date.parse('2026-02-01T23:00:00Z'),
      },
    )
    assert.equal(clue?.date, '2026-01-29')
  })

  test('assigns games to dates in New York, including daylight saving time', () => {
    assert.equal(easternDate(Date.parse('2025-09-05T00:20:00Z')), '2025-09-04')
    assert.equal(easternDate(Date.parse('2025-07-01T03:59:00Z')), '2025-06-30')
    assert.equal(easternDate(Date.parse('2025-12-01T04:59:00Z')), '2025-11-30')
    for (let day = 0; day < 800; day += 1) {
      const date = addDays('2025-01-01', day)
      const at = easternMs(date, 13 * 60 + 5)
      const published = new Intl.DateTimeFormat('en-CA', {
        timeZone: 'America/New_York',
        dateStyle: 'short',
        timeStyle: 'short',
        hourCycle: 'h23',
      }).format(new Date(at))
      assert.equal(published, `${date}, 13:05`)
      assert.equal(easternDate(at), date)
    }
    assert.ok(
      isCalendarDate('2024-02-29') && !isCalendarDate('2025-02-29') && !isCalendarDate('2025-1-01'),
    )
  })
})
