// A gateway of the cluster bench, as a process of its own, whose processor time can be read.
// Not for: what is measured (cluster.bench.ts).

import { openNats } from '../../engine/cluster/nats.ts'
import { createGateway, type Gateway } from '../../engine/gateway.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { processorMicros, Reports, takeCommands } from '../in-child.ts'
import { clockOfFrames } from '../venue-path.ts'
import type { GatewayCommand, GatewayReport } from './messages.ts'

const { report } = new Reports<GatewayReport>()
const clock = clockOfFrames()
let gateway: Gateway | null = null

async function open(command: GatewayCommand & { kind: 'open' }): Promise<void> {
  const { natsUrl: url, jwtSecret, name } = command
  const parts = { clock, log: silentLog, name }
  const cluster = await openNats({ ...parts, url, creds: null, ca: null })
  gateway = createGateway(
    {
      ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
      ...{ isMetricsPublic: false, jwtSecret, jwtSecretPrevious: null },
      webhookPolicy: { allowsHttp: false, allowsPrivate: false },
    },
    { ...parts, metrics: new Metrics(), cluster, version: 'bench' },
  )
  await gateway.start()
  report({ kind: 'listening', port: gateway.port })
}

takeCommands(async (command: GatewayCommand) => {
  if (command.kind === 'open') return open(command)
  const faultCount = gateway?.faults.count ?? 0
  report({ kind: 'looked', processorMicros: processorMicros(), faultCount })
})
