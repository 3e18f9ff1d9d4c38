// A wallet's profit figures and the curve of realized profit to date, also as a table for screen readers.

import { useEffect, useRef, useState } from 'preact/hooks'
import { requestWithFacts } from '../../api.ts'
import type { Curve, CurvePoint } from '../../charts/curve.ts'
import { countText, percentText, usdText } from '../../format.ts'
import { html } from '../../html.ts'
import type { WalletPnl } from '../../records.ts'
import { useRequest } from '../request-state.ts'
import { Empty, Failure, Unanswered } from '../states.ts'
import { Time } from '../time.ts'
import { Figures } from './profile.ts'
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
    ${result.kind === 'answered' ? shown(result.answer.answer, step) : null}
  </section>`
}

function shown(pnl: WalletPnl, step: Step) {
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
    // The chart library loads only when a curve is shown.
    import('../../charts/curve.ts').then(({ openCurve }) => {
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
