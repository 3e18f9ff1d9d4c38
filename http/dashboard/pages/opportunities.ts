import { useState } from 'preact/hooks'
import { onRowClick } from '../browser.ts'
import { countText, gapText, percentText, sizeText, usdText, writtenDecimals } from '../format.ts'
import { html } from '../html.ts'
import { Ago, Price, Time } from '../parts/figures.ts'
import {
  ChoiceField,
  changeQuery,
  chosen,
  chosenNumber,
  InputField,
  numberField,
  stay,
} from '../parts/filters.ts'
import { OpportunityDetail } from '../parts/opportunity-detail.ts'
import {
  gapOf,
  heldRows,
  OPPORTUNITY_ORDERS,
  OPPORTUNITY_ROWS_MAX,
  type OpportunityColumn,
  type OpportunityRow,
  shownRows,
  useOpportunities,
} from '../parts/opportunity-list.ts'
import { Unanswered } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { type Column, headings, type Order, table } from '../parts/tables.ts'
import { protocols, venueText } from '../parts/venues.ts'
import { AlertLink } from '../parts/watch-button.ts'
import type { Opportunity } from '../records.ts'
import { hrefOf, type PageProps, type PageRoute } from '../route.ts'
import { WatchlistSection } from './watchlist.ts'

const KINDS = [
  ['', 'All'],
  ['cross_venue', 'Across venues'],
  ['single_venue', 'Within one venue'],
] as const
const WAYS = ['down', 'up'] as const
const PROFITS = { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }

