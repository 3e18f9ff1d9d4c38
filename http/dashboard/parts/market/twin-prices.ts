// Best bid and ask of one question at both venues beside each other, live, as the same outcome sees them, and the gap
// between them. Upholds DASH44.

import type { BookView } from '../../../client/connect.ts'
import { gapText, priceText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Market } from '../../records.ts'
import { useSignal } from '../../signal.ts'
import { feeds, streamClient, streamState } from '../../stream.ts'
import { type Crossing, contrary, crossingOf, gapOf, midOf, type Quote } from '../views/prices.ts'
import { BOOK_STATE_WORDS, bookStateOf } from './book-ladder.ts'
import { useBooks } from './book-panel.ts'

export function TwinPrices({
  market,
  twin,
  inverted,
}: {
  readonly market: Market
  readonly twin: Market
  readonly inverted: boolean | null
}) {
  useBooks([market.id, twin.id])
  const { state: connection } = useSignal(streamState)
  const venueFeeds = useSignal(feeds)
  const [here, there] = [market, twin].map((one) => {
    const platform = one.platforms[0]?.platform ?? ''
    const book = streamClient()?.book(one.id, 1) ?? null
    return {
      platform,
      quote: quoteOf(book),
      state: bookStateOf(book, connection, venueFeeds.get(platform) ?? null),
    }
  })
  if (here === undefined || there === undefined) return null
  // As our first outcome sees them; null: it is not known which of theirs means it.
  const theirs = inverted === null ? null : inverted ? contrary(there.quote) : there.quote
  const isLive = here.state === 'live' && there.state === 'live'
  return html`
    <div class="scroll-x">
      <table class="list twin-prices" data-live=${isLive}>
        <caption>${
          theirs === null
            ? 'Each venue’s own first outcome'
            : `“${market.outcomes[0]?.label ?? ''}” at both venues`
        }</caption>
        <thead>
          <tr>
            <td></td>
            <th scope="col" class="num">${here.platform}</th>
            <th scope="col" class="num">${there.platform}</th>
          </tr>
        </thead>
        <tbody>
          ${figures('bid', 'Best bid', here.quote.bid, (theirs ?? there.quote).bid)}
          ${figures('ask', 'Best ask', here.quote.ask, (theirs ?? there.quote).ask)}
          ${figures('mid', 'Midpoint', midOf(here.quote), midOf(theirs ?? there.quote))}
        </tbody>
      </table>
    </div>
    ${theirs === null ? html`<p>Which outcome there means ours is not known, so there is no gap to show.</p>` : gapWords({ ...crossingOf(here.quote, theirs), gap: gapOf(here.quote, theirs) }, here.platform, there.platform)}
    ${[here, there]
      .filter(({ state }) => state !== 'live')
      .map(
        ({ platform, state }) =>
          html`<p class="muted" key=${platform}>${platform}: ${BOOK_STATE_WORDS[state]}.</p>`,
      )}
  `
}

function figures(name: string, title: string, ours: number | null, theirs: number | null) {
  return html`<tr data-figure=${name}>
    <th scope="row">${title}</th>
    <td class="num">${priceText(ours)}</td>
    <td class="num">${priceText(theirs)}</td>
  </tr>`
}

function gapWords(
  { gap, left, buyAt }: Crossing & { readonly gap: number | null },
  here: string,
  there: string,
) {
  const [from, to] = buyAt === 'ours' ? [here, there] : [there, here]
  return html`<dl class="gaps">
    <div><dt>Price gap</dt> <dd data-figure="gap">${gapText(gap)}</dd></div>
    <div>
      <dt>After crossing both spreads</dt>
      <dd><span data-figure="crossed" class=${left !== null && left > 0 ? 'up' : ''}>${gapText(left)}</span>${
        left === null
          ? ' (a side is empty)'
          : left > 0
            ? ` bought at ${from}, sold at ${to}, before fees`
            : ': nothing is left of it'
      }</dd>
    </div>
  </dl>`
}

function quoteOf(book: BookView | null): Quote {
  return { bid: book?.bids[0]?.price ?? null, ask: book?.asks[0]?.price ?? null }
}
