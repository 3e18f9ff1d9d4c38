// Runs every bench in small mode if TEST_LONG=1, otherwise only `end-to-end`.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BENCHES } from '../../bench/benches.ts'
import { GET_NATS, hasNats } from '../../engine/cluster/nats-server.ts'
import { smallState } from '../support/rigs/small-bench.ts'

const isLong = process.env.TEST_LONG === '1'

describe('benches in small mode', () => {
  for (const bench of BENCHES.filter(({ name }) => isLong || name === 'end-to-end')) {
    const skip = bench.name === 'cluster' && !hasNats() ? GET_NATS : false
    it(`runs the bench ${bench.name} to a checked end state with a hash, and prints nothing`, {
      skip,
    }, async (t) => {
      const { hash, isRepeatable } = await smallState(bench, t)
      if (isLong && isRepeatable) assert.equal((await smallState(bench, t)).hash, hash)
    })
  }
})
