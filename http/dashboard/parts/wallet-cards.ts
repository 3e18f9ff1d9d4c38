// A wallet's profit figures and its curve of realized profit. A table repeats the curve for screen readers.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import type { CurvePoint } from '../charts/canvases.ts'
import { countText, percentText, signedUsdText, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import type {
  WalletPnl,
  WalletPosition,
  WalletPositionPage,
  WalletTrade,
  WalletTradePage,
} from '../records.ts'
import { hrefOf, type PageRoute } from '../route.ts'
import { allRows, type CsvRows } from './csv-button.ts'
import { Figures, Price, Profit, Time, TradedText, tradedOf } from './figures.ts'
import { ChoiceField, changeQuery, chosen } from './filters.ts'
import { More, Unanswered, usePages, useRequest } from './requests.ts'
import { Empty, Failure } from './states.ts'
import { type Column, headings, type Order, table } from './tables.ts'

const STEPS = [
  ['all', 'All'],
  ['day', 'Daily'],
  ['week', 'Weekly'],
  ['month', 'Monthly'],
] as const
type Step = (typeof STEPS)[number][0]

const TABLE_ROWS = 100

interface WalletPnlCardProps {
  readonly address: string
  readonly route: PageRoute
}

export function WalletPnlCard({ address, route }: WalletPnlCardProps) {
  const step = chosen(route, 'step', ['all', 'day', 'week', 'month'])
  const result = useRequest(
    (signal) =>
      request<WalletPnl>(`/v1/wallets/${address}/pnl`, {
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
            onClick=${() => changeQuery(route, { step: name })}>${label}</button>`,
        )}
      </div>
    </div>
    <${Unanswered} result=${result} what="profits" />
    ${result.answer === null ? null : pnlBody(result.answer, step)}
  </section>`
}

function pnlBody(pnl: WalletPnl, step: Step) {
  const profit = (usd: number) => html`<${Profit} usd=${usd} />`
  const points = curvePoints(pnl)
  return html`
    <${Figures} of=${[
      ['Net', html`<strong class="pnl-total">${profit(pnl.net_pnl)}</strong>`],
      ['Before fees and income', profit(pnl.total_pnl)],
      ['Fees', usdText(pnl.fees_paid)],
      ['Rewards and rebates', usdText(pnl.income)],
      ['Realized', profit(pnl.realized_pnl)],
      ['Unrealized', profit(pnl.unrealized_pnl)],
      ['Closed markets won', closedText(pnl)],
      ...(pnl.combo_realized_pnl === 0
        ? []
        : [
            [
              'Combos (bets on several markets, not in net)',
              combosText(pnl.combo_realized_pnl),
            ] as const,
          ]),
    ]} />
    ${
      points.length === 0
        ? html`<${Empty}>No realized profit yet: the curve starts with the first sale, merge or redemption.<//>`
        : html`<${PnlCurve} points=${points} isByDay=${step !== 'all'} />`
    }`
}

/** Open positions do not count, however large their loss is, so a rate alone would mislead. */
function closedText({ win_count: won, loss_count: lost, win_rate: rate }: WalletPnl): string {
  const closed = won + lost
  return closed === 0
    ? 'None closed yet'
    : `${countText(won)} of ${countText(closed)} (${percentText(rate)})`
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
    let close: (() => void) | null = null
    let isUnmounted = false
    // The chart library loads only when a curve is shown.
    import('../charts/canvases.ts').then(({ openCurve }) => {
      if (isUnmounted || host.current === null) return
      close = openCurve(host.current, points, isByDay)
    }, setFailure)
    return () => {
      isUnmounted = true
      close?.()
    }
  }, [points.map(({ time, usd }) => `${time} ${usd}`).join(), isByDay])
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const label = `Realized to date: from ${usdText(first.usd)} to ${usdText(last.usd)} in ${countText(points.length)} steps`
  return html`
    <${Failure} error=${failure} />
    <h3>Realized profit to date, before fees</h3>
    <div class="canvas" ref=${host} role="img" aria-label=${label} data-points=${points.length}></div>
    <details>
      <summary>The curve as a table${points.length > TABLE_ROWS ? `: the newest ${TABLE_ROWS}` : ''}</summary>
      ${table({
        list: 'realized profit',
        rows: points.slice(-TABLE_ROWS).reverse(),
        exported: () => points,
        keyOf: ({ time }) => time,
        columns: [
          ['Time', '', ({ time }) => html`<${Time} seconds=${time} />`],
          ['Realized to date', 'num', ({ usd }) => html`<${Profit} usd=${usd} />`],
        ],
      })}
    </details>`
}

/** The last point of each second, in order of time. */
export function curvePoints({
  pnl_over_time: series,
}: Pick<WalletPnl, 'pnl_over_time'>): readonly CurvePoint[] {
  const bySecond = new Map<number, number>()
  for (const { timestamp, pnl_to_date } of series) bySecond.set(timestamp, pnl_to_date)
  return [...bySecond].sort(([one], [other]) => one - other).map(([time, usd]) => ({ time, usd }))
}

const COLUMNS: readonly Column<WalletPosition>[] = [
  [
    'Market',
    'question',
    (row) => html`<a href=${hrefOf('market', row.market_id)}>${row.question ?? row.market_id}</a>
      ${row.status === 'closed' ? html` <span class="tag">closed</span>` : null}
      ${row.redeemable ? html` <span class="tag">redeemable</span>` : null}
      ${row.cost_basis_known ? null : html` <span class="tag wait" title="Part of the position was acquired at an unknown price">cost not known</span>`}`,
    { sort: 'question' },
  ],
  ['Outcome', '', ({ outcome }) => outcome ?? '–'],
  ['Contracts', 'num', ({ balance }) => sizeText(balance), { sort: 'balance' }],
  ['Entry', 'num', ({ avg_entry_price: price }) => html`<${Price} price=${price} />`],
  ['Now', 'num', ({ current_price: price }) => html`<${Price} price=${price} />`],
  ['Cost', 'num spare', ({ initial_value: usd }) => usdText(usd), { sort: 'initial_value' }],
  ['Value', 'num', ({ current_value: usd }) => usdText(usd), { sort: 'current_value' }],
  profitColumn('Realized', 'num', 'realized_pnl'),
  profitColumn('Unrealized', 'num spare', 'unrealized_pnl'),
  profitColumn('Total', 'num', 'total_pnl'),
]
function profitColumn(
  name: string,
  kind: string,
  sort: 'realized_pnl' | 'unrealized_pnl' | 'total_pnl',
): Column<WalletPosition> {
  return [name, kind, (row) => html`<${Profit} usd=${row[sort]} />`, { sort }]
}

const STATUSES = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const
const ORDERS = [
  ...(['current_value', 'balance', 'initial_value', 'realized_pnl', 'unrealized_pnl'] as const),
  ...(['total_pnl', 'question'] as const),
] as const
const PAGE_ROWS = 50

interface ListProps {
  readonly address: string
  /** Null: all markets. */
  readonly marketId: string | null
}

interface WalletPositionsProps extends ListProps {
  readonly route: PageRoute
}

export function WalletPositions({ address, marketId, route }: WalletPositionsProps) {
  const status = chosen(route, 'positions', ['open', 'closed', 'all'])
  const order: Order<string> = {
    column: chosen(route, 'sort', ORDERS),
    isDown: chosen(route, 'way', ['down', 'up']) === 'down',
  }
  const setOrder = ({ column, isDown }: Order<string>) =>
    changeQuery(route, { sort: column, way: isDown ? 'down' : 'up' })
  const fetchPage = (cursor: string | null, limit: number, signal?: AbortSignal) => {
    const sorting = { sort_by: order.column, order: order.isDown ? 'desc' : 'asc' }
    // Lists even tiny balances, because the summary counts them.
    const query = { status, min_balance: 0, market_id: marketId, ...sorting, limit, cursor }
    return request<WalletPositionPage>(`/v1/wallets/${address}/positions`, { query, signal })
  }
  const paged = usePages(
    (cursor, signal) => fetchPage(cursor, PAGE_ROWS, signal),
    [address, marketId, status, order.column, order.isDown],
  )
  const rows = paged.pages.flatMap(({ positions }) => positions)
  const where = marketId === null ? '' : ' in this market'
  const summary = paged.pages[0]?.summary
  return html`<section class="card stack wallet-positions" aria-labelledby="wallet-positions">
    <div class="row view-head">
      <h2 id="wallet-positions">Positions</h2>
      <${ChoiceField} label="Show" value=${status} choices=${STATUSES}
        choose=${(positions: string) => changeQuery(route, { positions })} />
    </div>
    ${
      summary === undefined
        ? null
        : html`<p class="muted">${countText(summary.open_positions)} open, worth ${usdText(summary.total_value)},
            bought for ${usdText(summary.total_initial_value)}.</p>`
    }
    <${Unanswered} result=${paged} what="positions" hasRows=${rows.length > 0} />
    ${
      paged.kind === 'answered' && rows.length === 0
        ? html`<${Empty} again=${paged.again}>${status === 'all' ? 'No position' : `No ${status} position`} of this wallet${where}.<//>`
        : null
    }
    ${
      rows.length === 0
        ? null
        : table({
            ...{ list: 'positions', kind: paged.isCurrent ? 'stacked' : 'stacked aging', rows },
            exported: () => allRows(fetchPage, ({ positions }) => positions),
            columns: COLUMNS,
            caption: 'Positions, to be sorted by the buttons of the columns',
            head: headings(COLUMNS, order, setOrder),
            keyOf: ({ token_id: id }) => id,
            marks: ({ token_id: id }) => ({ 'data-token': id }),
          })
    }
    <${More} paged=${paged} />
  </section>`
}

export function WalletTrades({ address, marketId }: ListProps) {
  const fetchPage = (cursor: string | null, limit: number, signal?: AbortSignal) =>
    request<WalletTradePage>(`/v1/wallets/${address}/trades`, {
      query: { market_id: marketId, limit, cursor },
      signal,
    })
  const paged = usePages(
    (cursor, signal) => fetchPage(cursor, PAGE_ROWS, signal),
    [address, marketId],
  )
  const rows = paged.pages.flatMap(({ trades }) => trades)
  return html`<section class="card stack wallet-trades" aria-labelledby="wallet-trades">
    <h2 id="wallet-trades">Trades</h2>
    <${Unanswered} result=${paged} what="trades" />
    ${paged.kind === 'answered' && rows.length === 0 ? html`<${Empty} again=${paged.again}>No trade of this wallet${marketId === null ? '' : ' in this market'} is known.<//>` : null}
    ${rows.length === 0 ? null : tradeTable(rows, () => allRows(fetchPage, ({ trades }) => trades))}
    <${More} paged=${paged} />
  </section>`
}

const tradeTable = (rows: readonly WalletTrade[], exported: () => CsvRows) =>
  table({
    ...{ list: 'trades', kind: 'stacked', caption: 'Trades, newest first', rows, exported },
    keyOf: ({ id }) => id,
    marks: ({ id }) => ({ 'data-trade': id }),
    columns: [
      ['Time', 'when', ({ timestamp_ms: ms }) => html`<${Time} atMs=${ms} />`],
      [
        'Market',
        'question',
        ({ market_id: id, question }) =>
          html`<a href=${hrefOf('market', id)}>${question ?? id}</a>`,
      ],
      [
        'Trade',
        'what',
        (row) =>
          html`<${TradedText} of=${tradedOf(row, null)} />${row.outcome === null ? '–' : ''}`,
      ],
      ['Price', 'num', (row) => html`<${Price} price=${tradedOf(row, null).price} />`],
      ['Contracts', 'num', ({ size }) => sizeText(size)],
      ['Value', 'num', ({ size_usd: usd }) => usdText(usd)],
      ['As', '', ({ role }) => role ?? '–'],
    ],
  })
