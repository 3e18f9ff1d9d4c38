// The protocol v2 market to which wallets migrate tokens of a protocol v1 market (engine/venues/polymarket/README.md,
// Wallets). Its ids are derived from those of the old market. No list contains the market. Requests find it only by its
// id.

import { type NativeMarketId, nativeMarketId, outcomeId } from '../../../ids.ts'
import { marketOfPosition, migratedMarket, positionOf } from '../../../position-ids.ts'
import type { PriceMicros, TimeMs } from '../../../units.ts'
import type { SimListing, SimMarket } from '../model.ts'
import { plainListing } from './lazy-event.ts'

/** Greater than the numbers of all listed markets. */
const NUMBERS_FROM = 1_000_000_000

const migrated = new WeakMap<SimMarket, MigratedMarket>()

class MigratedMarket implements SimMarket {
  readonly origin: SimMarket
  readonly listing: SimListing

  constructor(origin: SimMarket, id: NativeMarketId) {
    this.origin = origin
    this.listing = listingOf(origin.listing, id)
  }

  get event() {
    return this.origin.event
  }
  get status() {
    return this.origin.status
  }
  get tickMicros() {
    return this.origin.tickMicros
  }
  get lastTrade() {
    return this.origin.lastTrade
  }
  get volumeTotal() {
    return this.origin.volumeTotal
  }
  get volume24h() {
    return this.origin.volume24h
  }
  get volumeTotalContracts() {
    return this.origin.volumeTotalContracts
  }
  get volume24hContracts() {
    return this.origin.volume24hContracts
  }
  get openInterest() {
    return this.origin.openInterest
  }
  get updatedMs() {
    return this.origin.updatedMs
  }
  get book() {
    return this.origin.book
  }
  get trades() {
    return this.origin.trades
  }

  fairPrice(atMs: TimeMs): PriceMicros {
    return this.origin.fairPrice(atMs)
  }
}

/** Null: the market has protocol v2 ids, or its event is exclusive and has no migrations. */
export function migratedOf(market: SimMarket): SimMarket | null {
  const { listing, event } = market
  const [first] = listing.tokens
  if (event.isMutuallyExclusive || marketOfPosition(outcomeId(first)) !== null) return null
  const existing = migrated.get(market)
  if (existing !== undefined) return existing
  const created = new MigratedMarket(market, migratedMarket(nativeMarketId(listing.nativeId)))
  migrated.set(market, created)
  return created
}

/** The market from which tokens migrate to this one. Null: this market is an ordinary listed one. */
export function originOf(market: SimMarket): SimMarket | null {
  return market instanceof MigratedMarket ? market.origin : null
}

function listingOf(listing: SimListing, id: NativeMarketId): SimListing {
  const [yes, no] = [positionOf(id, 0), positionOf(id, 1)]
  if (yes === null || no === null) throw new RangeError(`${id} is no market of protocol v2`)
  return {
    ...plainListing(listing),
    nativeId: id,
    tokens: [yes, no],
    number: listing.number + NUMBERS_FROM,
  }
}
