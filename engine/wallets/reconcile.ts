// Compares the local positions of a wallet with the venue's positions. The venue does not realise a loss before the
// redemption. It truncates averages to four decimals, so derived values differ by up to 0.0001 dollars a contract.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { forEachSliced, type SlicedWork } from '../time-slices.ts'
import type { VenuePosition } from '../wallet.ts'
import type { PnlPosition } from './wallet-figures.ts'

/**
 * `missing`: only the venue has the position. `unknown`: only the local wallet has it. Figures are sizes, or realised
 * P&L if the position is closed.
 */
type DifferenceKind = 'size' | 'bought' | 'realized' | 'missing' | 'unknown'

/** In micro-contracts. In micro-dollars for `realized` and closed positions. */
export interface Difference {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  readonly what: DifferenceKind
  readonly ours: number
  readonly theirs: number
}

/**
 * Ignored differences: up to a hundredth of a contract, or a cent. Causes: remainders from merges, fees in contracts,
 * and the venue's rounding. Recorded rows of `/positions` contain errors up to this size.
 */
const DUST_MICROS = 10_000
/** Maximum truncation error of an average price, in micros per contract. */
const ROUNDING_MICROS = 100
const CONTRACT_MICROS = 1_000_000

/**
 * Differences above the tolerances, in the venue's order, then in local order. `isComplete` false: the venue's list is
 * truncated, so a missing position is no difference.
 */
export function* reconcile(
  ours: Iterable<PnlPosition>,
  theirs: readonly VenuePosition[],
  { isComplete } = { isComplete: true },
): SlicedWork<Difference[]> {
  // Positions that the venue lists are removed below, so that only local positions remain.
  const mine = new Map<OutcomeId, PnlPosition>()
  const venues = new Map<OutcomeId, VenuePosition>()
  const differences: Difference[] = []
  yield* forEachSliced(ours, (position) => mine.set(position.token, position))
  yield* forEachSliced(theirs, (position) => putPosition(venues, position))
  yield* forEachSliced(venues.values(), (position) => {
    const own = mine.get(position.token)
    if (own === undefined) addMissing(position, differences)
    else addCompared(own, position, differences)
    mine.delete(position.token)
  })
  if (!isComplete) return differences
  for (const { token, market, balance } of mine.values()) {
    if (balance <= DUST_MICROS) continue
    differences.push({ token, market, what: 'unknown', ours: balance, theirs: 0 })
  }
  return differences
}

/** The venue lists a position that was closed and opened again twice. The open one is used. */
function putPosition(venues: Map<OutcomeId, VenuePosition>, position: VenuePosition): void {
  if (position.isClosed && venues.has(position.token)) return
  venues.set(position.token, position)
}

function addMissing(
  { token, market, size, realized, isClosed }: VenuePosition,
  to: Difference[],
): void {
  const figure = isClosed ? realized : size
  if (Math.abs(figure) <= DUST_MICROS) return
  to.push({ token, market, what: 'missing', ours: 0, theirs: figure })
}

function addCompared(own: PnlPosition, venue: VenuePosition, to: Difference[]): void {
  const { token, market } = own
  // A loss is realised locally at the resolution, but at the venue at the redemption.
  const realized = venue.isClosed ? own.realized : own.realized + own.lost
  const roundingUsd = Math.ceil(
    (Math.max(own.bought, venue.bought) / CONTRACT_MICROS) * ROUNDING_MICROS,
  )
  if (isFar(own.balance, venue.size)) {
    to.push({ token, market, what: 'size', ours: own.balance, theirs: venue.size })
  }
  if (isFar(own.bought, venue.bought)) {
    to.push({ token, market, what: 'bought', ours: own.bought, theirs: venue.bought })
  }
  if (isFar(realized, venue.realized, roundingUsd)) {
    to.push({ token, market, what: 'realized', ours: realized, theirs: venue.realized })
  }
}

const isFar = (ours: number, theirs: number, rounding = 0): boolean =>
  Math.abs(ours - theirs) > DUST_MICROS + rounding
