// Live trades of a market, newest first, merged from REST and the stream without duplicates. The oldest are
// dropped beyond a limit.
// Drawn rows are never rerendered. Only the first rows are rendered until the user scrolls.

import { Component } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { after } from '../browser.ts'
import { sizeDecimals, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import type { TradePage } from '../records.ts'
import { useRedraw, useSignal } from '../signal.ts'
import { follow, streamState } from '../stream.ts'
import { Price, Time, TradedText, tradedOf } from './figures.ts'
import { Empty, Failure, Waiting } from './states.ts'

/** Loads without the stream if it is not live after this time. */
const PATIENCE_MS = 1_500
/** Maximum number of trades. */
export const TAPE_TRADES_MAX = 200

export interface TapeTrade {
  readonly id: string
  /** Dollars, in terms of the quoted outcome. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  readonly size_usd: number
  /** The taker's side, in terms of the quoted outcome. */
  readonly side: string
  /** The traded outcome. */
  readonly outcome: string
  readonly timestamp_ms: number
}

export class TradeTape {
  readonly #ids = new Set<string>()
  readonly #trades: TapeTrade[] = []

  /** Newest first. */
  get trades(): readonly TapeTrade[] {
    return this.#trades
  }

  /**
   * Returns false for a known trade, or one older than all trades of a full tape. Of two trades with the
   * same time, the later call counts as newer.
   */
  put(trade: TapeTrade): boolean {
    if (this.#ids.has(trade.id)) return false
    const at = this.#trades.findIndex(({ timestamp_ms: ms }) => ms <= trade.timestamp_ms)
    const index = at === -1 ? this.#trades.length : at
    if (index >= TAPE_TRADES_MAX) return false
    this.#trades.splice(index, 0, trade)
    this.#ids.add(trade.id)
    if (this.#trades.length > TAPE_TRADES_MAX) {
      const evicted = this.#trades.pop()
      if (evicted !== undefined) this.#ids.delete(evicted.id)
    }
    return true
  }
}

/** Twice the visible rows, so that the list can scroll. */
const ROWS_AT_TOP = 32

/** Labels for trades that may be out of date. */
const LAST_KNOWN = 'Not connected: the last known trades'
const MAYBE_OLD = 'Nothing new: may be old'

type LoadState =
  | { readonly kind: 'waiting' | 'read' }
  | { readonly kind: 'failed'; readonly error: unknown }

interface TradePanelProps {
  readonly marketId: string
  /** Labels of the market's outcomes, the quoted one first. */
  readonly outcomes: readonly string[]
  /** Decimals of a cent in the market's prices. */
  readonly decimals: number
}

export function TradePanel({ marketId, outcomes, decimals }: TradePanelProps) {
  const [tape] = useState(() => new TradeTape())
  const [loadState, setLoadState] = useState<LoadState>({ kind: 'waiting' })
  const [round, setRound] = useState(0)
  const readAgain = () => setRound((count) => count + 1)
  useRedraw(
    (redraw) => {
      const cancelWait = after(PATIENCE_MS, readAgain)
      const stop = follow(
        { channel: 'trades', marketIds: [marketId] },
        {
          onMessage: (message) => {
            if (message.type === 'trade' && tape.put(message.data)) redraw()
          },
          // The REST response may contain what the stream lost.
          onGap: readAgain,
          // A request after this point cannot miss trades between the response and the stream.
          onReady: () => {
            cancelWait()
            readAgain()
          },
        },
      )
      return () => {
        cancelWait()
        stop()
      }
    },
    [marketId],
  )
  useEffect(
    () => (round === 0 ? undefined : readTrades(marketId, tape, setLoadState)),
    [marketId, round],
  )
  const { trades } = tape
  const { state, isLost } = useSignal(streamState)
  const old = isLost || state === 'offline' ? LAST_KNOWN : state === 'late' ? MAYBE_OLD : null
  return html`<section class="card tape" aria-labelledby="tape-title" data-count=${trades.length}>
    <div class="row panel-head">
      <h2 id="tape-title">Trades</h2>
      ${old === null || trades.length === 0 ? null : html`<span class="tag wait" data-old=${state}>${old}</span>`}
    </div>
    ${loadState.kind === 'failed' && (trades.length === 0 || old === null) ? html`<${Failure} error=${loadState.error} retry=${readAgain} />` : null}
    ${loadState.kind === 'waiting' && trades.length === 0 ? html`<${Waiting} what="trades" />` : null}
    ${loadState.kind === 'read' && trades.length === 0 ? html`<${Empty}>No trades of this market are kept here.<//>` : null}
    ${trades.length === 0 ? null : html`<${Table} trades=${trades} outcomes=${outcomes} least=${decimals} />`}
  </section>`
}

/** Loads a page of trades; returns a cancel function. */
function readTrades(
  marketId: string,
  tape: TradeTape,
  onChange: (loadState: LoadState) => void,
): () => void {
  const ending = new AbortController()
  const path = `/v1/markets/${encodeURIComponent(marketId)}/trades`
  const options = { query: { limit: TAPE_TRADES_MAX }, signal: ending.signal }
  request<TradePage>(path, options).then(
    ({ trades }) => {
      if (ending.signal.aborted) return
      for (const trade of [...trades].reverse()) tape.put(trade)
      onChange({ kind: 'read' })
    },
    (error: unknown) => ending.signal.aborted || onChange({ kind: 'failed', error }),
  )
  return () => ending.abort()
}

interface TableProps {
  readonly trades: readonly TapeTrade[]
  readonly outcomes: readonly string[]
  /** Minimum decimals of prices. */
  readonly least: number
}

function Table({ trades, outcomes, least }: TableProps) {
  const [isAtTop, setAtTop] = useState(true)
  const shown = isAtTop ? trades.slice(0, ROWS_AT_TOP) : trades
  // The number of decimals only grows, so that columns do not jump.
  const sizes = useRef<0 | 2>(0)
  if (sizes.current === 0) sizes.current = sizeDecimals(trades.map(({ size }) => size))
  return html`<div
    class="scroll-x scroll-y" tabindex="0" role="region" aria-label="Trades, newest first"
    onScroll=${(event: Event) => setAtTop(topOf(event) <= 0)}
  >
  <table class="list tape-list">
    <caption class="visually-hidden">Trades, newest first</caption>
    <thead>
      <tr>
        <th scope="col">Time</th><th scope="col">Trade</th><th scope="col" class="num">Price</th>
        <th scope="col" class="num">Contracts</th><th scope="col" class="num">Value</th>
      </tr>
    </thead>
    <tbody>${shown.map((trade) => html`<${TradeRow} key=${trade.id} trade=${trade} outcomes=${outcomes} least=${least} sizes=${sizes.current} />`)}</tbody>
  </table>
</div>`
}

/** Scroll position in pixels. */
function topOf({ currentTarget }: Event): number {
  return currentTarget instanceof Element ? currentTarget.scrollTop : 0
}

interface TradeRowProps extends Omit<TableProps, 'trades'> {
  readonly trade: TapeTrade
  /** Decimals of the size column. */
  readonly sizes: 0 | 2
}

class TradeRow extends Component<TradeRowProps> {
  /** A trade never changes, while the list changes many times a second. */
  override shouldComponentUpdate({ least, sizes }: TradeRowProps): boolean {
    return least !== this.props.least || sizes !== this.props.sizes
  }

  override render({ trade, outcomes, least, sizes }: TradeRowProps) {
    const { id, size, size_usd: usd, timestamp_ms: atMs } = trade
    const done = tradedOf({ ...trade, usd }, outcomes)
    return html`<tr data-trade=${id}>
      <td class="when"><${Time} atMs=${atMs} style="clock" /></td>
      <td class="what"><${TradedText} of=${done} /></td>
      <td class="num price"><${Price} price=${done.price} decimals=${least} /></td>
      <td class="num size">${sizeText(size, sizes)}</td>
      <td class="num usd">${usdText(usd)}</td>
    </tr>`
  }
}
