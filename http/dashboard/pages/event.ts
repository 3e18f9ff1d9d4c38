// Event page: the outcomes of an event with the prices of both venues.

import { useEffect } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { setTitle } from '../browser.ts'
import { countText, gapText, priceText, stepDecimals, volumeText } from '../format.ts'
import { html } from '../html.ts'
import { CsvButton } from '../parts/csv-button.ts'
import {
  type EventMatch,
  fetchEventMatches,
  type OutcomeRow,
  outcomeRows,
  partnerEventOf,
  sumOfYes,
  yesPriceOf,
} from '../parts/event-outcomes.ts'
import { Price } from '../parts/figures.ts'
import { gapOf, type LivePrices, quoteOf, useQuotes } from '../parts/quotes.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { type Column, headings, tableRows } from '../parts/tables.ts'
import { fetchVenues, type Venues, venueText } from '../parts/venues.ts'
import type { EventPage as EventList, Market } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

type EventRecord = EventList['events'][number]

interface LoadedEvent {
  readonly event: EventRecord
  /** The event of the other venue; null: no comparable match. */
  readonly partner: EventRecord | null
  readonly matches: readonly EventMatch[]
  readonly venues: Venues
}

/** Maximum rows. Prices of more rows would exceed the limit of subscriptions. */
const ROWS_MAX = 200
const RELOAD_MS = 60_000

export function EventPage({ route: { subject } }: PageProps) {
  const slug = subject ?? ''
  const result = useRequest((signal) => fetchEvent(slug, signal), [slug], { periodMs: RELOAD_MS })
  const { latest, error, kind } = result
  if (latest !== null) return html`<${OneEvent} loaded=${latest} />`
  if (kind === 'failed' && error instanceof ApiError && error.status === 404) {
    return html`<h1>No such event</h1>
      <${Empty}>Neither venue lists an event named ${slug}.${' '}
        <a href=${hrefOf('markets', null, { group: 'event' })}>All events</a><//>`
  }
  return html`<h1>Event</h1><${Unanswered} result=${result} what="the event" />`
}

async function fetchEvent(slug: string, signal: AbortSignal): Promise<LoadedEvent> {
  const read = (name: string) =>
    request<EventRecord>(`/v1/events/${encodeURIComponent(name)}`, { signal })
  const [venues, event] = await Promise.all([fetchVenues(signal), read(slug)])
  const markets = event.markets.slice(0, ROWS_MAX)
  const matches = await fetchEventMatches(markets, venues, signal)
  const isOfA = event.platforms[0] === venues.a
  const partnerSlug = partnerEventOf(matches, isOfA)
  const partner = partnerSlug === null ? null : await read(partnerSlug)
  return { event: { ...event, markets }, partner, matches, venues }
}

function OneEvent({
  loaded: { event, partner, matches, venues },
}: {
  readonly loaded: LoadedEvent
}) {
  const isOfA = event.platforms[0] === venues.a
  const rows = outcomeRows(event.markets, partner?.markets ?? [], matches, isOfA)
  const shown = rows.slice(0, ROWS_MAX)
  const live = useQuotes(shown.flatMap(({ a, b }) => [a?.id, b?.id].flatMap((id) => id ?? [])))
  useEffect(() => setTitle(`${event.title} – Twinbook`), [event.title])
  const events = isOfA ? [event, partner] : [partner, event]
  return html`<article class="stack event-page" data-event=${event.slug}>
    <h1>${event.title}</h1>
    <p class="row">
      <span class=${`tag status ${event.status}`}>${event.status}</span>
      ${event.category === null ? null : html`<span class="tag">${event.category}</span>`}
    </p>
    <ul class="match-questions">
      ${events.map((one) =>
        one === null
          ? null
          : html`<li key=${one.platforms[0]} data-venue-event=${one.slug}>
        ${one === event ? one.title : html`<a href=${hrefOf('event', one.slug)}>${one.title}</a>`}
        <span class="muted below">${venueText(one.platforms[0])}, ${countText(one.market_count)}${one.market_count === 1 ? ' market' : ' markets'}, ${volumeText(one.total_volume_24h, one.volume_unit)} in 24 h</span>
      </li>`,
      )}
    </ul>
    ${partner === null ? html`<p class="muted">No event of the other venue has the same questions.</p>` : null}
    <section class="card stack" aria-label="Outcomes">${outcomeTable(shown, live, venues)}
      ${rows.length > ROWS_MAX || event.market_count > event.markets.length ? html`<p class="muted">The ${countText(shown.length)} outcomes with most volume.</p>` : null}
    </section>
  </article>`
}

function outcomeTable(rows: readonly OutcomeRow[], live: LivePrices, venues: Venues) {
  const priceCell = (market: Market | null) =>
    market === null
      ? '–'
      : html`<a href=${hrefOf('market', market.id)} data-yes=${market.id}><${Price}
          price=${yesPriceOf(market, live)} decimals=${stepDecimals(market.price_step)} /></a>
        ${market.status === 'open' ? null : html` <span class="tag">${market.status}</span>`}`
  const columns: readonly Column<OutcomeRow>[] = [
    ['Outcome', 'subject question', ({ a, b }) => a?.question ?? b?.question ?? ''],
    [`Yes, ${venueText(venues.a)}`, 'num', ({ a }) => priceCell(a)],
    [`Yes, ${venueText(venues.b)}`, 'num', ({ b }) => priceCell(b)],
    [
      'Gap',
      'num',
      ({ a, b }) =>
        gapText(a === null || b === null ? null : gapOf(quoteOf(a, live), quoteOf(b, live))),
    ],
    [
      'Volume 24 h',
      'num volume',
      ({ a, b }) =>
        [a, b].map((market) =>
          market === null
            ? null
            : html`<span class="below" key=${market.id}>${volumeText(market.volume_24h, market.volume_unit)}</span>`,
        ),
      { label: 'Vol. 24 h' },
    ],
  ]
  return html`<div class="scroll-x"><table class="list stacked event-outcomes">
      <caption class="muted">Gap: ${venueText(venues.b)} less ${venueText(venues.a)}, at the midpoints of the same question</caption>
      ${headings(columns)}
      <tbody>${tableRows({ rows, columns, keyOf: ({ key }) => key, marks: ({ key }) => ({ 'data-outcome': key }) })}</tbody>
      ${
        rows.length < 2
          ? null
          : html`<tbody><tr>
        <th scope="row" class="subject question">Sum of Yes, open markets</th>
        ${(['a', 'b'] as const).map(
          (side) =>
            html`<td class="num" key=${side} data-sum=${side} data-label=${venueText(venues[side])}>${priceText(
              sumOfYes(
                rows.flatMap((row) => row[side] ?? []),
                live,
              ),
            )}</td>`,
        )}
              </tr></tbody>`
      }
    </table></div>
    <${CsvButton} name="outcomes" rows=${() => rows.flatMap(({ a, b }) => [a, b].flatMap((market) => market ?? []))} />`
}
