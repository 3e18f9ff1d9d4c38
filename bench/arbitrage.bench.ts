// Time from a book change to the message of the opportunity that it opens, changes or closes, and the cost of
// opportunities. Frames of 2,000 simulated pairs, in which gaps open and close, go through parse, map and real actors
// at 5,000 a second, each at its planned moment. Messages are written as the stream's JSON. Runs with and without the
// opportunities actor alternate over the same frames. Times start at the planned moment of the first frame that the
// message covers; changes delayed by the 250 ms limit are not timed.
// Excluded: sockets, disk, subscribers, the matcher (the pairs are given). On Linux, the thread's wait for a processor
// is subtracted from load and times, and reported.
// Precision: frames are sent by 1 ms timers.

import { setTimeout as pause } from 'node:timers/promises'
import { Arbitrage } from '../actors/arbitrage/arbitrage.ts'
import { Catalog } from '../actors/catalog/catalog.ts'
import { Matches } from '../actors/matches/matches.ts'
import { System } from '../actors/system.ts'
import { EventRoutes } from '../actors/venue/event-routes.ts'
import type { MarketView } from '../actors/views.ts'
import { asksOf, buyBasket } from '../engine/arbitrage/basket.ts'
import { orderRuleOf } from '../engine/arbitrage/order-rule.ts'
import { type Clock, systemClock } from '../engine/clock.ts'
import type { ArbitrageUpdate, Update } from '../engine/events.ts'
import { nativeMarketId } from '../engine/ids.ts'
import { type FeeModel, type FeeRounding, feeCurve, MODEL_UNKNOWN } from '../engine/market/fees.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { Publisher } from '../engine/publisher.ts'
import type { SimMarket, SimVenue } from '../engine/venues/simulator/model.ts'
import { arbitrageMessage } from '../http/ws/channels/arbitrage.ts'
import { JsonEncoder } from '../http/ws/encode/json.ts'
import { openMemoryStorage } from '../test/support/reference/memory.ts'
import { pairScore } from '../test/support/reference/word-scorer.ts'
import { marketParts, NAMES } from '../test/support/worlds/builders.ts'
import { planMarket, planOf } from '../test/support/worlds/sim-plan.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  figureText,
  hashOf,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { processorWaitMs } from './loop-delay.ts'
import { bookLine, listingOf, type SimLoad, simLoad } from './sim-load.ts'
import { type VenuePath, venuePath } from './venue-path.ts'

const SEED = 19
const PAIRS = 2_000
const PER_SECOND = 5_000
/** The first round is not counted. */
const ROUNDS = 6
const ROUND_SECONDS = 6
/** In the world's time: a minute of it takes 24 s of the load. */
const GAPS_PER_MINUTE = 1_200
const P99_MS_MAX = 5

export const bench: Bench = {
  name: 'arbitrage',
  question:
    'How long from a book’s change to the message of an opportunity, and what do opportunities cost?',
  excludes: 'sockets, the disk, subscribers, the matcher, waits for a processor',
  async run(setting) {
    const plan = setting.isSmall
      ? { pairCount: 20, perSecond: 20_000, rounds: 2, roundSeconds: 0.4 }
      : {
          ...{ pairCount: PAIRS, perSecond: PER_SECOND, rounds: ROUNDS },
          roundSeconds: setting.seconds ?? ROUND_SECONDS,
        }
    const { pairCount, perSecond, rounds, roundSeconds } = plan
    const perRound = perSecond * roundSeconds
    const load = simLoad({
      ...{ seed: SEED, marketsPerVenue: pairCount, frameCount: rounds * perRound },
      ...{ plan: pairsOf(pairCount), gapsPerMinute: GAPS_PER_MINUTE },
    })
    const sides = { with: new Side(load, true), without: new Side(load, false) }
    const costs = await compete(sides, { load, rounds, perRound, perSecond }, setting)
    const lines = sides.with.checked(load)
    sides.without.checked(load)
    sides.with.stop()
    const checked = `${lines.length} books equal the simulated world's, and the opportunities that are open are those that its books give`
    const what = `${perSecond} venue messages/s, ${pairCount} pairs`
    return {
      rows: rowsOf(what, sides, costs),
      state: { hash: hashOf(lines), checked, isRepeatable: true },
    }
  },
}

