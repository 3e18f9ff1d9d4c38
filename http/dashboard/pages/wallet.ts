// Profile, positions and trades of a wallet. Without an address, the page ranks all wallets that users have requested.

import { useId, useMemo, useState } from 'preact/hooks'
import { ApiError, request, requestWithFacts } from '../api.ts'
import { setAddressHash } from '../browser.ts'
import { countText, shortId, usdText } from '../format.ts'
import { html } from '../html.ts'
import { Figures, Profit, Time } from '../parts/figures.ts'
import { ChoiceField, changeQuery, chosen } from '../parts/filters.ts'
import { typed } from '../parts/forms.ts'
import {
  type Choice,
  filled,
  MarketName,
  Picker,
  RANKED_MAX,
  searchMarkets,
} from '../parts/picker.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Empty, sentence, Waiting } from '../parts/states.ts'
import { table } from '../parts/tables.ts'
import { fullVenueText, useVenues } from '../parts/venues.ts'
import { WalletPnlCard, WalletPositions, WalletTrades } from '../parts/wallet-cards.ts'
import { AlertLink } from '../parts/watch-button.ts'
import type { RankedWallet, WalletProfile } from '../records.ts'
import { hrefOf, type PageProps, type PageRoute } from '../route.ts'

export function WalletPage({ route }: PageProps) {
  const address = route.subject === '' ? null : route.subject
  return html`
    <h1>Wallets</h1>
    <${WalletForm} address=${address ?? ''} />
    ${address === null ? html`<${WalletRanking} route=${route} />` : html`<${Wallet} address=${address} route=${route} />`}
  `
}

const NO_ADDRESS = 'This is not a wallet address: it needs 0x and 40 digits of 0 to 9 and a to f.'

/** Null if the trimmed text is no wallet address. */
export function addressIn(text: string): string | null {
  const address = text.trim()
  return /^0x[0-9a-f]{40}$/i.test(address) ? address : null
}

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
  return html`<form class="row view-filters" role="search" onSubmit=${submit} novalidate>
    <div class="field wide">
      <label for=${id}>Address of a wallet</label>
      <input id=${id} value=${text} onInput=${(event: Event) => setText(typed(event))} placeholder="0x…" autocomplete="off" spellcheck=${false}
        aria-invalid=${isWrong} aria-describedby=${isWrong ? `${id}-error` : null} />
      ${isWrong ? html`<p class="error" id=${`${id}-error`} role="alert">${NO_ADDRESS}</p>` : null}
    </div>
    <button class="primary">Show wallet</button>
  </form>`
}

function Wallet({ address, route }: { readonly address: string; readonly route: PageRoute }) {
  const [venue] = useVenues()
  const marketId = route.query.get('market')
  const result = useRequest(
    (signal) =>
      requestWithFacts<WalletProfile>(`/v1/wallets/${encodeURIComponent(address)}`, { signal }),
    [address],
  )
  if (result.kind === 'waiting')
    return html`<${Waiting} what="the wallet: a new one is first read from its venue" />`
  if (result.answer === null) {
    const refusal = describeRefusal(result.error, fullVenueText(venue))
    if (refusal === null) return html`<${Unanswered} result=${result} />`
    return html`<div class="state failure" role="alert" data-address=${address}>
      <strong>${refusal.title}</strong> <span>${refusal.detail}</span>
    </div>`
  }
  const { answer: profile, facts } = result.answer
  return html`
    ${
      facts.isComplete
        ? null
        : html`<div class="state incomplete" role="status">
            <strong>The data of this wallet is incomplete.</strong>
            <span>Sums may be wrong. ${incompleteReasonsText(facts.incomplete ?? '')}</span>
            <button type="button" onClick=${result.again}>Reload</button>
          </div>`
    }
    <div class="stack" key=${profile.updated_at}>
      <div class="row">
        <h2 id="wallet-name">${nameOf(profile)}</h2>
        ${profile.is_whale ? html`<span class="tag">whale</span>` : null}
        <${AlertLink} events="trade.created" filters=${{ wallets: profile.address }} />
      </div>
      <${WalletPnlCard} address=${profile.address} route=${route} />
      ${profileCard(profile)}
      <${MarketFilter} route=${route} marketId=${marketId} venue=${venue ?? null} />
      <${WalletPositions} address=${profile.address} marketId=${marketId} route=${route} />
      <${WalletTrades} address=${profile.address} marketId=${marketId} />
    </div>
  `
}

