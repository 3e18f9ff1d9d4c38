// Live, sortable table of arbitrage opportunities across venues and within events. A row expands to books,
// costs and rules.

import { Component } from 'preact'
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
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { sortHeads } from '../parts/tables.ts'
import { protocols, venueText } from '../parts/venues.ts'
import type { Opportunity } from '../records.ts'
import type { PageProps, PageRoute } from '../route.ts'

const COLUMNS = [
  [null, 'Question', ''],
  [null, 'Buy, best price', ''],
  ['gap', 'Gap', 'num'],
  ['profit', 'Profit', 'num'],
  ['return', 'Return', 'num'],
  ['cost', 'Cost before fees', 'num spare'],
  ['size', 'Contracts', 'num'],
  ['opened', 'Opened', 'num spare'],
  ['closes', 'Closes', ''],
  ['score', 'Score', 'num spare'],
] as const
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
  const { kind, error, rows, again } = useOpportunities(filter, opened)
  const [held, setHeld] = useState<readonly string[] | null>(null)
  const sorted = shownRows(rows, filter, order, opened)
  const shown = held === null ? sorted : heldRows(sorted, held)
  const hold = () => setHeld((before) => before ?? shown.map(({ one }) => one.id))
  const release = ({ currentTarget: body }: Event) => {
    if (body instanceof Element && !body.matches(':hover, :focus-within')) setHeld(null)
  }
  const openCount = shown.filter(({ ended }) => ended === null).length
  const isOver = kind === 'answered' && opened !== null && !rows.has(opened)
  return html`
    <h1>Opportunities</h1>
    <p class="muted">Outcomes that cost less than they pay when bought together, after fees and at the depth of the live
      books. Not included: what others take until your orders arrive, differences in settlement rules, the cost of capital
      until the close, deposits and withdrawals.</p>
    <form class="row view-filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${InputField} label="Minimum profit (USD)" ...${numberField(route, 'profit', PROFITS)}
        choose=${(profit: string) => changeQuery(route, { profit })} />
      <${ChoiceField} label="Kind" value=${filter.kind} choices=${KINDS}
        choose=${(kind: string) => changeQuery(route, { kind })} />
    </form>
    ${kind === 'waiting' && shown.length === 0 ? html`<${Waiting} what="opportunities" />` : null}
    ${kind === 'failed' ? html`<${Failure} error=${error} retry=${again} />` : null}
    ${isOver ? html`<p class="state incomplete">The opportunity of this address is over.</p>` : null}
    ${
      kind === 'answered' && shown.length === 0
        ? html`<${Empty}>${
            filter.profitMin > 0 || filter.kind !== ''
              ? 'Nothing that passes these filters: lower the profit or take both kinds.'
              : 'Nothing earns now after fees, at the depth of the live books.'
          } New ones appear by themselves.<//>`
        : null
    }
    ${
      shown.length === 0
        ? null
        : html`<div class="card"><div class="scroll-x"><table class="list stacked opportunities">
      <caption class="muted">${
        shown.length < OPPORTUNITY_ROWS_MAX
          ? `${countText(openCount)} open${held === null ? '' : '; rows stay where they are until you leave the table'}`
          : `The ${countText(OPPORTUNITY_ROWS_MAX)} that earn most: raise the profit to narrow the list`
      }</caption>
      ${sortHeads<OpportunityColumn>(COLUMNS, order, ({ column, isDown }) =>
        changeQuery(route, { sort: column, way: isDown ? 'down' : 'up' }),
      )}
      <tbody onPointerEnter=${hold} onPointerLeave=${release} onFocusIn=${hold} onFocusOut=${release}>${shown.map((row) => html`<${Row} key=${row.one.id} row=${row} isOpen=${row.one.id === opened} route=${route} names=${protocols.value} />`)}</tbody>
    </table></div></div>`
    }
  `
}

interface RowProps {
  readonly row: OpportunityRow
  readonly isOpen: boolean
  readonly route: PageRoute
  /** Display names of the venues. */
  readonly names: ReadonlyMap<string, string>
}

class Row extends Component<RowProps> {
  /** Only a few of hundreds of rows change between two frames. */
  override shouldComponentUpdate({ row, isOpen, route, names }: RowProps): boolean {
    const { props } = this
    if (names !== props.names) return true
    return row !== props.row || isOpen !== props.isOpen || route !== props.route
  }

  override render({ row, isOpen, route }: RowProps) {
    const { one, ended, isFresh } = row
    const { id, question, category, match_score: score, closes_at: closes } = one
    const toggle = () => changeQuery(route, { open: isOpen ? '' : id })
    const detailId = `detail-${id}`
    const gap = gapOf(one)
    return html`
      <tr class=${isFresh ? 'opens fresh' : 'opens'} data-row=${id} onClick=${onRowClick(toggle)}>
        <td class="question">
          <button type="button" class="inline" aria-expanded=${isOpen} aria-controls=${isOpen ? detailId : null} onClick=${toggle}>${question}</button>
          ${ended === null ? null : html` <span class="tag bad">ended</span>`}
          ${category === null ? null : html`<span class="muted below">${category}</span>`}
        </td>
        <td class="buy" data-label="Buy, best price">${buys(one)}</td>
        <td class="num" data-label="Gap" data-gap=${gap}><span data-decimals=${writtenDecimals(gap, 0)}>${gapText(gap)}</span></td>
        <td class="num up" data-label="Profit" data-profit=${one.profit_usd}>${usdText(one.profit_usd)}</td>
        <td class="num" data-label="Return">${percentText(one.return)}</td>
        <td class="num spare" data-label="Cost">${usdText(one.cost_usd)}</td>
        <td class="num" data-label="Contracts">${sizeText(one.contracts)}</td>
        <td class="num spare opened" data-label="Opened"><${Ago} atMs=${one.opened_at_ms} /></td>
        <td class="closes" data-label="Closes"><${Time} atMs=${closes === null ? null : closes * 1_000} /></td>
        <td class="num spare" data-label="Score">${score === null ? '–' : score.toFixed(1)}</td>
      </tr>
      ${isOpen ? html`<tr class="detail" id=${detailId}><td colspan=${COLUMNS.length}><${OpportunityDetail} row=${row} /></td></tr>` : null}
    `
  }
}

/** One line per leg; a single line if there are more than two. */
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
