// The newest published trades and whales that came by the log, run after run, for streams that resume at this process. What
// is older than the first of them counts as lost, and is told so. Bounded: the oldest go first.
// Not for: messages since the face opened (http/ws/resume/message-log.ts). Upholds CLUSTER14.

import type { TradeUpdate, WhaleUpdate } from '../../engine/events.ts'
import { ringTradesMax, ringWhalesMax } from '../../engine/limits.ts'
import type {
  OffsetQuery,
  StoredTrade,
  StoredWhale,
  TradeLoss,
  TradeOfMarket,
  WhaleRow,
} from '../../storage/contract/storage.ts'
import type { RunView, TradeLogView, WhaleLogView } from '../views.ts'

interface Placed {
  readonly offset: number
}

/** Rows of several runs by offset. */
class OffsetRows<Row extends Placed> {
  readonly #capacity: number
  readonly #runs = new Map<number, Row[]>()
  #count = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Adds a row; one of an offset that is there is left out. */
  push(run: number, row: Row): void {
    const rows = this.#runs.get(run)
    if (rows === undefined) this.#runs.set(run, [row])
    else {
      const at = placeBehind(rows, row.offset)
      if (rows[at - 1]?.offset === row.offset) return
      rows.splice(at, 0, row)
    }
    this.#count += 1
    if (this.#count > this.#capacity * 1.1) this.#forget()
  }

  /** At most `limit` rows of a run behind an offset, in order. */
  range({ run, offset, limit }: OffsetQuery): readonly Row[] {
    const rows = this.#runs.get(run) ?? []
    const at = placeBehind(rows, offset)
    return rows.slice(at, at + limit)
  }

  /** A tenth at once, so that a row in a full log costs no copy of it. */
  #forget(): void {
    for (const [run, rows] of [...this.#runs].sort(([one], [other]) => one - other)) {
      const surplus = this.#count - this.#capacity
      if (surplus <= 0) return
      this.#count -= rows.splice(0, surplus).length
      if (rows.length === 0) this.#runs.delete(run)
    }
  }
}

/** Where the first row behind an offset is. */
function placeBehind(rows: readonly Placed[], offset: number): number {
  let [low, high] = [0, rows.length]
  // Rows come in order, nearly always: the last is looked at first.
  if ((rows.at(-1)?.offset ?? -1) <= offset) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.offset ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}

interface TradeRow extends Placed, TradeOfMarket {}

export class MirrorTradeLog implements TradeLogView {
  readonly present: RunView
  readonly #runs: readonly RunView[]
  readonly #rows = new OffsetRows<TradeRow>(ringTradesMax)
  readonly #losses: TradeLoss[] = []

  /** `runs`: oldest first, the present one last. */
  constructor(runs: readonly RunView[], present: RunView) {
    this.#runs = runs
    this.present = present
  }

  push(run: number, { market, trade, offset, seq, receivedAtMs }: TradeUpdate): void {
    const stored: StoredTrade = { ...trade, receivedAtMs, run, offset, seq }
    this.#rows.push(run, { offset, market: market.number, trade: stored })
  }

  runs(): readonly RunView[] {
    return this.#runs
  }

  range(query: OffsetQuery): readonly TradeOfMarket[] {
    return this.#rows.range(query)
  }

  rangeOf({ isWanted, ...query }: Parameters<TradeLogView['rangeOf']>[0]) {
    return this.#rows.range(query).map(({ offset, market, trade }) => ({
      offset,
      market,
      trade: isWanted(market) ? trade : null,
    }))
  }

  /** Notes an announced loss with its place, for streams that were away. */
  lose(loss: TradeLoss): void {
    if (this.#losses.length < LOSSES_MAX) this.#losses.push(loss)
  }

  losses({ run, offset }: { run: number; offset: number }): readonly TradeLoss[] {
    return this.#losses.filter((loss) => loss.run === run && loss.offset >= offset)
  }
}

const LOSSES_MAX = 10_000

interface PlacedWhale extends Placed, WhaleRow {}

export class MirrorWhaleLog implements WhaleLogView {
  readonly present: RunView
  readonly #rows = new OffsetRows<PlacedWhale>(ringWhalesMax)

  constructor(present: RunView) {
    this.present = present
  }

  push(run: number, { market, whale, offset, seq, receivedAtMs }: WhaleUpdate): void {
    const stored: StoredWhale = { ...whale, receivedAtMs, run, offset, seq }
    const { number, venue, nativeId: nativeMarket } = market
    this.#rows.push(run, { offset, market: number, venue, nativeMarket, whale: stored })
  }

  runs(): readonly RunView[] {
    return [this.present]
  }

  range(query: OffsetQuery): readonly WhaleRow[] {
    return this.#rows.range(query)
  }

  // Older rows are the engine's: routes that ask for them are forwarded.

  history(): readonly never[] {
    return []
  }

  historyOfMarket(): readonly never[] {
    return []
  }

  oldestMs(): null {
    return null
  }
}
