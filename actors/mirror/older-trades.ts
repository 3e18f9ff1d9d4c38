// Requests trades that are not in a gateway's memory from the engine, page by page, while a resuming stream waits.
// Trades that the engine lacks too are reported as lost. This file contains both sides.

import { type Clock, pause } from '../../engine/clock.ts'
import { decodeBatch, encodeBatch } from '../../engine/cluster/batch.ts'
import { count, message, record } from '../../engine/codec.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import { MsgpackWriter } from '../../engine/msgpack-writer.ts'
import type { StoredTrade } from '../../storage/contract/storage.ts'
import { readItem, writeItem } from '../../storage/records/log-items.ts'
import type { MarketView, TradeLogView } from '../views.ts'

export interface TradeRow {
  readonly offset: number
  readonly market: MarketNumber
  readonly trade: StoredTrade
}

/** A position after the trade with this offset. */
export interface RunOffset {
  readonly run: number
  readonly offset: number
}

/** Offsets per page. The engine reads a page from disk in about 2 ms. */
const PAGE_ROWS = 256
/** About 30 MB. The least recently used page is evicted first. */
const PAGES_MAX = 128
const TRIES_MAX = 10
const RETRY_MS = 1_000

const positionMessage = message<RunOffset>(record<RunOffset>({ run: count, offset: count }))

/** Engine side. Throws for an invalid request. */
export function answerOlderTrades({
  tradeLog,
  catalog,
}: {
  readonly tradeLog: TradeLogView
  readonly catalog: { byNumber(number: MarketNumber): Pick<MarketView, 'ref'> | null }
}) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const position = positionMessage.decode(body)
    if (position === null) throw new Error('the request states no run and offset')
    const writer = new MsgpackWriter()
    writer.begin()
    let rowCount = 0
    for (const { market: number, trade } of tradeLog.range({ ...position, limit: PAGE_ROWS })) {
      const market = catalog.byNumber(number)?.ref
      const { offset: at, seq, timeMs: venueTimeMs, receivedAtMs } = trade
      if (market === undefined || at === null || seq === null) continue
      const stamps = { offset: at, seq, venueTimeMs, receivedAtMs }
      const update = { kind: 'trade', market, ...stamps, trade } as const
      writeItem(writer, { kind: 'update', update, book: null })
      rowCount += 1
    }
    const { epoch } = tradeLog.present
    return encodeBatch({ epoch, term: 1, batch: 1, offsets: [], count: rowCount }, writer.end())
  }
}

export class OlderTrades {
  readonly #clock: Clock
  readonly #request: (body: Uint8Array) => Promise<Uint8Array>
  readonly #refOf: (market: MarketNumber) => MarketRef | null
  readonly #pages = new Map<string, readonly TradeRow[] | Promise<void>>()

  constructor(parts: {
    readonly clock: Clock
    readonly request: (body: Uint8Array) => Promise<Uint8Array>
    readonly refOf: (market: MarketNumber) => MarketRef | null
  }) {
    this.#clock = parts.clock
    this.#request = parts.request
    this.#refOf = parts.refOf
  }

  /** Null: the page is cached. Otherwise resolves when the page has arrived or the request has failed. */
  arrival(position: RunOffset): Promise<void> | null {
    const key = keyOf(position)
    let page = this.#pages.get(key)
    if (page === undefined) {
      page = this.#fetch(key, { ...position, offset: startOf(position) })
      this.#pages.set(key, page)
    }
    return page instanceof Promise ? page : null
  }

  /** Returns the cached trades after a position, up to the end of its page. */
  tradesAfter(position: RunOffset): readonly TradeRow[] {
    const page = this.#pages.get(keyOf(position))
    if (page === undefined || page instanceof Promise) return []
    return page.filter(({ offset }) => offset > position.offset)
  }

  async #fetch(key: string, position: RunOffset): Promise<void> {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      try {
        const bytes = await this.#request(positionMessage.encode(position))
        return this.#cache(key, this.#read(bytes, position))
      } catch {
        await pause(this.#clock, RETRY_MS)
      }
    }
    this.#cache(key, [])
    this.#clock.after(RETRY_MS, () => this.#pages.delete(key))
  }

  #cache(key: string, rows: readonly TradeRow[]): void {
    this.#pages.delete(key)
    this.#pages.set(key, rows)
    for (const [oldest, page] of this.#pages) {
      if (this.#pages.size <= PAGES_MAX) return
      if (!(page instanceof Promise)) this.#pages.delete(oldest)
    }
  }

  #read(bytes: Uint8Array, { run }: RunOffset): readonly TradeRow[] {
    const batch = decodeBatch(bytes)
    if (batch === null) throw new Error('the answer is not a page of trades')
    return batch.items.flatMap((raw) => {
      const item = readItem(raw, this.#refOf)
      if (typeof item === 'string' || item.kind !== 'update' || item.update.kind !== 'trade') {
        return []
      }
      const { market, trade, offset, seq, receivedAtMs } = item.update
      return [
        { offset, market: market.number, trade: { ...trade, receivedAtMs, run, offset, seq } },
      ]
    })
  }
}

/** Pages begin at fixed offsets, so that streams share them. */
function startOf({ offset }: RunOffset): number {
  return offset - (offset % PAGE_ROWS)
}

function keyOf(position: RunOffset): string {
  return `${position.run} ${startOf(position)}`
}