/**
 * Processor time per frame of each round, in microseconds, and the share of time that the thread waited for a
 * processor.
 */
interface Costs extends Readonly<Record<SideName, readonly number[]>> {
  readonly waitedShare: number
}

type SideName = 'with' | 'without'
/** This thread's time, which stops while the thread waits for a processor. */
const ownMs = (): number => systemClock.monotonicMs() - (processorWaitMs() ?? 0)

const SIDE_NAMES: readonly SideName[] = ['with', 'without']

function rowsOf(
  what: string,
  { with: beside, without: alone }: Readonly<Record<SideName, Side>>,
  costs: Costs,
): Row[] {
  const p99Ms = beside.messageTimes.getValueAtPercentile(99) / 1e6
  const ratio = median(costs.with.map((cost, round) => cost / (costs.without[round] ?? Number.NaN)))
  const micros = (name: SideName) => `${figureText(median(costs[name]))} µs`
  return [
    timesRow(`${what}: a book’s change → the message`, beside.messageTimes),
    aimedRow(`${what}: p99 of that`, p99Ms, { atMost: P99_MS_MAX }, 'ms'),
    timesRow('a frame’s planned moment → its book’s update, with opportunities', beside.bookTimes),
    timesRow('the same without', alone.bookTimes),
    figureRow('processor a frame, with; without', `${micros('with')}; ${micros('without')}`),
    figureRow('processor with / without', `${figureText(ratio)} times`),
    figureRow(
      'waits for a processor, left out',
      `${Math.round(100 * costs.waitedShare)} % of the time`,
    ),
    figureRow('messages', `${beside.messageCount}, of which ${beside.openedCount} opened one`),
  ]
}

/**
 * Each round runs a part of the frames on one side and then the other. Returns microseconds of processor time per
 * frame of each.
 */
async function compete(
  sides: Readonly<Record<SideName, Side>>,
  plan: { load: SimLoad; rounds: number; perRound: number; perSecond: number },
  { say: logLine }: BenchSetting,
): Promise<Costs> {
  const { load, rounds, perRound, perSecond } = plan
  const costs: Record<SideName, number[]> = { with: [], without: [] }
  const [startedMs, waitedMs] = [systemClock.monotonicMs(), processorWaitMs() ?? 0]
  for (let round = 0; round < rounds; round += 1) {
    const isLast = round === rounds - 1
    const part = load.frames.slice(round * perRound, isLast ? undefined : (round + 1) * perRound)
    for (const name of round % 2 === 0 ? SIDE_NAMES : SIDE_NAMES.toReversed()) {
      const side = sides[name]
      side.isTimed = round > 0
      const before = process.cpuUsage()
      side.isDriven = true
      await drive(side, part, perSecond / 1_000)
      side.isDriven = false
      const { user, system } = process.cpuUsage(before)
      if (round > 0) costs[name].push((user + system) / part.length)
    }
    logLine(`round ${round + 1} of ${rounds}`)
  }
  const share = ((processorWaitMs() ?? 0) - waitedMs) / (systemClock.monotonicMs() - startedMs)
  return { ...costs, waitedShare: share }
}

/** Sends frames at their planned moments, by 1 ms timers; resolves when the last has been evaluated. */
async function drive(side: Side, frames: SimLoad['frames'], perMs: number): Promise<void> {
  const startMs = ownMs()
  let at = 0
  const tick = () => {
    side.beginTurn(processorWaitMs() ?? 0)
    const dueMs = systemClock.monotonicMs() - side.waitedMs - startMs
    for (; at < frames.length && at / perMs <= dueMs; at += 1) {
      const frame = frames[at]
      if (frame !== undefined) side.take(frame, startMs + at / perMs)
    }
  }
  const stop = systemClock.every(1, tick)
  while (at < frames.length) await pause(5)
  stop()
  await pause(20)
}

