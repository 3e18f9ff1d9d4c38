import { useEffect } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { setTitle } from '../browser.ts'
import { CandleChart } from '../charts/candles.ts'
import { stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import { BookPanel, DepthChart } from '../parts/book.ts'
import { MarketOutcomes, MarketRules, MarketTitle } from '../parts/market-facts.ts'
import { MatchedMarketPanel } from '../parts/matched-market.ts'
import { useRequest } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { TradePanel } from '../parts/trade-panel.ts'
import type { Market } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'
import { follow } from '../stream.ts'

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
  // If a reload fails, the last loaded market stays visible.
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

function LoadedMarket({
  market,
  again,
}: {
  readonly market: Market
  /** Reloads the market. */
  readonly again: () => void
}) {
  const { id, question, platforms } = market
  const [own] = platforms
  const decimals = stepDecimals(market.price_step)
  const created = market.created_at === null ? null : market.created_at * 1_000
  // The title distinguishes the tabs of several markets.
  useEffect(() => setTitle(`${question} – Twinbook`), [question])
  useEffect(
    // Reloads when the market closes, resolves, changes or gets a match. `onReady` covers changes between the
    // response and the start of the stream.
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
        <${TradePanel} marketId=${id} outcomes=${market.outcomes.map(({ label }) => label)} decimals=${decimals} />
        <${MarketRules} market=${market} />
      </div>
      <div class="stack">
        ${
          market.status === 'resolved'
            ? null
            : html`<${BookPanel} marketId=${id} platform=${own?.platform ?? ''} decimals=${decimals} />
              <${DepthChart} marketId=${id} />`
        }
        <${MatchedMarketPanel} market=${market} />
      </div>
    </div>
  </article>`
}
