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

interface Moment {
  readonly atMs: TimeMs
  readonly markets: readonly LiveMarket[]
  readonly status: SimStatus
}

/** Emits the past. During this call each market has the status of the emitted time. */
export function inventPast(parts: {
  readonly markets: Readonly<Record<SimVenue, readonly LiveMarket[]>>
  readonly trading: Trading
  readonly random: Random
  readonly nowMs: TimeMs
  readonly tradesPerVenue: number
  readonly emit: (change: WorldChange) => void
}): void {
  const { markets, trading, random, nowMs, emit } = parts
  const fromMs = timeMs(nowMs - PAST_MS)
  const open = { a: new ActivityTree<LiveMarket>(), b: new ActivityTree<LiveMarket>() }
  const slots = new Map<LiveMarket, number>()
  const enter = (market: LiveMarket, status: SimStatus): void => {
    const { listing } = market
    market.status = status
    if (status === 'open') slots.set(market, open[listing.venue].add(market, listing.activity))
    else {
      const slot = slots.get(market)
      if (slot === undefined) return
      open[listing.venue].remove(slot)
      slots.delete(market)
    }
  }
  const all = SIM_VENUES.flatMap((venue) => markets[venue])
  const unsorted: Moment[] = []
  let group: LiveMarket[] = []
  for (const market of all) {
    enter(market, statusAt(market.listing, fromMs))
    if (isSimultaneous(group[0], market)) {
      group.push(market)
      continue
    }
    group = [market]
    addMoments(unsorted, group, { fromMs, nowMs })
  }
  const moments = inOrder(unsorted, fromMs)
  let next = 0
  const live = (untilMs: number): void => {
    for (let moment = moments[next]; moment !== undefined; moment = moments[next]) {
      if (moment.atMs > untilMs) return
      const { atMs, markets: changed, status } = moment
      for (const market of changed) {
        enter(market, status)
        const isAwaited = status === 'resolved' && market.trades.length > 0
        if (isAwaited) emit({ kind: 'resolved', market, atMs })
      }
      next += 1
    }
  }
  const times = { fromMs, toMs: timeMs(nowMs - QUIET_MS), count: parts.tradesPerVenue }
  for (const { atMs, venue } of tradeTimes(random, times)) {
    live(atMs)
    const market = open[venue].draw(random)
    if (market !== null) trading.invent({ market, fair: market.fairPrice(atMs), atMs })
  }
  live(nowMs)
  for (const market of all) market.status = statusAt(market.listing, nowMs)
}

function isSimultaneous(one: LiveMarket | undefined, other: LiveMarket): boolean {
  if (one === undefined || one.event !== other.event) return false
  const [first, second] = [one.listing, other.listing]
  return (
    first.openMs === second.openMs &&
    first.closeMs === second.closeMs &&
    first.determineMs === second.determineMs &&
    first.resolveMs === second.resolveMs
  )
}

function addMoments(
  moments: Moment[],
  markets: readonly LiveMarket[],
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): void {
  const listing = markets[0]?.listing
  if (listing === undefined) return
  const add = (atMs: TimeMs, status: SimStatus): void => {
    if (atMs > fromMs && atMs <= nowMs) moments.push({ atMs, markets, status })
  }
  add(listing.openMs, 'open')
  add(listing.closeMs, 'closed')
  add(listing.determineMs, 'determined')
  add(listing.resolveMs, 'resolved')
}

/** Sorting each minute separately is faster than sorting all moments of a large world. */
function inOrder(moments: readonly Moment[], fromMs: number): readonly Moment[] {
  const minutes: Moment[][] = []
  for (const moment of moments) {
    const minute = Math.floor((moment.atMs - fromMs) / MINUTE_MS)
    const others = minutes[minute]
    if (others === undefined) minutes[minute] = [moment]
    else others.push(moment)
  }
  return minutes.flatMap((minute) => minute.sort((left, right) => left.atMs - right.atMs))
}

function tradeTimes(
  random: Random,
  { fromMs, toMs, count }: { readonly fromMs: TimeMs; readonly toMs: TimeMs; count: number },
): readonly { readonly atMs: TimeMs; readonly venue: SimVenue }[] {
  const times: { atMs: TimeMs; venue: SimVenue }[] = []
  for (const venue of SIM_VENUES) {
    for (let number = 0; number < count; number += 1) {
      times.push({ atMs: timeMs(fromMs + random.below(toMs - fromMs)), venue })
    }
  }
  return times.sort((left, right) => left.atMs - right.atMs)
}
