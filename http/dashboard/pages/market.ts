import { useEffect, useRef, useState } from 'preact/hooks'
import type { DataMessage } from '../../client/messages.ts'
import { ApiError, request } from '../api.ts'
import { setTitle } from '../browser.ts'
import { CandleChart } from '../charts/candles.ts'
import { PairChart } from '../charts/pair-chart.ts'
import { sizeDecimals, sizeText, stepDecimals, usdText } from '../format.ts'
import { html } from '../html.ts'
import { BookPanel, DepthChart } from '../parts/book.ts'
import { CsvButton } from '../parts/csv-button.ts'
import { Price, Time, TradedText, tradedOf } from '../parts/figures.ts'
import { MarketOutcomes, MarketRules, MarketTitle } from '../parts/market-facts.ts'
import { MatchedMarketPanel, useMatchedMarket } from '../parts/matched-market.ts'
import { isComparable } from '../parts/pair.ts'
import { mergedByTime, useLiveList, useRequest } from '../parts/requests.ts'
import { SiblingMarkets } from '../parts/siblings.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { type Column, headings, tableRows } from '../parts/tables.ts'
import type { Market, TradePage } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'
import { useSignal } from '../signal.ts'
import { follow, streamState } from '../stream.ts'

export function MarketPage({ route }: PageProps) {
  const { subject } = route
  if (subject === null || subject === '') return html`<${MarketNotFound} marketId=${null} />`
  return html`<${OneMarket} key=${subject} marketId=${subject} />`
}

function OneMarket({ marketId }: { readonly marketId: string }) {
  const result = useRequest(
    (signal) => request<Market>(`/v1/markets/${encodeURIComponent(marketId)}`, { signal }),
    [marketId],
  )
  if (result.latest !== null) {
    return html`<${LoadedMarket} market=${result.latest} again=${result.again} />`
  }
  if (result.kind === 'failed') {
    const { error } = result
    if (error instanceof ApiError && error.status === 404) {
      return html`<${MarketNotFound} marketId=${marketId} />`
    }
    return html`<h1>Market</h1><${Failure} error=${error} retry=${result.again} />`
  }
  return html`<${Waiting} what="the market" />`
}

function MarketNotFound({ marketId }: { readonly marketId: string | null }) {
  return html`<h1>No such market</h1>
    <${Empty}>
      ${marketId === null ? 'The address names no market.' : `Neither venue lists a market with the id ${marketId}.`}${' '}
      <a href=${hrefOf('markets')}>Search the markets</a>
    <//>`
}

function LoadedMarket({ market, again }: { readonly market: Market; readonly again: () => void }) {
  const { id, question, platforms } = market
  const [own] = platforms
  const decimals = stepDecimals(market.price_step)
  const created = market.created_at === null ? null : market.created_at * 1_000
  const matched = useMatchedMarket(market)
  const matchedMarket = matched.latest?.matchedMarket ?? null
  useEffect(() => setTitle(`${question} – Twinbook`), [question])
  useEffect(
    // Reloads when the market closes, resolves, changes or gets a match. `onReady` reloads, because the stream does not
    // deliver earlier changes.
    () =>
      follow(
        { channel: 'lifecycle', marketIds: [id] },
        { onMessage: again, onGap: again, onReady: again },
      ),
    [id],
  )
  return html`<article class="stack market-page" data-market=${id}>
    <${MarketTitle} market=${market} />
    <div class="market-grid">
      <div class="stack">
        <${MarketOutcomes} market=${market} decimals=${decimals} />
        <${CandleChart} marketId=${id} createdAtMs=${created} decimals=${decimals} />
        ${
          matchedMarket !== null && isComparable(matchedMarket.match)
            ? html`<${PairChart}
                key=${matchedMarket.market.id}
                market=${market} matchedMarket=${matchedMarket.market} isInverted=${matchedMarket.match.inverted === true}
              />`
            : null
        }
      </div>
      <div class="stack market-side">
        ${
          market.status === 'resolved'
            ? null
            : html`<${BookPanel} marketId=${id} platform=${own?.platform ?? ''} decimals=${decimals} />
              <${DepthChart} marketId=${id} />`
        }
        <${MatchedMarketPanel} market=${market} result=${matched} />
        <${SiblingMarkets} market=${market} />
      </div>
      <div class="stack">
        <${TradePanel} marketId=${id} outcomes=${market.outcomes.map(({ label }) => label)} decimals=${decimals} />
        <${MarketRules} market=${market} />
      </div>
    </div>
  </article>`
}

export const TAPE_TRADES_MAX = 200
/** Rows rendered before the user scrolls: twice the visible rows. */
const ROWS_AT_TOP = 32

