import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../../engine/clock.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { openPolymarket } from '../../../../../engine/venues/polymarket/polymarket.ts'
import { PolymarketStub, type StubRest } from '../../../../support/fakes/polymarket-stub.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'

const { signal } = new AbortController()

async function openTeams(t: TestContext, rest: StubRest, gamma?: string) {
  const stub = new PolymarketStub()
  stub.rest = rest
  const hosts = await stub.start()
  const metrics = new Metrics()
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog, metrics }
  const venue = openPolymarket({ ...parts, emit: () => {} }, { ...hosts, ...(gamma && { gamma }) })
  t.after(async () => {
    await venue.feed.stop()
    await stub.stop()
  })
  const count = (name: string, reason: string) =>
    metrics.count(name, 'x', { venue: 'a', reason }).value
  return { stub, teams: () => venue.teams(signal), count }
}

test('reads every team of the simulated venue unchanged', async (t) => {
  const venue = await startStubVenue()
  t.after(() => venue.stop())
  const { teams } = await openTeams(t, () => [], venue.gamma)
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

test('reads pages of any length to the end and returns each row once', async (t) => {
  const rows = Array.from({ length: 230 }, (_, id) => ({
    ...{ id, name: `Town ${id} Team`, league: 'NFL', abbreviation: `T${id}`, alias: 'Team' },
  }))
  let capRows = 100
  const { teams, stub } = await openTeams(t, ({ path, query }) => {
    if (path !== '/teams') return 404
    const offset = Number(query.get('offset'))
    return rows.slice(offset, offset + Math.min(Number(query.get('limit')), capRows))
  })
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
  assert.ok(stub.requests.every(({ query }) => Number(query.get('limit')) <= 100))
})

test('counts unreadable rows and stops when the server ignores the offset', async (t) => {
  const good = { id: 1, name: 'Chicago Bears', league: 'nfl', abbreviation: 'chi', alias: null }
  const bad = [null, 'x', {}, { id: 2, name: '', league: 'nfl' }, { id: 3, name: 'A', league: 7 }]
  const { teams, stub, count } = await openTeams(t, () => [good, ...bad])
  const expected = { venue: 'a', league: 'nfl', code: 'chi', name: 'Chicago Bears' }
  assert.deepEqual(await teams(), [{ ...expected, location: '', nickname: '' }])
  assert.equal(stub.requests.length, 2)
  // Rows that are no objects look alike, and count once.
  assert.equal(count('venue_rejected_total', 'bad_team'), bad.length - 1)
  assert.equal(count('venue_troubles_total', 'teams_repeat'), 1)
})

test('derives a team’s location from its name without the nickname, else leaves it unknown', async (t) => {
  const names = [
    ['Los Angeles Rams', 'Rams', 'Los Angeles'],
    ['los angeles rams', 'Rams', 'los angeles'],
    ['Ramsgate', 'gate', ''],
    ['Rams', 'Rams', ''],
    ['Carlos Alcaraz', '', ''],
  ] as const
  const rows = names.map(([name, alias], id) => ({ id, name, alias, league: 'nfl' }))
  const { teams } = await openTeams(t, ({ query }) => (query.get('offset') === '0' ? rows : []))
  assert.deepEqual(
    (await teams()).map(({ location: position }) => position),
    names.map(([, , position]) => position),
  )
})

test('reports an unresponsive venue as an error, not as an empty list', async (t) => {
  const { teams } = await openTeams(t, () => 404)
  await assert.rejects(teams())
})
