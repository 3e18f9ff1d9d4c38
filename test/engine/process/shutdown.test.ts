import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../engine/process/log.ts'
import { Shutdown } from '../../../engine/process/shutdown.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const exits: number[] = []
  const shutdown = new Shutdown({ clock, log: silentLog, exit: (code) => void exits.push(code) })
  return { clock, exits, shutdown }
}

const ticks = () => new Promise((resolve) => setImmediate(resolve))

test('stops each started component once in reverse order, however often a stop is requested', async () => {
  const { clock, exits, shutdown } = open()
  const ended: string[] = []
  shutdown.add(async () => void ended.push('storage'))
  shutdown.add(async () => {
    await ticks()
    ended.push('engine')
  })
  assert.equal(shutdown.hasBegun, false)
  shutdown.begin(0)
  shutdown.begin(1)
  assert.equal(shutdown.hasBegun, true)
  for (let tick = 0; tick < 5; tick += 1) await ticks()
  shutdown.begin(1)
  await ticks()
  assert.deepEqual(ended, ['engine', 'storage'])
  assert.deepEqual(exits, [0])
  assert.equal(clock.timerCount, 0)
})

test('abandons a component after 15 s when the stop of the component hangs, and reports a failed stop', async () => {
  const hanging = open()
  hanging.shutdown.add(() => new Promise(() => {}))
  hanging.shutdown.begin(0)
  await ticks()
  hanging.clock.advance(14_999)
  assert.deepEqual(hanging.exits, [])
  hanging.clock.advance(1)
  assert.deepEqual(hanging.exits, [1])
  const failing = open()
  failing.shutdown.add(async () => {
    throw new Error('the disk is gone')
  })
  failing.shutdown.begin(0)
  await ticks()
  assert.deepEqual(failing.exits, [1])
})
