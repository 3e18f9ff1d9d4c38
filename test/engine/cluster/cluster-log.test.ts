// Checks the fault-injecting log that other tests use.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Delivered } from '../../../engine/cluster/cluster-log.ts'
import { clusterLogContract } from '../../contract/cluster-log.ts'
import { FaultyLogServer, NO_FAULTS } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

/** A clock that runs each timer at once, so that tests need not advance it. */
class PromptClock extends ManualClock {
  override after(delayMs: number, action: () => void): () => void {
    if (delayMs > 0) return super.after(delayMs, action)
    let isStopped = false
    queueMicrotask(() => {
      if (!isStopped) action()
    })
    return () => {
      isStopped = true
    }
  }
}

clusterLogContract('in process', async () => {
  const server = new FaultyLogServer(new PromptClock())
  return [server.connect(), server.connect()]
})

test('injects log faults at the configured rates, and delivers no batch that was not published', async () => {
  const clock = new ManualClock()
  const server = new FaultyLogServer(clock, 7)
  server.faults = { ...NO_FAULTS, repeats: 0.1, swaps: 0.1, holes: 0.1, delayMsMax: 20 }
  const [writer, reader] = [server.connect(), server.connect()]
  const read: Delivered[] = []
  reader.read('books', 1, { onBatch: (batch) => void read.push(batch) })
  for (let batch = 0; batch < 300; batch += 1) {
    const bytes = Uint8Array.of(batch % 256)
    void writer.publish('books', { bytes, id: String(batch), after: batch })
  }
  for (let step = 0; step < 900; step += 1) {
    clock.advance(20)
    await nextTurn()
  }
  const sequences = read.map(({ sequence }) => sequence)
  const distinct = new Set(sequences)
  assert.ok(distinct.size < 300 && distinct.size > 240, `${distinct.size} of 300 were read`)
  assert.ok(sequences.length > distinct.size, 'some twice')
  assert.ok(
    sequences.some((sequence, index) => sequence < (sequences[index - 1] ?? 0)),
    'some late',
  )
  for (const { sequence, bytes } of read) assert.equal(bytes[0], (sequence - 1) % 256)
})
