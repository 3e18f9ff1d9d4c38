// Event page: the outcomes of an event with the prices of both venues.

import { useEffect } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { setTitle } from '../browser.ts'
import { countText, gapText, priceText, stepDecimals, volumeText } from '../format.ts'
import { html } from '../html.ts'
import { CsvButton } from '../parts/csv-button.ts'
import { eventFactsText } from '../parts/event-groups.ts'
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
import { Empty, Failure } from '../parts/states.ts'
import { type Column, headings, tableRows } from '../parts/tables.ts'
import { fetchVenues, type Venues, venueText } from '../parts/venues.ts'
import type { EventPage as EventList, Market } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

type EventRecord = EventList['events'][number]

interface LoadedEvent {
  readonly event: EventRecord
  readonly venues: Venues
}

interface OtherVenue {
  /** The event of the other venue; null: no comparable match. */
  readonly partner: EventRecord | null
  readonly matches: readonly EventMatch[]
}

/** Sum of the first outcomes' prices by column; null: unknown. */
type Sums = Readonly<Record<'a' | 'b', number | null>>

/** Maximum rows. Prices of more rows would exceed the limit of subscriptions. */
const ROWS_MAX = 200
const RELOAD_MS = 60_000

export function EventPage({ route: { subject } }: PageProps) {
  const slug = subject ?? ''
  const result = useRequest((signal) => fetchEvent(slug, signal), [slug], { periodMs: RELOAD_MS })
  const { latest, error, kind, again } = result
  if (latest !== null) {
    return html`<${Failure} error=${error} retry=${again} /><${OneEvent} loaded=${latest} />`
  }
  if (kind === 'failed' && error instanceof ApiError && error.status === 404) {
    return html`<h1>No such event</h1>
      <${Empty}>Neither venue lists an event named ${slug}.${' '}
        <a href=${hrefOf('markets', null, { group: 'event' })}>All events</a><//>`
  }
  return html`<h1>Event</h1><${Unanswered} result=${result} what="the event" />`
}

const readEvent = (slug: string, signal: AbortSignal) =>
  request<EventRecord>(`/v1/events/${encodeURIComponent(slug)}`, { signal })

async function fetchEvent(slug: string, signal: AbortSignal): Promise<LoadedEvent> {
  const [venues, event] = await Promise.all([fetchVenues(signal), readEvent(slug, signal)])
  return { event: { ...event, markets: event.markets.slice(0, ROWS_MAX) }, venues }
}

async function fetchOtherVenue(
  { event, venues }: LoadedEvent,
  signal: AbortSignal,
): Promise<OtherVenue> {
  const matches = await fetchEventMatches(event.markets, venues, signal)
  const slug = partnerEventOf(matches, event.platforms[0] === venues.a)
  return { matches, partner: slug === null ? null : await readEvent(slug, signal) }
}

function OneEvent({ loaded }: { readonly loaded: LoadedEvent }) {
  const { event, venues } = loaded
  const isOfA = event.platforms[0] === venues.a
  const other = useRequest(
    (signal) => fetchOtherVenue(loaded, signal),
    [
      event.markets
        .map(({ id }) => id)
        .toSorted()
        .join(),
    ],
    { periodMs: RELOAD_MS },
  )
  const { partner, matches } = other.latest ?? { partner: null, matches: [] }
  const rows = outcomeRows(event.markets, partner?.markets ?? [], matches, isOfA)
  const shown = rows.slice(0, ROWS_MAX)
  const isComplete = rows.length === shown.length && listsAllMarkets(event)
  const live = useQuotes(shown.flatMap(({ a, b }) => [a?.id, b?.id].flatMap((id) => id ?? [])))
  useEffect(() => setTitle(`${event.title} – Twinbook`), [event.title])
  const events = isOfA ? [event, partner] : [partner, event]
  const [a, b] = events.map((one) =>
    one !== null && listsAllMarkets(one) ? sumOfYes(one.markets, live) : null,
  )
  const sums = isComplete && rows.length > 1 ? { a: a ?? null, b: b ?? null } : null
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
        <span class="muted below">${venueText(one.platforms[0])}, ${eventFactsText(one)}</span>
      </li>`,
      )}
    </ul>
    <${Unanswered} result=${other} what="the other venue’s prices" hasRows=${other.latest !== null} />
    ${other.kind === 'failed' ? html`<p class="muted">The other venue’s matching markets could not be loaded. ${other.latest === null ? 'Only one venue is shown.' : 'The last known ones are shown.'}</p>` : null}
    ${other.latest !== null && partner === null ? html`<p class="muted">No event of the other venue has the same questions.</p>` : null}
    <section class="card stack" aria-label="Outcomes">${outcomeTable(shown, { live, venues, sums })}
      ${isComplete ? null : html`<p class="muted">The ${countText(shown.length)} outcomes with most volume.</p>`}
    </section>
  </article>`
}

const listsAllMarkets = ({ markets, market_count: count }: EventRecord): boolean =>
  markets.length >= count

interface OutcomeTable {
  readonly live: LivePrices
  readonly venues: Venues
  /** Null: no row of sums. */
  readonly sums: Sums | null
}

function outcomeTable(rows: readonly OutcomeRow[], { live, venues, sums }: OutcomeTable) {
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
        gapText(
          a?.status === 'open' && b?.status === 'open'
            ? gapOf(quoteOf(a, live), quoteOf(b, live))
            : null,
        ),
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
        sums === null
          ? null
          : html`<tbody><tr>
        <th scope="row" class="subject question">Sum of Yes, open markets</th>
        ${(['a', 'b'] as const).map(
          (side) =>
            html`<td class="num" key=${side} data-sum=${side} data-label=${venueText(venues[side])}>${priceText(sums[side])}</td>`,
        )}
              </tr></tbody>`
      }
    </table></div>
    <${CsvButton} name="outcomes" rows=${() => rows.flatMap(({ a, b }) => [a, b].flatMap((market) => market ?? []))} />`
}
