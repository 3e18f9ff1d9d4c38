// A wallet's profile, profit, positions and trades. Without an address, the ranking of known wallets.

import { useId, useState } from 'preact/hooks'
import { requestWithFacts } from '../api.ts'
import { setAddressHash } from '../browser.ts'
import { html } from '../html.ts'
import { fullVenueText, useVenues } from '../parts/lists/venues.ts'
import { useRequest } from '../parts/request-state.ts'
import { Failure, sentence, Waiting } from '../parts/states.ts'
import { WalletPnlCard } from '../parts/wallets/pnl.ts'
import { WalletPositions } from '../parts/wallets/positions.ts'
import { WalletProfileCard } from '../parts/wallets/profile.ts'
import { WalletRanking } from '../parts/wallets/ranking.ts'
import { WalletTrades } from '../parts/wallets/trades.ts'
import { addressIn, describeRefusal, NO_ADDRESS } from '../parts/wallets/wallet-texts.ts'
import type { WalletProfile } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

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
