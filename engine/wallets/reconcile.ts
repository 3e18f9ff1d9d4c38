// Compares the local figures of a wallet with the venue's own. The venue does not realise a loser until it is redeemed.
// It cuts averages to four decimals, so derived values are accurate to a ten-thousandth of a dollar a contract.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { forEachSliced, type SlicedWork } from '../time-slices.ts'
import type { VenuePosition } from '../wallet.ts'
import type { PnlPosition } from './wallet-figures.ts'

/**
 * `missing`: the venue has a position that was never seen here. `unknown`: a local position that the venue
 * does not list. In both cases the figures are sizes, or the realised PnL where the position is closed.
 */
type DifferenceKind = 'size' | 'bought' | 'realized' | 'missing' | 'unknown'

/** Micro-contracts. For `realized` and closed positions, micro-dollars. */
export interface Difference {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  readonly what: DifferenceKind
  readonly ours: number
  readonly theirs: number
}

/**
 * Remainders from merges, fees taken in contracts and the venue's rounding: a hundredth of a contract,
 * below which its pages also hide positions. In dollars the same, a cent.
 */
const DUST_MICROS = 10_000
/** Maximum truncation error of an average, micros a contract. Recorded rows of `/positions` show all of it. */
const ROUNDING_MICROS = 100
const CONTRACT_MICROS = 1_000_000

/**
 * Differences beyond dust and rounding, in the venue's order, then the local order. `isComplete` false: the
 * venue lists its positions only in part, so a missing one is no difference. Ten thousand positions take some
 * milliseconds.
 */
export function* reconcile(
  ours: Iterable<PnlPosition>,
  theirs: readonly VenuePosition[],
  { isComplete } = { isComplete: true },
): SlicedWork<Difference[]> {
  // Positions that the venue lists are removed. The rest are local only.
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

/** A position that was bought again after closing is listed twice, open and closed. The open one counts. */
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
  // A loser's cost is realised at its resolution here, but only at its redemption at the venue.
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
