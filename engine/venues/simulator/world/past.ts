// Generates the days before a world's first start: trades at past prices and results, in order of time.

import type { Random } from '../../../random.ts'
import { DAY_MS, MINUTE_MS, type TimeMs, timeMs } from '../../../units.ts'
import { SIM_VENUES, type SimStatus, type SimVenue, type WorldChange } from '../model.ts'
import { ActivityTree } from './activity-tree.ts'
import { type LiveMarket, statusAt } from './live-market.ts'
import type { Trading } from './trading.ts'

const PAST_MS = 3 * DAY_MS
/** The last minutes before the start have no trades. Clients that check for missed trades would report them as new. */
const QUIET_MS = 5 * MINUTE_MS
const TRADES_PER_VENUE = 6_000

interface Moment {
  readonly atMs: TimeMs
  readonly market: LiveMarket
  readonly status: SimStatus
}

/** Emits the past. During this call each market has the status of the emitted time. */
export function inventPast(parts: {
  readonly markets: Readonly<Record<SimVenue, readonly LiveMarket[]>>
  readonly trading: Trading
  readonly random: Random
  readonly nowMs: TimeMs
  readonly emit: (change: WorldChange) => void
}): void {
  const { markets, trading, random, nowMs, emit } = parts
  const fromMs = timeMs(nowMs - PAST_MS)
  const open = { a: new ActivityTree<LiveMarket>(), b: new ActivityTree<LiveMarket>() }
  const slots = new Map<LiveMarket, number>()
  const enter = (market: LiveMarket, status: SimStatus): void => {
    const { venue, activity } = market.listing
    market.status = status
    const slot = slots.get(market)
    if (status === 'open') slots.set(market, open[venue].add(market, activity))
    else if (slot !== undefined) {
      open[venue].remove(slot)
      slots.delete(market)
    }
  }
  const all = SIM_VENUES.flatMap((venue) => markets[venue])
  const moments: Moment[] = []
  for (const market of all) {
    enter(market, statusAt(market.listing, fromMs))
    moments.push(...momentsOf(market, fromMs, nowMs))
  }
  moments.sort((left, right) => left.atMs - right.atMs)
  let next = 0
  const live = (untilMs: number): void => {
    for (let moment = moments[next]; moment !== undefined; moment = moments[next]) {
      if (moment.atMs > untilMs) return
      const { atMs, market, status } = moment
      enter(market, status)
      const isAwaited = status === 'resolved' && market.trades.length > 0
      if (isAwaited) emit({ kind: 'resolved', market, atMs })
      next += 1
    }
  }
  for (const { atMs, venue } of tradeTimes(random, fromMs, timeMs(nowMs - QUIET_MS))) {
    live(atMs)
    const market = open[venue].draw(random)
    if (market !== null) trading.invent({ market, fair: market.fairPrice(atMs), atMs })
  }
  live(nowMs)
  for (const market of all) market.status = statusAt(market.listing, nowMs)
}

/** The status changes of a market within (fromMs, toMs]. */
function momentsOf(market: LiveMarket, fromMs: TimeMs, toMs: TimeMs): readonly Moment[] {
  const { openMs, closeMs, determineMs, resolveMs } = market.listing
  const moments: readonly Moment[] = [
    { atMs: openMs, market, status: 'open' },
    { atMs: closeMs, market, status: 'closed' },
    { atMs: determineMs, market, status: 'determined' },
    { atMs: resolveMs, market, status: 'resolved' },
  ]
  return moments.filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
}

function tradeTimes(
  random: Random,
  fromMs: TimeMs,
  toMs: TimeMs,
): readonly { readonly atMs: TimeMs; readonly venue: SimVenue }[] {
  const times: { atMs: TimeMs; venue: SimVenue }[] = []
  for (const venue of SIM_VENUES) {
    for (let count = 0; count < TRADES_PER_VENUE; count += 1) {
      times.push({ atMs: timeMs(fromMs + random.below(toMs - fromMs)), venue })
    }
  }
  return times.sort((left, right) => left.atMs - right.atMs)
}
