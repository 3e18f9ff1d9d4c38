// Gateway process of the cluster bench. Its processor time is measured separately.

import { Gateway } from '../../engine/app/gateway.ts'
import { connectCluster } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import { loadConfig } from '../../engine/config.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { processorMicros, serve } from '../in-child.ts'
import { SECRET } from '../quiet-engine.ts'
import { clockOfFrames } from '../venue-path.ts'

const clock = clockOfFrames()
let gateway: Gateway | null = null

export const api = serve({
  async open(nats: Readonly<Record<string, string>>, name: string): Promise<number> {
    const parts = { clock, log: silentLog, metrics: new Metrics() }
    // Each process measures latency with its own clock.
    const cluster = await connectCluster(loadConfig(nats), { ...parts, clock: systemClock })
    gateway = new Gateway(
      {
        ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
        ...{ isMetricsPublic: false, jwtSecret: SECRET, jwtSecretPrevious: null },
        webhookPolicy: { allowsHttp: false, allowsPrivate: false },
      },
      { ...parts, name, cluster, version: 'bench' },
    )
    await gateway.start()
    return gateway.port
  },
  /** Processor time since the start, and number of failed mirrors. */
  look: () => ({ processorMicros: processorMicros(), faultCount: gateway?.faults.count ?? 0 }),
})
