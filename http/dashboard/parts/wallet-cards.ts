// A wallet's profit figures and the curve of realized profit to date, also as a table for screen readers.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request, requestWithFacts } from '../api.ts'
import type { Curve, CurvePoint } from '../charts/canvases.ts'
import { countText, percentText, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import type {
  WalletPnl,
  WalletPosition,
  WalletPositionPage,
  WalletTrade,
  WalletTradePage,
} from '../records.ts'
import { hrefOf } from '../route.ts'
import { Figures, Price, Time, TradedText, tradedOf } from './figures.ts'
import { ChoiceField } from './filters.ts'
import { More, usePages, useRequest } from './requests.ts'
import { Empty, Failure, Unanswered, Waiting } from './states.ts'
import { type Order, sortHeads } from './tables.ts'
import { signedUsdText, wayOf } from './wallet-texts.ts'

const STEPS = [
  ['all', 'All'],
  ['day', 'Daily'],
  ['week', 'Weekly'],
  ['month', 'Monthly'],
] as const
type Step = (typeof STEPS)[number][0]

/** Maximum rows of the table, newest first. */
const TABLE_ROWS = 100

export function WalletPnlCard({ address }: { readonly address: string }) {
  const [step, setStep] = useState<Step>('all')
  const result = useRequest(
    (signal) =>
      requestWithFacts<WalletPnl>(`/v1/wallets/${address}/pnl`, {
        query: { granularity: step },
        signal,
      }),
    [address, step],
  )
  return html`<section class="card stack wallet-pnl" aria-labelledby="wallet-pnl" data-step=${step}>
    <div class="row view-head">
      <h2 id="wallet-pnl">Profit and loss</h2>
      <div class="row view-steps" role="group" aria-label="Steps of the curve">
        ${STEPS.map(
          ([name, label]) =>
            html`<button type="button" class="quiet" key=${name} aria-pressed=${name === step}
            onClick=${() => setStep(name)}>${label}</button>`,
        )}
      </div>
    </div>
    <${Unanswered} result=${result} what="profits" />
    ${result.kind === 'answered' ? pnlBody(result.answer.answer, step) : null}
  </section>`
}

function pnlBody(pnl: WalletPnl, step: Step) {
  const profit = (usd: number) => html`<span class=${wayOf(usd)}>${signedUsdText(usd)}</span>`
  const points = curvePoints(pnl)
  return html`
    <${Figures} of=${[
      ['Net', html`<strong class="pnl-total">${profit(pnl.net_pnl)}</strong>`],
      ['Before fees and income', profit(pnl.total_pnl)],
      ['Fees', usdText(pnl.fees_paid)],
      ['Rewards and rebates', usdText(pnl.income)],
      ['Realized', profit(pnl.realized_pnl)],
      ['Unrealized', profit(pnl.unrealized_pnl)],
      ['Won / lost', `${countText(pnl.win_count)} / ${countText(pnl.loss_count)}`],
      ['Win rate', percentText(pnl.win_rate)],
      ...(pnl.combo_realized_pnl === 0
        ? []
        : [['Combos', combosText(pnl.combo_realized_pnl)] as const]),
    ]} />
    ${
      points.length === 0
        ? html`<${Empty}>No realized profit yet: the curve starts with the first sale, merge or redemption.<//>`
        : html`<${PnlCurve} points=${points} isByDay=${step !== 'all'} />`
    }`
}

const combosText = (usd: number | null): string =>
  usd === null ? 'Not known yet' : signedUsdText(usd)

function PnlCurve({
  points,
  isByDay,
}: {
  readonly points: readonly CurvePoint[]
  readonly isByDay: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const [failure, setFailure] = useState<unknown>(null)
  useEffect(() => {
    let curve: Curve | null = null
    let isUnmounted = false
    // The chart library loads only when a curve is pnlBody.
    import('../charts/canvases.ts').then(({ openCurve }) => {
      if (isUnmounted || host.current === null) return
      curve = openCurve(host.current)
      curve.show(points, isByDay)
    }, setFailure)
    return () => {
      isUnmounted = true
      curve?.close()
    }
  }, [points.map(({ time, usd }) => `${time} ${usd}`).join(), isByDay])
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const label = `Realized to date: from ${usdText(first.usd)} to ${usdText(last.usd)} in ${countText(points.length)} steps`
  return html`
    ${failure === null ? null : html`<${Failure} error=${failure} />`}
    <h3>Realized profit to date, before fees</h3>
    <div class="canvas" ref=${host} role="img" aria-label=${label} data-points=${points.length}></div>
    <details>
      <summary>The curve as a table${points.length > TABLE_ROWS ? `: the newest ${TABLE_ROWS}` : ''}</summary>
      <div class="scroll-x"><table class="list">
        <thead><tr><th scope="col">Time</th><th scope="col" class="num">Realized to date</th></tr></thead>
        <tbody>${points
          .slice(-TABLE_ROWS)
          .reverse()
          .map(
            ({ time, usd }) => html`<tr key=${time}><td><${Time} atMs=${time * 1_000} /></td>
          <td class=${`num ${wayOf(usd)}`}>${signedUsdText(usd)}</td></tr>`,
          )}</tbody>
      </table></div>
    </details>`
}

/** One point per second, the last one of each second, in order of time. */
export function curvePoints({
  pnl_over_time: series,
}: Pick<WalletPnl, 'pnl_over_time'>): readonly CurvePoint[] {
  const bySecond = new Map<number, number>()
  for (const { timestamp, pnl_to_date } of series) bySecond.set(timestamp, pnl_to_date)
  return [...bySecond].sort(([one], [other]) => one - other).map(([time, usd]) => ({ time, usd }))
}

/** Sort key of the API (null: not sortable), heading and classes. */
const COLUMNS = [
  ['question', 'Market', ''],
  [null, 'Outcome', ''],
  ['balance', 'Contracts', 'num'],
  [null, 'Entry', 'num'],
  [null, 'Now', 'num'],
  ['initial_value', 'Cost', 'num spare'],
  ['current_value', 'Value', 'num'],
  ['realized_pnl', 'Realized', 'num'],
  ['unrealized_pnl', 'Unrealized', 'num spare'],
  ['total_pnl', 'Total', 'num'],
] as const
type Column = Exclude<(typeof COLUMNS)[number][0], null>

const STATUSES = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const
const PAGE_ROWS = 50

export function WalletPositions({ address }: { readonly address: string }) {
  const [status, setStatus] = useState('open')
  const [order, setOrder] = useState<Order<Column>>({ column: 'current_value', isDown: true })
  const paged = usePages(
    (cursor, signal) =>
      request<WalletPositionPage>(`/v1/wallets/${address}/positions`, {
        query: {
          status,
          // Includes tiny balances, since the summary counts them.
          min_balance: 0,
          sort_by: order.column,
          order: order.isDown ? 'desc' : 'asc',
          limit: PAGE_ROWS,
          cursor,
        },
        signal,
      }),
    [address, status, order],
  )
  const rows = paged.pages.flatMap(({ positions }) => positions)
  const summary = paged.pages[0]?.summary
  return html`<section class="card stack wallet-positions" aria-labelledby="wallet-positions">
    <div class="row view-head">
      <h2 id="wallet-positions">Positions</h2>
      <${ChoiceField} label="Show" value=${status} choices=${STATUSES} choose=${setStatus} />
    </div>
    ${
      summary === undefined
        ? null
        : html`<p class="muted">${countText(summary.open_positions)} open, worth ${usdText(summary.total_value)},
            bought for ${usdText(summary.total_initial_value)}.</p>`
    }
    ${summary === undefined && paged.isLoading ? html`<${Waiting} what="positions" />` : null}
    ${summary === undefined && paged.error !== null ? html`<${Failure} error=${paged.error} retry=${paged.more} />` : null}
    ${
      summary !== undefined && rows.length === 0
        ? html`<${Empty} again=${paged.again}>${status === 'all' ? 'No position' : `No ${status} position`} of this wallet.<//>`
        : null
    }
    ${rows.length === 0 ? null : positionTable(rows, order, setOrder)}
    ${summary === undefined ? null : html`<${More} paged=${paged} />`}
  </section>`
}

function positionTable(
  rows: readonly WalletPosition[],
  order: Order<Column>,
  choose: (order: Order<Column>) => void,
) {
  return html`<div class="scroll-x"><positionTable class="list stacked">
    <caption class="visually-hidden">Positions, to be sorted by the buttons of the columns</caption>
    ${sortHeads(COLUMNS, order, choose)}
    <tbody>${rows.map((row) => html`<${PositionRow} key=${row.token_id} row=${row} />`)}</tbody>
  </positionTable></div>`
}

function PositionRow({ row }: { readonly row: WalletPosition }) {
  const profit = (name: string, usd: number, kind = 'num') =>
    html`<td class=${`${kind} ${wayOf(usd)}`} data-label=${name}>${signedUsdText(usd)}</td>`
  return html`<tr data-token=${row.token_id}>
    <td class="question"><a href=${hrefOf('market', row.market_id)}>${row.question ?? row.market_id}</a>
      ${row.status === 'closed' ? html` <span class="tag">closed</span>` : null}
      ${row.redeemable ? html` <span class="tag">redeemable</span>` : null}
      ${row.cost_basis_known ? null : html` <span class="tag wait" title="Part of it came from where no price is known">cost not known</span>`}</td>
    <td data-label="Outcome">${row.outcome ?? '–'}</td>
    <td data-label="Contracts" class="num">${sizeText(row.balance)}</td>
    <td data-label="Entry" class="num"><${Price} price=${row.avg_entry_price} /></td>
    <td data-label="Now" class="num"><${Price} price=${row.current_price} /></td>
    <td data-label="Cost" class="num spare">${usdText(row.initial_value)}</td>
    <td data-label="Value" class="num">${usdText(row.current_value)}</td>
    ${profit('Realized', row.realized_pnl)}${profit('Unrealized', row.unrealized_pnl, 'num spare')}${profit('Total', row.total_pnl)}
  </tr>`
}

const TRADE_PAGE_ROWS = 50

export function WalletTrades({ address }: { readonly address: string }) {
  const paged = usePages(
    (cursor, signal) =>
      request<WalletTradePage>(`/v1/wallets/${address}/trades`, {
        query: { limit: TRADE_PAGE_ROWS, cursor },
        signal,
      }),
    [address],
  )
  const rows = paged.pages.flatMap(({ trades }) => trades)
  const isFirst = paged.pages.length === 0
  return html`<section class="card stack wallet-trades" aria-labelledby="wallet-trades">
    <h2 id="wallet-trades">Trades</h2>
    ${isFirst && paged.isLoading ? html`<${Waiting} what="trades" />` : null}
    ${isFirst && paged.error !== null ? html`<${Failure} error=${paged.error} retry=${paged.more} />` : null}
    ${!isFirst && rows.length === 0 ? html`<${Empty} again=${paged.again}>No trade of this wallet is known.<//>` : null}
    ${rows.length === 0 ? null : tradeTable(rows)}
    ${isFirst ? null : html`<${More} paged=${paged} />`}
  </section>`
}

function tradeTable(rows: readonly WalletTrade[]) {
  return html`<div class="scroll-x"><tradeTable class="list stacked">
    <caption class="visually-hidden">Trades, newest first</caption>
    <thead><tr>
      <th scope="col">Time</th><th scope="col">Market</th><th scope="col">Trade</th>
      <th scope="col" class="num">Price</th><th scope="col" class="num">Contracts</th>
      <th scope="col" class="num">Value</th><th scope="col">As</th>
    </tr></thead>
    <tbody>${rows.map((row) => {
      const { outcome, question, size, size_usd: usd } = row
      const done = tradedOf({ ...row, usd }, null)
      return html`<tr key=${row.id} data-trade=${row.id}>
        <td class="when" data-label="Time"><${Time} atMs=${row.timestamp_ms} /></td>
        <td class="question"><a href=${hrefOf('market', row.market_id)}>${question ?? row.market_id}</a></td>
        <td class="what" data-label="Trade"><${TradedText} of=${done} />${outcome === null ? '–' : ''}</td>
        <td class="num" data-label="Price"><${Price} price=${done.price} /></td>
        <td class="num" data-label="Contracts">${sizeText(size)}</td>
        <td class="num" data-label="Value">${usdText(usd)}</td>
        <td data-label="As">${row.role ?? '–'}</td>
      </tr>`
    })}</tbody>
  </tradeTable></div>`
}
