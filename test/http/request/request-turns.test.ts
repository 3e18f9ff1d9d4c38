import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTurns } from '../../../http/request/request-turns.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

test('lets requests wait once requests have held the event loop for a slice of one tick', async () => {
  const turns = new RequestTurns(new ManualClock())
  assert.equal(turns.mustWait, false)
  turns.noteHandled(3)
  assert.equal(turns.mustWait, false)
  turns.noteHandled(2)
  assert.equal(turns.mustWait, true)
  await nextTick()
  assert.equal(turns.mustWait, false, 'in the next tick')
})

test('serves an account with one request before the remaining requests of a burst', async () => {
  const clock = new ManualClock()
  const turns = new RequestTurns(clock)
  const served: string[] = []
  const add = (account: string, name: string) => {
    const run = () => {
      served.push(name)
      clock.advance(5)
    }
    turns.add([account, `address of ${account}`], {
      run,
      refuse: () => served.push(`refused ${name}`),
    })
  }
  for (const name of ['ann 1', 'ann 2', 'ann 3']) add('ann', name)
  await nextTick()
  assert.deepEqual(served, ['ann 1'], 'one slice a tick')
  assert.equal(turns.mustWait, true, 'while others wait')
  add('bob', 'bob 1')
  for (let tick = 0; tick < 3; tick += 1) await nextTick()
  assert.deepEqual(served, ['ann 1', 'bob 1', 'ann 2', 'ann 3'])
})

test('refuses the newest request of the account with most waiting requests when full', () => {
  const turns = new RequestTurns(new ManualClock(), 3)
  const refused: string[] = []
  for (const [account, name] of [
    ['ann', 'ann 1'],
    ['ann', 'ann 2'],
    ['ann', 'ann 3'],
    ['bob', 'bob 1'],
    ['ann', 'ann 4'],
  ] as const) {
    turns.add([account], { run: () => {}, refuse: () => refused.push(name) })
  }
  assert.deepEqual(refused, ['ann 3', 'ann 4'])
})
