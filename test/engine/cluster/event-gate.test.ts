import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gated, waitingEventsMax } from '../../../engine/cluster/event-gate.ts'

/** The test completes the lease check of the gate. */
class Rig {
  readonly taken: number[] = []
  confirming: Promise<boolean> | null = null
  #end: (isHeld: boolean) => void = () => undefined
  readonly emit = gated(
    () => this.confirming,
    (event: number) => {
      this.taken.push(event)
    },
  )

  pause(): void {
    this.confirming = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  async check(isHeld: boolean): Promise<void> {
    this.#end(isHeld)
    this.confirming = null
    await Promise.resolve()
  }
}

test('forwards venue events at once while the leader lease is valid', () => {
  const rig = new Rig()
  rig.emit(1)
  assert.deepEqual(rig.taken, [1])
})

test('forwards waiting venue events in order when a check confirms the leader lease', async () => {
  const rig = new Rig()
  rig.emit(1)
  rig.pause()
  rig.emit(2)
  rig.emit(3)
  assert.deepEqual(rig.taken, [1])
  await rig.check(true)
  rig.emit(4)
  assert.deepEqual(rig.taken, [1, 2, 3, 4])
})

test('discards waiting and later venue events when the leader lease is lost', async () => {
  const rig = new Rig()
  rig.emit(1)
  rig.pause()
  rig.emit(2)
  await rig.check(false)
  rig.emit(3)
  assert.deepEqual(rig.taken, [1])
})

test('forwards waiting venue events without a check when their number exceeds the limit', () => {
  const rig = new Rig()
  rig.pause()
  for (let event = 0; event <= waitingEventsMax; event += 1) rig.emit(event)
  assert.equal(rig.taken.length, waitingEventsMax + 1)
})
