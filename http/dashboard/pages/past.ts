// Opportunities that have ended, newest first.

import { request } from '../api.ts'
import { capital, durationText, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import { allRows } from '../parts/csv-button.ts'
import { Time } from '../parts/figures.ts'
import { CLOSE_REASONS } from '../parts/opportunity-detail.ts'
import { More, Unanswered, usePages } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { type Column, table } from '../parts/tables.ts'
import { venueText } from '../parts/venues.ts'
import type { PastOpportunity, PastOpportunityPage } from '../records.ts'
import { hrefOf } from '../route.ts'

const PAGE_ROWS = 50
const LEGS_SHOWN = 2

const fetchPast = (cursor: string | null, limit: number, signal?: AbortSignal) =>
  request<PastOpportunityPage>('/v1/arbitrage/history', {
    query: { limit, cursor },
    ...(signal === undefined ? {} : { signal }),
  })

export function PastPage() {
  const paged = usePages((cursor, signal) => fetchPast(cursor, PAGE_ROWS, signal), [])
  const rows = paged.pages.flatMap(({ opportunities }) => opportunities)
  return html`
    <h1>Past opportunities</h1>
    <p class="muted">Opportunities that lasted half a second or more. The best profit is that of the most profitable moment, after fees
      and at the depth of the books at that moment. <a href=${hrefOf('opportunities')}>Open opportunities</a></p>
    <${Unanswered} result=${paged} what="past opportunities" hasRows=${rows.length > 0} />
    ${paged.kind === 'answered' && rows.length === 0 ? html`<${Empty} again=${paged.again}>No opportunity has ended yet.<//>` : null}
    ${rows.length === 0 ? null : html`<div class="card">${pastTable(rows)}</div>`}
    <${More} paged=${paged} />
  `
}

const COLUMNS: readonly Column<PastOpportunity>[] = [
  [
    'Question',
    'question',
    ({
      question,
      legs,
      category,
    }) => html`<a href=${hrefOf('market', legs[0]?.market_id ?? '')}>${question}</a>
      ${category === null ? null : html`<span class="muted below">${category}</span>`}`,
  ],
  ['Buy', 'buy', buys],
  ['Lasted', 'num', ({ opened, closed_at_ms: endMs }) => durationText(endMs - opened.at_ms)],
  ['Best profit', 'num', ({ best }) => html`<span class="up">${usdText(best.profit_usd)}</span>`],
  ['Contracts', 'num', ({ best }) => sizeText(best.contracts)],
  ['Profit when opened', 'num spare', ({ opened }) => usdText(opened.profit_usd)],
  ['Ended', 'closes', ({ closed_at_ms: endMs }) => html`<${Time} atMs=${endMs} />`],
  ['Reason', 'reason', ({ close_reason: reason }) => capital(CLOSE_REASONS[reason] ?? reason)],
]

function buys({ legs }: PastOpportunity) {
  const more = legs.length - LEGS_SHOWN
  return html`${legs
    .slice(0, LEGS_SHOWN)
    .map(
      ({ market_id: id, outcome, platform }) =>
        html`<span class="leg" key=${id}>${outcome} at ${venueText(platform)}</span>`,
    )}${more > 0 ? html`<span class="leg">and ${more} more</span>` : null}`
}

const pastTable = (rows: readonly PastOpportunity[]) =>
  table({
    ...{ kind: 'stacked past-opportunities', rows, columns: COLUMNS },
    caption: 'Past opportunities, newest first',
    list: 'past opportunities',
    exported: () =>
      allRows(
        (cursor, limit) => fetchPast(cursor, limit),
        ({ opportunities }) => opportunities,
      ),
    keyOf: ({ id }) => id,
    marks: ({ id }) => ({ 'data-past': id }),
  })
