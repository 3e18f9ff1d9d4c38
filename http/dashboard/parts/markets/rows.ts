// One page of the list of markets: a row each, its prices live. Every page follows its own markets, so that another
// page leaves those above it alone. Upholds DASH37.

import { priceText, roundUsdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Market } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { Signal, useSignal } from '../../signal.ts'
import {
  ChangingPrice,
  type LivePrice,
  priceOfOutcome,
  useLivePrices,
} from '../market/live-price.ts'
import { Time } from '../time.ts'

/** Of a cent, at least: prices of most markets stand under each other. */
const DECIMALS = 1
const NONE = new Signal<LivePrice | null>(null)

/** The body of a table whose head is {@link MarketHead}. */
export function MarketRows({ markets }: { readonly markets: readonly Market[] }) {
  const prices = useLivePrices(markets.map(({ id }) => id))
  return html`<tbody>
    ${markets.map(
      (market) =>
        html`<${MarketRow} key=${market.id} market=${market} live=${prices.get(market.id) ?? NONE} />`,
    )}
  </tbody>`
}

export const MarketHead = () => html`<thead>
  <tr>
    <th scope="col">Market</th>
    <th scope="col">Prices</th>
    <th scope="col">Venue</th>
    <th scope="col" class="num">Volume 24 h</th>
    <th scope="col">Closes</th>
  </tr>
</thead>`

function MarketRow({
  market,
  live,
}: {
  readonly market: Market
  readonly live: Signal<LivePrice | null>
}) {
  const now = useSignal(live)
  const { id, question, status, category, outcomes, platforms } = market
  const [own, twin] = platforms
  const first = now?.price ?? outcomes[0]?.price ?? null
  return html`<tr data-market=${id}>
    <th scope="row" class="question">
      <a href=${hrefOf('market', id)}>${question}</a>
      <span class="beneath">
        ${status === 'open' ? null : html`<span class="tag">${status}</span>`}
        ${category === null ? null : html`<span class="muted">${category}</span>`}
        ${
          twin === undefined
            ? null
            : html`<span class="tag twin" title=${`The same question at ${twin.platform}`}>⇄ ${twin.platform}</span>`
        }
      </span>
    </th>
    <td class="outcomes">
      ${outcomes.map(
        ({ label, price }, index) => html`<span class="outcome" key=${index}>
          <span class="label" title=${label}>${label}</span>
          ${
            index < 2 && first !== null
              ? html`<${ChangingPrice} price=${priceOfOutcome(first, index)} decimals=${DECIMALS} />`
              : html`<span class="price">${priceText(price, DECIMALS)}</span>`
          }
        </span>`,
      )}
    </td>
    <td>${own?.platform}</td>
    <td class="num">${roundUsdText(market.volume_24h)}</td>
    <td><${Time} atMs=${market.close_time === null ? null : market.close_time * 1_000} style="day" /></td>
  </tr>`
}
