import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TeamReader } from '../../../actors/venue/team-reader.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { TeamListing } from '../../../engine/venues/venue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('requests the list of teams at start, a minute after a failed request, and once a day', async () => {
  const clock = new ManualClock()
  const learnt: string[] = []
  let isUp = false
  let requested = 0
  const teams = async (): Promise<readonly TeamListing[]> => {
    requested += 1
    if (!isUp) throw new Error('down')
    const row = { venue: 'a', league: 'nfl', name: 'Rams', location: '', nickname: '' } as const
    return [{ ...row, code: `la${requested}` }]
  }
  const reader = new TeamReader({
    clock,
    log: silentLog,
    metrics: new Metrics(),
    async learn(listings) {
      learnt.push(...listings.map(({ code }) => code))
    },
  })
  reader.start({ key: 'a', teams })
  await tick()
  assert.deepEqual([requested, learnt], [1, []])
  isUp = true
  clock.advance(60_000)
  await tick()
  assert.deepEqual(learnt, ['la2'])
  clock.advance(86_400_000 - 1)
  await tick()
  assert.equal(requested, 2)
  clock.advance(1)
  await tick()
  assert.deepEqual(learnt, ['la2', 'la3'])
  await reader.stop()
  clock.advance(86_400_000)
  await tick()
  assert.equal(requested, 3)
})
