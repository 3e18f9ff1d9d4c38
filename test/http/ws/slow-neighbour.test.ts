// What one dead and one slow reader cost the others: lateness of good readers from the planned time,
// in five alternating runs with and without the bad ones. Not for: what becomes of the bad ones
// (slow-reader.test.ts, limits.test.ts). Minutes long, so only under TEST_LONG=1.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Late, PlannedEnd, sharedMs } from '../../support/planned-run.ts'
import { RawReader } from '../../support/raw-reader.ts'

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const rounds = number('NEIGHBOUR_ROUNDS', 5)
const seconds = number('NEIGHBOUR_SECONDS', 20)
const readers = number('NEIGHBOUR_READERS', 40)
const perSecond = number('NEIGHBOUR_RATE', 1_000)
const skip =
  process.env.TEST_LONG === '1'
    ? false
    : 'alternating runs of minutes on an otherwise idle machine: TEST_LONG=1'

test('[WS24] a slow and a dead reader change the others’ p99 by less than a fifth', {
  skip,
}, async (t) => {
  const [server, crowd] = [new PlannedEnd(), new PlannedEnd()]
  const found: { with: number[]; without: number[] } = { with: [], without: [] }
  try {
    const { port, marketIds } = await server.ask<{ port: number; marketIds: string[] }>({
      kind: 'serve',
    })
    await crowd.ask({ kind: 'read', port, readers, marketIds })
    // One run for the compilers.
    for (let run = -1; run < rounds * 2; run += 1) {
      const isWith = run % 2 !== 0
      const bad = isWith ? await badReaders(port) : []
      await pause(1_000)
      const startMs = sharedMs() + 200
      await crowd.ask({ kind: 'late', startMs })
      const { lags, sessions } = await server.ask<{ lags: number; sessions: number }>({
        kind: 'publish',
        plan: { startMs, perSecond, seconds },
      })
      await pause(500)
      const late = await crowd.ask<Late>({ kind: 'late', startMs: 0 })
      t.diagnostic(
        `${isWith ? 'with   ' : 'without'}: ${late.count} deliveries, p50 ${late.p50Ms.toFixed(2)}, p99 ${late.p99Ms.toFixed(2)}, p99.9 ${late.p999Ms.toFixed(2)} ms; ${lags} lags so far, ${sessions} connections at the end`,
      )
      if (run >= 0) found[isWith ? 'with' : 'without'].push(late.p99Ms)
      for (const reader of bad) reader.destroy()
    }
    const median = (list: number[]) =>
      list.sort((one, other) => one - other)[Math.floor(list.length / 2)] ?? Number.NaN
    const [withMs, withoutMs] = [median(found.with), median(found.without)]
    const change = withMs / withoutMs - 1
    t.diagnostic(
      `median p99 ${withMs.toFixed(2)} ms with, ${withoutMs.toFixed(2)} ms without: ${(change * 100).toFixed(1)} %`,
    )
    assert.ok(change < 0.2)
  } finally {
    server.stop()
    crowd.stop()
  }
})

/** One that never reads again and one that reads a kilobyte a second, on everything. */
async function badReaders(port: number): Promise<RawReader[]> {
  const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
  const dead = await RawReader.open(port, 'api_key=ann-key', [command])
  const slow = await RawReader.open(port, 'api_key=ann-key', [command])
  dead.read('dead')
  slow.read('trickling')
  return [dead, slow]
}
