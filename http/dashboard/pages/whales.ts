// Large trades of both venues, newest first, live, narrowed by dollars, venue and side; each leads to its market and,
// where the venue names it, to the wallet. Not for: a wallet's own trades (pages/wallet.ts). Upholds DASH62, DASH63.

import { nowMs } from '../browser.ts'
import { countText, localDay, priceText, shortId, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import {
  ChoiceField,
  changeQuery,
  chosen,
  chosenNumber,
  InputField,
} from '../parts/lists/filter-fields.ts'
import { useVenues } from '../parts/lists/venues.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { Time } from '../parts/time.ts'
import { useWhales, WHALE_ROWS_MAX, type WhaleRow } from '../parts/whales/feed.ts'
import { hrefOf, type PageProps } from '../route.ts'

/** The server keeps trades from 1,000 dollars on, and sends those from 5,000 dollars on the stream. */
const KEPT_USD = 1_000
const TOLD_USD = 5_000
const SIDES = ['', 'buy', 'sell'] as const

export function WhalesPage({ place }: PageProps) {
  const bounds = { min: KEPT_USD, max: Number.MAX_SAFE_INTEGER, otherwise: TOLD_USD }
  const usdMin = chosenNumber(place, 'usd', bounds)
  const platform = place.query.get('venue') ?? ''
  const side = chosen(place, 'side', SIDES)
  const venues = useVenues()
  const { kind, error, rows, again } = useWhales({ usdMin, platform, side })
  return html`
    <h1>Whales</h1>
    <form class="row view-filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${InputField} label="Dollars at least" type="number" value=${String(usdMin)}
        bounds=${{ min: KEPT_USD, step: 'any', required: 'required' }}
        choose=${(usd: string) => changeQuery(place, { usd })} />
      <${ChoiceField} label="Venue" value=${platform}
        choices=${[['', 'both'], ...venues.map((name) => [name, name])]}
        choose=${(venue: string) => changeQuery(place, { venue })} />
      <${ChoiceField} label="Side" value=${side}
        choices=${SIDES.map((word) => [word, word === '' ? 'both' : word])}
        choose=${(word: string) => changeQuery(place, { side: word })} />
    </form>
    <p class="muted">${
      usdMin < TOLD_USD
        ? html`New trades appear by themselves from ${usdText(TOLD_USD)} on; smaller ones when you${' '}
            <button type="button" class="inline" onClick=${again}>ask again</button>.`
        : 'New trades appear by themselves. Side and price are in the first outcome of the market.'
    }</p>
    ${kind === 'waiting' && rows.length === 0 ? html`<${Waiting} what="large trades" />` : null}
    ${kind === 'failed' ? html`<${Failure} error=${error} retry=${again} />` : null}
    ${
      kind === 'answered' && rows.length === 0
        ? html`<${Empty}>No trade of ${usdText(usdMin)} or more yet: lower the amount, or wait for the next one.<//>`
        : null
    }
    ${rows.length === 0 ? null : tape(rows)}
  `
}

function tape(rows: readonly WhaleRow[]) {
  return html`<div class="card"><div class="scroll-x"><table class="list whales">
    <caption class="muted">The newest ${countText(rows.length)}${rows.length === WHALE_ROWS_MAX ? '; older ones are left out' : ''}</caption>
    <thead><tr>
      <th scope="col">Time</th><th scope="col" class="num">Dollars</th>
      <th scope="col">Side</th><th scope="col" class="num">Price</th>
      <th scope="col">Market</th><th scope="col" class="num">Contracts</th><th scope="col">Wallet</th>
    </tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</tbody>
  </table></div></div>`
}

function Row({ row }: { readonly row: WhaleRow }) {
  const { marketId, question, side, outcome, wallet } = row
  return html`<tr class=${row.isLive ? 'fresh' : ''} data-whale=${row.id}>
    <td class="when moment"><${Time} atMs=${row.atMs} style=${isOfToday(row) ? 'clock' : 'full'} /></td>
    <td class="num usd">${usdText(row.usd)}</td>
    <td class=${side === 'buy' ? 'side up' : 'side down'}>${side}</td>
    <td class="num price">${priceText(row.price)}</td>
    <td class="question"><a href=${hrefOf('market', marketId)}>${question}</a>
      <span class="muted below">${row.platform}${outcome === null ? '' : `, ${outcome} traded`}</span></td>
    <td class="num size">${sizeText(row.size)}</td>
    <td class="when who">${
      wallet === null
        ? html`<span class="muted">not told</span>`
        : html`<a href=${hrefOf('wallet', wallet)} title=${wallet}>${shortId(wallet)}</a>`
    }</td>
  </tr>`
}

const isOfToday = ({ atMs }: WhaleRow): boolean => localDay(atMs) === localDay(nowMs())
