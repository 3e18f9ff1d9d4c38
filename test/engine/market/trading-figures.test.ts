import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FiguresRead, MarketFigures } from '../../../engine/market/trading-figures.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { VolumeUnit } from '../../../engine/venue-table.ts'
import { listing } from '../../support/worlds/builders.ts'

const START = 1_790_000_000_000

function figuresOf(total: number | null = 1_000, unit: VolumeUnit = 'usd_notional') {
  const volumeTotal = total === null ? null : usdMicros(total * 1e6)
  const figuresAtMs = timeMs(START)
  return new MarketFigures(
    listing('m', { volumeTotal, volume24h: usdMicros(100e6), figuresAtMs }),
    unit,
    volumeTotal,
  )
}

const trade = (afterMs: number, contracts: number, price = 0.25, isBlock = false) => ({
  timeMs: timeMs(START + afterMs),
  price: priceMicros(Math.round(price * 1e6)),
  size: sizeMicros(contracts * 1e6),
  usd: usdMicros(contracts * price * 1e6),
  isBlock,
})

function read(afterMs: number, set: Partial<FiguresRead> = {}): FiguresRead {
  const atMs = timeMs(START + afterMs)
  const unsaid = { lastPrice: null, previousPrice: null, openInterest: null }
  return { atMs, lastPriceAtMs: atMs, volume24h: null, volumeTotal: null, ...unsaid, ...set }
}

const total = (contracts: number) => ({ volumeTotal: usdMicros(contracts * 1e6) })
const shown = ({ volumeTotal, volume24h }: MarketFigures) => [
  (volumeTotal ?? Number.NaN) / 1e6,
  volume24h / 1e6,
]

test('adds a trade to the market’s volume in the venue’s volume unit', () => {
  const [contracts, dollars] = [figuresOf(), figuresOf(1_000, 'usd_traded')]
  contracts.count(trade(1, 40), timeMs(START))
  dollars.count(trade(1, 40), timeMs(START))
  assert.deepEqual(
    [shown(contracts), shown(dollars)],
    [
      [1_040, 140],
      [1_010, 110],
    ],
  )
})

test('does not add a trade to the volume when the venue’s reported volume already includes the trade', () => {
  const figures = figuresOf()
  figures.count(trade(5, 40), timeMs(START))
  figures.take(read(5, total(1_040)))
  assert.deepEqual(shown(figures), [1_040, 140])
  figures.take(read(9, total(1_050)))
  figures.count(trade(9, 10), timeMs(START))
  assert.deepEqual(shown(figures), [1_050, 150], 'the ticker came before its trade')
  figures.count(trade(10, 1), timeMs(START))
  assert.deepEqual(shown(figures), [1_051, 151])
})

test('adds a trade to the venue’s volume if it arrives after a report of the same second', () => {
  const figures = figuresOf(1_000, 'usd_traded')
  figures.take(read(4_655, total(1_000)))
  figures.count(trade(4_000, 40), timeMs(START + 4_600))
  assert.deepEqual(shown(figures), [1_000, 100], 'the figures may contain it')
  figures.count(trade(4_000, 40), timeMs(START + 4_700))
  figures.count(trade(3_000, 40), timeMs(START + 4_700))
  assert.deepEqual(shown(figures), [1_010, 110])
})

test('ignores a reported total volume below an earlier total, and applies the next higher total', () => {
  const figures = figuresOf()
  figures.count(trade(5, 40), timeMs(START))
  assert.ok(figures.take(read(50, total(1_010))), 'made before the last trade')
  assert.deepEqual(shown(figures), [1_040, 140])
  assert.ok(!figures.take(read(60, { ...total(990), openInterest: sizeMicros(1) })))
  assert.equal(figures.openInterest, null)
  figures.count(trade(70, 20), timeMs(START))
  assert.deepEqual(shown(figures), [1_040, 140], '1,010 and 20')
  figures.count(trade(71, 20), timeMs(START))
  assert.deepEqual(shown(figures), [1_050, 150])
  assert.ok(figures.take(read(700_000, { ...total(900), openInterest: sizeMicros(2) })))
  assert.deepEqual([figures.openInterest, ...shown(figures)], [2, 1_050, 150])
})

test('applies the venue’s 24-hour volume and adds each later increase of the total volume', () => {
  const figures = figuresOf()
  figures.take(read(10, { ...total(1_030), volume24h: usdMicros(80e6) }))
  assert.deepEqual([shown(figures), figures.dayFiguresAtMs], [[1_030, 80], START + 10])
  figures.take(read(20, total(1_045)))
  assert.deepEqual([shown(figures), figures.dayFiguresAtMs], [[1_045, 95], START + 10])
  assert.equal(figures.figuresAtMs, START + 20)
})

test('returns no total volume when the venue reports no volume', () => {
  const figures = figuresOf(null)
  figures.count(trade(1, 40), timeMs(START))
  assert.deepEqual([figures.volumeTotal, figures.volume24h], [null, 140e6])
})

test('returns the price of the newest trade that is not a block trade', () => {
  const figures = figuresOf()
  figures.count(trade(10, 1, 0.4), timeMs(START))
  figures.count(trade(20, 1, 0.9, true), timeMs(START))
  figures.count(trade(5, 1, 0.3), timeMs(START))
  assert.equal(figures.lastPrice, 400_000)
  figures.take(read(9, { lastPrice: priceMicros(350_000) }))
  assert.equal(figures.lastPrice, 400_000, 'of an earlier ticker')
  figures.take(read(11, { lastPrice: priceMicros(410_000) }))
  assert.equal(figures.lastPrice, 410_000)
})

test('never lowers the total volume, and returns the venue’s total after the venue reports a new total', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom('figures', seed)
    const figures = figuresOf(0)
    const done: { readonly atMs: number; readonly size: number }[] = []
    const truthAt = (ms: number) =>
      done.reduce((sum, { atMs, size }) => sum + (atMs <= ms ? size : 0), 0)
    let before = 0
    for (let ms = 1; ms <= 60; ms += 1) {
      const what = random.below(3)
      if (what === 0) {
        const size = 1 + random.below(50)
        done.push({ atMs: ms, size })
        if (random.below(4) > 0) figures.count(trade(ms, size), timeMs(START))
      } else if (what === 1) {
        const asOf = ms - random.below(20)
        figures.take(read(asOf, total(truthAt(asOf))))
      } else {
        figures.take(read(ms, total(truthAt(ms - random.below(20)))))
      }
      const now = figures.volumeTotal ?? 0
      assert.ok(now >= before, `seed ${seed}: ${before} fell to ${now}`)
      assert.ok(now / 1e6 <= truthAt(ms), `seed ${seed}: ${now} is above the venue's`)
      before = now
    }
    figures.take(read(61, total(truthAt(61))))
    assert.equal(before <= (figures.volumeTotal ?? 0), true)
    assert.equal((figures.volumeTotal ?? 0) / 1e6, truthAt(61), `seed ${seed}`)
  }
})
