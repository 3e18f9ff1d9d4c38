import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../../engine/clock.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { openKalshi } from '../../../../../engine/venues/kalshi/kalshi.ts'
import { gameDay } from '../../../../support/clients/kalshi-client.ts'

function openTeams(restUrl: string) {
  const metrics = new Metrics()
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog, metrics }
  const options = { restUrl, wsUrl: 'ws://127.0.0.1:1', keyId: null, privateKeyPem: null }
  const venue = openKalshi({ ...parts, emit: () => {} }, options)
  const count = (name: string, reason: string) =>
    metrics.count(name, 'x', { venue: 'b', reason }).value
  const suspected = (reason: string) => {
    const labels = { venue: 'b', kind: 'teams', reason }
    return metrics.count('venue_answers_doubted_total', 'x', labels).value
  }
  return { suspected, teams: () => venue.teams(new AbortController().signal), count }
}

async function openStub(t: TestContext, answers: (query: URLSearchParams) => unknown) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x')
    const answer = url.pathname === '/structured_targets' ? answers(url.searchParams) : null
    response.statusCode = answer === null ? 404 : 200
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  t.after(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return openTeams(`http://127.0.0.1:${address.port}`)
}

test('reads every team of the simulated venue unchanged', async (t) => {
  const { world, venue } = await gameDay(t)
  const { teams } = openTeams(`http://127.0.0.1:${venue.port}/trade-api/v2`)
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

test('reads all pages and stops at a repeated cursor', async (t) => {
  const row = (id: number) => ({ name: `Team ${id}`, type: 'football_team', details: {} })
  const pages: Record<string, { rows: number[]; cursor: string }> = {
    '': { rows: [1, 2], cursor: 'x' },
    x: { rows: [3], cursor: 'y' },
    y: { rows: [], cursor: 'z' },
    z: { rows: [4], cursor: '' },
  }
  const { teams, suspected } = await openStub(t, (query) => {
    const page = pages[query.get('cursor') ?? '']
    return { structured_targets: page?.rows.map(row), cursor: page?.cursor }
  })
  assert.deepEqual(
    (await teams()).map(({ name }) => name),
    ['Team 1', 'Team 2', 'Team 3', 'Team 4'],
  )
  pages.z = { rows: [4], cursor: 'y' }
  assert.equal((await teams()).length, 4)
  assert.equal(suspected('cursor'), 1)
})

test('keeps teams and individual athletes, but not team players', async (t) => {
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
  const { teams, count } = await openStub(t, () => ({ structured_targets: rows, cursor: '' }))
  const found = await teams()
  assert.deepEqual(
    found.map(({ name, league, code, location: position, nickname }) => [
      name,
      league,
      code,
      position,
      nickname,
    ]),
    [
      ['Los Angeles Rams', 'nfl', 'lar', 'Los Angeles', 'Rams'],
      ['Carlos Alcaraz', 'atp', 'alc', '', ''],
      ['A Golfer', '', '', '', ''],
      ['Chicago Bears', 'nfl', '', 'Chicago', 'Bears'],
    ],
  )
  assert.equal(count('venue_ignored_total', 'target_of_no_side'), 1)
  assert.equal(count('venue_rejected_total', 'bad_team'), 2)
})
