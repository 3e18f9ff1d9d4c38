import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { PriceMessage } from '../../client/messages.ts'
import type { Market } from '../records.ts'
import { Signal, useRedraw, useSignal } from '../signal.ts'
import { follow } from '../stream.ts'

/** Best prices of one outcome in dollars, 0 to 1; null: no orders on that side. */
export interface Quote {
  readonly bid: number | null
  readonly ask: number | null
}

type LivePrice = PriceMessage['data']

/** A signal with the live price of each market. Its value is null before the first message. */
export type LivePrices = ReadonlyMap<string, Signal<LivePrice | null>>

/** Minimum time between two displayed prices of a market. */
const CONFLATE_MS = 250
/** Maximum subscribed markets, because the server limits subscriptions. Prices of further markets are not live. */
const FOLLOWED_MAX = 400

/** Each market has its own signal, so that a change rerenders only one row. */
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

export const useLivePrice = (prices: LivePrices, marketId: string): LivePrice | null =>
  useSignal(prices.get(marketId) ?? NO_PRICE)

/** Like `useLivePrices`, but rerenders the component, at most once a frame. */
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

/** The live quote, or the quote of the REST response before the first message. */
export function quoteOf(
  { id, platforms }: Pick<Market, 'id' | 'platforms'>,
  live: LivePrices,
): Quote {
  const listing = platforms.find(({ platform }) => id.startsWith(`${platform}_`))
  const { best_bid: bid, best_ask: ask } = live.get(id)?.value ?? listing ?? {}
  return { bid: bid ?? null, ask: ask ?? null }
}

/** The quote of the other outcome. An ask for one outcome is a bid for the other outcome. */
export function contrary({ bid, ask }: Quote): Quote {
  return { bid: complement(ask), ask: complement(bid) }
}

/** Midpoint in dollars; null if a side is empty. */
export const midOf = ({ bid, ask }: Quote): number | null =>
  bid === null || ask === null ? null : (bid + ask) / 2

/**
 * Midpoint of `other` minus midpoint of `one`, without floating-point error; null: unknown. Both quotes must be for the
 * same outcome.
 */
export function gapOf(one: Quote, other: Quote): number | null {
  const [first, second] = [midOf(one), midOf(other)]
  return first === null || second === null ? null : exact(second - first)
}

const complement = (price: number | null) => (price === null ? null : complementOf(price))

export const complementOf = (price: number): number => exact(1 - price)

/** Rounds to half a millionth. Prices are multiples of a millionth, so midpoints are multiples of half a millionth. */
const exact = (value: number): number => Math.round(value * 2e6) / 2e6

export interface Crossing {
  /** Profit in dollars per contract, before fees. Negative: a loss. Null if neither direction has a bid and an ask. */
  readonly left: number | null
  /** The venue to buy at; null if `left` is null. */
  readonly buyAt: 'ours' | 'theirs' | null
}

/**
 * The more profitable direction of buying at one venue and selling at the other venue. Both quotes must be for the same
 * outcome.
 */
export function crossingOf(ours: Quote, theirs: Quote): Crossing {
  const here = difference(theirs.bid, ours.ask)
  const there = difference(ours.bid, theirs.ask)
  if (here === null && there === null) return { left: null, buyAt: null }
  const isHere = there === null || (here !== null && here >= there)
  return { left: isHere ? here : there, buyAt: isHere ? 'ours' : 'theirs' }
}

/**
 * Price `one` minus price `other`; null: a price is unknown. Prices are multiples of a millionth, so rounding removes
 * floating-point errors.
 */
export function difference(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.round((one - other) * 1e6) / 1e6
}

/** Price of an outcome by the first outcome's price. Other outcomes have the complement. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6