/** `count` questions, each listed by both venues. */
function pairsOf(count: number) {
  const one = (index: number, venue: SimVenue) => {
    const position = 2 * index + (venue === 'a' ? 0 : 1)
    const other = planMarket(venue === 'a' ? position + 1 : position - 1).listing.nativeId
    const sketch = {
      ...{ venue, prior: 0.1 + 0.8 * ((index * 0.37) % 1), moverKey: `pair ${index}` },
      listing: {
        pair: { otherNativeId: other, kind: 'same' as const },
        activity: 4 / (1 + (index % 10)),
      },
    }
    return planMarket(position, sketch)
  }
  const indices = Array.from({ length: count }, (_, index) => index)
  return planOf(indices.flatMap((index) => [one(index, 'a'), one(index, 'b')]))
}

function feesOf(rateMicros: number, rounding: FeeRounding): FeeModel {
  const taker = feeCurve(rateMicros, 1)
  return { ...MODEL_UNKNOWN, kind: 'quadratic', taker, maker: taker, rounding }
}

/**
 * Fees of politics markets at both venues (engine/venues/polymarket/README.md and engine/venues/kalshi/README.md,
 * Fees).
 */
const FEES: Readonly<Record<SimVenue, FeeModel>> = {
  a: feesOf(40_000, { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null }),
  b: feesOf(70_000, { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 }),
}

interface Pair {
  readonly a: SimMarket
  readonly b: SimMarket
}

/** The actors of books and pairs in memory, with or without the opportunities actor. */
class Side {
  readonly messageTimes = newTimes()
  readonly bookTimes = newTimes()
  messageCount = 0
  openedCount = 0
  isTimed = false
  /** True while frames are sent to this side. */
  isDriven = false
  /** Wait for a processor, up to the start of this event-loop tick. */
  waitedMs = 0
  /** An evaluation of the changes is scheduled. */
  #isPlanned = false
  readonly #publisher = new Publisher({ epoch: 'bench', log: silentLog, metrics: new Metrics() })
  readonly #catalog: Catalog
  readonly #arbitrage: Arbitrage | null
  readonly #take: Readonly<Record<SimVenue, VenuePath>>
  readonly #pairs: readonly Pair[]
  readonly #encoder: JsonEncoder
  /** The planned moment of a market's first change that was not evaluated yet. */
  readonly #changedMs = new Map<MarketNumber, number>()
  #plannedMs = 0

