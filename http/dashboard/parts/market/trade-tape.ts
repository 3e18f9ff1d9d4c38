// The newest trades of a market, newest first, each once: of a page of the history and of the stream, whichever comes
// first. Bounded: the oldest go. Not for: drawing (trade-panel.ts). Upholds DASH43.

/** Trades that are kept. */
export const TAPE_TRADES_MAX = 200

/** What the tape shows of a trade. */
export interface TapeTrade {
  readonly id: string
  /** Dollars, of the quoted outcome. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  readonly size_usd: number
  /** What the taker did. */
  readonly side: string
  readonly timestamp_ms: number
}

export class TradeTape {
  readonly #ids = new Set<string>()
  readonly #trades: TapeTrade[] = []

  /** Newest first. */
  get trades(): readonly TapeTrade[] {
    return this.#trades
  }

  /** False: it is there already, or older than all of a full tape. Of two of one moment the later put is the newer. */
  put(trade: TapeTrade): boolean {
    if (this.#ids.has(trade.id)) return false
    const at = this.#trades.findIndex(({ timestamp_ms: ms }) => ms <= trade.timestamp_ms)
    const place = at === -1 ? this.#trades.length : at
    if (place >= TAPE_TRADES_MAX) return false
    this.#trades.splice(place, 0, trade)
    this.#ids.add(trade.id)
    if (this.#trades.length > TAPE_TRADES_MAX) {
      const gone = this.#trades.pop()
      if (gone !== undefined) this.#ids.delete(gone.id)
    }
    return true
  }
}
