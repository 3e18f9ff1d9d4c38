// What a market of a wallet is called: by the catalogue, else by what was kept of it for the wallets that touched it.
// Not for: how records look (wallet-events.ts, http/wallets/positions.ts). Upholds WALLETREST13.

import type { MarketView } from '../../actors/views.ts'
import type { OutcomeId } from '../../engine/ids.ts'
import type { WalletMarket } from '../../engine/wallet.ts'

/** A market as the owner of wallets shows it; both null: nobody knows it any more. */
export interface ShownMarket {
  readonly view: MarketView | null
  readonly facts: WalletMarket | null
}

/** Null: not known. */
export function namesOf(market: ShownMarket): {
  readonly question: string | null
  readonly slug: string | null
  readonly eventSlug: string | null
} {
  return market.view?.summary ?? market.facts ?? UNNAMED
}

const UNNAMED = { question: null, slug: null, eventSlug: null }

/** The place of a token among the market's outcomes; −1: not known. */
export function outcomeIndex(market: ShownMarket, token: OutcomeId | null): number {
  if (token === null) return -1
  if (market.view === null) return market.facts?.tokens.indexOf(token) ?? -1
  return market.view.summary.outcomes.findIndex(({ id }) => id === token)
}

/** What the outcome in that place is called; null: not known. */
export function outcomeLabel(market: ShownMarket, index: number): string | null {
  if (market.view === null) return market.facts?.labels[index] ?? null
  return market.view.summary.outcomes[index]?.label ?? null
}
