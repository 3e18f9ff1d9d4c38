// Live prices of markets, and the price gap between two venues. Quotes of inverted markets are converted to the
// same outcome.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { PriceMessage } from '../../client/messages.ts'
import type { Market } from '../records.ts'
import { Signal, useRedraw, useSignal } from '../signal.ts'
import { follow } from '../stream.ts'

/** Best prices of one outcome in dollars, 0 to 1; null: that side of the book is empty. */
export interface Quote {
  readonly bid: number | null
  readonly ask: number | null
}

type LivePrice = PriceMessage['data']

/** Live prices by market id; null before the first message of a market. */
export type LivePrices = ReadonlyMap<string, Signal<LivePrice | null>>

/** Minimum time between two prices of a market. Faster changes are unreadable. */
const CONFLATE_MS = 250
/** Limit of followed markets, since a stream has a maximum number of subscriptions. Further rows are not live. */
const FOLLOWED_MAX = 400

/** Follows the prices of these markets: one signal each, so that a change can rerender a single row. */
export function useLivePrices(marketIds: readonly string[]): LivePrices {
  const followed = marketIds.slice(0, FOLLOWED_MAX)
  const last = useRef<LivePrices>(new Map())
  const signals = useMemo(() => {
    const signalOf = (id: string) => last.current.get(id) ?? new Signal<LivePrice | null>(null)
    last.current = new Map(followed.map((id) => [id, signalOf(id)]))
    return last.current
  }, [followed.join('\n')])
  useEffect(() => {
    if (signals.size === 0) return undefined
    return follow(
      {
        channel: 'prices',
        marketIds: [...signals.keys()],
        options: { conflate_ms: CONFLATE_MS },
      },
      {
        onMessage: (message) => {
          if (message.type === 'price') signals.get(message.market_id)?.set(message.data)
        },
      },
    )
  }, [signals])
  return signals
}

const NO_PRICE = new Signal<LivePrice | null>(null)

/** The live price of one market. */
export const useLivePrice = (prices: LivePrices, marketId: string): LivePrice | null =>
  useSignal(prices.get(marketId) ?? NO_PRICE)

/** Like `useLivePrices`. The component rerenders at most once per frame when one of the prices changes. */
export function useQuotes(marketIds: readonly string[]): LivePrices {
  const prices = useLivePrices(marketIds)
  useRedraw(
    (redraw) => {
      const stops = [...prices.values()].map((price) => price.subscribe(redraw))
      return () => {
        for (const stop of stops) stop()
      }
    },
    [prices],
  )
  return prices
}

/** The live quote of a market, else that of the REST response. */
export function quoteOf(
  { id, platforms }: Pick<Market, 'id' | 'platforms'>,
  live: LivePrices,
): Quote {
  const listing = platforms.find(({ platform }) => id.startsWith(`${platform}_`))
  const { best_bid: bid, best_ask: ask } = live.get(id)?.value ?? listing ?? {}
  return { bid: bid ?? null, ask: ask ?? null }
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

/** Price of an outcome, computed from the first outcome's price: the complement for all others. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6
