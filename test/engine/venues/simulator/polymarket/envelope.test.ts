// What the paths of the simulated Data API v2 share, over real sockets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimWallet } from '../../../../../engine/venues/simulator/model.ts'
import { ask, record, records } from '../../../../support/clients/venue-client.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, size } from '../../../../support/worlds/stub-world.ts'

const ANN: SimWallet = { address: `0x${'a1'.repeat(20)}`, name: '', pseudonym: 'Calm-Otter' }
const BOB: SimWallet = { address: `0x${'b2'.repeat(20)}`, name: '', pseudonym: 'Idle-Raven' }

test('[SIMPM40] pages go on by signed cursors that no other path takes; under stale_cache a first page is a copy from before', async (t) => {
  const venue = await startStubVenue({ faults: ['stale_cache'] })
  t.after(() => venue.stop())
  venue.world.addEvent(1)
  const market = marketAt(venue.world, 0)
  venue.world.setLevels(market, ['ask', 0.42, 1_000_000])
  const makers = [{ wallet: BOB, size: size(10) }]
  for (let count = 0; count < 5; count += 1) {
    venue.world.trade(market, { contracts: 10, taker: ANN, makers })
    venue.clock.advance(1_000)
  }
  const of = async (path: string) => {
    const answer = await ask(`${venue.data}/v2/${path}`)
    const body = record(answer.body)
    return { answer, body, pagination: record(body.pagination ?? {}) }
  }
  const activity = `activity?user=${ANN.address}`
  const first = await of(`${activity}&limit=2`)
  assert.equal(first.answer.headers.get('cache-control'), 'public, max-age=15')
  const cursor = String(first.pagination.next_cursor)
  const second = await of(`${activity}&limit=999&cursor=${cursor}`)
  assert.deepEqual(
    [records(second.body.data).length, second.pagination.limit, second.pagination.offset],
    [2, 2, 2],
    'the size of the cursor wins',
  )
  const forged = Buffer.from(cursor, 'base64url').toString().replace('"l":2', '"l":900')
  const bad = [
    `${activity}&cursor=${Buffer.from(forged).toString('base64url')}`,
    `positions?user=${ANN.address}&cursor=${cursor}`,
    `${activity}&offset=2`,
  ]
  for (const path of bad) assert.equal((await of(path)).answer.status, 400, path)

  assert.equal(records((await of(activity)).body.data).length, 5)
  venue.chance.value = 0
  venue.clock.advance(1_000)
  let fewest = 5
  for (let count = 0; count < 30; count += 1) {
    venue.world.trade(market, { contracts: 10, taker: ANN, makers })
    const shown = records((await of(activity)).body.data).length
    fewest = Math.min(fewest, shown - count)
    venue.clock.advance(100)
  }
  assert.ok(fewest < 5, 'copies lack what is new')
  const rest = await of(`${activity}&limit=2&cursor=${cursor}`)
  assert.equal(records(rest.body.data).length, 2, 'a later page is no copy')
})
