// A wallet of the first venue: who it is, what it earned, holds and did; without an address, the ranking of those that
// were asked for. What the venue withheld is said in words. Not for: large trades of anybody (pages/whales.ts).
// Upholds DASH64, DASH65, DASH67.

import { requestWithFacts } from '../api.ts'
import { html } from '../html.ts'
import { useAsked } from '../parts/asked.ts'
import { Failure, Waiting } from '../parts/states.ts'
import { WalletForm } from '../parts/wallets/form.ts'
import { WalletPnlCard } from '../parts/wallets/pnl.ts'
import { WalletPositions } from '../parts/wallets/positions.ts'
import { WalletProfileCard } from '../parts/wallets/profile.ts'
import { WalletRanking } from '../parts/wallets/ranking.ts'
import { WalletTrades } from '../parts/wallets/trades.ts'
import { wordsOfRefusal } from '../parts/wallets/words.ts'
import type { WalletProfile } from '../records.ts'
import type { PageProps } from './page-props.ts'

export function WalletPage({ place }: PageProps) {
  const { subject } = place
  const address = subject === '' ? null : subject
  return html`
    <h1>Wallets</h1>
    <${WalletForm} address=${address ?? ''} />
    ${address === null ? html`<${WalletRanking} place=${place} />` : html`<${Wallet} address=${address} />`}
  `
}

function Wallet({ address }: { readonly address: string }) {
  const asked = useAsked(
    (signal) =>
      requestWithFacts<WalletProfile>(`/v1/wallets/${encodeURIComponent(address)}`, { signal }),
    [address],
  )
  if (asked.kind === 'waiting')
    return html`<${Waiting} what="the wallet: one that is new here is read from its venue first" />`
  if (asked.kind === 'failed') {
    const words = wordsOfRefusal(asked.error)
    if (words === null) return html`<${Failure} error=${asked.error} retry=${asked.again} />`
    return html`<div class="state failure" role="alert" data-address=${address}>
      <strong>${words.title}</strong> <span>${words.detail}</span>
    </div>`
  }
  const { answer: profile, facts } = asked.answer
  return html`
    ${facts.isComplete ? null : html`<${Incomplete} why=${facts.incomplete} again=${asked.again} />`}
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
  <span>Sums may be wrong. ${why ?? ''}</span>
  <button type="button" onClick=${again}>Ask again</button>
</div>`
