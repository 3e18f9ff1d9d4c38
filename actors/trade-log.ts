// Published trades by run and offset, for streams that resume. Each announced loss is stored with its offset. A client
// that resumes receives the loss as a `gap`.

import type { Update } from '../engine/events.ts'
import type { Publisher, Watcher } from '../engine/publisher.ts'
import type { Storage } from '../storage/contract/storage.ts'
import type { RunView, TradeLogView } from './views.ts'

export class TradeLog implements TradeLogView, Watcher {
  readonly name = 'trade log'
  readonly present: RunView
  readonly #publisher: Publisher
  readonly #storage: Pick<Storage, 'runs' | 'trades' | 'losses'>
  #newestLoss = Number.NEGATIVE_INFINITY

  /**
   * `run`: the current run, which has published nothing yet. The caller must register the log as a watcher of the
   * publisher.
   */
  constructor(parts: {
    run: RunView
    publisher: Publisher
    storage: Pick<Storage, 'runs' | 'trades' | 'losses'>
  }) {
    this.present = parts.run
    this.#publisher = parts.publisher
    this.#storage = parts.storage
    const { runs, trades } = this.#storage
    const last = runs.all().findLast(({ number }) => number < this.present.number)
    // Recorded now, because the end is unknown when the newest trades of that run have expired.
    if (last?.endOffset === null) runs.end(last.number, trades.newestOffset(last.number))
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'gap') return
    const { market, venue, fromMs, toMs, count } = update
    const at = { run: this.present.number, offset: this.#publisher.offset('trades') }
    this.#newestLoss = at.offset
    this.#storage.losses.put({ ...at, venue, market: market?.number ?? null, fromMs, toMs, count })
  }

  runs(): readonly RunView[] {
    return this.#storage.runs.all()
  }

  range(query: Parameters<TradeLogView['range']>[0]) {
    return this.#storage.trades.rangeByOffset(query)
  }

  rangeOf({ isWanted, ...query }: Parameters<TradeLogView['rangeOf']>[0]) {
    const { trades } = this.#storage
    return trades.locationsByOffset(query).map(({ offset, market, timeMs, ordinal }) => {
      if (!isWanted(market)) return { offset, market, trade: null }
      const at = { fromMs: timeMs, toMs: timeMs, after: { timeMs, ordinal: ordinal - 1 } }
      const [trade] = trades.range({ market, ...at, order: 'asc', limit: 1 })
      return { offset, market, trade: trade?.ordinal === ordinal ? trade : undefined }
    })
  }

  losses(query: Parameters<TradeLogView['losses']>[0]) {
    // Avoids a disk read for most queries, because losses are rare and thousands of clients may resume at once.
    if (query.run === this.present.number && query.offset > this.#newestLoss) return []
    return this.#storage.losses.range(query)
  }
}