  constructor(load: SimLoad, hasOpportunities: boolean) {
    const [metrics, storage] = [new Metrics(), openMemoryStorage()]
    const publisher = this.#publisher
    const nowMs = () => systemClock.nowMs()
    const system = new System({
      clock: systemClock,
      log: silentLog,
      metrics,
      mustHold: () => false,
    })
    const { parts: market } = marketParts({ publisher, storage, nowMs })
    const index = { put() {}, remove() {}, find: async () => new Uint32Array() }
    const catalog = new Catalog({
      ...{ names: NAMES, clock: systemClock, system, storage, index, market },
    })
    const markets = load.markets.map((one) => {
      const now = FEES[one.listing.venue]
      return { ...listingOf(one), fees: { now, next: null, waivedUntilMs: null } }
    })
    catalog.take({ markets, events: [] })
    const routes = new EventRoutes({ catalog, metrics, onWalletFill: () => undefined })
    this.#catalog = catalog
    this.#encoder = new JsonEncoder({ epoch: 'bench', catalog, nowMs })
    publisher.watch({ name: 'bench', onUpdate: (update) => this.#note(update) })
    const matches = new Matches({ clock: systemClock })
    this.#pairs = pairsIn(load)
    for (const { a, b } of this.#pairs) matches.put(this.#view(a), this.#view(b), pairScore(95))
    this.#arbitrage = hasOpportunities
      ? new Arbitrage({
          ...{ clock: this.#lookingClock(), publisher, metrics, catalog, matches },
          ...{
            table: storage.opportunities,
            bookAgeMsMax: Number.POSITIVE_INFINITY,
            confirm: () => undefined,
          },
        })
      : null
    if (this.#arbitrage !== null) {
      publisher.watch(this.#arbitrage)
      this.#arbitrage.start()
    }
    this.#take = {
      a: venuePath('a', load, (event) => routes.route(event)),
      b: venuePath('b', load, (event) => routes.route(event)),
    }
    for (const { venue, text } of load.snapshots) this.#take[venue](text)
  }

  /** Drops changes that were not evaluated before this event-loop tick. */
  beginTurn(waitedMs: number): void {
    this.waitedMs = waitedMs
    if (!this.#isPlanned) this.#changedMs.clear()
  }

  take({ venue, text }: SimLoad['frames'][number], plannedMs: number): void {
    this.#plannedMs = plannedMs
    this.#take[venue](text)
  }

  /**
   * The system clock, whose timers do not fire while the other side runs. No timer follows an evaluation of changes,
   * unless another evaluation was scheduled during it.
   */
  #lookingClock(): Clock {
    const soon: Clock['soon'] = (action) => {
      this.#isPlanned = true
      systemClock.soon(() => {
        this.#isPlanned = false
        action()
        if (!this.#isPlanned) this.#changedMs.clear()
      })
    }
    const every: Clock['every'] = (periodMs, action) =>
      systemClock.every(periodMs, () => {
        if (this.isDriven) action()
      })
    return { ...systemClock, soon, every }
  }

  #note(update: Update): void {
    if (update.kind === 'book') {
      const { number } = update.market
      if (!this.#changedMs.has(number)) this.#changedMs.set(number, this.#plannedMs)
      if (this.isTimed)
        record(this.bookTimes, systemClock.monotonicMs() - this.waitedMs - this.#plannedMs)
    } else if (update.kind === 'arbitrage') this.#noteMessage(update)
  }

  #noteMessage(update: ArbitrageUpdate): void {
    check(String(arbitrageMessage(this.#encoder, update)).length > 100, 'the message is written')
    if (!this.isTimed) return
    this.messageCount += 1
    if (update.event === 'opened') this.openedCount += 1
    const { legs } = update.opportunity
    const changed = legs.map(({ market }) => this.#changedMs.get(market.number) ?? Infinity)
    const fromMs = Math.min(...changed)
    // Sent by the timer that checks open opportunities: a delayed change.
    if (fromMs === Infinity) return
    record(this.messageTimes, ownMs() - fromMs)
  }

  #view({ listing: { venue, nativeId } }: SimMarket): MarketView {
    const view = this.#catalog.find(NAMES.marketId(venue, nativeMarketId(nativeId)))
    if (view === null) throw new Error(`${nativeId} is not in the catalogue`)
    return view
  }

  stop(): void {
    this.#arbitrage?.stop()
  }

  /** A line for each book; throws unless the open opportunities equal those of the world's own books. */
  checked(load: SimLoad): readonly string[] {
    const lines = load.markets.map((market) => {
      const line = bookLine(market.listing.nativeId, market.book)
      const held = bookLine(market.listing.nativeId, this.#view(market).book())
      check(held === line, `the owner's book is\n${held}\nand truly\n${line}`)
      return line
    })
    if (this.#arbitrage === null) return lines
    let open = 0
    for (const { a, b } of this.#pairs) {
      const truly = profits(a, b)
      const found = this.#arbitrage.ofMarket(this.#view(a).ref.number).map(({ profit }) => profit)
      const reported = `${a.listing.nativeId} has ${found.join()}, truly ${truly.join()}`
      check(found.toSorted().join() === truly.toSorted().join(), reported)
      open += found.length
    }
    check(open > 0 && this.openedCount > 0, 'opportunities were found')
    return lines
  }
}

function pairsIn({ markets }: SimLoad): readonly Pair[] {
  const existing = new Map(markets.map((market) => [market.listing.nativeId, market]))
  return markets.flatMap((a) => {
    const b = existing.get(a.listing.pair?.otherNativeId ?? '')
    return a.listing.venue === 'a' && b !== undefined ? [{ a, b }] : []
  })
}

/** Profits of both directions of a pair by the world's own books. */
function profits(a: SimMarket, b: SimMarket): readonly number[] {
  const directions = [
    [asksOf(a.book, 'first'), asksOf(b.book, 'second')],
    [asksOf(a.book, 'second'), asksOf(b.book, 'first')],
  ] as const
  return directions.flatMap(([ofA, ofB]) => {
    const legs = [
      { asks: ofA, fees: FEES.a, order: orderRuleOf({ venue: 'a', orderSizeMin: null }) },
      { asks: ofB, fees: FEES.b, order: orderRuleOf({ venue: 'b', orderSizeMin: null }) },
    ]
    const basket = buyBasket({ legs, winners: 1, contracts: null })
    return typeof basket === 'string' ? [] : [basket.profit]
  })
}
