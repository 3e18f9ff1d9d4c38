import { request } from '../../api.ts'
import { sizeText, usdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { WalletTrade, WalletTradePage } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { More, usePages } from '../lists/pages.ts'
import { Price } from '../market/live-price.ts'
import { Empty, Failure, Waiting } from '../states.ts'
import { Time } from '../time.ts'
import { TradedText, tradedOf } from '../traded.ts'

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
    ${isFirst && paged.isLoading ? html`<${Waiting} what="trades" />` : null}
    ${isFirst && paged.error !== null ? html`<${Failure} error=${paged.error} retry=${paged.more} />` : null}
    ${!isFirst && rows.length === 0 ? html`<${Empty} again=${paged.again}>No trade of this wallet is known.<//>` : null}
    ${rows.length === 0 ? null : table(rows)}
    ${isFirst ? null : html`<${More} paged=${paged} />`}
  </section>`
}

function table(rows: readonly WalletTrade[]) {
  return html`<div class="scroll-x"><table class="list stacked">
    <caption class="visually-hidden">Trades, newest first</caption>
    <thead><tr>
      <th scope="col">Time</th><th scope="col">Market</th><th scope="col">Trade</th>
      <th scope="col" class="num">Price</th><th scope="col" class="num">Contracts</th>
      <th scope="col" class="num">Value</th><th scope="col">As</th>
    </tr></thead>
    <tbody>${rows.map((row) => {
      const { outcome, question, size, size_usd: usd } = row
      const done = tradedOf({ ...row, usd }, null)
      return html`<tr key=${row.id} data-trade=${row.id}>
        <td class="when" data-label="Time"><${Time} atMs=${row.timestamp_ms} /></td>
        <td class="question"><a href=${hrefOf('market', row.market_id)}>${question ?? row.market_id}</a></td>
        <td class="what" data-label="Trade"><${TradedText} of=${done} />${outcome === null ? '–' : ''}</td>
        <td class="num" data-label="Price"><${Price} price=${done.price} /></td>
        <td class="num" data-label="Contracts">${sizeText(size)}</td>
        <td class="num" data-label="Value">${usdText(usd)}</td>
        <td data-label="As">${row.role ?? '–'}</td>
      </tr>`
    })}</tbody>
  </table></div>`
}
