// Our figures of a wallet beside the venue's own: where they differ, by how much, and in what. The venue's meanings
// are taken into account: a loser that was not redeemed has realised nothing there, and averages are cut to four
// decimals, so that what follows from them is known to a ten-thousandth of a dollar a contract.

import type { NativeMarketId, OutcomeId } from '../ids.ts'
import { runToEnd, type SlicedWork } from '../time-slices.ts'
import type { VenuePosition } from '../wallet.ts'
import type { PnlPosition } from './wallet-figures.ts'

/**
 * `missing`: the venue knows a position that we never saw; `unknown`: we hold what the venue does not list. In both
 * the figures are sizes, or what was realised where the position is closed.
 */
type DifferenceKind = 'size' | 'bought' | 'realized' | 'missing' | 'unknown'

/** Micro-contracts, of `realized` and closed positions micro-dollars. */
export interface Difference {
  readonly token: OutcomeId
  readonly market: NativeMarketId
  readonly what: DifferenceKind
  readonly ours: number
  readonly theirs: number
}

/**
 * Contracts that merges, fees taken in contracts and the venue's own floors leave behind: a hundredth of one, by
 * which its pages also hide positions. In dollars the same, a cent.
 */
const DUST_MICROS = 10_000
/** What is cut off an average, micros a contract at most: recorded rows of `/positions` show all of it. */
const ROUNDING_MICROS = 100
const CONTRACT_MICROS = 1_000_000

/** Positions between two stops. */
const SLICE_POSITIONS = 256

/**
 * Differences beyond dust and rounding, in the venue's order, then ours. `isWhole` false: the venue lists its
 * positions only in part, so that what it does not list says nothing.
 */
export function reconcile(
  ours: Iterable<PnlPosition>,
  theirs: readonly VenuePosition[],
  coverage = { isComplete: true },
): Difference[] {
  return runToEnd(reconcileSliced(ours, theirs, coverage))
}

/** The same in steps: ten thousand positions take some milliseconds. */
export function* reconcileSliced(
  ours: Iterable<PnlPosition>,
  theirs: readonly VenuePosition[],
  { isComplete } = { isComplete: true },
): SlicedWork<Difference[]> {
  // Those that the venue lists are taken out; what is left is ours alone.
  const mine = new Map<OutcomeId, PnlPosition>()
  const venues = new Map<OutcomeId, VenuePosition>()
  const differences: Difference[] = []
  let count = 0
  const isSliceEnd = () => {
    count += 1
    return count % SLICE_POSITIONS === 0
  }
  for (const position of ours) {
    mine.set(position.token, position)
    if (isSliceEnd()) yield
  }
  for (const position of theirs) {
    putPosition(venues, position)
    if (isSliceEnd()) yield
  }
  for (const position of venues.values()) {
    const own = mine.get(position.token)
    if (own === undefined) addMissing(position, differences)
    else addCompared(own, position, differences)
    mine.delete(position.token)
    if (isSliceEnd()) yield
  }
  if (!isComplete) return differences
  for (const { token, market, balance } of mine.values()) {
    if (balance <= DUST_MICROS) continue
    differences.push({ token, market, what: 'unknown', ours: balance, theirs: 0 })
  }
  return differences
}

/** A position bought again after it was closed is listed twice, open and closed: the open one counts. */
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
  // What a loser cost is realised here at its resolution, there only when it is redeemed.
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