interface MarketFilterProps {
  readonly route: PageRoute
  readonly marketId: string | null
  readonly venue: string | null
}

/** Limits positions and trades to one market. */
function MarketFilter({ route, marketId, venue }: MarketFilterProps) {
  const set = (id: string) => changeQuery(route, { market: id })
  const search = useMemo(() => searchMarkets(venue), [venue])
  return html`<section class="card" aria-label="Filter of positions and trades">
    ${
      marketId === null
        ? html`<${Picker} label="Only one market" placeholder="A question" search=${search}
            choose=${({ value }: Choice) => set(value)} />`
        : html`<p class="row">Positions and trades of <strong><${MarketName} id=${marketId} /></strong> only.
            <button type="button" onClick=${() => set('')}>Show all markets</button></p>`
    }
  </section>`
}

/** Removes the codes from `why`, which has the form `code: sentence; code: sentence`. */
const incompleteReasonsText = (why: string): string =>
  why
    .split('; ')
    .map((reason) => sentence(reason.replace(/^[a-z_]+: /, '')))
    .join(' ')

export function describeRefusal(
  error: unknown,
  venue: string,
): { readonly title: string; readonly detail: string } | null {
  if (!(error instanceof ApiError)) return null
  if (error.status === 422) return { title: 'Not an address.', detail: NO_ADDRESS }
  if (error.status === 404) {
    const detail = `This wallet has not traded on ${venue}. Is the address complete?`
    return { title: 'No trades of this wallet.', detail }
  }
  return error.status === 400 ? { title: 'Not a wallet.', detail: error.message } : null
}

const nameOf = (wallet: RankedWallet | WalletProfile): string =>
  filled(wallet.handle) ?? filled(wallet.pseudonym) ?? shortId(wallet.address)

function profileCard(profile: WalletProfile) {
  const { metrics, eoa, proxy, pseudonym } = profile
  const name = nameOf(profile)
  const isSecondName = filled(pseudonym) !== null && pseudonym !== name
  const counts = (...all: readonly number[]) => all.map(countText).join(' / ')
  return html`<section class="card stack wallet-profile" aria-labelledby="wallet-name">
    <${Figures} of=${[
      ['Address', html`<code class="address">${proxy}</code>`],
      ...(eoa === null ? [] : [['Owner', html`<code class="address">${eoa}</code>`]]),
      ...(isSecondName ? [['Also called', pseudonym]] : []),
      ['Volume', usdText(metrics.total_volume)],
      ['Trades', countText(metrics.total_trades)],
      ['Markets', countText(metrics.total_markets)],
      ['First trade', html`<${Time} seconds=${profile.first_trade_at} />`],
      ['Last trade', html`<${Time} seconds=${profile.last_trade_at} />`],
      ['Splits / merges', counts(metrics.splits, metrics.merges)],
      ['Redemptions / conversions', counts(metrics.redemptions, metrics.conversions)],
      ['As of', html`<${Time} seconds=${profile.updated_at} />`],
    ]} />
    ${table({
      ...{
        list: 'figures by window',
        kind: 'windows stacked',
        caption: 'Figures by window',
        rows: windowRows(profile),
      },
      keyOf: ({ label }) => label,
      columns: [
        ['Window', 'subject', ({ label }) => label],
        [
          'Net realized',
          'num',
          ({ figures }) => html`<${Profit} usd=${figures.net_realized_pnl} />`,
        ],
        ['Before fees', 'num', ({ figures }) => html`<${Profit} usd=${figures.realized_pnl} />`],
        ['Volume', 'num', ({ figures }) => usdText(figures.volume)],
        ['Trades', 'num', ({ figures }) => countText(figures.trades)],
      ],
    })}
  </section>`
}

const WINDOWS = [
  ['one_day', '1 day'],
  ['seven_day', '7 days'],
  ['thirty_day', '30 days'],
  ['all_time', 'All time'],
] as const
type WindowFigures = WalletProfile['windows'][string]

