// The process: read the configuration, bring up what it asks for, serve, and stop in order on a
// signal. Exit codes: 0 after a signal, 1 after a failure, 2 for a bad configuration.
// Upholds RESTART1, RESTART2, RESTART4.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { openLmdbStorage } from '../storage/lmdb.ts'
import { loadSecrets, readLocalKey, writeLocalKey } from '../storage/secrets.ts'
import { banner } from './banner.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { createEngine, type Engine } from './engine.ts'
import { shutdownMsMax } from './limits.ts'
import { type Log, openLog } from './log.ts'
import { Metrics } from './metrics.ts'
import { systemRandom } from './random.ts'
import { openReplay } from './venues/replay-feed.ts'
import { openSource } from './venues/source.ts'
import type { Venue, VenueParts } from './venues/venue.ts'
import { openVenues } from './venues/venues.ts'

/** How the venues are opened, and what must end after them. */
interface Source {
  readonly open: (parts: VenueParts) => readonly Venue[]
  readonly stop: () => Promise<void>
}

async function openVenueSource(
  config: Config,
  log: Log,
  onLost: (reason: string) => void,
): Promise<Source> {
  if (config.venues.kind === 'replay') {
    const { file } = config.venues
    return { open: (parts) => openReplay(file, parts), stop: async () => undefined }
  }
  const { addresses, stop } = await openSource(config, { clock: systemClock, onLost })
  const { polymarket, kalshi } = addresses
  log.info({ polymarket, kalshi: { ...kalshi, privateKeyPem: undefined } }, 'venues are at')
  return { open: (parts) => openVenues(parts, addresses), stop }
}

/** The key of the local account, made on the first start and kept beside the databases. */
async function openLocalKey(config: Config, engine: Engine): Promise<string | null> {
  if (!config.hasDemoKey) return null
  const kept = readLocalKey(config.dataDir)
  const key = await engine.accounts.openLocalAccount(kept)
  if (key !== kept) writeLocalKey(config.dataDir, key)
  return key
}

async function run(config: Config, log: Log): Promise<void> {
  const clock = systemClock
  const startedAtMs = clock.monotonicMs()
  const metrics = new Metrics()
  let stop: (exitCode: number) => void = (exitCode) => process.exit(exitCode)
  const storage = await openLmdbStorage({ dataDir: config.dataDir, clock, log, metrics })
  const source = await openVenueSource(config, log, (reason) => {
    log.fatal({ reason }, 'the simulated venues ended')
    stop(1)
  }).catch(async (error: unknown) => {
    await storage.close()
    throw error
  })
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const engine = createEngine(
    { ...config, jwtSecret: config.jwtSecret ?? loadSecrets(config.dataDir).jwtSecret },
    {
      clock,
      random: systemRandom(),
      log,
      metrics,
      storage,
      venues: source.open,
      epoch: randomBytes(4).toString('hex'),
      version: String(version),
    },
  )
  stop = stopOnce(engine, source, log)
  process.once('SIGTERM', () => stop(0))
  process.once('SIGINT', () => stop(0))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error nobody caught')
    stop(1)
  })
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'a rejection nobody handled')
    stop(1)
  })
  const key = await openLocalKey(config, engine)
  await engine.start().catch((error: unknown) => {
    log.fatal({ err: error }, 'the engine did not start')
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    stop(1)
  })
  const counts = engine.catalog.counts()
  process.stdout.write(
    banner({
      host: config.host,
      port: engine.port,
      source: config.venues.kind,
      venues: engine.view.venues().map(({ venue, platform, state }) => ({
        platform,
        state,
        markets: counts[venue].open + counts[venue].closed + counts[venue].resolved,
      })),
      key,
      isDefault: isDefaultPlace(config),
      version: engine.view.version,
      startedInMs: clock.monotonicMs() - startedAtMs,
    }),
  )
}

function isDefaultPlace(config: Config): boolean {
  const defaults = loadConfig({})
  return (
    config.host === defaults.host &&
    config.port === defaults.port &&
    config.dataDir === defaults.dataDir
  )
}

/** Stops everything once, in order; whatever hangs is left behind after the limit. */
function stopOnce(engine: Engine, source: Source, log: Log): (exitCode: number) => void {
  let isStopping = false
  return (exitCode) => {
    if (isStopping) return
    isStopping = true
    const limit = systemClock.after(shutdownMsMax, () => {
      log.fatal('not stopped in time')
      process.exit(1)
    })
    const stopping = async () => {
      await engine.stop()
      await source.stop()
      limit()
    }
    stopping().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        log.fatal({ err: error }, 'not stopped cleanly')
        process.exit(1)
      },
    )
  }
}

if (existsSync('.env')) process.loadEnvFile('.env')
try {
  const config = loadConfig(process.env)
  await run(config, openLog(config.logLevel))
} catch (error) {
  const isConfig = error instanceof ConfigError
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(isConfig ? 2 : 1)
}
