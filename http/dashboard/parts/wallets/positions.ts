import { useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { countText, sizeText, usdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { WalletPosition, WalletPositionPage } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { ChoiceField } from '../lists/filter-fields.ts'
import { More, usePages } from '../lists/pages.ts'
import { type Order, sortHeads } from '../lists/sort-heads.ts'
import { Price } from '../market/live-price.ts'
import { Empty, Failure, Waiting } from '../states.ts'
import { signedUsdText, wayOf } from './wallet-texts.ts'

/** Sort key of the API (null: not sortable), heading and classes. */
const COLUMNS = [
  ['question', 'Market', ''],
  [null, 'Outcome', ''],
  ['balance', 'Contracts', 'num'],
  [null, 'Entry', 'num'],
  [null, 'Now', 'num'],
  ['initial_value', 'Cost', 'num spare'],
  ['current_value', 'Value', 'num'],
  ['realized_pnl', 'Realized', 'num'],
  ['unrealized_pnl', 'Unrealized', 'num spare'],
  ['total_pnl', 'Total', 'num'],
] as const
type Column = Exclude<(typeof COLUMNS)[number][0], null>

const STATUSES = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const
const PAGE_ROWS = 50

export function WalletPositions({ address }: { readonly address: string }) {
  const [status, setStatus] = useState('open')
  const [order, setOrder] = useState<Order<Column>>({ column: 'current_value', isDown: true })
  const paged = usePages(
    (cursor, signal) =>
      request<WalletPositionPage>(`/v1/wallets/${address}/positions`, {
        query: {
          status,
          // Includes tiny balances, since the summary counts them.
          min_balance: 0,
          sort_by: order.column,
          order: order.isDown ? 'desc' : 'asc',
          limit: PAGE_ROWS,
          cursor,
        },
        signal,
      }),
    [address, status, order],
  )
  const rows = paged.pages.flatMap(({ positions }) => positions)
  const summary = paged.pages[0]?.summary
  return html`<section class="card stack wallet-positions" aria-labelledby="wallet-positions">
    <div class="row view-head">
      <h2 id="wallet-positions">Positions</h2>
      <${ChoiceField} label="Show" value=${status} choices=${STATUSES} choose=${setStatus} />
    </div>
    ${
      summary === undefined
        ? null
        : html`<p class="muted">${countText(summary.open_positions)} open, worth ${usdText(summary.total_value)},
            bought for ${usdText(summary.total_initial_value)}.</p>`
    }
    ${summary === undefined && paged.isLoading ? html`<${Waiting} what="positions" />` : null}
    ${summary === undefined && paged.error !== null ? html`<${Failure} error=${paged.error} retry=${paged.more} />` : null}
    ${
      summary !== undefined && rows.length === 0
        ? html`<${Empty} again=${paged.again}>${status === 'all' ? 'No position' : `No ${status} position`} of this wallet.<//>`
        : null
    }
    ${rows.length === 0 ? null : table(rows, order, setOrder)}
    ${summary === undefined ? null : html`<${More} paged=${paged} />`}
  </section>`
}

function table(
  rows: readonly WalletPosition[],
  order: Order<Column>,
  choose: (order: Order<Column>) => void,
) {
  return html`<div class="scroll-x"><table class="list stacked">
    <caption class="visually-hidden">Positions, to be sorted by the buttons of the columns</caption>
    ${sortHeads(COLUMNS, order, choose)}
    <tbody>${rows.map((row) => html`<${Row} key=${row.token_id} row=${row} />`)}</tbody>
  </table></div>`
}

function Row({ row }: { readonly row: WalletPosition }) {
  const profit = (name: string, usd: number, kind = 'num') =>
    html`<td class=${`${kind} ${wayOf(usd)}`} data-label=${name}>${signedUsdText(usd)}</td>`
  return html`<tr data-token=${row.token_id}>
    <td class="question"><a href=${hrefOf('market', row.market_id)}>${row.question ?? row.market_id}</a>
      ${row.status === 'closed' ? html` <span class="tag">closed</span>` : null}
      ${row.redeemable ? html` <span class="tag">redeemable</span>` : null}
      ${row.cost_basis_known ? null : html` <span class="tag wait" title="Part of it came from where no price is known">cost not known</span>`}</td>
    <td data-label="Outcome">${row.outcome ?? '–'}</td>
    <td data-label="Contracts" class="num">${sizeText(row.balance)}</td>
    <td data-label="Entry" class="num"><${Price} price=${row.avg_entry_price} /></td>
    <td data-label="Now" class="num"><${Price} price=${row.current_price} /></td>
    <td data-label="Cost" class="num spare">${usdText(row.initial_value)}</td>
    <td data-label="Value" class="num">${usdText(row.current_value)}</td>
    ${profit('Realized', row.realized_pnl)}${profit('Unrealized', row.unrealized_pnl, 'num spare')}${profit('Total', row.total_pnl)}
  </tr>`
}
