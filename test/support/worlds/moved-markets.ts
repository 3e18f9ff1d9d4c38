// Market actors with in-memory storage and a manual clock, and random messages for them.

import { MarketActor } from '../../../actors/market/market.ts'
import type { MarketMessage } from '../../../actors/market/parts.ts'
import { Matches } from '../../../actors/matches/matches.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import {
  HOUR_MS,
  sizeMicros,
  TIME_END,
  TIME_ZERO,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import {
  change,
  level,
  listing,
  marketParts,
  NAMES,
  recordingPublisher,
  snapshot,
  trade,
} from './builders.ts'

const NAMED = ['Rain', 'Snow', 'Wind', 'Fog']
/** Two markets per venue. */
export function openMarkets(seed: number) {
  const random = seededRandom(seed)
  const clock = new ManualClock()
  const storage = openMemoryStorage()
  const { publisher } = recordingPublisher()
  const { parts } = marketParts({ publisher, storage, nowMs: () => clock.nowMs() })
  const markets = NAMED.map((name, index) => {
    const venue = index < 2 ? 'a' : 'b'
    const { description, native, ...summary } = listing(name, { venue })
    const number = storage.markets.put({ description, native, ...summary })
    const { nativeId } = summary
    const ref = {
      id: NAMES.marketId(venue, nativeId),
      number,
      venue,
      platform: NAMES.platform(venue),
      nativeId,
    } as const
    return new MarketActor(ref, summary, parts)
  })
  return { random, clock, storage, markets, matches: new Matches() }
}

let tradeCount = 0

export function someMessage(random: Random, market: MarketActor, nowMs: number): MarketMessage {
  const name = String(market.ref.nativeId)
  const { venue } = market.ref
  const at = { venue, venueTimeMs: timeMs(nowMs - random.below(50)), receivedAtMs: timeMs(nowMs) }
  const some = (low: number) => level((low + random.below(40)) / 100, 1 + random.below(9))
  switch (random.below(11)) {
    case 0:
      return snapshot(name, [some(1), some(1)], [some(51), some(51)], at)
    case 1:
      return { kind: 'void', reason: 'silent', isOfVenue: random.below(2) === 0 }
    case 2: {
      const status = random.pick(['open', 'closed', 'closed', 'open', 'resolved'] as const)
      const native = nativeMarketId(name)
      const settlementPrice = random.pick([null, level(1, 1).price])
      const isRare = status === 'resolved' && random.below(20) > 0
      return {
        kind: 'marketStatus',
        market: native,
        settlementPrice,
        ...at,
        status: isRare ? 'open' : status,
      }
    }
    case 3: {
      const volume24h = usdMicros(random.below(1_000_000))
      return { kind: 'summary', summary: { ...market.summary, volume24h } }
    }
    case 4: {
      tradeCount += 1
      const row = { ...at, price: some(30).price, isBlock: random.below(9) === 0 }
      if (random.below(3) > 0) return trade(name, `t${tradeCount}`, row)
      const venueTimeMs = timeMs(nowMs - random.below(3 * HOUR_MS))
      return trade(name, `t${tradeCount}`, { ...row, venueTimeMs, source: 'history' })
    }
    case 5:
      return { kind: 'lastPrice', outcome: outcomeId(`${name}-no`), price: some(30).price, ...at }
    case 6:
      return {
        kind: 'tickSize',
        retainsBook: false,
        outcome: outcomeId(`${name}-yes`),
        tickMicros: level(0.01, 1).price,
        ...at,
      }
    case 7: {
      const range = { fromMs: TIME_ZERO, toMs: TIME_END, after: null, order: 'desc' } as const
      const [newest] = market.trades({ ...range, limit: 1 })
      return {
        kind: 'tradeParticipant',
        ...{ ...at, outcome: outcomeId(`${name}-yes`), txHash: newest?.txHash ?? '0x' },
        wallet: `0x${random.below(3)}`,
      }
    }
    case 8: {
      const volumeTotal = usdMicros((market.volumeTotal ?? 0) + random.below(3_000_000) - 500_000)
      return {
        kind: 'figures',
        ...{ ...at, outcome: outcomeId(`${name}-yes`), tradesToMs: at.venueTimeMs },
        ...{ lastPrice: some(30).price, previousPrice: null },
        volume24h: random.pick([null, usdMicros(random.below(1_000_000))]),
        volumeTotal: usdMicros(Math.max(volumeTotal, 0)),
        openInterest: sizeMicros(random.below(1_000_000)),
      }
    }
    default: {
      const side = random.pick(['bid', 'ask'] as const)
      const { price, size } = some(side === 'bid' ? 1 : 51)
      const changes = [{ side, price, size: random.below(3) === 0 ? level(0, 0).size : size }]
      return change(name, changes, { ...at, mode: random.pick(['absolute', 'difference']) })
    }
  }
}
