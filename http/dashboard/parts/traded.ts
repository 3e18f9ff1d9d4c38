// Converts a trade to the outcome that was traded. The API quotes side and price for the market's first
// outcome.
// Example: a buy of the second outcome at 19 cents is recorded as a sell at 81.

import { html } from '../html.ts'

export interface TradeFacts {
  /** The taker's side, in terms of the market's first outcome. */
  readonly side: string
  /** Price of the first outcome, 0 to 1. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  /** Dollars paid for the traded outcome. */
  readonly usd: number
  /** The traded outcome; null: unknown, treated as the first. */
  readonly outcome: string | null
}

export interface Traded {
  /** Null: both outcomes cost the same and cannot be distinguished. */
  readonly side: 'buy' | 'sell' | null
  /** Price of the traded outcome in dollars. */
  readonly price: number
  readonly outcome: string | null
}

/** Tolerance for equal prices of both outcomes. */
const SAME = 1e-5
const NAMES = { yes: false, no: true } as const

/** `outcomes`: labels of the market's outcomes in order; null: unknown. */
export function tradedOf(trade: TradeFacts, outcomes: readonly string[] | null): Traded {
  const { price, outcome } = trade
  const quotedSide = trade.side === 'buy' ? 'buy' : 'sell'
  const isSecond = isSecondOutcome(trade, outcomes)
  if (isSecond === null) return { side: null, price, outcome }
  if (!isSecond) return { side: quotedSide, price, outcome: outcome ?? outcomes?.[0] ?? null }
  const other = Math.round((1 - price) * 1e6) / 1e6
  return { side: quotedSide === 'buy' ? 'sell' : 'buy', price: other, outcome }
}

/** Decided by name, or by the paid amount if the outcomes are unknown. Null: undecidable. */
function isSecondOutcome(
  { price, size, usd, outcome }: TradeFacts,
  outcomes: readonly string[] | null,
): boolean | null {
  const name = outcome?.toLowerCase()
  if (name === undefined) return false
  const index = outcomes?.findIndex((label) => label.toLowerCase() === name) ?? -1
  if (index >= 0) return index > 0
  if (name === 'yes' || name === 'no') return NAMES[name]
  if (Math.abs(1 - 2 * price) < SAME) return null
  return Math.abs(usd - (1 - price) * size) < Math.abs(usd - price * size)
}

const VERBS = { buy: 'Bought', sell: 'Sold' } as const

/** For example `Bought Nationals`, with a colored verb. */
export const TradedText = ({ of: { side, outcome } }: { readonly of: Traded }) =>
  html`<span class=${side === null ? 'verb' : side === 'buy' ? 'verb up' : 'verb down'}>${
    side === null ? 'Traded' : VERBS[side]
  }</span>${' '}<span class="traded">${outcome ?? ''}</span>`
