// Ranking of all wallets that have been requested so far, by realized profit or volume in a window.

import { request } from '../../api.ts'
import { countText, percentText, usdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { RankedWallet } from '../../records.ts'
import { hrefOf, type PageRoute } from '../../route.ts'
import { ChoiceField, changeQuery, chosen } from '../lists/filter-fields.ts'
import { useRequest } from '../request-state.ts'
import { Empty, Unanswered } from '../states.ts'
import { Time } from '../time.ts'
import { nameOf, signedUsdText, wayOf } from './wallet-texts.ts'

interface Ranking {
  readonly wallets: readonly RankedWallet[]
  readonly total: number
}

const WINDOWS = ['all_time', 'one_day', 'seven_day', 'thirty_day'] as const
const WINDOW_LABELS = {
  all_time: 'all time',
  one_day: '1 day',
  seven_day: '7 days',
  thirty_day: '30 days',
} as const
const ORDERS = ['realized_pnl', 'volume'] as const
const ORDER_LABELS = { realized_pnl: 'realized profit', volume: 'volume' } as const

export function WalletRanking({ route }: { readonly route: PageRoute }) {
  const span = chosen(route, 'window', WINDOWS)
  const order = chosen(route, 'by', ORDERS)
  const result = useRequest(
    (signal) =>
      request<Ranking>('/v1/wallets', { query: { window: span, sort_by: order }, signal }),
    [span, order],
  )
  return html`<section class="card stack" aria-labelledby="ranking">
    <h2 id="ranking">Ranking</h2>
    <div class="row view-filters">
      <${ChoiceField} label="Window" value=${span} choices=${WINDOWS.map((value) => [value, WINDOW_LABELS[value]])}
        choose=${(value: string) => changeQuery(route, { window: value })} />
      <${ChoiceField} label="By" value=${order} choices=${ORDERS.map((value) => [value, ORDER_LABELS[value]])}
        choose=${(by: string) => changeQuery(route, { by })} />
    </div>
    <${Unanswered} result=${result} what="the ranking" />
    ${result.kind === 'answered' ? listed(result.answer, result.again) : null}
  </section>`
}

function listed({ wallets, total }: Ranking, again: () => void) {
  if (wallets.length === 0) {
    return html`<${Empty} again=${again}>No wallets yet. Enter an address above, or choose one from the${' '}
      <a href=${hrefOf('whales')}>whales</a>.<//>`
  }
  return html`<div class="scroll-x"><table class="list stacked">
    <caption class="muted">${countText(wallets.length)} of ${countText(total)} wallets looked up so far</caption>
    <thead><tr>
      <th scope="col" class="num">Rank</th><th scope="col">Wallet</th>
      <th scope="col" class="num">Net realized</th><th scope="col" class="num spare">Realized</th>
      <th scope="col" class="num">Volume</th>
      <th scope="col" class="num">Trades</th><th scope="col" class="num">Won</th>
      <th scope="col" class="num spare">Lost</th><th scope="col" class="num">Win rate</th><th scope="col">Last trade</th>
    </tr></thead>
    <tbody>${wallets.map(
      (wallet) => html`<tr key=${wallet.address}>
      <td data-label="Rank" class="num">${wallet.rank}</td>
      <td class="question"><a href=${hrefOf('wallet', wallet.address)} title=${wallet.address}>${nameOf(wallet)}</a>
        ${wallet.data_complete ? null : html` <span class="tag wait">incomplete</span>`}</td>
      <td data-label="Net realized" class=${`num ${wayOf(wallet.net_realized_pnl)}`}>${signedUsdText(wallet.net_realized_pnl)}</td>
      <td data-label="Realized" class=${`num spare ${wayOf(wallet.realized_pnl)}`}>${signedUsdText(wallet.realized_pnl)}</td>
      <td data-label="Volume" class="num">${usdText(wallet.volume)}</td>
      <td data-label="Trades" class="num">${countText(wallet.trades)}</td>
      <td data-label="Won" class="num">${countText(wallet.win_count)}</td>
      <td data-label="Lost" class="num spare">${countText(wallet.loss_count)}</td>
      <td data-label="Win rate" class="num">${percentText(wallet.win_rate)}</td>
      <td data-label="Last trade"><${Time} atMs=${wallet.last_trade_at === null ? null : wallet.last_trade_at * 1_000} /></td>
    </tr>`,
    )}</tbody>
  </table></div>`
}
