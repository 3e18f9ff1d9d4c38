import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNSETTLED_MS, UnsettledMarkets } from '../../../actors/venue/unsettled.ts'
import { nativeMarketId } from '../../../engine/ids.ts'

const market = (index: number) => nativeMarketId(`m${index}`)
const always = () => true

test('requests the payout of a resolved market with growing delays, then hourly, and stops after thirty days', () => {
  const unsettled = new UnsettledMarkets()
  unsettled.add(market(0), { endedAtMs: 0, nowMs: 0, isFresh: true })
  const at: number[] = []
  for (let second = 0; second <= UNSETTLED_MS / 1_000 + 7_200; second += 5) {
    if (unsettled.takeDue(second * 1_000, always).length > 0) at.push(second)
  }
  assert.deepEqual(at.slice(0, 7), [5, 20, 65, 185, 785, 4_385, 7_985])
  assert.ok(at.every((second) => second * 1_000 < UNSETTLED_MS + 3_600_000))
  assert.ok(at.length <= 6 + 720, `${at.length} requests`)
  assert.equal(unsettled.count, 0)
})

test('requests markets that had no payout before a restart hourly, a hundred markets at a time', () => {
  const unsettled = new UnsettledMarkets()
  for (let index = 0; index < 250; index += 1) {
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: false })
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: true })
  }
  unsettled.add(market(999), { endedAtMs: -UNSETTLED_MS, nowMs: 0, isFresh: false })
  assert.equal(unsettled.count, 250)
  assert.deepEqual(unsettled.takeDue(3_599_999, always), [])
  const isUnsettled = (one: string) => one !== 'm0'
  const batches = [0, 1, 2, 3].map((ms) => unsettled.takeDue(3_600_000 + ms, isUnsettled))
  assert.deepEqual(
    batches.map(({ length }) => length),
    [100, 100, 49, 0],
  )
  assert.equal(new Set(batches.flat()).size, 249)
  assert.equal(unsettled.count, 249)
})

test('stores at most ten thousand markets without payout, and evicts the least recently requested market first', () => {
  const unsettled = new UnsettledMarkets()
  for (let index = 0; index < 9_000; index += 1) {
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: false })
  }
  for (let index = 9_000; index < 12_000; index += 1) {
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: true })
  }
  assert.equal(unsettled.count, 10_000)
  let fresh = 0
  for (let ms = 0; ms < 40; ms += 1) fresh += unsettled.takeDue(5_000 + ms, always).length
  assert.equal(fresh, 3_000)
})

test('requests a newly resolved market before older markets that are due for a request', () => {
  const unsettled = new UnsettledMarkets()
  for (let index = 0; index < 250; index += 1) {
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: false })
  }
  unsettled.add(market(999), { endedAtMs: 3_590_000, nowMs: 3_595_000, isFresh: true })
  const [first] = unsettled.takeDue(3_600_000, always)
  assert.equal(first, market(999))
})

test('evicts a market that is requested hourly before it evicts a newly resolved market', () => {
  const unsettled = new UnsettledMarkets()
  unsettled.add(market(0), { endedAtMs: 0, nowMs: 0, isFresh: true })
  for (let index = 1; index <= 10_000; index += 1) {
    unsettled.add(market(index), { endedAtMs: 0, nowMs: 0, isFresh: false })
  }
  assert.equal(unsettled.count, 10_000)
  assert.deepEqual(unsettled.takeDue(5_000, always), [market(0)])
})
