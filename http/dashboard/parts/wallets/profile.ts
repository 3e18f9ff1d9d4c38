import { countText, usdText } from '../../format.ts'
import { html, type Shown } from '../../html.ts'
import type { WalletProfile } from '../../records.ts'
import { Time } from '../time.ts'
import { nameOf, signedUsdText, wayOf } from './wallet-texts.ts'

const WINDOWS = [
  ['one_day', '1 day'],
  ['seven_day', '7 days'],
  ['thirty_day', '30 days'],
  ['all_time', 'All time'],
] as const

const isSecondName = (profile: WalletProfile): boolean =>
  (profile.pseudonym ?? '').trim() !== '' && profile.pseudonym !== nameOf(profile)

export function WalletProfileCard({ profile }: { readonly profile: WalletProfile }) {
  const { metrics, eoa, proxy, pseudonym } = profile
  return html`<section class="card stack wallet-profile" aria-labelledby="wallet-name">
    <div class="row">
      <h2 id="wallet-name">${nameOf(profile)}</h2>
      ${profile.is_whale ? html`<span class="tag">whale</span>` : null}
    </div>
    <${Figures} of=${[
      ['Address', html`<code class="address">${proxy}</code>`],
      ...(eoa === null ? [] : [['Owner', html`<code class="address">${eoa}</code>`]]),
      ...(isSecondName(profile) ? [['Also called', pseudonym]] : []),
      ['Volume', usdText(metrics.total_volume)],
      ['Trades', countText(metrics.total_trades)],
      ['Markets', countText(metrics.total_markets)],
      ['First trade', html`<${Time} atMs=${momentOf(profile.first_trade_at)} />`],
      ['Last trade', html`<${Time} atMs=${momentOf(profile.last_trade_at)} />`],
      ['Splits / merges', `${countText(metrics.splits)} / ${countText(metrics.merges)}`],
      [
        'Redemptions / conversions',
        `${countText(metrics.redemptions)} / ${countText(metrics.conversions)}`,
      ],
      ['As of', html`<${Time} atMs=${momentOf(profile.updated_at)} />`],
    ]} />
    <div class="scroll-x"><table class="list windows stacked">
      <caption class="visually-hidden">Figures by window</caption>
      <thead><tr><th scope="col">Window</th><th scope="col" class="num">Net realized</th>
        <th scope="col" class="num">Before fees</th>
        <th scope="col" class="num">Volume</th><th scope="col" class="num">Trades</th></tr></thead>
      <tbody>${windowRows(profile).map(
        ({ label, figures }) => html`<tr key=${label}><th scope="row">${label}</th>
          <td data-label="Net realized" class=${`num ${wayOf(figures.net_realized_pnl)}`}>${signedUsdText(figures.net_realized_pnl)}</td>
          <td data-label="Before fees" class=${`num ${wayOf(figures.realized_pnl)}`}>${signedUsdText(figures.realized_pnl)}</td>
          <td data-label="Volume" class="num">${usdText(figures.volume)}</td>
          <td data-label="Trades" class="num">${countText(figures.trades)}</td></tr>`,
      )}</tbody>
    </table></div>
  </section>`
}

/** Consecutive windows with equal figures share a row: `7 days, 30 days, all time`. */
export function windowRows({ windows }: Pick<WalletProfile, 'windows'>) {
  const rows: { label: string; figures: WindowFigures }[] = []
  for (const [name, label] of WINDOWS) {
    const figures = windows[name]
    const last = rows.at(-1)
    if (figures === undefined) continue
    if (last === undefined || !isSame(figures, last.figures)) {
      rows.push({ label, figures })
    } else last.label = `${last.label}, ${label.toLowerCase()}`
  }
  return rows
}

type WindowFigures = WalletProfile['windows'][string]

const isSame = (one: WindowFigures, other: WindowFigures): boolean =>
  one.realized_pnl === other.realized_pnl &&
  one.net_realized_pnl === other.net_realized_pnl &&
  one.volume === other.volume &&
  one.trades === other.trades

/** A list of names and values. */
export const Figures = ({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: Shown])[]
}) => html`<dl class="figures">
  ${of.map(([name, value]) => html`<div key=${name} data-figure=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`

const momentOf = (seconds: number | null): number | null =>
  seconds === null ? null : seconds * 1_000
