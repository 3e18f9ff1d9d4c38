// The figures of a small bench are meaningless, so only its final state is checked.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Bench, EndState } from '../../../bench/harness.ts'

/** Asserts that the bench measured something, and returns its end state. */
export async function smallState(bench: Bench, t: TestContext): Promise<EndState> {
  const { rows, state } = await bench.run({
    isSmall: true,
    seconds: null,
    markets: null,
    logLine: () => undefined,
  })
  assert.ok(rows.length > 0)
  for (const row of rows) {
    if (row.kind === 'times') assert.ok(row.times.totalCount > 0, row.what)
  }
  assert.match(state.hash, /^[0-9a-f]{16}$/)
  t.diagnostic(`${state.checked}; hash ${state.hash}`)
  return state
}
