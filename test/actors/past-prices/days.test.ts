import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  lastBefore,
  newestOf,
  pastDay,
  pointsOf,
  startOf,
} from '../../../actors/past-prices/days.ts'
import { Slots } from '../../../actors/slots.ts'
import type { PricePoint } from '../../../actors/views.ts'
import { seededRandom } from '../../../engine/random.ts'
import { DAY_MS, priceMicros, timeMs } from '../../../engine/units.ts'

const DAY = 20_777

test('returns the last price for each second of a day, and the previous day’s last price before the first price', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(`day ${seed}`)
    const spanMs = 1 + random.below(seed % 2 === 0 ? 20_000 : DAY_MS)
    const points: PricePoint[] = Array.from({ length: random.below(60) }, () => ({
      timeMs: timeMs(DAY * DAY_MS - 3_000 + random.below(spanMs)),
      price: priceMicros(random.below(1_000_001)),
    })).sort((one, other) => one.timeMs - other.timeMs)
    const readAtMs = startOf(DAY + 2)
    const carried = random.below(2) === 0 ? null : priceMicros(7)
    const past = pastDay(DAY, points, { readAtMs, toMs: startOf(DAY + 1), carried })
    const wholeSecond = (atMs: number) => Math.floor(atMs / 1_000) * 1_000
    const naive = (atMs: number) => {
      const inDay = points.filter(({ timeMs: ms }) => ms >= startOf(DAY) && ms < startOf(DAY + 1))
      const found = inDay.filter(({ timeMs: ms }) => wholeSecond(ms) <= atMs).at(-1)
      if (found !== undefined) return { ...found, timeMs: timeMs(wholeSecond(found.timeMs)) }
      return carried === null ? null : { price: carried, timeMs: startOf(DAY) }
    }
    for (let query = 0; query < 30; query += 1) {
      const atMs = timeMs(DAY * DAY_MS + random.below(spanMs))
      assert.deepEqual(newestOf(past, DAY, atMs), naive(atMs))
    }
    assert.ok(past.seconds.every((second, at) => second > (past.seconds[at - 1] ?? -1)))
    const again = pastDay(DAY, pointsOf(past, DAY), {
      readAtMs,
      toMs: past.completeToMs,
      carried: null,
    })
    assert.deepEqual(again, past)
    const before = points.filter(({ timeMs: ms }) => ms < startOf(DAY)).at(-1)
    assert.deepEqual(lastBefore(points, startOf(DAY)), before ?? null)
  }
})

test('runs a limited number of requests in order, and frees the slot of a cancelled request', async () => {
  const slots = new Slots({ runningMax: 2, waitingMax: 2 })
  const began: number[] = []
  const gates: (() => void)[] = []
  const stops = [0, 1, 2, 3].map(() => new AbortController())
  const work = stops.map(({ signal }, number) =>
    slots.run(signal, async () => {
      began.push(number)
      await new Promise<void>((resolve) => gates.push(resolve))
      if (number === 0) throw new Error('failed')
      return number
    }),
  )
  assert.equal(slots.isFull(), true)
  assert.deepEqual(began, [0, 1])
  stops[2]?.abort()
  assert.equal(slots.isFull(), false)
  await assert.rejects(work[2] ?? Promise.resolve())
  gates[0]?.()
  await assert.rejects(work[0] ?? Promise.resolve(), /failed/)
  assert.deepEqual(began, [0, 1, 3])
  for (const open of gates) open()
  assert.deepEqual(await Promise.all([work[1], work[3]]), [1, 3])
  const signal = AbortSignal.abort()
  assert.equal(await slots.run(signal, async () => 'free'), 'free', 'a free slot is taken at once')
})
