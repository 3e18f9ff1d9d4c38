// Gateway process of the cluster bench, so that its processor time can be read.

import { createGateway, type Gateway } from '../../engine/app/gateway.ts'
import { connectCluster } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import { loadConfig } from '../../engine/config.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { processorMicros, Reports, takeCommands } from '../in-child.ts'
import { clockOfFrames } from '../venue-path.ts'
import type { GatewayCommand, GatewayReport } from './messages.ts'

const { report } = new Reports<GatewayReport>()
const clock = clockOfFrames()
let gateway: Gateway | null = null

async function open(command: GatewayCommand & { kind: 'open' }): Promise<void> {
  const { nats, jwtSecret, name } = command
  const parts = { clock, log: silentLog, metrics: new Metrics() }
  // Frame times come from each process's own clock.
  const cluster = await connectCluster(loadConfig(nats), { ...parts, clock: systemClock })
  gateway = createGateway(
    {
      ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
      ...{ isMetricsPublic: false, jwtSecret, jwtSecretPrevious: null },
      webhookPolicy: { allowsHttp: false, allowsPrivate: false },
    },
    { ...parts, name, cluster, version: 'bench' },
  )
  await gateway.start()
  report({ kind: 'listening', port: gateway.port })
}

takeCommands(async (command: GatewayCommand) => {
  if (command.kind === 'open') return open(command)
  const faultCount = gateway?.faults.count ?? 0
  report({ kind: 'looked', processorMicros: processorMicros(), faultCount })
})
