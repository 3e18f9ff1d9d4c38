import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonReader } from '../../../../../engine/fetch.ts'
import { readTeams } from '../../../../../engine/venues/polymarket/catalog/teams.ts'
import { retryingHttp } from '../../../../support/clients/retrying-http.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

function openTeams(gamma: JsonReader) {
  const { counters, countOf } = venueCounters('a')
  const teams = () => readTeams({ gamma, counters }, new AbortController().signal)
  return { teams, countOf }
}

test('reads every team of the simulated Polymarket venue unchanged', async (t) => {
  const venue = await startStubVenue()
  t.after(() => venue.stop())
  const { teams } = openTeams(retryingHttp(t, venue.gamma))
  assert.deepEqual(
    await teams(),
    venue.world.teams().map(({ league, team }) => ({
      venue: 'a',
      league,
      code: team.polymarketCode,
      name: team.name,
      location: team.location,
      nickname: team.nickname,
    })),
  )
})

test('reads pages of teams of any length to the end and returns each team once', async () => {
  const rows = Array.from({ length: 230 }, (_, id) => ({
    ...{ id, name: `Town ${id} Team`, league: 'NFL', abbreviation: `T${id}`, alias: 'Team' },
  }))
  let capRows = 100
  const gamma = stubHttp((path, query) => {
    if (path !== '/teams') return null
    const offset = Number(query.get('offset'))
    return rows.slice(offset, offset + Math.min(Number(query.get('limit')), capRows))
  })
  const { teams } = openTeams(gamma)
  assert.equal((await teams()).length, 230)
  capRows = 30
  const found = await teams()
  assert.equal(found.length, 230)
  assert.deepEqual(found[229], {
    venue: 'a',
    league: 'nfl',
    code: 't229',
    name: 'Town 229 Team',
    location: 'Town 229',
    nickname: 'Team',
  })
  assert.ok(gamma.requests.every(({ query }) => Number(query.get('limit')) <= 100))
})

test('counts unreadable rows of teams, and stops when the server ignores the offset', async () => {
  const good = { id: 1, name: 'Chicago Bears', league: 'nfl', abbreviation: 'chi', alias: null }
  const bad = [null, 'x', {}, { id: 2, name: '', league: 'nfl' }, { id: 3, name: 'A', league: 7 }]
  const gamma = stubHttp(() => [good, ...bad])
  const { teams, countOf } = openTeams(gamma)
  const expected = { venue: 'a', league: 'nfl', code: 'chi', name: 'Chicago Bears' }
  assert.deepEqual(await teams(), [{ ...expected, location: '', nickname: '' }])
  assert.equal(gamma.requests.length, 2)
  // All rows that are not objects have the same key, so they are counted once.
  assert.equal(countOf('rejected', 'bad_team'), bad.length - 1)
  assert.equal(countOf('troubles', 'teams_repeat'), 1)
})

test('computes a team’s location from the team’s name without the nickname', async () => {
  const names = [
    ['Los Angeles Rams', 'Rams', 'Los Angeles'],
    ['los angeles rams', 'Rams', 'los angeles'],
    ['Ramsgate', 'gate', ''],
    ['Rams', 'Rams', ''],
    ['Carlos Alcaraz', '', ''],
  ] as const
  const rows = names.map(([name, alias], id) => ({ id, name, alias, league: 'nfl' }))
  const gamma = stubHttp((_path, query) => (query.get('offset') === '0' ? rows : []))
  const { teams } = openTeams(gamma)
  assert.deepEqual(
    (await teams()).map(({ location }) => location),
    names.map(([, , location]) => location),
  )
})

test('rejects when the venue does not respond, instead of returning an empty list of teams', async () => {
  const { teams } = openTeams(stubHttp(() => 404))
  await assert.rejects(teams())
})
