// The log of published trades, run after run, for streams that resume: a reader's view of the table of trades. An owner,
// called directly. It also stores every announced loss with its offset, so that a client that was away then gets it
// as a `gap` when it resumes, and notes where the last run ended.

import type { Update } from '../engine/events.ts'
import type { Publisher, Watcher } from '../engine/publisher.ts'
import type { Storage } from '../storage/contract/storage.ts'
import type { RunView, TradeLogView } from './views.ts'

export class TradeLog implements TradeLogView, Watcher {
  readonly name = 'trade log'
  readonly present: RunView
  readonly #publisher: Publisher
  readonly #storage: Pick<Storage, 'runs' | 'trades' | 'losses'>
  /** Where the newest loss of the present run was announced; it alone writes them. */
  #newestLoss = Number.NEGATIVE_INFINITY

  /** `run` has begun and has published nothing yet. Register it with the publisher as a watcher. */
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
    // Now, while all of its newest trades are stored: after some expired the end could not be read any more.
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
    // Of thousands that come back at once each asks, and seldom is there any.
    if (query.run === this.present.number && query.offset > this.#newestLoss) return []
    return this.#storage.losses.range(query)
  }
}
