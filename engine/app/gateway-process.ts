// The process of a gateway: connects to the log, follows it, serves, and stops in order. Loaded only for
// ROLE=gateway.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../clock.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../process/log.ts'
import { Metrics } from '../process/metrics.ts'
import type { Shutdown } from '../process/shutdown.ts'
import { createGateway } from './gateway.ts'
import { connectCluster } from './leader.ts'

export async function runGateway(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  const { jwtSecret } = config
  if (jwtSecret === null) {
    throw new ConfigError(["JWT_SECRET is not set; a gateway takes the engine's own"])
  }
  const clock = systemClock
  const metrics = new Metrics()
  const cluster = await connectCluster(config, { clock, log, metrics })
  shutdown.add(() => cluster.close())
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const gateway = createGateway(
    { ...config, jwtSecret },
    {
      ...{ clock, log, metrics, cluster, version: String(version) },
      name: `${hostname()}-${process.pid}`,
    },
  )
  shutdown.add(() => gateway.stop())
  if (shutdown.hasBegun) return
  // A mirror is loaded at once and retained completely. Small steps of heap growth would cause repeated
  // full collections.
  setFlagsFromString('--heap-growing-percent=0')
  await gateway.start()
  setFlagsFromString('--heap-growing-percent=30')
  if (shutdown.hasBegun) return
  process.stdout.write(
    `\n  Twinbook ${version}, a gateway, listens at http://${config.host}:${gateway.port}\n\n`,
  )
}
