import { request } from '../api.ts'
import { countText, stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import type { Market, MarketPage } from '../records.ts'
import { hrefOf } from '../route.ts'
import { yesPriceOf } from './event-outcomes.ts'
import { Price } from './figures.ts'
import { useQuotes } from './quotes.ts'
import { useRequest } from './requests.ts'

/** Listed markets of the event, and one more that shows whether there are further ones. */
const SHOWN = 10
const RELOAD_MS = 60_000

/** Lists other markets of the market's event. Renders nothing if there are none. */
export function SiblingMarkets({ market }: { readonly market: Market }) {
  const { id, event_slug: slug, platforms } = market
  const platform = platforms[0]?.platform ?? null
  const { latest } = useRequest(
    async (signal) => {
      if (slug === null) return null
      const query = { event_slug: slug, platform, limit: SHOWN + 1 }
      return request<MarketPage & { readonly total?: number }>('/v1/markets', { query, signal })
    },
    [slug, platform],
    { periodMs: RELOAD_MS },
  )
  const others = (latest?.markets ?? []).filter((one) => one.id !== id).slice(0, SHOWN)
  const live = useQuotes(others.map((one) => one.id))
  if (slug === null || latest === null || others.length === 0) return null
  const count = latest.total ?? others.length + 1
  return html`<section class="card siblings" aria-labelledby="siblings-title">
    <h2 id="siblings-title">Same event</h2>
    <ul class="sibling-list">
      ${others.map(
        (other) => html`<li key=${other.id}>
          <a href=${hrefOf('market', other.id)}>${other.question}</a>
          ${other.status === 'open' ? null : html`<span class="tag">${other.status}</span>`}
          <span class="num"><${Price} price=${yesPriceOf(other, live)} decimals=${stepDecimals(other.price_step)} /></span>
        </li>`,
      )}
    </ul>
    <p><a href=${hrefOf('event', slug)}>All ${countText(count)} outcomes of the event</a></p>
  </section>`
}
