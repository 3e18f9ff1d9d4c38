// A wallet's trades, newest first, in pages. Upholds DASH65.

import { request } from '../../api.ts'
import { priceText, sizeText, usdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { WalletTrade, WalletTradePage } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { More, usePages } from '../lists/pages.ts'
import { Empty, Failure, Waiting } from '../states.ts'
import { Time } from '../time.ts'

const PAGE_ROWS = 50

export function WalletTrades({ address }: { readonly address: string }) {
  const paged = usePages(
    (cursor, signal) =>
      request<WalletTradePage>(`/v1/wallets/${address}/trades`, {
        query: { limit: PAGE_ROWS, cursor },
        signal,
      }),
    [address],
  )
  const rows = paged.pages.flatMap(({ trades }) => trades)
  const isFirst = paged.pages.length === 0
  return html`<section class="card stack wallet-trades" aria-labelledby="wallet-trades">
    <h2 id="wallet-trades">Trades</h2>
    ${isFirst && paged.isAsking ? html`<${Waiting} what="trades" />` : null}
    ${isFirst && paged.error !== null ? html`<${Failure} error=${paged.error} retry=${paged.more} />` : null}
    ${!isFirst && rows.length === 0 ? html`<${Empty}>No trade of this wallet is known.<//>` : null}
    ${rows.length === 0 ? null : table(rows)}
    ${isFirst ? null : html`<${More} paged=${paged} />`}
  </section>`
}

function table(rows: readonly WalletTrade[]) {
  return html`<div class="scroll-x"><table class="list">
    <caption class="muted">Side and price are in the first outcome of the market.</caption>
    <thead><tr>
      <th scope="col">Time</th><th scope="col">Market</th><th scope="col">Side</th><th scope="col">Traded</th>
      <th scope="col" class="num">Price</th><th scope="col" class="num">Contracts</th>
      <th scope="col" class="num">Dollars</th><th scope="col">As</th>
    </tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr key=${row.id} data-trade=${row.id}>
      <td class="when"><${Time} atMs=${row.timestamp_ms} /></td>
      <td class="question"><a href=${hrefOf('market', row.market_id)}>${row.question ?? row.market_id}</a></td>
      <td class=${row.side === 'buy' ? 'up' : 'down'}>${row.side}</td>
      <td>${row.outcome ?? '–'}</td>
      <td class="num">${priceText(row.price)}</td>
      <td class="num">${sizeText(row.size)}</td>
      <td class="num">${usdText(row.size_usd)}</td>
      <td>${row.role ?? '–'}</td>
    </tr>`,
    )}</tbody>
  </table></div>`
}
