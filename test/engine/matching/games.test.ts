// Games out of slugs, tickers and titles: sides, bets, lines, and which side Yes means.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareGames, gameVerdict } from '../../../engine/matching/compare/games.ts'
import {
  arenaOfSeries,
  arenaOfSlug,
  isOtherArena,
  NO_ARENA,
} from '../../../engine/matching/understand/arenas.ts'
import { betOf, isSameKind } from '../../../engine/matching/understand/bets.ts'
import type { Game } from '../../../engine/matching/understand/game.ts'
import { gradeNames, gradeSides, SAME_SIDE } from '../../../engine/matching/understand/sides.ts'
import { understandMarket } from '../../../engine/matching/understand/understand.ts'
import type { MatchMarket } from '../../../engine/subject.ts'
import { KALSHI_SUBJECTS } from '../../../engine/venues/kalshi/subjects.ts'
import { marketA, marketB } from './subjects.ts'

function gameOf(market: MatchMarket): Game {
  const { game } = understandMarket(market)
  assert.ok(game !== null, market.title)
  return game
}

test('[PROP5] leagues and sports are told by slug, series or title, and exclude each other', () => {
  const [mlb, mls] = [arenaOfSlug('mlb', ''), arenaOfSeries('KXMLSGAME', '')]
  assert.ok(isOtherArena(mlb, mls))
  assert.ok(isOtherArena(arenaOfSlug('val', ''), arenaOfSeries('KXLOLMAP', '')))
  assert.ok(!isOtherArena(arenaOfSlug('cs2', ''), arenaOfSeries('KXCS2GAME', '')))
  assert.ok(!isOtherArena(arenaOfSlug('xyz', ''), arenaOfSeries('KXXYZGAME', '')))
})

test('[PROP6] one side is known under its long, short and initial name', () => {
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

test('[PROP7] countries are known under the codes of both venues; one code of one venue means another', () => {
  const side = (venue: 'a' | 'b', code: string) => ({
    ...{ code, name: '' },
    handles: venue === 'a' ? ('slug' as const) : ('ticker' as const),
  })
  assert.equal(gradeSides(side('a', 'ury'), side('b', 'uru'), NO_ARENA), 1)
  assert.equal(gradeSides(side('a', 'kor'), side('b', 'cuw'), NO_ARENA), 1)
  assert.equal(gradeSides(side('a', 'aus'), side('b', 'aut'), NO_ARENA), 0)
})

test('[PROP8] one shared name is no proof', () => {
  assert.ok(gradeNames('riley thornton', 'thornton blake') < SAME_SIDE)
  assert.ok(gradeNames('xin wang', 'yue wang') < SAME_SIDE)
})

test('[PROP9] what a venue states beside its text is read before the text, and unknown bets compare by their words', () => {
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

test('[PROP9] a bet is told with its period and what is counted; unknown bets keep their words', () => {
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

test('[PROP10] the side asked comes from labels, names, codes and ends; else the first named', () => {
  const plain = marketA('Bears vs. Lions', 'nfl-chi-det-2031-10-05')
  assert.equal(gameOf(plain).asked, 'first')
  assert.equal(gameOf({ ...plain, outcomes: ['Lions', 'Bears'] }).asked, 'second')
  assert.equal(
    gameOf(
      marketA('Will Altdorf win on 2031-10-05?', 'bun-gru-alt-2031-10-05-alt', '', {
        event_title: 'Grunfeld vs. Altdorf',
      }),
    ).asked,
    'second',
  )
  assert.equal(
    gameOf(marketB('KXNFLGAME-31OCT05CHIDET-DET', 'Chicago at Detroit', 'Detroit')).asked,
    'second',
  )
  assert.equal(
    gameOf(marketB('KXEPLGAME-31OCT05ARSTOT-TIE', 'Arsenal vs Tottenham', 'Tie')).asked,
    'draw',
  )
  const tiemann = marketB('KXATPMATCH-31OCT05TIEBUB-TIE', 'Tiemann vs Bubalo')
  assert.equal(gameOf(tiemann).asked, 'first', 'TIE may be a player')
})

test('[PROP11] the end of a ticker is the line above or below by league, unless a text says it', () => {
  const line = (ticker: string, yes = '') => gameOf(marketB(ticker, '', yes)).line
  assert.equal(line('KXMLBTOTAL-31JUN101610CINSD-9'), 8.5)
  assert.equal(line('KXNHLTOTAL-31JAN10BOSTOR-6'), 6.5)
  assert.equal(line('KXMLBTOTAL-31JUN101610CINSD-9', 'Over 9.5 runs'), 9.5)
  assert.equal(
    gameOf(marketA('Spread: Grunfeld (-2.5)', 'bun-gru-alt-2031-10-05-spread-home-2pt5')).line,
    2.5,
  )
})

test('[PROP12] one game is found in either order of its sides, and the side follows', () => {
  const a = gameOf(marketA('Northwind vs. Sable Esports', 'cs2-nw-sab1-2031-03-04'))
  const b = gameOf(marketB('KXCS2GAME-31MAR041500SABNW-NW', 'Sable Esports vs. Northwind'))
  const found = compareGames(a, b)
  assert.equal(gameVerdict(found), 'same')
  assert.equal(found.side, 'same')
  const other = gameOf(marketB('KXCS2GAME-31MAR041500SABNW-SAB', 'Sable Esports vs. Northwind'))
  assert.equal(compareGames(a, other).side, 'opposite')
})
