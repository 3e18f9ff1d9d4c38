import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonReader } from '../../../../../engine/fetch.ts'
import { readTeams } from '../../../../../engine/venues/kalshi/catalog/teams.ts'
import { gameDay } from '../../../../support/clients/kalshi-client.ts'
import { retryingHttp } from '../../../../support/clients/retrying-http.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

function openTeams(http: JsonReader) {
  const { counters, countOf, suspectCount } = venueCounters('b')
  const teams = () => readTeams({ http, counters }, new AbortController().signal)
  return { teams, countOf, suspectCount }
}

test('reads every team of the simulated Kalshi venue unchanged', async (t) => {
  const { world, venue } = await gameDay(t)
  const { teams } = openTeams(retryingHttp(t, `http://127.0.0.1:${venue.port}/trade-api/v2`))
  const found = await teams()
  assert.deepEqual(
    found,
    world.teams().map(({ league, team }) => ({
      venue: 'b',
      league,
      code: team.kalshiCode.toLowerCase(),
      name: team.name,
      location: team.location,
      nickname: team.nickname,
    })),
  )
  assert.equal(found.length, 2)
})

test('reads all pages of teams and stops at a repeated cursor', async () => {
  const row = (id: number) => ({ name: `Team ${id}`, type: 'football_team', details: {} })
  const pages: Record<string, { rows: number[]; cursor: string }> = {
    '': { rows: [1, 2], cursor: 'x' },
    x: { rows: [3], cursor: 'y' },
    y: { rows: [], cursor: 'z' },
    z: { rows: [4], cursor: '' },
  }
  const http = stubHttp((_path, query) => {
    const page = pages[query.get('cursor') ?? '']
    return { structured_targets: page?.rows.map(row), cursor: page?.cursor }
  })
  const { teams, suspectCount } = openTeams(http)
  assert.deepEqual(
    (await teams()).map(({ name }) => name),
    ['Team 1', 'Team 2', 'Team 3', 'Team 4'],
  )
  pages.z = { rows: [4], cursor: 'y' }
  assert.equal((await teams()).length, 4)
  assert.equal(suspectCount('teams', 'cursor'), 1)
  assert.ok(http.requests.every(({ path }) => path === '/structured_targets'))
})

test('reads teams and individual athletes, and no members of teams', async () => {
  const rams = { league: 'NFL', abbreviation: 'LAR', market: 'Los Angeles', nickname: 'Rams' }
  const rows = [
    { name: 'Los Angeles Rams', type: 'football_team', details: rams },
    { name: 'A Passer', type: 'football_player', details: { league: 'NFL' } },
    { name: 'Carlos Alcaraz', type: 'tennis_competitor', details: { tour: 'ATP', abbr: 'ALC' } },
    { name: 'A Golfer', type: 'golfer' },
    {
      name: 'Chicago Bears',
      type: 'football_team',
      details: { competition: 'NFL', alias: 'Bears' },
    },
    { type: 'football_team', details: {} },
    null,
  ]
  const answer = { structured_targets: rows, cursor: '' }
  const { teams, countOf } = openTeams(stubHttp(() => answer))
  const found = await teams()
  assert.deepEqual(
    found.map((team) => [team.name, team.league, team.code, team.location, team.nickname]),
    [
      ['Los Angeles Rams', 'nfl', 'lar', 'Los Angeles', 'Rams'],
      ['Carlos Alcaraz', 'atp', 'alc', '', ''],
      ['A Golfer', '', '', '', ''],
      ['Chicago Bears', 'nfl', '', 'Chicago', 'Bears'],
    ],
  )
  assert.equal(countOf('ignored', 'target_of_no_side'), 1)
  assert.equal(countOf('rejected', 'bad_team'), 2)
})
