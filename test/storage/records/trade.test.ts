// Trades must share a hidden class, because hundreds of thousands of them are in memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { MarketTrades } from '../../../actors/market/trades.ts'
import { timeMs } from '../../../engine/units.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { listing, trade } from '../../support/worlds/builders.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)')

test('creates all trades read from disk with the same V8 hidden class, for any numbers and makers', () => {
  const storage = openMemoryStorage()
  const market = { number: storage.markets.put(listing('m')), venue: 'a' } as const
  const trades = new MarketTrades(market, storage)
  const stored = Array.from({ length: 200 }, (_, index) => {
    const stamp = { offset: index + 1, seq: index + 1 }
    return trades.add(
      trade('m', `t${index}`, { maker: index % 2 ? '0xm' : null }),
      index % 2,
      stamp,
      1,
    )
  })
  for (const { txHash, receivedAtMs } of stored) {
    trades.addParticipant({ txHash: txHash ?? '', wallet: '0xmaker', receivedAtMs })
  }
  const query = {
    fromMs: timeMs(0),
    toMs: timeMs(Date.UTC(2100, 0)),
    after: null,
    order: 'desc',
    limit: 200,
  } as const
  const rows = trades.slice(query)
  assert.equal(rows.length, 200)
  for (const group of [stored, rows]) {
    const odd = group.filter((row) => !haveSameMap(row, group[100]))
    // The first few objects may differ, until V8 has seen which fields contain large numbers.
    assert.ok(odd.length <= 10, `${odd.length} of ${group.length} have a hidden class of their own`)
  }
})
