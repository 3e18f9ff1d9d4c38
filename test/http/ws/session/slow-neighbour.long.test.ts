// What one dead or one slow reader of everything costs the others: lateness of good readers from the
// planned time, in five alternating runs of each kind, compared with the runs beside them. Minutes long, so only under TEST_LONG=1.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { RawReader } from '../../../support/clients/raw-reader.ts'
import { type Late, PlannedEnd, sharedMs } from '../../../support/rigs/planned-run.ts'

type Neighbour = 'none' | 'dead' | 'slow'

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const rounds = number('NEIGHBOUR_ROUNDS', 5)
const seconds = number('NEIGHBOUR_SECONDS', 20)
const readers = number('NEIGHBOUR_READERS', 40)
const perSecond = number('NEIGHBOUR_RATE', 1_000)
const skip =
  process.env.TEST_LONG === '1'
    ? false
    : 'alternating runs of minutes on an otherwise idle machine: TEST_LONG=1'

test('raises other clients’ p99 latency by less than a fifth when one reader is slow or dead', {
  skip,
}, async (t) => {
  const [server, crowd] = [new PlannedEnd(), new PlannedEnd()]
  const runs: { neighbour: Neighbour; p99Ms: number }[] = []
  try {
    const { port, marketIds } = await server.ask<{ port: number; marketIds: string[] }>({
      kind: 'serve',
    })
    await crowd.ask({ kind: 'read', port, readers, marketIds })
    const order: readonly Neighbour[] = ['dead', 'none', 'slow', 'none']
    // The first run is for the compilers; each bad one then has one without on either side.
    const plan = ['none', 'none', ...Array.from({ length: rounds }, () => order).flat()] as const
    for (const neighbour of plan) {
      const bad = neighbour === 'none' ? null : await badReader(port, neighbour)
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
      runs.push({ neighbour, p99Ms: late.p99Ms })
      bad?.destroy()
    }
    for (const kind of ['dead', 'slow'] as const) {
      const change = changeBy(kind, runs)
      t.diagnostic(`one ${kind} reader: the others’ p99 changes by ${(change * 100).toFixed(1)} %`)
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

/**
 * The median over the runs of a kind of how its p99 relates to the mean of the two runs without beside it: what else
 * the machine does changes over minutes, by more than a neighbour does, and falls on runs side by side alike.
 */
function changeBy(
  kind: Neighbour,
  runs: readonly { readonly neighbour: Neighbour; readonly p99Ms: number }[],
): number {
  const ratios = runs.flatMap(({ neighbour, p99Ms }, index) => {
    const [before, after] = [runs[index - 1], runs[index + 1]]
    if (neighbour !== kind || before === undefined || after === undefined) return []
    return [(2 * p99Ms) / (before.p99Ms + after.p99Ms)]
  })
  return medianOf(ratios) - 1
}

function medianOf(list: readonly number[]): number {
  const sorted = [...list].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
