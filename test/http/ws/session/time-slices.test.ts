import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AccountId, accountId } from '../../../../engine/ids.ts'
import { streamSliceMs } from '../../../../engine/limits.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Hub } from '../../../../http/ws/hub.ts'
import type { SliceOutcome, Work } from '../../../../http/ws/session/connection.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

/** The command has 100 slices. Each slice uses all of its time. */
class Busy implements Work {
  readonly caller: { readonly accountId: AccountId }
  runs = 0
  readonly #clock: ManualClock

  constructor(clock: ManualClock, account: string) {
    this.caller = { accountId: accountId(account) }
    this.#clock = clock
  }

  run(): SliceOutcome {
    this.runs += 1
    this.#clock.advance(streamSliceMs)
    return this.runs < 100 ? 'more' : 'idle'
  }
}

function open() {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const { publisher, metrics } = engine
  const topics = { numSubscribers: () => 0, publish: () => true }
  return { clock, hub: new Hub({ engine, publisher, clock, log: silentLog, metrics, topics }) }
}

const sum = (works: readonly Busy[]): number => works.reduce((total, { runs }) => total + runs, 0)

test('runs one time slice of a command at once, then one per event-loop tick, when many accounts send long commands', async () => {
  const { clock, hub } = open()
  const works = Array.from({ length: 12 }, (_, index) => new Busy(clock, `attacker ${index}`))
  for (const work of works) hub.advance(work)
  assert.equal(sum(works), 1)
  await nextTurn()
  assert.equal(sum(works), 2)
  // Buffer checks and further commands must also wait for a time slice.
  for (let checks = 0; checks < 10; checks += 1) for (const work of works) hub.advance(work)
  assert.equal(sum(works), 2)
  for (let turns = 0; turns < 10; turns += 1) await nextTurn()
  assert.equal(sum(works), 12)
  assert.deepEqual(
    works.slice(1).map(({ runs }) => runs),
    [...Array.from({ length: 10 }, () => 1), 0],
    'the first connection has run and waits behind all others',
  )
  hub.stop()
})

test('runs a short command of one account at once while long commands of another account wait for time slices', async () => {
  const { clock, hub } = open()
  const works = Array.from({ length: 12 }, (_, index) => new Busy(clock, `attacker ${index}`))
  for (const work of works) hub.advance(work)
  await nextTurn()
  const bystander = {
    runs: 0,
    caller: { accountId: accountId('bystander') },
    run(): SliceOutcome {
      this.runs += 1
      return 'idle'
    },
  }
  hub.advance(bystander)
  assert.equal(bystander.runs, 1)
  hub.stop()
})

test('gives one account every second time slice while another account has 20 connections', async () => {
  const { clock, hub } = open()
  const works = Array.from({ length: 20 }, () => new Busy(clock, 'attacker'))
  for (const work of works) hub.advance(work)
  const bystander = new Busy(clock, 'bystander')
  hub.advance(bystander)
  for (let turns = 0; turns < 20; turns += 1) await nextTurn()
  assert.equal(bystander.runs, 10)
  assert.equal(sum(works), 11)
  hub.stop()
})
