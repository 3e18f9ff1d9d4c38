// What one dead or one slow reader of everything costs the others: lateness of good readers from the
// planned time, in five alternating runs of each kind and without. Not for: what becomes of the bad ones
// (slow-reader.test.ts, limits.test.ts). Minutes long, so only under TEST_LONG=1.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Late, PlannedEnd, sharedMs } from '../../support/planned-run.ts'
import { RawReader } from '../../support/raw-reader.ts'

type Neighbour = 'nobody' | 'dead' | 'slow'

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const rounds = number('NEIGHBOUR_ROUNDS', 5)
const seconds = number('NEIGHBOUR_SECONDS', 20)
const readers = number('NEIGHBOUR_READERS', 40)
const perSecond = number('NEIGHBOUR_RATE', 1_000)
const skip =
  process.env.TEST_LONG === '1'
    ? false
    : 'alternating runs of minutes on an otherwise idle machine: TEST_LONG=1'

test('[WS24] a slow or a dead reader changes the others’ p99 by less than a fifth', {
  skip,
}, async (t) => {
  const [server, crowd] = [new PlannedEnd(), new PlannedEnd()]
  const p99s: Record<Neighbour, number[]> = { nobody: [], dead: [], slow: [] }
  try {
    const { port, marketIds } = await server.ask<{ port: number; marketIds: string[] }>({
      kind: 'serve',
    })
    await crowd.ask({ kind: 'read', port, readers, marketIds })
    const order: readonly Neighbour[] = ['dead', 'nobody', 'slow', 'nobody']
    // One run for the compilers.
    const runs = ['nobody' as const, ...Array.from({ length: rounds }, () => order).flat()]
    for (const [run, neighbour] of runs.entries()) {
      const bad = neighbour === 'nobody' ? null : await badReader(port, neighbour)
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
        `${neighbour.padEnd(6)}: ${late.count} deliveries, p50 ${late.p50Ms.toFixed(2)}, p99 ${late.p99Ms.toFixed(2)}, p99.9 ${late.p999Ms.toFixed(2)} ms; ${lags} lags so far, ${sessions} connections at the end`,
      )
      if (run > 0) p99s[neighbour].push(late.p99Ms)
      bad?.destroy()
    }
    const without = medianOf(p99s.nobody)
    for (const kind of ['dead', 'slow'] as const) {
      const change = medianOf(p99s[kind]) / without - 1
      t.diagnostic(
        `median p99 ${medianOf(p99s[kind]).toFixed(2)} ms with one ${kind}, ${without.toFixed(2)} ms without: ${(change * 100).toFixed(1)} %`,
      )
      assert.ok(change < 0.2, `${kind}: ${change}`)
    }
  } finally {
    server.stop()
    crowd.stop()
  }
})

/** One that never reads again, or reads a kilobyte a second, on everything. */
async function badReader(port: number, kind: 'dead' | 'slow'): Promise<RawReader> {
  const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
  const reader = await RawReader.open(port, 'api_key=ann-key', [command])
  reader.read(kind === 'dead' ? 'dead' : 'trickling')
  return reader
}

function medianOf(list: readonly number[]): number {
  const sorted = [...list].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
