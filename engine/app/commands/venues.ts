// `npm run venues` runs both simulated venues on fixed ports until a signal. The private key of Kalshi key id `sim` is
// written to sim-kalshi.pem in DATA_DIR and reused. An Ed25519 key (`openssl genpkey -algorithm ed25519 -out
// data/sim-kalshi.pem`) also works.

import { join } from 'node:path'
import { systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import { openProgress } from '../../process/command-line.ts'
import { openLog } from '../../process/log.ts'
import { parseFaults } from '../../venues/simulator/child-options.ts'
import { limitGarbage } from '../../venues/simulator/garbage-limit.ts'
import { loadKalshiKey } from '../../venues/simulator/kalshi/key-file.ts'
import { startSimulator } from '../../venues/simulator/simulator.ts'
import { runCommand } from './run-command.ts'

const COMMAND = {
  name: 'npm run venues',
  about: 'Runs both simulated venues alone, on fixed ports, until Ctrl-C or SIGTERM.',
  notes: [
    'Settings are variables: SIM_MARKETS, SIM_V2_SHARE, SIM_RATE, SIM_GAPS, SIM_SEED, SIM_FAULTS, SIM_RTDS_END_S, SIM_PORT, DATA_DIR, LOG_LEVEL.',
    'Exit codes: 0 after a signal, 1 after a failure, 2 for a bad request or setting.',
  ],
} as const

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const key = loadKalshiKey(config.dataDir)
  const progress = openProgress()
  progress.show(`generating ${config.sim.marketsPerVenue} markets per venue with their history`)
  limitGarbage(config.sim)
  const simulator = await startSimulator({
    ...config.sim,
    faults: parseFaults(config.sim.faults),
    basePort: config.sim.port,
    clock: systemClock,
    log: openLog(config.logLevel),
    kalshiPublicKeyPem: key.publicKeyPem,
    host: '127.0.0.1',
    hasPast: true,
    // The name contains the port, so that two of these processes do not share a folder.
    worldFolder: join(config.dataDir, `venues-world-${config.sim.port}`),
  })
  progress.end()
  const { urls } = simulator
  const { activityEndsS } = config.sim
  const lines = [
    `simulated venues: seed ${config.sim.seed}, ${config.sim.marketsPerVenue} markets a venue, ` +
      `protocol v2 share ${config.sim.v2Share}, ` +
      `${config.sim.messagesPerSecond} messages/s, ${config.sim.gapsPerMinute} gaps a minute, faults ${config.sim.faults.join(', ') || 'off'}, ` +
      (activityEndsS === null ? 'RTDS without end' : `RTDS ends after ${activityEndsS} s`),
    `  Gamma        ${urls.gamma}   (truth: ${urls.gamma}/sim/state)`,
    `  CLOB         ${urls.clob}   market stream ${urls.marketWs}`,
    `  Data         ${urls.data}`,
    `  RTDS         ${urls.rtdsWs}`,
    `  Kalshi       ${urls.kalshiRest}   stream ${urls.kalshiWs}`,
    `  Kalshi key   id ${simulator.kalshiKeyId}, private key in ${key.file} (${key.kind}; to use your own key, put a PEM file there, RSA or Ed25519)`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  await new Promise<void>((resolve) => {
    process.on('SIGINT', () => resolve())
    process.on('SIGTERM', () => resolve())
  })
  await simulator.stop()
}

await runCommand(COMMAND, main)
