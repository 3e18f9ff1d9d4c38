// Converts the text of a frame to events with the connectors' own parser, sequence check and mapper, without sockets. A
// rejection, a gap or a reply ends the bench, because a seeded load contains none.

import { type Clock, systemClock } from '../engine/clock.ts'
import type { VenueEvent } from '../engine/events.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { timeMs } from '../engine/units.ts'
import { KalshiStream } from '../engine/venues/kalshi/stream.ts'
import { Tracks } from '../engine/venues/polymarket/book/tracks.ts'
import { PolymarketMap } from '../engine/venues/polymarket/map.ts'
import { parseFrame } from '../engine/venues/polymarket/parse.ts'
import type { SimVenue } from '../engine/venues/simulator/model.ts'
import { VenueCounters } from '../engine/venues/venue-counters.ts'
import { quietDrift } from '../test/support/fakes/quiet-drift.ts'
import { check } from './harness.ts'
import { listingOf, type SimLoad } from './sim-load.ts'

/** The time at which all frames arrive, according to their events. */
export const RECEIVED_AT = timeMs(Date.UTC(2026, 10, 20, 12))

/** A clock that starts on the day of the frames, so that retention does not delete their rows. */
export function clockOfFrames(): Clock {
  const startedMs = systemClock.monotonicMs()
  const nowMs = () => timeMs(RECEIVED_AT + Math.floor(systemClock.monotonicMs() - startedMs))
  return { ...systemClock, nowMs }
}

export type VenuePath = (text: string) => void

/** Snapshots must come first. */
export function venuePath(
  venue: SimVenue,
  load: SimLoad,
  emit: (event: VenueEvent) => void,
): VenuePath {
  return venue === 'a' ? polymarketPath(load, emit) : kalshiPath(emit)
}

function polymarketPath(load: SimLoad, emit: (event: VenueEvent) => void): VenuePath {
  const tracks = new Tracks()
  for (const market of load.markets) {
    if (market.listing.venue !== 'a') continue
    const { nativeId, outcomes, status } = listingOf(market)
    const ids = outcomes.map(({ id }) => id)
    tracks.add({ nativeId, outcomes: ids, status, openAtMs: null, closeAtMs: null })
    tracks.cover(nativeId)
  }
  const map = new PolymarketMap({
    tracks,
    emit,
    onRejected: (reason) => check(false, `a frame was refused: ${reason}`),
    onBook: () => undefined,
    onLastTrade: () => {},
    onTick: () => undefined,
    onFees: () => undefined,
  })
  return (text) => {
    const parsed = parseFrame(text)
    if (parsed.kind !== 'messages') return check(false, 'a frame had no messages')
    for (const message of parsed.messages) {
      if (message.kind === 'rejected') check(false, `a message was refused: ${message.reason}`)
      else map.map(message, RECEIVED_AT)
    }
  }
}

function kalshiPath(emit: (event: VenueEvent) => void): VenuePath {
  const fail = (why: string) => check(false, `venue b: ${why}`)
  const counts = new VenueCounters({
    venue: 'b',
    log: silentLog,
    metrics: new Metrics(),
    drift: quietDrift(),
  })
  const stream = new KalshiStream(
    { emit, onReply: () => fail('reply'), onGap: () => fail('gap'), onLost: () => fail('lost') },
    counts,
  )
  return (text) => stream.take({ connection: 1, receivedAtMs: RECEIVED_AT, text })
}
