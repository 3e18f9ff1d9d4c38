// Finds trades of wallets in the local trade log, for wallets that the venue does not know or no longer lists. The log
// has no index by wallet, so all waiting wallets share one bounded backward search.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Trade } from '../../engine/events.ts'
import type { NativeMarketId, OutcomeId, VenueKey, WalletAddress } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { complement, TIME_END, TIME_ZERO, timeMs, USD_ZERO } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import type { SliceQuery, Storage } from '../../storage/contract/storage.ts'
import type { MarketView } from '../views.ts'
import { inOrder } from './live-fills.ts'

interface OwnTradesParts {
  readonly storage: Pick<Storage, 'trades' | 'whales'>
  readonly market: (number: MarketNumber) => Pick<MarketView, 'ref' | 'summary'> | null
  /** Null: no venue names wallets in its trades. */
  readonly venue: VenueKey | null
  readonly signal: AbortSignal
}

/** Trades searched per tick (about a millisecond), and the maximum of a search. */
const ROWS_PER_SLICE = 128
const ROWS_MAX = 65_536

type Found = Map<WalletAddress, WalletEvent[]>

export class WalletOwnTrades {
  readonly #parts: OwnTradesParts
  #next: { readonly found: Found; readonly done: Promise<void> } | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(parts: OwnTradesParts) {
    this.#parts = parts
  }

  /** Returns a wallet's trades as taker, as events in order. The log does not state which token a maker traded. */
  async of(wallet: WalletAddress): Promise<readonly WalletEvent[]> {
    this.#next ??= this.#begin()
    const { found, done } = this.#next
    found.set(wallet, [])
    await done
    return inOrder(found.get(wallet) ?? [])
  }

  /** Starts when the running search ends, so that only one runs. */
  #begin(): { readonly found: Found; readonly done: Promise<void> } {
    const found: Found = new Map()
    const done = this.#running.then(() => {
      this.#next = null
      return this.#search(found)
    })
    this.#running = done.catch(() => undefined)
    return { found, done }
  }

  async #search(found: Found): Promise<void> {
    const { trades, whales } = this.#parts.storage
    const hashes = new Set<string>()
    const ours = this.#parts.venue
    if (ours === null) return
    await this.#searchRows(
      (query) => trades.rangeOfVenue({ venue: ours, ...query }),
      ({ market, trade, venueOrdinal }) => {
        this.#take(market, trade, found, hashes)
        return { timeMs: trade.timeMs, ordinal: venueOrdinal }
      },
    )
    const ofTrades = new Set(hashes)
    await this.#searchRows(
      (query) => whales.range(query),
      ({ market, venue, whale }) => {
        const isNew = venue === ours && !ofTrades.has(whale.txHash ?? '')
        if (isNew) this.#take(market, whale, found, hashes)
        return { timeMs: whale.timeMs, ordinal: whale.ordinal }
      },
    )
  }

  async #searchRows<Item>(
    read: (query: SliceQuery) => readonly Item[],
    take: (item: Item) => SliceQuery['after'],
  ): Promise<void> {
    const query = {
      fromMs: TIME_ZERO,
      toMs: TIME_END,
      order: 'desc',
      limit: ROWS_PER_SLICE,
    } as const
    let after: SliceQuery['after'] = null
    for (let count = 0; count < ROWS_MAX && !this.#parts.signal.aborted; count += ROWS_PER_SLICE) {
      const items: readonly Item[] = read({ ...query, after })
      for (const item of items) after = take(item)
      if (items.length < ROWS_PER_SLICE) return
      await nextTurn()
    }
  }

  #take(number: MarketNumber, trade: Trade, found: Found, hashes: Set<string>): void {
    const events = trade.taker === null ? undefined : eventsOf(found, trade.taker)
    const market = events === undefined ? null : this.#parts.market(number)
    const token = market?.summary.outcomes[trade.outcomeIndex]?.id
    if (events === undefined || market === null || token === undefined) return
    events.push(eventOf(trade, market.ref.nativeId, token))
    if (trade.txHash !== null) hashes.add(trade.txHash)
  }
}

function eventsOf(found: Found, address: string): WalletEvent[] | undefined {
  const byAddress: ReadonlyMap<string, WalletEvent[]> = found
  return byAddress.get(address) ?? byAddress.get(address.toLowerCase())
}

/** A trade states the price of the first outcome. A wallet's fill states the price of the traded token. */
function eventOf(
  { timeMs: atMs, txHash, price, size, side, outcomeIndex, usd }: Trade,
  market: NativeMarketId,
  token: OutcomeId,
): WalletEvent {
  const isFirst = outcomeIndex === 0
  return {
    kind: (side === 'buy') === isFirst ? 'buy' : 'sell',
    // The venue's history states full seconds.
    timeMs: timeMs(Math.floor(atMs / 1_000) * 1_000),
    txHash: txHash?.toLowerCase() ?? '',
    ...{ market, token, size, price: isFirst ? price : complement(price) },
    ...{ usd, fee: USD_ZERO, role: 'taker', converted: [] },
  }
}