/** Merges consecutive windows with equal figures into one row: `7 days, 30 days, all time`. */
export function windowRows({ windows }: Pick<WalletProfile, 'windows'>) {
  const rows: { label: string; figures: WindowFigures }[] = []
  for (const [name, label] of WINDOWS) {
    const figures = windows[name]
    const last = rows.at(-1)
    if (figures === undefined) continue
    if (last !== undefined && isSame(figures, last.figures)) {
      last.label = `${last.label}, ${label.toLowerCase()}`
    } else rows.push({ label, figures })
  }
  return rows
}

const SHOWN_FIGURES = ['realized_pnl', 'net_realized_pnl', 'volume', 'trades'] as const
const isSame = (one: WindowFigures, other: WindowFigures): boolean =>
  SHOWN_FIGURES.every((name) => one[name] === other[name])

interface Ranking {
  readonly wallets: readonly RankedWallet[]
  readonly total: number
}

const ORDERS = ['realized_pnl', 'volume'] as const
const ORDER_LABELS = { realized_pnl: 'realized profit', volume: 'volume' } as const

function WalletRanking({ route }: { readonly route: PageRoute }) {
  const span = chosen(route, 'window', ['all_time', 'one_day', 'seven_day', 'thirty_day'])
  const order = chosen(route, 'by', ORDERS)
  const query = { window: span, sort_by: order, limit: RANKED_MAX }
  const result = useRequest(
    (signal) => request<Ranking>('/v1/wallets', { query, signal }),
    [span, order],
  )
  const windows = [...WINDOWS.slice(-1), ...WINDOWS.slice(0, -1)]
  return html`<section class="card stack" aria-labelledby="ranking">
    <h2 id="ranking">Wallets looked up here</h2>
    <p class="muted">Ranks only the wallets that users of this service have looked up, not all wallets of the venue.</p>
    <div class="row view-filters">
      <${ChoiceField} label="Window" value=${span} choices=${windows}
        choose=${(value: string) => changeQuery(route, { window: value })} />
      <${ChoiceField} label="By" value=${order} choices=${ORDERS.map((value) => [value, ORDER_LABELS[value]])}
        choose=${(by: string) => changeQuery(route, { by })} />
    </div>
    <${Unanswered} result=${result} what="the wallets" hasRows=${result.latest !== null} />
    ${result.latest === null ? null : ranked(result.latest, result)}
  </section>`
}

function ranked(
  { wallets, total }: Ranking,
  { kind, again }: { readonly kind: string; readonly again: () => void },
) {
  if (wallets.length === 0) {
    return html`<${Empty} again=${again}>No wallets yet. Enter an address above, or choose one from the${' '}
      <a href=${hrefOf('whales')}>whales</a>.<//>`
  }
  return table({
    ...{ list: 'wallets', kind: kind === 'answered' ? 'stacked' : 'stacked aging' },
    rows: wallets,
    caption: html`<caption class="muted">${countText(wallets.length)} of ${countText(total)} wallets looked up so far</caption>`,
    keyOf: ({ address }) => address,
    columns: [
      ['Rank', 'num', ({ rank }) => rank],
      [
        'Wallet',
        'question',
        (wallet) =>
          html`<a href=${hrefOf('wallet', wallet.address)} title=${wallet.address}>${nameOf(wallet)}</a>
          ${wallet.data_complete ? null : html` <span class="tag wait">incomplete</span>`}`,
      ],
      ['Net realized', 'num', (one) => html`<${Profit} usd=${one.net_realized_pnl} />`],
      ['Realized', 'num spare', (one) => html`<${Profit} usd=${one.realized_pnl} />`],
      ['Volume', 'num', ({ volume }) => usdText(volume)],
      ['Trades', 'num', ({ trades }) => countText(trades)],
      ['Closed won', 'num', ({ win_count: count }) => countText(count)],
      ['Closed lost', 'num spare', ({ loss_count: count }) => countText(count)],
      ['Last trade', '', ({ last_trade_at: at }) => html`<${Time} seconds=${at} />`],
    ],
  })
}
