// One page of the market list with live prices. Each page has its own subscription, so that a new page does
// not affect earlier ones.

import { countText, roundUsdText, stepDecimals } from '../../format.ts'
import { html } from '../../html.ts'
import type { Market } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { Signal, useSignal } from '../../signal.ts'
import { sortHeads } from '../lists/sort-heads.ts'
import { fullVenueText, venueText } from '../lists/venues.ts'
import {
  ChangingPrice,
  type LivePrice,
  priceOfOutcome,
  useLivePrices,
} from '../market/live-price.ts'
import { Time } from '../time.ts'
import { type MarketOrder, type MarketQuery, searchText, writeToAddress } from './filters.ts'

const NONE = new Signal<LivePrice | null>(null)

/** The event of a listed market. */
export interface EventHead {
  readonly slug: string
  readonly title: string
  readonly market_count: number
  readonly total_volume_24h: number
}

const COLUMNS = [
  [null, 'Market', ''],
  [null, 'Prices', ''],
  ['volume', 'Volume 24 h', 'num'],
  ['created_at', 'Opened', ''],
  ['close_time', 'Closes', ''],
] as const

interface MarketRowsProps {
  readonly markets: readonly Market[]
  /** Events by market id; empty: not grouped. Markets of an event must be adjacent. */
  readonly events: ReadonlyMap<string, EventHead>
}

/** Table body; {@link marketHead} is the head. */
export function MarketRows({ markets, events }: MarketRowsProps) {
  const prices = useLivePrices(markets.map(({ id }) => id))
  let last: EventHead | null = null
  return html`<tbody>
    ${markets.map((market) => {
      const event = events.get(market.id) ?? null
      const isFirst = event !== null && event.slug !== last?.slug
      last = event
      return html`
        ${isFirst ? html`<${EventRow} key=${`event ${event.slug}`} event=${event} />` : null}
        <${MarketRow} key=${market.id} market=${market} live=${prices.get(market.id) ?? NONE} />`
    })}
  </tbody>`
}

const EventRow = ({ event }: { readonly event: EventHead }) =>
  html`<tr class="event" data-event=${event.slug}><th scope="rowgroup" colspan=${COLUMNS.length}>
    ${event.title} <span class="muted">${countText(event.market_count)}${
      event.market_count === 1 ? ' market' : ' markets'
    }, ${roundUsdText(event.total_volume_24h)} in 24 h</span>
  </th></tr>`

/** Table head with sort buttons. Grouped lists cannot be sorted, since events are ordered by volume. */
export function marketHead(query: MarketQuery) {
  const { isGrouped, isDown } = query
  const sort = query.sort ?? (searchText(query) === '' ? 'volume' : null)
  const columns = COLUMNS.map(
    ([column, name, kind]) => [isGrouped ? null : column, name, kind] as const,
  )
  return sortHeads<MarketOrder | 'relevance'>(
    columns,
    { column: sort ?? 'relevance', isDown },
    ({ column, isDown: down }) =>
      column === 'relevance' || writeToAddress({ ...query, sort: column, isDown: down }),
  )
}

function MarketRow({
  market,
  live,
}: {
  readonly market: Market
  readonly live: Signal<LivePrice | null>
}) {
  const now = useSignal(live)
  const { id, question, status, category, outcomes, platforms } = market
  const [own, other] = platforms
  const first = now?.price ?? outcomes[0]?.price ?? null
  const decimals = stepDecimals(market.price_step)
  return html`<tr data-market=${id}>
    <th scope="row" class="question">
      <a href=${hrefOf('market', id)}>${question}</a>
      <span class="beneath">
        ${status === 'open' ? null : html`<span class="tag">${status}</span>`}
        <span class="muted">${[venueText(own?.platform), category].filter(Boolean).join(' · ')}</span>
        ${
          other === undefined
            ? null
            : html`<span class="tag twin" title=${`The same question at ${fullVenueText(other.platform)}`}>⇄ ${venueText(other.platform)}</span>`
        }
      </span>
    </th>
    <td class="outcomes">
      ${outcomes.map(
        ({ label, price }, index) => html`<span class="outcome" key=${index}>
          <span class="label" title=${label}>${label}</span>
          ${html`<${ChangingPrice} price=${index < 2 && first !== null ? priceOfOutcome(first, index) : price} decimals=${decimals} />`}
        </span>`,
      )}
    </td>
    <td class="num volume" data-label="Vol. 24 h">${roundUsdText(market.volume_24h)}</td>
    <td class="opened" data-label="Opened"><${Time} atMs=${market.created_at === null ? null : market.created_at * 1_000} style="day" /></td>
    <td class="closes" data-label="Closes"><${Time} atMs=${market.close_time === null ? null : market.close_time * 1_000} /></td>
  </tr>`
}
