import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JsonReader } from '../../../../../engine/fetch.ts'
import { type WalletAddress, walletAddress } from '../../../../../engine/ids.ts'
import { isRecord } from '../../../../../engine/json-record.ts'
import { DataApi } from '../../../../../engine/venues/polymarket/data-api.ts'
import {
  readActivity,
  readTimedRow,
} from '../../../../../engine/venues/polymarket/wallets/activity-rows.ts'
import { readPositions } from '../../../../../engine/venues/polymarket/wallets/positions.ts'
import { readProfile } from '../../../../../engine/venues/polymarket/wallets/profile.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

const FOLDER = `${process.env.SHARED_DATA ?? '../shared/data'}/fixtures/polymarket-data-v2`
const skip = existsSync(FOLDER) ? false : 'NO RECORDED ANSWERS OF DATA API V2 HERE (SHARED_DATA)'
const signal = new AbortController().signal

function recorded(name: string): Readonly<Record<string, unknown>> {
  const answer: unknown = JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'))
  assert.ok(isRecord(answer))
  return answer
}

function rowsOf(name: string): readonly unknown[] {
  const { data } = recorded(name)
  assert.ok(Array.isArray(data) && data.length > 0, name)
  return data
}

function ownerOf(row: unknown): WalletAddress {
  const owner = isRecord(row) ? walletAddress(String(row.proxy_wallet)) : null
  assert.ok(owner !== null)
  return owner
}

/** Later pages are empty. */
function hostOf(answerOf: (path: string, status: unknown) => unknown): DataApi {
  const client: JsonReader = {
    getJson: async (path, query = {}) =>
      query.cursor === undefined
        ? answerOf(path, query.status)
        : { data: [], pagination: { has_more: false, next_cursor: null } },
  }
  return new DataApi({ client, drift: quietDrift() })
}

test('reads every recorded wallet response of Data API v2', {
  skip,
}, async (t) => {
  const counts = new Map<string, number>()
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  for (const name of ['activity', 'combo_activity']) {
    for (const wire of rowsOf(name)) {
      const positioned = readTimedRow(wire, ownerOf(wire))
      assert.ok(positioned !== null && isRecord(wire))
      // The list of combos has different field names for ids.
      const row = { ...positioned.wire, condition_id: wire.condition_id ?? wire.combo_condition_id }
      const read = readActivity({ ...positioned, wire: row })
      count(`${name} ${read.kind === 'event' ? read.event.kind : read.reason}`)
      if (name !== 'activity') continue
      assert.ok(read.kind === 'event')
      const { usd, fee, price } = read.event
      assert.equal(usd + fee, Math.round(Number(wire.usdc_size) * 1e6))
      const share = (fee * 1e6) / (price * (1_000_000 - price) * Number(wire.size))
      assert.ok(share > 0.049 && share < 0.051, `a fee of 0.05 × p(1 − p), not ${share}`)
    }
  }
  const { counters, metrics } = venueCounters('a')
  const owner = ownerOf(rowsOf('positions')[0])
  const data = hostOf((_, status) =>
    recorded(status === 'CLOSED' ? 'positions_closed' : 'positions'),
  )
  for (const { isClosed } of await readPositions({ data, counters }, owner, signal)) {
    count(isClosed ? 'positions_closed' : 'positions')
  }
  assert.equal(metrics.counts('venue_rejected_total').size, 0)
  const gamma = { getJson: async () => null }
  const profiles = hostOf(() => recorded('user_stats'))
  assert.deepEqual((await readProfile({ gamma, data: profiles }, owner, signal))?.proxy, owner)
  const unknown = hostOf((path) =>
    path === '/v2/user-stats' ? { data: null } : { data: [], pagination: { has_more: false } },
  )
  assert.equal(await readProfile({ gamma, data: unknown }, owner, signal), null)
  const requested = { path: '/v2/value', query: { user: owner }, kind: 'wallet' } as const
  const value = await hostOf(() => recorded('value')).value(requested)
  assert.ok(isRecord(value) && Number(value.value) > 0)
  t.diagnostic([...counts].map(([what, times]) => `${times} ${what}`).join(', '))
  assert.equal(counts.get('positions'), rowsOf('positions').length)
  assert.equal(counts.get('positions_closed'), rowsOf('positions_closed').length)
  assert.equal(counts.get('activity buy'), rowsOf('activity').length)
  assert.equal(counts.get('combo_activity comboOther'), rowsOf('combo_activity').length)
})
