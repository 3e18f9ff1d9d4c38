import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../engine/process/log.ts'
import { DriftProbes } from '../../../../engine/venues/drift/probes.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

test('sends drift probes one at a time after start and every hour, and abandons probes that fail or hang', async () => {
  const clock = new ManualClock()
  const probes = new DriftProbes({ clock, log: silentLog })
  const requested: string[] = []
  let answered: () => void = () => undefined
  const next = () =>
    new Promise<void>((resolve) => {
      answered = resolve
    })
  let hasAsked = next()
  probes.add({
    fails: async () => {
      requested.push('fails')
      throw new Error('no answer')
    },
    hangs: () => {
      requested.push('hangs')
      answered()
      return new Promise(() => undefined)
    },
    answers: async () => {
      requested.push('answers')
      answered()
    },
  })
  probes.start()
  probes.start()
  clock.advance(9_999)
  assert.deepEqual(requested, [])
  clock.advance(1)
  await hasAsked
  hasAsked = next()
  clock.advance(30_000)
  await hasAsked
  assert.deepEqual(requested, ['fails', 'hangs', 'answers'])
  for (let tick = 0; tick < 20; tick += 1) await null
  hasAsked = next()
  clock.advance(3_600_000)
  await hasAsked
  assert.equal(requested.length, 5)
  probes.stop()
  clock.advance(7_200_000)
  assert.equal(requested.length, 5)
})
