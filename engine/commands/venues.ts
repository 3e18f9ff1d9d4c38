// `npm run venues`: both simulated venues alone, on fixed ports, until a signal. Settings are those
// of engine/config.ts (SIM_MARKETS, SIM_RATE, SIM_SEED, SIM_FAULTS, SIM_PORT, DATA_DIR, LOG_LEVEL).
// The private key of Kalshi key id `sim` is written to sim-kalshi.pem in DATA_DIR, and kept there.

import { join } from 'node:path'
import { systemClock } from '../clock.ts'
import { ConfigError, loadConfig } from '../config.ts'
import { openLog } from '../process/log.ts'
import { parseFaults } from '../venues/simulator/child-options.ts'
import { keepKalshiKey } from '../venues/simulator/kalshi-key-file.ts'
import { startSimulator } from '../venues/simulator/simulator.ts'

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const key = keepKalshiKey(config.dataDir)
  const simulator = await startSimulator({
    ...config.sim,
    faults: parseFaults(config.sim.faults),
    basePort: config.sim.port,
    clock: systemClock,
    log: openLog(config.logLevel),
    kalshiPublicKeyPem: key.publicKeyPem,
    host: '127.0.0.1',
    hasPast: true,
    // Of these ports, so that two such commands never share one.
    worldFolder: join(config.dataDir, `venues-world-${config.sim.port}`),
  })
  const { urls } = simulator
  const lines = [
    `simulated venues: seed ${config.sim.seed}, ${config.sim.marketsPerVenue} markets a venue, ` +
      `${config.sim.messagesPerSecond} messages/s, faults ${config.sim.faults.join(', ') || 'off'}`,
    `  Gamma        ${urls.gamma}   (truth: ${urls.gamma}/sim/state)`,
    `  CLOB         ${urls.clob}   market stream ${urls.marketWs}`,
    `  Data         ${urls.data}`,
    `  RTDS         ${urls.rtdsWs}`,
    `  Kalshi       ${urls.kalshiRest}   stream ${urls.kalshiWs}`,
    `  Kalshi key   id ${simulator.kalshiKeyId}, private key in ${key.file}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  let isStopping = false
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

main().catch((error: unknown) => {
  const text = error instanceof ConfigError ? error.message : String(error)
  process.stderr.write(`${text}\n`)
  process.exit(error instanceof ConfigError ? 2 : 1)
})
