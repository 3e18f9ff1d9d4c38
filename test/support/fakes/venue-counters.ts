import type { VenueKey } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { VenueCounters } from '../../../engine/venues/venue-counters.ts'
import { quietDrift } from './quiet-drift.ts'

export function venueCounters(venue: VenueKey) {
  const metrics = new Metrics()
  const drift = quietDrift(venue)
  const counters = new VenueCounters({ venue, log: silentLog, metrics, drift })
  const countOf = (of: 'rejected' | 'ignored' | 'troubles', reason: string) =>
    metrics.count(`venue_${of}_total`, 'count', { venue, reason }).value
  const suspectCount = (kind: string, reason: string) =>
    metrics.count('venue_answers_doubted_total', 'count', { venue, kind, reason }).value
  return { counters, metrics, drift, countOf, suspectCount }
}
