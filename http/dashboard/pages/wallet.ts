// A wallet's profile, profit, positions and trades. Without an address, the ranking of known wallets.

import { useId, useState } from 'preact/hooks'
import { request, requestWithFacts } from '../api.ts'
import { setAddressHash } from '../browser.ts'
import { countText, percentText, usdText } from '../format.ts'
import { html } from '../html.ts'
import { Figures, Time } from '../parts/figures.ts'
import { ChoiceField, changeQuery, chosen } from '../parts/filters.ts'
import { useRequest } from '../parts/requests.ts'
import { Empty, Failure, sentence, Unanswered, Waiting } from '../parts/states.ts'
import { fullVenueText, useVenues } from '../parts/venues.ts'
import { WalletPnlCard, WalletPositions, WalletTrades } from '../parts/wallet-cards.ts'
import {
  addressIn,
  describeRefusal,
  NO_ADDRESS,
  nameOf,
  signedUsdText,
  wayOf,
} from '../parts/wallet-texts.ts'
import type { RankedWallet, WalletProfile } from '../records.ts'
import { hrefOf, type PageProps, type PageRoute } from '../route.ts'

export function WalletPage({ route }: PageProps) {
  const { subject } = route
  const address = subject === '' ? null : subject
  return html`
    <h1>Wallets</h1>
    <${WalletForm} address=${address ?? ''} />
    ${address === null ? html`<${WalletRanking} route=${route} />` : html`<${Wallet} address=${address} />`}
  `
}

function Wallet({ address }: { readonly address: string }) {
  const [venue] = useVenues()
  const result = useRequest(
    (signal) =>
      requestWithFacts<WalletProfile>(`/v1/wallets/${encodeURIComponent(address)}`, { signal }),
    [address],
  )
  if (result.kind === 'waiting')
    return html`<${Waiting} what="the wallet: one that is new here is read from its venue first" />`
  if (result.kind === 'failed') {
    const refusal = describeRefusal(result.error, fullVenueText(venue))
    if (refusal === null) return html`<${Failure} error=${result.error} retry=${result.again} />`
    return html`<div class="state failure" role="alert" data-address=${address}>
      <strong>${refusal.title}</strong> <span>${refusal.detail}</span>
    </div>`
  }
  const { answer: profile, facts } = result.answer
  return html`
    ${facts.isComplete ? null : html`<${Incomplete} why=${facts.incomplete} again=${result.again} />`}
    <div class="stack" key=${profile.updated_at}>
      <${WalletProfileCard} profile=${profile} />
      <${WalletPnlCard} address=${profile.address} />
      <${WalletPositions} address=${profile.address} />
      <${WalletTrades} address=${profile.address} />
    </div>
  `
}

const Incomplete = ({
  why,
  again,
}: {
  readonly why: string | null
  readonly again: () => void
}) => html`<div class="state incomplete" role="status">
  <strong>Not everything of this wallet is known.</strong>
  <span>Sums may be wrong. ${incompleteReasonsText(why ?? '')}</span>
  <button type="button" onClick=${again}>Ask again</button>
</div>`

/** Incomplete-data reasons without their codes. Input format: `code: sentence; code: sentence`. */
export const incompleteReasonsText = (why: string): string =>
  why
    .split('; ')
    .map((reason) => sentence(reason.replace(/^[a-z_]+: /, '')))
    .join(' ')

/** Address form. Invalid input is rejected without a request. */
function WalletForm({ address }: { readonly address: string }) {
  const [text, setText] = useState(address)
  const [isWrong, setWrong] = useState(false)
  const id = useId()
  const submit = (event: Event) => {
    event.preventDefault()
    const found = addressIn(text)
    setWrong(found === null)
    if (found !== null) setAddressHash(hrefOf('wallet', found))
  }
  const type = ({ currentTarget: input }: Event) => {
    if (input instanceof HTMLInputElement) setText(input.value)
  }
  return html`<form class="row view-filters" role="search" onSubmit=${submit} novalidate>
    <div class="field wide">
      <label for=${id}>Address of a wallet</label>
      <input id=${id} value=${text} onInput=${type} placeholder="0x…" autocomplete="off" spellcheck=${false}
        aria-invalid=${isWrong} aria-describedby=${isWrong ? `${id}-error` : null} />
      ${isWrong ? html`<p class="error" id=${`${id}-error`} role="alert">${NO_ADDRESS}</p>` : null}
    </div>
    <button class="primary">Show wallet</button>
  </form>`
}

