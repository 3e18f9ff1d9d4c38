// The prices of the markets that a list shows: as the server's answer had them, then live, drawn at most once a picture.
// What two venues ask is laid on one side, so that both prices are for the same outcome.
// The gap between two venues, and what is left of it to a taker, follow from their best prices.

import { useRef } from 'preact/hooks'
import type { DataMessage } from '../../../client/messages.ts'
import type { Market } from '../../records.ts'
import { useRedraw } from '../../signal.ts'
import { follow } from '../../stream.ts'

/** The best prices of one outcome, in dollars of 0 to 1; null: that side of the book is empty. */
export interface Quote {
  readonly bid: number | null
  readonly ask: number | null
}

/** Live quotes by market id; a market that has not moved since the page was opened is not in it. */
export type LiveQuotes = ReadonlyMap<string, Quote>

/** Subscriptions of a stream are counted: of a longer list the first so many are followed. */
const FOLLOWED_MAX = 400
const CONFLATE_MS = 250

/** Follows the prices of these markets while the part is shown. */
export function useQuotes(marketIds: readonly string[]): LiveQuotes {
  const quotes = useRef(new Map<string, Quote>())
  const followed = marketIds.slice(0, FOLLOWED_MAX)
  useRedraw(
    (redraw) => {
      const ids = new Set(followed)
      for (const id of quotes.current.keys()) if (!ids.has(id)) quotes.current.delete(id)
      if (followed.length === 0) return () => undefined
      const onMessage = (message: DataMessage) => {
        if (message.type !== 'price') return
        const { best_bid: bid, best_ask: ask } = message.data
        quotes.current.set(message.market_id, { bid, ask })
        redraw()
      }
      return follow(
        { channel: 'prices', marketIds: followed, options: { conflate_ms: CONFLATE_MS } },
        { onMessage },
      )
    },
    [followed.join(' ')],
  )
  return quotes.current
}

/** What is known of a market now: its live quote, else that of the answer it came with. */
export function quoteOf(market: Pick<Market, 'id' | 'platforms'>, live: LiveQuotes): Quote {
  const listing = market.platforms.find(({ platform }) => market.id.startsWith(`${platform}_`))
  return live.get(market.id) ?? { bid: listing?.best_bid ?? null, ask: listing?.best_ask ?? null }
}

/** The same quote for the other outcome: an offer of one is a bid for the other. */
export function contrary({ bid, ask }: Quote): Quote {
  return { bid: complement(ask), ask: complement(bid) }
}

/** Halfway between the two; null while one is missing. */
export const midOf = ({ bid, ask }: Quote): number | null =>
  bid === null || ask === null ? null : (bid + ask) / 2

/** How much more the second is, both for one outcome, without the dust of binary fractions; null: not known. */
export function gapOf(one: Quote, other: Quote): number | null {
  const [first, second] = [midOf(one), midOf(other)]
  return first === null || second === null ? null : exact(second - first)
}

const complement = (price: number | null) => (price === null ? null : complementOf(price))

/** What the other outcome is offered for where this price is bid for the one, and the other way round. */
export const complementOf = (price: number): number => exact(1 - price)

/** Prices are whole millionths, midpoints halves of them. */
const exact = (value: number): number => Math.round(value * 2e6) / 2e6

export interface Crossing {
  /** What is left of a contract of one dollar, before fees; below zero: nothing is. Null: a side is empty. */
  readonly left: number | null
  /** Where it would be bought; null: nowhere. */
  readonly buyAt: 'ours' | 'theirs' | null
}

/** The better of the two directions; both quotes are for one outcome. */
export function crossingOf(ours: Quote, theirs: Quote): Crossing {
  const here = difference(theirs.bid, ours.ask)
  const there = difference(ours.bid, theirs.ask)
  if (here === null && there === null) return { left: null, buyAt: null }
  const isHere = there === null || (here !== null && here >= there)
  return { left: isHere ? here : there, buyAt: isHere ? 'ours' : 'theirs' }
}

/** Prices are whole millionths: no binary fraction is left of their difference. */
function difference(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : Math.round((bid - ask) * 1e6) / 1e6
}
