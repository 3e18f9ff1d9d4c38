import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflationTickCount, streamSliceMs } from '../../../../engine/limits.ts'
import type { MarketRef } from '../../../../engine/market/market.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { Conflation, ConflationScheduler } from '../../../../http/ws/fan-out/conflation.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

const engine = new FakeEngine(new ManualClock())
const refs = Array.from({ length: 5_000 }, (_, index) => engine.add(`m${index}`).ref)
const refAt = (index: number): MarketRef => refs[index] ?? assert.fail('no such market')
const tick = () => new Promise((resolve) => setImmediate(resolve))

interface Sent {
  readonly market: MarketRef
  readonly value: number
  readonly atMs: number
}

/** Changes are numbers. The newest change replaces earlier changes. */
function openConflation(windowMs: number, initialCostMs = 0) {
  let costMs = initialCostMs
  const clock = new ManualClock()
  const slices = new ConflationScheduler(clock)
  const published: Sent[] = []
  const unsubscribed = new Set<number>()
  const windows = new Conflation<number>(slices, {
    windowMs,
    hasSubscribers: ({ number }) => !unsubscribed.has(number),
    merge: (_older, newer) => newer,
    send: (market, value) => {
      published.push({ market, value, atMs: clock.monotonicMs() })
      if (costMs > 0) clock.advance(costMs)
    },
  })
  const note = (market: MarketRef, value: number) => windows.note(market, value)
  const setCost = (ms: number) => {
    costMs = ms
  }
  return { clock, slices, windows, published, unsubscribed, note, setCost }
}

test('sends the first change of a quiet market at once, and then the last state of each conflation window', () => {
  const { clock, note, published } = openConflation(250)
  note(refAt(0), 1)
  assert.deepEqual(
    published.map(({ value }) => value),
    [1],
  )
  clock.advance(10)
  note(refAt(0), 2)
  note(refAt(0), 3)
  note(refAt(1), 9)
  assert.deepEqual(
    published.map(({ value }) => value),
    [1, 9],
  )
  clock.advance(239)
  assert.equal(published.length, 2)
  clock.advance(10)
  assert.deepEqual(
    published.map(({ value }) => value),
    [1, 9, 3],
  )
  clock.advance(1_000)
  assert.equal(published.length, 3, 'a window without a change sends nothing')
  note(refAt(0), 4)
  assert.equal(published.length, 4, 'the next change is sent at once again')
})

test('sends at most one message per market and conflation window, and always the last state', async () => {
  for (const seed of [1, 2, 3]) {
    const random = seededRandom('windows', seed)
    const { clock, note, published } = openConflation(100)
    const noted = new Map<number, { value: number; atMs: number }>()
    for (let step = 0; step < 20_000; step += 1) {
      const market = refAt(random.below(random.next() < 0.5 ? 5 : 300))
      note(market, step)
      noted.set(market.number, { value: step, atMs: clock.monotonicMs() })
      if (random.next() < 0.2) clock.advance(random.below(40))
      if (step % 50 === 0) await tick()
    }
    for (let round = 0; round < 20; round += 1) {
      await tick()
      clock.advance(20)
    }
    const last = new Map<number, Sent>()
    for (const one of published) {
      const before = last.get(one.market.number)
      if (before !== undefined) {
        assert.ok(one.atMs - before.atMs >= 100, 'once a window')
        assert.ok(one.value > before.value, 'newer each time')
      }
      last.set(one.market.number, one)
    }
    for (const [number, { value }] of noted) assert.equal(last.get(number)?.value, value)
  }
})

test('sends a limited part of a burst at once, and the remainder in time slices', async () => {
  const { note, published } = openConflation(250, 0.05)
  for (const ref of refs) note(ref, 1)
  assert.equal(published.length, conflationTickCount)
  let slices = 0
  while (published.length < refs.length) {
    const before = published.length
    await tick()
    slices += 1
    const spentMs = (published.length - before) * 0.05
    // The clock advances within a time slice, so that a second slice may begin in the same tick.
    assert.ok(spentMs <= 2 * streamSliceMs + 0.2, `a slice of ${spentMs} ms`)
  }
  assert.ok(slices > 50, `${slices} slices`)
  assert.deepEqual(new Set(published.map(({ market }) => market.number)).size, refs.length)
})

test('sends all pending states in time slices when thousands of conflation windows end simultaneously', async () => {
  const costMs = 0.05
  const { clock, note, published, setCost } = openConflation(250)
  for (const ref of refs) note(ref, 1)
  while (published.length < refs.length) await tick()
  for (const ref of refs) note(ref, 2)
  setCost(costMs)
  clock.advance(300)
  for (let before = published.length; before < 2 * refs.length; before = published.length) {
    await tick()
    // The clock advances within a time slice, so that a second slice may begin in the same tick.
    assert.ok((published.length - before) * costMs <= 2 * streamSliceMs + 2 * costMs)
    assert.ok(published.length > before)
  }
  assert.equal(published.filter(({ value }) => value === 2).length, refs.length)
})

test('sends waiting first changes of markets before the states of ended conflation windows', async () => {
  const { clock, note, published, setCost } = openConflation(250)
  const opened = refs.slice(0, conflationTickCount)
  for (const ref of opened) note(ref, 1)
  for (const ref of opened) note(ref, 2)
  // Each slice sends one message, so most windows still wait after they end.
  setCost(streamSliceMs + 1)
  clock.advance(260)
  setCost(0)
  const late = refs.slice(conflationTickCount, 2 * conflationTickCount + 1)
  for (const ref of late) note(ref, 3)
  assert.equal(published.filter(({ value }) => value === 3).length, conflationTickCount)
  setCost(streamSliceMs + 1)
  const sentCount = published.length
  await tick()
  assert.equal(published[sentCount]?.market, late.at(-1))
  assert.ok(published.filter(({ value }) => value === 2).length < opened.length)
})

test('stores no state of markets that are removed or have no subscribers', async () => {
  const { clock, note, published, windows, unsubscribed, slices } = openConflation(250)
  for (const { number } of refs.slice(0, 100)) unsubscribed.add(number)
  for (const ref of refs.slice(0, 100)) note(ref, 1)
  assert.equal(windows.isWaiting, false)
  note(refAt(200), 1)
  note(refAt(200), 2)
  unsubscribed.add(refAt(200).number)
  note(refAt(201), 1)
  note(refAt(201), 2)
  windows.removeMarket(refAt(201).number)
  clock.advance(600)
  await tick()
  assert.equal(windows.isWaiting, false)
  assert.deepEqual(
    published.map(({ value }) => value),
    [1, 1],
  )
  assert.equal(clock.timerCount, 0, 'no timer runs when nothing waits')
  note(refAt(300), 1)
  slices.stop()
  assert.equal(clock.timerCount, 0)
})
