// A trade as the one who took it did it: the outcome that was bought or sold, and at which price of it. The interface has
// side and price of every trade in the market's first outcome, and beside them which outcome was traded and what was paid:
// a buy of the second one at 19 cents is told as a sale at 81.

import { html } from '../html.ts'

/** What a record of the interface says of a trade. */
export interface TradeFacts {
  /** What the taker did, in the market's first outcome. */
  readonly side: string
  /** Dollars of the first outcome, 0 to 1. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  /** What was paid for the outcome that was traded. */
  readonly usd: number
  /** The outcome that was traded; null: the venue does not say, and it is taken for the first. */
  readonly outcome: string | null
}

/** What was done. */
export interface Traded {
  /** Null: the two outcomes cost the same and are told apart by nothing else. */
  readonly side: 'buy' | 'sell' | null
  /** Dollars of the outcome that was traded. */
  readonly price: number
  readonly outcome: string | null
}

/** Both outcomes cost the same, but for rounding. */
const SAME = 1e-5
const NAMES = { yes: false, no: true } as const

/** `outcomes`: the market's, the first one first; null: they are not known here. */
export function tradedOf(trade: TradeFacts, outcomes: readonly string[] | null): Traded {
  const { price, outcome } = trade
  const quotedSide = trade.side === 'buy' ? 'buy' : 'sell'
  const isSecond = isSecondOutcome(trade, outcomes)
  if (isSecond === null) return { side: null, price, outcome }
  if (!isSecond) return { side: quotedSide, price, outcome: outcome ?? outcomes?.[0] ?? null }
  const other = Math.round((1 - price) * 1e6) / 1e6
  return { side: quotedSide === 'buy' ? 'sell' : 'buy', price: other, outcome }
}

/** By its name; where the market's names are not known, by what was paid. */
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

/** `Bought Nationals`, the verb in its colour. */
export const TradedText = ({ of: { side, outcome } }: { readonly of: Traded }) =>
  html`<span class=${side === null ? 'verb' : side === 'buy' ? 'verb up' : 'verb down'}>${
    side === null ? 'Traded' : VERBS[side]
  }</span>${' '}<span class="traded">${outcome ?? ''}</span>`
