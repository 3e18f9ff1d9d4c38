// Each read computes the log from fake markets. A trade expires when the test removes it from its market.

import type { MarketView, TradeLogView } from '../../../actors/views.ts'
import type { GapUpdate, Update } from '../../../engine/events.ts'
import type { Publisher, Watcher } from '../../../engine/publisher.ts'
import { timeMs } from '../../../engine/units.ts'
import { type FakeMarket, presentRun } from './market.ts'

type StoredTrade = ReturnType<MarketView['trades']>[number]
type Run = TradeLogView['present']

type Loss = ReturnType<TradeLogView['losses']>[number]

export class FakeTradeLog implements TradeLogView, Watcher {
  readonly name = 'trade log'
  readonly present: Run
  readonly past: Run[] = []
  readonly lost: Loss[] = []
  /** Number of rows that `range` returned. Tests use it to detect disk reads. */
  readCount = 0
  readonly #publisher: Publisher
  readonly #markets: () => readonly FakeMarket[]

  constructor(publisher: Publisher, markets: () => readonly FakeMarket[]) {
    const startedAtMs = timeMs(Date.UTC(2026, 10, 20, 11))
    this.present = { number: presentRun, epoch: publisher.epoch, startedAtMs, endOffset: null }
    this.#publisher = publisher
    this.#markets = markets
    publisher.watch(this)
  }

  /** Adds the run that is `ago` runs before the current run. */
  addRun(ago: number, endOffset: number | null): Run {
    const startedAtMs = timeMs(this.present.startedAtMs - ago * 3_600_000)
    const run = { number: presentRun - ago, epoch: `old${ago}`, startedAtMs, endOffset }
    this.past.push(run)
    this.past.sort((one, other) => one.number - other.number)
    return run
  }

  /** The receive time is 10 ms per offset after the run's start. */
  addTrade(market: FakeMarket, run: Run, at: { offset: number; seq: number }): StoredTrade {
    const receivedAtMs = timeMs(run.startedAtMs + at.offset * 10)
    const row = { ...market.trade({ timeMs: receivedAtMs }, false), receivedAtMs }
    market.stored[market.stored.length - 1] = { ...row, run: run.number, ...at }
    return row
  }

  onUpdate(update: Update): void {
    if (update.kind === 'gap') this.addLoss(presentRun, this.#publisher.offset('trades'), update)
  }

  addLoss(
    run: number,
    offset: number,
    gap: Omit<GapUpdate, 'kind' | 'channel' | 'platform'>,
  ): void {
    const { venue, market, fromMs, toMs, count } = gap
    this.lost.push({ run, offset, venue, market: market?.number ?? null, fromMs, toMs, count })
  }

  runs(): readonly Run[] {
    return [...this.past, this.present]
  }

  range({ run, offset, limit }: Parameters<TradeLogView['range']>[0]) {
    const found = this.#markets()
      .flatMap(({ ref, stored }) =>
        stored
          .filter((trade) => trade.run === run && (trade.offset ?? 0) > offset)
          .map((trade) => ({ market: ref.number, trade })),
      )
      .sort((one, other) => (one.trade.offset ?? 0) - (other.trade.offset ?? 0))
      .slice(0, limit)
    this.readCount += found.length
    return found
  }

  rangeOf({ isWanted, ...query }: Parameters<TradeLogView['rangeOf']>[0]) {
    return this.range(query).map(({ market, trade }) => ({
      offset: Number(trade.offset),
      market,
      trade: isWanted(market) ? trade : null,
    }))
  }

  losses({ run, offset }: Parameters<TradeLogView['losses']>[0]): readonly Loss[] {
    return this.lost.filter((loss) => loss.run === run && loss.offset >= offset)
  }
}
