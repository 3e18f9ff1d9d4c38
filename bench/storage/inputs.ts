// Trades of the simulated world as market actors put them.

import { createHash } from 'node:crypto'
import type { MarketNumber } from '../../engine/market/market.ts'
import { complement, notionalMicros, timeMs } from '../../engine/units.ts'
import type { SimMarket, SimTrade } from '../../engine/venues/simulator/model.ts'
import type { Storage, StoredTrade, TradedMarket } from '../../storage/contract/storage.ts'
import { listingOf } from '../sim-load.ts'

export interface TradeInput {
  readonly market: TradedMarket
  readonly trade: Omit<StoredTrade, 'ordinal'>
}

export function putMarkets(
  storage: Storage,
  markets: readonly SimMarket[],
): ReadonlyMap<string, MarketNumber> {
  const numbers = new Map<string, MarketNumber>()
  for (const market of markets) {
    numbers.set(market.listing.nativeId, storage.markets.put(listingOf(market)))
  }
  return numbers
}

export function inputsOf(
  trades: readonly SimTrade[],
  numbers: ReadonlyMap<string, MarketNumber>,
): readonly TradeInput[] {
  const inputs: TradeInput[] = []
  for (const trade of trades) {
    const market = numbers.get(trade.market.listing.nativeId)
    if (market === undefined) continue
    const isFirst = trade.outcomeIndex === 0
    // Venue b reports no wallets and no transactions.
    const isNamed = trade.market.listing.venue === 'a'
    const stored = {
      nativeId: flat(nativeIdOf(trade, inputs.length)),
      timeMs: trade.atMs,
      price: isFirst ? trade.price : complement(trade.price),
      size: trade.size,
      side: trade.side,
      outcomeIndex: trade.outcomeIndex,
      usd: notionalMicros(trade),
      maker: isNamed ? flat(trade.makers[0]?.wallet.address ?? null) : null,
      taker: isNamed ? flat(trade.taker.address) : null,
      txHash: isNamed ? flat(trade.txHash) : null,
      isBlock: false,
      receivedAtMs: timeMs(trade.atMs + 3),
      run: 1,
      offset: inputs.length + 1,
      seq: inputs.length + 1,
    }
    inputs.push({ market: { number: market, venue: trade.market.listing.venue }, trade: stored })
  }
  return inputs
}

/**
 * The id that the connector builds. Venue a has no ids of trades, so the id consists of fields of the trade and a
 * count.
 */
function nativeIdOf(trade: SimTrade, n: number): string {
  const { market, outcomeIndex, txHash, taker, side, size, price } = trade
  if (market.listing.venue === 'b') return trade.id
  const token = createHash('sha256').update(`${market.listing.nativeId} ${outcomeIndex}`)
  const digits = BigInt(`0x${token.digest('hex')}`).toString()
  return `${txHash}-${digits}-${taker.address}-${side}-${size}-${price}-${n}`
}

/** Makes a flat string, like the text of a parsed frame. The world concatenates its strings lazily. */
function flat<Text extends string | null>(text: Text): Text {
  return text === null ? text : JSON.parse(JSON.stringify(text))
}

export function putNew(storage: Storage, inputs: readonly TradeInput[]): void {
  for (const { market, trade } of inputs) {
    if (!storage.trades.has(market.number, trade.nativeId)) storage.trades.put(market, trade)
  }
}
