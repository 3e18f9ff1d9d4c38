// The whole engine in this process, as engine/main.ts wires it, on a storage that the bench brings, between two
// venues that list nothing and send nothing: the bench emits their events. Listens on a free port of loopback. Not for: real processes and simulated venues (live-service.ts).

import type { Clock } from '../engine/clock.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { VenueEvent } from '../engine/events.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { seededRandom } from '../engine/random.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { quietVenue } from '../test/support/fakes/quiet-venue.ts'

export interface QuietEngine {
  readonly engine: Engine
  readonly apiKey: string
  readonly metrics: Metrics
  /** Takes an event as a connector would emit it: it reaches its owner in this turn. */
  readonly emit: (event: VenueEvent) => void
}

const SECRET = 'a secret of thirty-two bytes, or more'
const SETTINGS = {
  host: '127.0.0.1',
  port: 0,
  venueNames: { a: 'venue_a', b: 'venue_b' },
  corsOrigins: [],
  trustedProxies: [],
  isMetricsPublic: false,
  retentionDays: 30,
  dataBytesMax: 10 * 2 ** 30,
  jwtSecret: SECRET,
  jwtSecretPrevious: null,
  secretsKey: SECRET,
  webhookPolicy: { allowsHttp: false, allowsPrivate: false },
}

/** Starts it with the markets that the storage holds; its local account has no limits. */
export async function startQuietEngine(storage: Storage, clock: Clock): Promise<QuietEngine> {
  const metrics = new Metrics()
  let emit: (event: VenueEvent) => void = () => undefined
  const engine = createEngine(SETTINGS, {
    ...{ clock, storage, log: silentLog, metrics },
    random: seededRandom('quiet engine'),
    venues(parts) {
      emit = parts.emit
      return [quietVenue('a', clock), quietVenue('b', clock)]
    },
    epoch: 'bench',
    version: 'bench',
  })
  const apiKey = await engine.accounts.openLocalAccount(null)
  await engine.start()
  return { engine, apiKey, metrics, emit: (event) => emit(event) }
}
