// The same question at the other venue, found among the server's matches: how sure that is, and why. Not for: the live
// prices of the two (http/dashboard/parts/market/twin-prices.ts). Upholds DASH44.

import { request } from '../../api.ts'
import { html } from '../../html.ts'
import type { Market, MatchList } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { useAsked } from '../asked.ts'
import { type MatchPair, type MatchRecord, pairsOf } from '../matches/pair.ts'
import { Empty, Failure, Waiting } from '../states.ts'
import { askVenues } from '../views/venues.ts'
import { TwinPrices } from './twin-prices.ts'

/** A market's twin, and what is thought of the pair. */
interface Twin {
  readonly market: Market
  readonly match: MatchRecord
}

/** All markets of an event are asked for at once; no event has more matches. */
const LIMIT = 200

export function TwinPanel({ market }: { readonly market: Market }) {
  const asked = useAsked((signal) => askTwin(market, signal), [market.id, market.platforms.length])
  const name = asked.kind === 'answered' ? asked.answer.other : null
  const twin = asked.kind === 'answered' ? asked.answer.twin : null
  return html`<section class="card twin" aria-labelledby="twin-title">
    <h2 id="twin-title">${name === null ? 'The other venue' : `At ${name}`}</h2>
    ${asked.kind === 'waiting' ? html`<${Waiting} what="the twin" />` : null}
    ${asked.kind === 'failed' ? html`<${Failure} error=${asked.error} retry=${asked.again} />` : null}
    ${name !== null && twin === null ? html`<${Empty}>No market at ${name} is known to ask the same.<//>` : null}
    ${twin === null ? null : found(market, twin)}
  </section>`
}

async function askTwin(market: Market, signal: AbortSignal) {
  const venues = await askVenues(signal)
  const isOfA = market.platforms[0]?.platform === venues.a
  const { matches } = await request<MatchList>('/v1/matching-markets', {
    query: { ...filterOf(market, isOfA), limit: LIMIT },
    signal,
  })
  const other = isOfA ? venues.b : venues.a
  return { other, twin: twinIn(pairsOf(matches, venues), market.id) }
}

/** Venue a's markets have slugs of their own; venue b's are found by their event. */
function filterOf({ slug, event_slug: event }: Market, isOfA: boolean) {
  return isOfA ? { market_slug: slug } : { event_ticker: event ?? slug }
}

/** A market's twin among the pairs of its slug or event; null: it has none. */
export function twinIn(pairs: readonly MatchPair[], marketId: string): Twin | null {
  for (const { a, b, match } of pairs) {
    if (a.id === marketId) return { market: b, match }
    if (b.id === marketId) return { market: a, match }
  }
  return null
}

function found(market: Market, twin: Twin) {
  const { score, confidence, relation, inverted, explanation } = twin.match
  const [first, otherFirst] = [market.outcomes[0]?.label, twin.market.outcomes[0]?.label]
  return html`
    <p class="question"><a href=${hrefOf('market', twin.market.id)}>${twin.market.question}</a></p>
    <p class="row">
      <span class="tag">${confidence}</span>
      <span class="muted">score ${Math.round(score)} of 100, ${relation}</span>
      ${twin.market.status === 'open' ? null : html`<span class="tag">${twin.market.status}</span>`}
    </p>
    ${
      inverted === true
        ? html`<p>Turned round: “${otherFirst}” there is against “${first}” here. Its prices are shown as “${first}” sees them.</p>`
        : null
    }
    <${TwinPrices} market=${market} twin=${twin.market} inverted=${inverted} />
    <p class="muted">${explanation}</p>
  `
}
