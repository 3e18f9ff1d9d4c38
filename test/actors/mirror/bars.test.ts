import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerBars, MirrorBars } from '../../../actors/mirror/bars.ts'
import type { TradeUpdate } from '../../../engine/events.ts'
import {
  type Bar,
  type BarSize,
  barOf,
  barStart,
  CANDLE_MS,
  joined,
} from '../../../engine/market/candle.ts'
import { seededRandom } from '../../../engine/random.ts'
import {
  HOUR_MS,
  priceMicros,
  sizeMicros,
  TIME_END,
  TIME_ZERO,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import type { BarQuery } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { marketRef, NOON } from '../../support/worlds/builders.ts'

const MARKETS = 100
const SIZES: readonly BarSize[] = ['minute', 'hour']
const ALL = { fromMs: TIME_ZERO, toMs: TIME_END, order: 'asc', limit: 1_000 } as const

class Traded {
  readonly #bars = { minute: new Map<number, Bar>(), hour: new Map<number, Bar>() }
  #seq = 0

  take({ trade, seq }: Pick<TradeUpdate, 'trade' | 'seq'>): void {
    this.#seq = seq
    if (trade.isBlock) return
    for (const size of SIZES) {
      const bar = barOf(size, trade)
      const existing = this.#bars[size].get(bar.startMs)
      this.#bars[size].set(bar.startMs, existing === undefined ? bar : joined(existing, bar))
    }
  }

  seq(): number {
    return this.#seq
  }

  bars({ size, fromMs, toMs, order, limit }: BarQuery): readonly Bar[] {
    const all = [...this.#bars[size].values()].sort((one, other) => one.startMs - other.startMs)
    const found = all.filter(({ startMs }) => startMs >= fromMs && startMs <= toMs)
    return (order === 'asc' ? found : found.reverse()).slice(0, limit)
  }
}

/** The gateway receives the engine's seeded trades late. */
class Rig {
  readonly clock = new ManualClock(NOON)
  readonly engine = Array.from({ length: MARKETS }, () => new Traded())
  readonly #random = seededRandom('bars')
  readonly #answer = answerBars({
    clock: this.clock,
    catalog: { byNumber: (number) => this.engine[number] ?? null },
  })
  readonly bars = new MirrorBars({ clock: this.clock, request: (body) => this.#request(body) })
  readonly #undelivered: TradeUpdate[] = []
  #offset = 0
  requestCount = 0
  isLeading = true
  /** Runs after the engine reads a request and before it answers. */
  onRequest = (): void => undefined

  async #request(body: Uint8Array): Promise<Uint8Array> {
    this.requestCount += 1
    if (!this.isLeading) throw new Error('no engine leads')
    await nextTurn()
    const answer = await this.#answer(body)
    this.onRequest()
    await nextTurn()
    return answer
  }

  /** The trade is at most two days old, and most often of the current minute. */
  trade(): void {
    const number = this.#random.below(MARKETS)
    const market = this.engine[number]
    assert.ok(market !== undefined)
    const isLate = this.#random.next() < 0.2
    const update = this.#updateOf(number, market, isLate ? 30 * HOUR_MS : 1)
    market.take(update)
    this.#undelivered.push(update)
  }

  #updateOf(number: number, market: Traded, agoMs: number): TradeUpdate {
    this.#offset += 1
    const atMs = this.clock.nowMs() - this.#random.below(agoMs)
    const size = 1 + this.#random.below(9)
    return {
      kind: 'trade',
      market: marketRef(`m${number}`, number),
      ...{ offset: this.#offset, seq: market.seq() + 1 },
      ...{ venueTimeMs: timeMs(atMs), receivedAtMs: this.clock.nowMs() },
      trade: {
        nativeId: `t${this.#offset}`,
        ...{ timeMs: timeMs(atMs), ordinal: this.#offset, side: 'buy', outcomeIndex: 0 },
        price: priceMicros(100_000 + this.#random.below(800_000)),
        ...{ size: sizeMicros(size * 1e6), usd: usdMicros(size * 1e5) },
        ...{ maker: null, taker: null, txHash: null, isBlock: this.#random.next() < 0.1 },
      },
    }
  }

  /** Adds past trades without updates to some markets. Returns the numbers of these markets. */
  history(count: number): readonly number[] {
    const numbers = new Set<number>()
    for (let left = count; left > 0; left -= 1) {
      const number = this.#random.below(MARKETS)
      const market = this.engine[number]
      assert.ok(market !== undefined)
      market.take({ ...this.#updateOf(number, market, 60 * HOUR_MS), seq: market.seq() })
      numbers.add(number)
    }
    return [...numbers]
  }

  hear(count = Number.POSITIVE_INFINITY): void {
    for (const update of this.#undelivered.splice(0, count)) this.bars.note(update)
  }

  async arrived(number: number): Promise<void> {
    let isHere = false
    const arrival = this.bars.arrival(number)
    void arrival?.then(() => {
      isHere = true
    })
    while (arrival !== null && !isHere) {
      await nextTurn()
      this.clock.advance(100)
    }
  }

  assertSame(): void {
    for (const [number, market] of this.engine.entries()) {
      for (const size of SIZES) {
        const published = this.bars.range(number, { ...ALL, size })
        const existing = market.bars({ ...ALL, size })
        const [first] = published
        assert.deepEqual(
          published,
          existing.filter(({ startMs }) => first !== undefined && startMs >= first.startMs),
          `${size} bars of ${number}`,
        )
        assert.equal(published.at(-1)?.startMs, existing.at(-1)?.startMs, 'the newest')
        const widestMs = size === 'minute' ? CANDLE_MS['15m'] : CANDLE_MS['1d']
        const fromMs = barStart(this.clock.nowMs(), widestMs) - widestMs
        const isRecent = ({ startMs }: Bar) => startMs >= fromMs
        assert.equal(
          published.filter(isRecent).length,
          existing.filter(isRecent).length,
          'all bars are present',
        )
      }
    }
  }
}

test('returns the same bars as the engine, including trades that the engine published before and after the bar request', async () => {
  const rig = new Rig()
  for (let hour = 0; hour < 60; hour += 1) {
    for (let left = 10; left > 0; left -= 1) rig.trade()
    rig.clock.advance(HOUR_MS)
  }
  // The newest trade is not delivered yet.
  rig.hear(590)
  rig.onRequest = () => {
    for (let left = 20; left > 0; left -= 1) rig.trade()
    rig.hear(15)
  }
  for (let number = 0; number < MARKETS; number += 1) await rig.arrived(number)
  assert.equal(rig.requestCount, 2, 'for many markets at once')
  rig.hear()
  rig.assertSame()
  for (let hour = 0; hour < 100; hour += 1) {
    for (let left = 30; left > 0; left -= 1) rig.trade()
    rig.clock.advance(HOUR_MS / 3)
    rig.hear()
  }
  rig.assertSame()
  assert.equal(rig.requestCount, 2)
})

test('returns no bars of a market while the engine does not answer, and repeats the bar request later', async () => {
  const rig = new Rig()
  for (let left = 200; left > 0; left -= 1) rig.trade()
  rig.hear()
  rig.isLeading = false
  await rig.arrived(7)
  for (let left = 200; left > 0; left -= 1) rig.trade()
  rig.hear()
  assert.deepEqual(rig.bars.range(7, { ...ALL, size: 'minute' }), [])
  rig.isLeading = true
  rig.clock.advance(2_000)
  for (let number = 0; number < MARKETS; number += 1) await rig.arrived(number)
  rig.assertSame()
  rig.bars.remove(7)
  assert.deepEqual(rig.bars.range(7, { ...ALL, size: 'minute' }), [])
})

test('requests bars a second time after the engine read past trades, and returns no bars when that request fails', async () => {
  const rig = new Rig()
  const trades = (count: number) => {
    for (let left = count; left > 0; left -= 1) rig.trade()
  }
  const renewed = async () => {
    for (let step = 0; step < 60; step += 1) {
      await nextTurn()
      rig.clock.advance(500)
    }
  }
  trades(400)
  // No bars were requested before, so `renew` requests none.
  rig.bars.renew(rig.history(50))
  assert.equal(rig.requestCount, 0)
  // Trades are published between request and answer. The gateway receives some of them after the answer.
  let published: readonly number[] = []
  rig.onRequest = () => {
    rig.bars.renew(rig.history(20))
    published = rig.history(20)
    trades(20)
    rig.hear(10)
    rig.onRequest = () => trades(5)
  }
  for (let number = 0; number < MARKETS; number += 1) await rig.arrived(number)
  rig.bars.renew(published)
  await renewed()
  rig.hear()
  rig.assertSame()
  for (let round = 0; round < 20; round += 1) {
    trades(10)
    const markets = rig.history(30)
    rig.hear(5)
    rig.bars.renew(markets)
    await nextTurn()
    trades(10)
    rig.hear(10)
    rig.bars.renew(rig.history(10))
    await renewed()
  }
  rig.hear()
  rig.assertSame()
  rig.isLeading = false
  rig.bars.renew(rig.history(300))
  await renewed()
  assert.deepEqual(
    rig.bars.range(7, { ...ALL, size: 'hour' }),
    [],
    'incomplete bars are not returned',
  )
  rig.isLeading = true
  for (let number = 0; number < MARKETS; number += 1) await rig.arrived(number)
  rig.hear()
  rig.assertSame()
})
