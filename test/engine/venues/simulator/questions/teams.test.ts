// The season's teams: complete leagues, both venues' codes, no ticker that can be read two ways.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slugOf } from '../../../../../engine/venues/simulator/questions/polymarket-style.ts'
import {
  allTeams,
  kalshiLocation,
  teamsOf,
} from '../../../../../engine/venues/simulator/questions/teams.ts'

test('defines complete leagues with unique team codes', () => {
  const counts = { nfl: 32, nba: 30, mlb: 30, nhl: 32 }
  for (const [league, count] of Object.entries(counts)) {
    assert.equal(teamsOf(league).length, count)
  }
  for (const league of new Set(allTeams().map((row) => row.league))) {
    const teams = teamsOf(league)
    assert.ok(teams.length >= 30)
    for (const field of ['name', 'polymarketCode', 'kalshiCode'] as const) {
      assert.equal(new Set(teams.map((team) => team[field])).size, teams.length, field)
    }
    for (const team of teams) {
      assert.match(team.polymarketCode, /^[a-z]{2,7}$/)
      assert.match(team.kalshiCode, /^[A-Z&'.-]{2,5}$/)
    }
  }
})

test('builds a distinct ticker for every pairing of a league', () => {
  for (const league of ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'atp']) {
    const seen = new Set<string>()
    const codes = teamsOf(league).map((team) => team.kalshiCode)
    for (const away of codes) {
      for (const home of codes) {
        if (away === home) continue
        assert.ok(!seen.has(away + home), `${league} ${away}${home}`)
        seen.add(away + home)
      }
    }
  }
})

test('uses different team codes per venue where the real codes differ', () => {
  const real = { jax: 'JAC', la: 'LA', ari: 'AZ', mon: 'MTL', cal: 'CGY', las: 'VGK', utah: 'UTA' }
  for (const [polymarketCode, kalshiCode] of Object.entries(real)) {
    const found = allTeams().some(
      ({ team }) => team.polymarketCode === polymarketCode && team.kalshiCode === kalshiCode,
    )
    assert.ok(found, `${polymarketCode} is ${kalshiCode}`)
  }
})

test('adds a letter to the location of teams that share a city at venue b', () => {
  const placeOf = (league: string, code: string): string => {
    const team = teamsOf(league).find((each) => each.kalshiCode === code)
    return team === undefined ? '' : kalshiLocation(league, team)
  }
  assert.equal(placeOf('nfl', 'LA'), 'Los Angeles R')
  assert.equal(placeOf('nfl', 'NYJ'), 'New York J')
  assert.equal(placeOf('mlb', 'CWS'), 'Chicago WS')
  assert.equal(placeOf('nhl', 'LA'), 'Los Angeles')
  assert.equal(placeOf('mlb', 'ATH'), "A's")
})

test('builds slugs like Polymarket', () => {
  assert.equal(
    slugOf('Will the highest temperature in London be between 67-68°F on August 23?'),
    'will-the-highest-temperature-in-london-be-between-67-68f-on-august-23',
  )
  assert.equal(
    slugOf('Will annual inflation increase by 3.0% or more in August?'),
    'will-annual-inflation-increase-by-3pt0-or-more-in-august',
  )
  assert.equal(
    slugOf('Bitcoin above $110.5K on August 27 at 4PM ET?'),
    'bitcoin-above-110pt5k-on-august-27-at-4pm-et',
  )
  assert.equal(slugOf('between $90,000-$92,000'), 'between-90000-92000')
  assert.equal(slugOf('-5 to -4°F'), 'neg5-to-neg4f')
})
