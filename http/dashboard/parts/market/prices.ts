// Prices of many markets as they change, each a signal of its own, so that a change draws its own row and no other.
// Not for: how they look (http/dashboard/parts/markets/rows.ts). Upholds DASH37.

import { useEffect, useMemo } from 'preact/hooks'
import type { PriceMessage } from '../../../client/messages.ts'
import { Signal } from '../../signal.ts'
import { follow } from '../../stream.ts'

export type LivePrice = PriceMessage['data']

/** How often a price is told at most: faster than that nobody reads a list. */
const CONFLATE_MS = 250

/** The live price of each of these markets; null until one came. */
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
    const options = { conflate_ms: CONFLATE_MS }
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

/** The price of an outcome, where the first one's is known: the others mean that it does not come. */
export const priceOfOutcome = (first: number, index: number): number =>
  index === 0 ? first : Math.round((1 - first) * 1e6) / 1e6