// Ranking of all wallets that have been requested so far, by realized profit or volume in a window.

interface Ranking {
  readonly wallets: readonly RankedWallet[]
  readonly total: number
}

const RANKING_WINDOWS = ['all_time', 'one_day', 'seven_day', 'thirty_day'] as const
const WINDOW_LABELS = {
  all_time: 'all time',
  one_day: '1 day',
  seven_day: '7 days',
  thirty_day: '30 days',
} as const
const ORDERS = ['realized_pnl', 'volume'] as const
const ORDER_LABELS = { realized_pnl: 'realized profit', volume: 'volume' } as const

export function WalletRanking({ route }: { readonly route: PageRoute }) {
  const span = chosen(route, 'window', RANKING_WINDOWS)
  const order = chosen(route, 'by', ORDERS)
  const result = useRequest(
    (signal) =>
      request<Ranking>('/v1/wallets', { query: { window: span, sort_by: order }, signal }),
    [span, order],
  )
  return html`<section class="card stack" aria-labelledby="ranking">
    <h2 id="ranking">Ranking</h2>
    <div class="row view-filters">
      <${ChoiceField} label="Window" value=${span} choices=${RANKING_WINDOWS.map((value) => [value, WINDOW_LABELS[value]])}
        choose=${(value: string) => changeQuery(route, { window: value })} />
      <${ChoiceField} label="By" value=${order} choices=${ORDERS.map((value) => [value, ORDER_LABELS[value]])}
        choose=${(by: string) => changeQuery(route, { by })} />
    </div>
    <${Unanswered} result=${result} what="the ranking" />
    ${result.kind === 'answered' ? listed(result.answer, result.again) : null}
  </section>`
}

function listed({ wallets, total }: Ranking, again: () => void) {
  if (wallets.length === 0) {
    return html`<${Empty} again=${again}>No wallets yet. Enter an address above, or choose one from the${' '}
      <a href=${hrefOf('whales')}>whales</a>.<//>`
  }
  return html`<div class="scroll-x"><table class="list stacked">
    <caption class="muted">${countText(wallets.length)} of ${countText(total)} wallets looked up so far</caption>
    <thead><tr>
      <th scope="col" class="num">Rank</th><th scope="col">Wallet</th>
      <th scope="col" class="num">Net realized</th><th scope="col" class="num spare">Realized</th>
      <th scope="col" class="num">Volume</th>
      <th scope="col" class="num">Trades</th><th scope="col" class="num">Won</th>
      <th scope="col" class="num spare">Lost</th><th scope="col" class="num">Win rate</th><th scope="col">Last trade</th>
    </tr></thead>
    <tbody>${wallets.map(
      (wallet) => html`<tr key=${wallet.address}>
      <td data-label="Rank" class="num">${wallet.rank}</td>
      <td class="question"><a href=${hrefOf('wallet', wallet.address)} title=${wallet.address}>${nameOf(wallet)}</a>
        ${wallet.data_complete ? null : html` <span class="tag wait">incomplete</span>`}</td>
      <td data-label="Net realized" class=${`num ${wayOf(wallet.net_realized_pnl)}`}>${signedUsdText(wallet.net_realized_pnl)}</td>
      <td data-label="Realized" class=${`num spare ${wayOf(wallet.realized_pnl)}`}>${signedUsdText(wallet.realized_pnl)}</td>
      <td data-label="Volume" class="num">${usdText(wallet.volume)}</td>
      <td data-label="Trades" class="num">${countText(wallet.trades)}</td>
      <td data-label="Won" class="num">${countText(wallet.win_count)}</td>
      <td data-label="Lost" class="num spare">${countText(wallet.loss_count)}</td>
      <td data-label="Win rate" class="num">${percentText(wallet.win_rate)}</td>
      <td data-label="Last trade"><${Time} atMs=${wallet.last_trade_at === null ? null : wallet.last_trade_at * 1_000} /></td>
    </tr>`,
    )}</tbody>
  </table></div>`
}

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

const momentOf = (seconds: number | null): number | null =>
  seconds === null ? null : seconds * 1_000
