// nats-server loses all data while the engine runs, or after the engine was killed.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasNats } from '../../engine/cluster/nats-server.ts'
import { ClusterRig } from '../support/rigs/cluster.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 5 : 1
/** The venues change books continuously, so a live book without changes for 8 s is frozen. */
const FROZEN_MS = 8_000
const WATCH_MS = 25_000
const POLL_MS = 250

/** Counts polls in which a gateway served a frozen book as live. */
class FrozenBooks {
  readonly #rig: ClusterRig
  readonly #moved = new Map<number, { readonly seq: number; readonly atMs: number }>()
  count = 0
  polls = 0
  /** Longest time in ms for which the live books of a gateway did not change. */
  frozenMs = 0
  #isStopped = false
  readonly #done: Promise<void>

  constructor(rig: ClusterRig) {
    this.#rig = rig
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      for (const [gateway, books] of (await this.#rig.booksNow()).entries()) {
        if (books === null) continue
        this.polls += 1
        const nowMs = performance.now()
        const seq = books.reduce((sum, book) => sum + book.seq, 0)
        const before = this.#moved.get(gateway)
        if (before?.seq !== seq) this.#moved.set(gateway, { seq, atMs: nowMs })
        else if (books.some(({ stale }) => !stale)) {
          this.frozenMs = Math.max(this.frozenMs, nowMs - before.atMs)
          if (nowMs - before.atMs > FROZEN_MS) this.count += 1
        }
      }
      await sleep(POLL_MS)
    }
  }
}

test('never serves a frozen book as live after nats-server loses its data, whether or not the engine is killed', {
  skip: !hasNats() && 'nats-server is not installed',
}, async (t) => {
  const rig = await ClusterRig.open({
    engines: 2,
    gateways: 2,
    world: { marketsPerVenue: 60, messagesPerSecond: 300, faults: 'off' },
  })
  after(() => rig.close())
  await rig.waitUntilLive()
  const frozen = new FrozenBooks(rig)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const isEngineKilled of [false, true]) {
      await rig.killNats()
      rig.loseNatsData()
      const startedAtMs = performance.now()
      if (isEngineKilled) await rig.killEngine(0)
      await rig.startNats()
      await sleep(WATCH_MS)
      await rig.waitUntilLive()
      const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
      t.diagnostic(
        `data lost, engine ${isEngineKilled ? 'killed' : 'running'}: complete after ${seconds} s`,
      )
    }
  }
  await frozen.stop()
  t.diagnostic(
    `${frozen.polls} polls, ${frozen.count} with frozen books served as live, longest unchanged for ${Math.round(frozen.frozenMs)} ms`,
  )
  assert.equal(frozen.count, 0)
})