export function OpportunitiesPage({ route }: PageProps) {
  const filter = {
    profitMin: chosenNumber(route, 'profit', PROFITS),
    kind: chosen(route, 'kind', ['', 'cross_venue', 'single_venue']),
  }
  const order = {
    column: chosen(route, 'sort', OPPORTUNITY_ORDERS),
    isDown: chosen(route, 'way', WAYS) === 'down',
  }
  const opened = route.query.get('open')
  const list = useOpportunities(filter, opened)
  const { kind, rows } = list
  const [held, setHeld] = useState<readonly string[] | null>(null)
  const sorted = shownRows(rows, filter, order, opened)
  const shown = held === null ? sorted : heldRows(sorted, held)
  const hold = () => setHeld((before) => before ?? shown.map(({ one }) => one.id))
  const release = ({ currentTarget: body }: Event) => {
    if (body instanceof Element && !body.matches(':hover, :focus-within')) setHeld(null)
  }
  const isOver = kind === 'answered' && opened !== null && !rows.has(opened)
  return html`
    <h1>Opportunities</h1>
    <${WatchlistSection} />
    <p class="muted">Outcomes that cost less than they pay when bought together, after fees and at the depth of the live
      books. Not included: what others take until your orders arrive, differences in settlement rules, the cost of capital
      until the close, deposits and withdrawals. <a href=${hrefOf('past')}>Past opportunities</a></p>
    <form class="row view-filters" onSubmit=${stay}>
      <${InputField} label="Minimum profit (USD)" ...${numberField(route, 'profit', PROFITS)}
        choose=${(profit: string) => changeQuery(route, { profit })} />
      <${ChoiceField} label="Kind" value=${filter.kind} choices=${KINDS}
        choose=${(kind: string) => changeQuery(route, { kind })} />
      <${AlertLink} events="arbitrage.opened" filters=${{ min_profit_usd: String(filter.profitMin || '') }} />
    </form>
    <${Unanswered} result=${list} what="opportunities" hasRows=${shown.length > 0} />
    ${isOver ? html`<p class="state incomplete">The opportunity of this address has ended.</p>` : null}
    ${
      kind === 'answered' && shown.length === 0
        ? html`<${Empty}>${
            filter.profitMin > 0 || filter.kind !== ''
              ? 'No opportunity passes these filters: lower the profit or choose all kinds.'
              : 'No opportunity is profitable now, after fees and at the depth of the live books.'
          } New ones appear automatically.<//>`
        : null
    }
    ${
      shown.length === 0
        ? null
        : html`<div class="card">${opportunityTable(shown, {
            ...{ route, opened, order, isHeld: held !== null },
            body: {
              onPointerEnter: hold,
              onPointerLeave: release,
              onFocusIn: hold,
              onFocusOut: release,
            },
          })}</div>`
    }
  `
}

interface TableState {
  readonly route: PageRoute
  readonly opened: string | null
  readonly order: Order<OpportunityColumn>
  /** The row order is fixed while the pointer or the focus is in the table. */
  readonly isHeld: boolean
  readonly body: Readonly<Record<string, (event: Event) => void>>
}

function opportunityTable(
  rows: readonly OpportunityRow[],
  { route, opened, order, isHeld, body }: TableState,
) {
  const toggle = ({ one: { id } }: OpportunityRow) =>
    changeQuery(route, { open: id === opened ? '' : id })
  const detailId = ({ one: { id } }: OpportunityRow) => (id === opened ? `detail-${id}` : null)
  const columns: readonly Column<OpportunityRow, OpportunityColumn>[] = [
    [
      'Question',
      'question',
      (
        row,
      ) => html`<button type="button" class="inline" aria-expanded=${row.one.id === opened} aria-controls=${detailId(row)} onClick=${() => toggle(row)}>${row.one.question}</button>
        ${row.ended === null ? null : html` <span class="tag bad">ended</span>`}
        ${row.one.category === null ? null : html`<span class="muted below">${row.one.category}</span>`}`,
    ],
    ['Buy, best price', 'buy', ({ one }) => buys(one)],
    [
      'Gap',
      'num',
      ({ one }) => {
        const gap = gapOf(one)
        return html`<span data-gap=${gap} data-decimals=${writtenDecimals(gap, 0)}>${gapText(gap)}</span>`
      },
      { sort: 'gap' },
    ],
    [
      'Profit',
      'num',
      ({ one: { profit_usd: usd } }) =>
        html`<span class="up" data-profit=${usd}>${usdText(usd)}</span>`,
      { sort: 'profit' },
    ],
    ['Return', 'num', ({ one }) => percentText(one.return), { sort: 'return' }],
    [
      'Cost before fees',
      'num spare',
      ({ one }) => usdText(one.cost_usd),
      { sort: 'cost', label: 'Cost' },
    ],
    ['Contracts', 'num', ({ one }) => sizeText(one.contracts), { sort: 'size' }],
    [
      'Opened',
      'num spare opened',
      ({ one }) => html`<${Ago} atMs=${one.opened_at_ms} />`,
      { sort: 'opened' },
    ],
    [
      'Closes',
      'closes',
      ({ one }) => html`<${Time} seconds=${one.closes_at} />`,
      { sort: 'closes' },
    ],
    [
      'Score',
      'num spare',
      ({ one: { match_score: score } }) => (score === null ? '–' : score.toFixed(1)),
      { sort: 'score' },
    ],
  ]
  const openCount = rows.filter(({ ended }) => ended === null).length
  return table({
    ...{ list: 'opportunities', kind: 'stacked opportunities', rows, columns, body },
    exported: () => rows.map(({ one }) => one),
    // Skips rows without changes. Few of hundreds of rows change between two frames.
    inputs: [route, opened, protocols.value],
    caption: html`<caption class="muted">${
      rows.length < OPPORTUNITY_ROWS_MAX
        ? `${countText(openCount)} open${isHeld ? '; rows stay where they are until you leave the table' : ''}`
        : `The ${countText(OPPORTUNITY_ROWS_MAX)} most profitable: raise the minimum profit to shorten the list`
    }</caption>`,
    head: headings(columns, order, ({ column, isDown }) =>
      changeQuery(route, { sort: column, way: isDown ? 'down' : 'up' }),
    ),
    keyOf: ({ one }) => one.id,
    marks: (row) => ({
      class: row.isFresh ? 'opens fresh' : 'opens',
      'data-row': row.one.id,
      onClick: onRowClick(() => toggle(row)),
    }),
    below: (row) =>
      row.one.id === opened
        ? html`<tr class="detail" id=${detailId(row)}><td colspan=${columns.length}><${OpportunityDetail} row=${row} /></td></tr>`
        : null,
  })
}

function buys({ legs }: Opportunity) {
  if (legs.length > 2) {
    const price = legs.reduce((sum, leg) => sum + leg.best_price, 0)
    const what = legs.every((leg) => leg.is_first_outcome) ? '' : 'No of '
    return html`<span class="leg">${what}${countText(legs.length)} outcomes at ${venueText(legs[0]?.platform)} <strong><${Price} price=${price} /></strong></span>`
  }
  return legs.map(
    ({ market_id: id, outcome, platform, best_price: price }) =>
      html`<span class="leg" key=${id}>${outcome} at ${venueText(platform)} <strong><${Price} price=${price} /></strong></span>`,
  )
}