export interface TapeTrade
  extends Pick<
    TradePage['trades'][number],
    'id' | 'price' | 'size' | 'size_usd' | 'outcome' | 'timestamp_ms'
  > {
  readonly side: string
}
type Tape = readonly TapeTrade[]

/** Adds a trade before existing trades of the same time. */
export const withTrade = (tape: Tape, trade: TapeTrade): Tape =>
  tape.some(({ id }) => id === trade.id) ? tape : mergedByTime([trade], tape, TAPE_TRADES_MAX)

interface TradePanelProps {
  readonly marketId: string
  /** Prices of the API are those of the first outcome. */
  readonly outcomes: readonly string[]
  /** Minimum decimals of a price in cents. */
  readonly decimals: number
}

/** Newest first. Renders all rows once the user scrolls. */
function TradePanel({ marketId, outcomes, decimals }: TradePanelProps) {
  const path = `/v1/markets/${encodeURIComponent(marketId)}/trades`
  const { kind, error, rows, again } = useLiveList<Tape>(
    {
      ...{ channel: 'trades', marketIds: [marketId], none: [] },
      load: async (signal) =>
        (await request<TradePage>(path, { query: { limit: TAPE_TRADES_MAX }, signal })).trades,
      applyMessage: (tape, message: DataMessage) =>
        message.type === 'trade' ? withTrade(tape, message.data) : tape,
      join: (tape, answer) => mergedByTime(answer, tape, TAPE_TRADES_MAX),
    },
    [marketId],
  )
  const { state, isLost } = useSignal(streamState)
  const isEmpty = rows.length === 0
  const isLastKnown = isLost || state === 'offline'
  const isOld = isLastKnown || state === 'late'
  return html`<section class="card tape" aria-labelledby="tape-title" data-count=${rows.length}>
    <div class="row panel-head">
      <h2 id="tape-title">Trades</h2>
      ${
        isEmpty || !isOld
          ? null
          : html`<span class="tag wait" data-old=${state}>${isLastKnown ? 'Not connected: the last known trades' : 'No new messages: may be outdated'}</span>`
      }
    </div>
    ${isEmpty || !isOld ? html`<${Failure} error=${error} retry=${again} />` : null}
    ${kind === 'waiting' && isEmpty ? html`<${Waiting} what="trades" />` : null}
    ${kind === 'answered' && isEmpty ? html`<${Empty}>No trades of this market are stored.<//>` : null}
    ${isEmpty ? null : html`<${TapeTable} trades=${rows} outcomes=${outcomes} least=${decimals} />`}
  </section>`
}

interface TapeTableProps {
  readonly trades: Tape
  readonly outcomes: readonly string[]
  /** Minimum decimals of a price in cents. */
  readonly least: number
}

function TapeTable({ trades, outcomes, least }: TapeTableProps) {
  const [isAtTop, setAtTop] = useState(true)
  // The decimals never decrease, so that columns keep their width.
  const sizes = useRef<0 | 2>(0)
  if (sizes.current === 0) sizes.current = sizeDecimals(trades.map(({ size }) => size))
  const decimals = sizes.current
  const priceOf = (trade: TapeTrade) => tradedOf(trade, outcomes).price
  const columns: readonly Column<TapeTrade>[] = [
    ['Time', 'when', ({ timestamp_ms: ms }) => html`<${Time} atMs=${ms} style="clock" />`],
    ['Trade', 'what', (trade) => html`<${TradedText} of=${tradedOf(trade, outcomes)} />`],
    ['Price', 'num price', (one) => html`<${Price} price=${priceOf(one)} decimals=${least} />`],
    ['Contracts', 'num size', ({ size }) => sizeText(size, decimals)],
    ['Value', 'num usd', ({ size_usd: usd }) => usdText(usd)],
  ]
  return html`<div
    class="scroll-x scroll-y" tabindex="0" role="region" aria-label="Trades, newest first"
    onScroll=${({ currentTarget }: Event) => setAtTop(currentTarget instanceof Element && currentTarget.scrollTop <= 0)}
  >
  <table class="list tape-list">
    <caption class="visually-hidden">Trades, newest first</caption>
    ${headings(columns)}
    <tbody>${tableRows({
      rows: isAtTop ? trades.slice(0, ROWS_AT_TOP) : trades,
      ...{ columns, inputs: [least, decimals] },
      keyOf: ({ id }) => id,
      marks: ({ id }) => ({ 'data-trade': id }),
    })}</tbody>
  </table>
</div>
<${CsvButton} name="trades" rows=${() => trades} />`
}
