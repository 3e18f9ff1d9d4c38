// Live best prices of listed markets, redrawn at most once per frame, and the price gap between two venues.
// Quotes of inverted markets are converted to the same outcome.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { DataMessage, PriceMessage } from '../../client/messages.ts'
import type { Market } from '../records.ts'
import { Signal, useRedraw } from '../signal.ts'
import { follow } from '../stream.ts'

/** Best prices of one outcome in dollars, 0 to 1; null: that side of the book is empty. */
export interface Quote {
  readonly bid: number | null
  readonly ask: number | null
}

/** Live quotes by market id. Contains only markets whose price has changed since the page was opened. */
export type LiveQuotes = ReadonlyMap<string, Quote>

/** Limit of followed markets, since a stream has a maximum number of subscriptions. Further rows are not live. */
const FOLLOWED_MAX = 400
const CONFLATE_MS = 250

/** Follows the prices of these markets while the component is mounted. */
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

/** The live quote of a market, else that of the REST response. */
export function quoteOf(market: Pick<Market, 'id' | 'platforms'>, live: LiveQuotes): Quote {
  const listing = market.platforms.find(({ platform }) => market.id.startsWith(`${platform}_`))
  return live.get(market.id) ?? { bid: listing?.best_bid ?? null, ask: listing?.best_ask ?? null }
}

/** The quote of the other outcome: an ask for one is a bid for the other. */
export function contrary({ bid, ask }: Quote): Quote {
  return { bid: complement(ask), ask: complement(bid) }
}

/** Midpoint; null if a side is empty. */
export const midOf = ({ bid, ask }: Quote): number | null =>
  bid === null || ask === null ? null : (bid + ask) / 2

/**
 * Midpoint of the second less that of the first, without floating-point error; null: unknown. Both quotes
 * must be for the same outcome.
 */
export function gapOf(one: Quote, other: Quote): number | null {
  const [first, second] = [midOf(one), midOf(other)]
  return first === null || second === null ? null : exact(second - first)
}

const complement = (price: number | null) => (price === null ? null : complementOf(price))

/** A bid for one outcome as the ask for the other, and vice versa. */
export const complementOf = (price: number): number => exact(1 - price)

/** Prices are whole millionths, so midpoints are multiples of half a millionth. */
const exact = (value: number): number => Math.round(value * 2e6) / 2e6

export interface Crossing {
  /** Profit per contract of one dollar, before fees; negative: a loss. Null: a side is empty. */
  readonly left: number | null
  /** Venue to buy at; null: none. */
  readonly buyAt: 'ours' | 'theirs' | null
}

/** The better of both directions. Both quotes must be for the same outcome. */
export function crossingOf(ours: Quote, theirs: Quote): Crossing {
  const here = difference(theirs.bid, ours.ask)
  const there = difference(ours.bid, theirs.ask)
  if (here === null && there === null) return { left: null, buyAt: null }
  const isHere = there === null || (here !== null && here >= there)
  return { left: isHere ? here : there, buyAt: isHere ? 'ours' : 'theirs' }
}

/** Prices are whole millionths, so rounding removes floating-point error. */
function difference(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : Math.round((bid - ask) * 1e6) / 1e6
}

// Live prices of many markets, one signal each, so that a change rerenders a single row. A changed price
// flashes with an arrow, unless the browser requests reduced motion.

export type LivePrice = PriceMessage['data']

/** Minimum time between two prices of a market. Faster changes are unreadable. */
const PRICE_CONFLATE_MS = 250

/** The live price of each market; null before the first message. */
export function useLivePrices(
  marketIds: readonly string[],
): ReadonlyMap<string, Signal<LivePrice | null>> {
  const names = marketIds.join('\n')
  const signals = useMemo(
    () => new Map(marketIds.map((id) => [id, new Signal<LivePrice | null>(null)])),
    [names],
  )
  useEffect(() => {
    if (signals.size === 0) return undefined
    const options = { conflate_ms: PRICE_CONFLATE_MS }
    return follow(
      { channel: 'prices', marketIds: [...signals.keys()], options },
      {
        onMessage: (message) => {
          if (message.type === 'price') signals.get(message.market_id)?.set(message.data)
        },
      },
    )
  }, [signals])
  return signals
}

/** Price of an outcome, computed from the first outcome's price: the complement for all others. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6
