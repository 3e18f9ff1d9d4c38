// The simulated world as input of matching. Rows of both venues are rendered and parsed as in production.

import type { VenueSubjects } from '../../../engine/matching/offline/corpus-matching.ts'
import { addDumpRow } from '../../../engine/matching/offline/dump-rows.ts'
import { seededRandom } from '../../../engine/random.ts'
import type { MatchEvent, MatchMarket } from '../../../engine/subject.ts'
import { timeMs } from '../../../engine/units.ts'
import { KALSHI_SUBJECTS } from '../../../engine/venues/kalshi/subjects.ts'
import { GAMMA_SUBJECTS } from '../../../engine/venues/polymarket/subjects.ts'
import { Calendar } from '../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../engine/venues/simulator/faults.ts'
import { renderEvent } from '../../../engine/venues/simulator/kalshi/events.ts'
import { renderMarket } from '../../../engine/venues/simulator/kalshi/render.ts'
import type { SimPairKind } from '../../../engine/venues/simulator/model.ts'
import { eventRow } from '../../../engine/venues/simulator/polymarket/events.ts'
import { gammaMarket } from '../../../engine/venues/simulator/polymarket/render.ts'
import { SimulatedWorld } from '../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../fakes/manual-clock.ts'

export interface MatchingWorld {
  readonly a: VenueSubjects
  readonly b: VenueSubjects
  /** Maps venue a’s id to the paired listing at venue b and its difference. */
  readonly planted: ReadonlyMap<string, { readonly other: string; readonly kind: SimPairKind }>
  /**
   * Maps either venue's id to its recurring question. Two listings of a recurring question with different dates may be
   * the same question, although `planted` does not contain the pair.
   */
  readonly recurring: ReadonlyMap<string, string>
}

export function matchingWorld(set: { seed: number; marketsPerVenue: number }): MatchingWorld {
  const nowMs = timeMs(Date.UTC(2026, 10, 20, 17))
  const clock = new ManualClock(nowMs)
  const world = new SimulatedWorld({
    seed: set.seed,
    messagesPerSecond: 1,
    plan: new Calendar(set),
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world'),
  })
  const sides = { a: emptySide(), b: emptySide() }
  const planted = new Map<string, { other: string; kind: SimPairKind }>()
  const recurring = new Map<string, string>()
  for (const event of world.events('a')) {
    const parent = eventRow(event, { nowMs, hasTags: true })
    for (const market of event.markets) {
      const row = gammaMarket(market, { nowMs, hasEvent: false, hasTags: false })
      addDumpRow(GAMMA_SUBJECTS, { ...row, event: parent }, sides.a)
      const { nativeId, pair } = market.listing
      recurring.set(nativeId, recurringOf(market.listing.questionKey))
      if (pair !== null && world.market('b', pair.otherNativeId) !== null) {
        planted.set(nativeId, { other: pair.otherNativeId, kind: pair.kind })
      }
    }
  }
  for (const event of world.events('b')) {
    const markets = event.markets.map((market) => {
      recurring.set(market.listing.nativeId, recurringOf(market.listing.questionKey))
      return renderMarket(market, { nowMs, metadataMs: nowMs })
    })
    addDumpRow(KALSHI_SUBJECTS, renderEvent(event, { updatedMs: nowMs, markets }), sides.b)
  }
  return { ...sides, planted, recurring }
}

/** Removes the cycle: "updown/BTC/20" of "updown/BTC/20:12345:up". */
const recurringOf = (questionKey: string): string => questionKey.split(':')[0] ?? ''

function emptySide(): { markets: MatchMarket[]; events: MatchEvent[] } {
  return { markets: [], events: [] }
}
