import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { Tracks } from '../../../../../engine/venues/polymarket/book/tracks.ts'

test('recognises the two tokens of each watched market and the last 10,000 unwatched tokens', () => {
  const tracks = new Tracks()
  const market = (number: number) => ({
    nativeId: nativeMarketId(`0x${number}`),
    outcomes: [outcomeId(`${number}-1`), outcomeId(`${number}-2`)],
    ...({ status: 'open', openAtMs: null, closeAtMs: null } as const),
  })
  const unknown = (number: number) =>
    ['1', '2'].map((token) => tracks.isUnknown(`${number}-${token}`))
  tracks.add(market(0))
  assert.deepEqual(
    [unknown(0), unknown(1)],
    [
      [false, false],
      [true, true],
    ],
  )
  tracks.remove(market(0).nativeId)
  assert.deepEqual(unknown(0), [false, false])
  for (let number = 1; number <= 5_000; number += 1) {
    tracks.add(market(number))
    tracks.remove(market(number).nativeId)
  }
  assert.deepEqual(
    [unknown(0), unknown(1)],
    [
      [true, true],
      [false, false],
    ],
  )
})
