import type { VenueKey } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Drift } from '../../../engine/venues/drift/drift.ts'
import { ManualClock } from './manual-clock.ts'

export function quietDrift(key: VenueKey = 'a'): Drift {
  const parts = { clock: new ManualClock(), log: silentLog, metrics: new Metrics() }
  return new Drift({ ...parts, venue: { key, name: `venue_${key}` } })
}
