// The complete engine in this process, connected as in engine/app/main.ts. Its two venues list nothing and send
// nothing. The bench emits events for them. The engine listens on a free loopback port.

import { createEngine, type Engine } from '../engine/app/engine.ts'
import { openLeader } from '../engine/app/leader.ts'
import type { Clock } from '../engine/clock.ts'
import type { ClusterLog } from '../engine/cluster/cluster-log.ts'
import type { VenueEvent } from '../engine/events.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { seededRandom } from '../engine/random.ts'
import { venueTable } from '../engine/venues/venues.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { quietVenue } from '../test/support/fakes/quiet-venue.ts'

export interface QuietEngine {
  readonly engine: Engine
  readonly apiKey: string
  readonly metrics: Metrics
  /** Emits an event as a connector does. The event reaches its actor in this event-loop tick. */
  readonly emit: (event: VenueEvent) => void
}

/** Secret that signs tokens and encrypts secrets, in the engine and in gateways. */
export const SECRET = 'a secret of thirty-two bytes, or more'
const SETTINGS = {
  host: '127.0.0.1',
  port: 0,
  venueNames: { a: 'venue_a', b: 'venue_b' },
  corsOrigins: [],
  isMetricsPublic: false,
  retentionDays: 30,
  dataBytesMax: 10 * 2 ** 30,
  jwtSecret: SECRET,
  jwtSecretPrevious: null,
  secretsKey: SECRET,
  webhookPolicy: { allowsHttp: false, allowsPrivate: false },
}

/** Port, and key of the local account, of an earlier run on the same folder. */
export interface EngineAddress {
  readonly port: number
  readonly apiKey: string
}

/**
 * Starts the engine with the stored markets, on the port of an earlier run if there is one. Its local account has no
 * limits. With a log the engine leads a cluster.
 */
export async function startQuietEngine(
  storage: Storage,
  clock: Clock,
  set: {
    readonly metrics?: Metrics
    readonly cluster?: ClusterLog | null
    readonly existing?: EngineAddress | null
  } = {},
): Promise<QuietEngine> {
  const { metrics = new Metrics(), cluster = null, existing = null } = set
  const leader = cluster === null ? null : await lead(storage, { clock, metrics, cluster })
  let emit: (event: VenueEvent) => void = () => undefined
  const trustedProxies = leader === null ? [] : ['127.0.0.1']
  const engine = createEngine(
    { ...SETTINGS, port: existing?.port ?? SETTINGS.port, trustedProxies },
    {
      ...{ clock, storage, log: silentLog, metrics },
      random: seededRandom('quiet engine'),
      venues(parts) {
        emit = parts.emit
        return [quietVenue('a', clock), quietVenue('b', clock)]
      },
      epoch: 'bench',
      version: 'bench',
      ...(leader === null ? {} : { cluster: leader.parts }),
    },
  )
  const apiKey = await engine.accounts.openLocalAccount(existing?.apiKey ?? null)
  await engine.start()
  await leader?.start(engine)
  return { engine, apiKey, metrics, emit: (event) => emit(event) }
}

async function lead(
  storage: Storage,
  parts: { readonly clock: Clock; readonly metrics: Metrics; readonly cluster: ClusterLog },
) {
  const signal = new AbortController().signal
  const onDeposed = () => {
    throw new Error('another engine leads')
  }
  const retention = { retentionDays: 30, sizeBytesMax: 1e12 }
  const whose = { names: venueTable(), retention }
  const leader = await openLeader({
    ...parts,
    ...whose,
    storage,
    log: silentLog,
    signal,
    onDeposed,
  })
  if (leader === null) throw new Error('the engine does not lead')
  return leader
}
