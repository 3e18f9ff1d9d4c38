// The process entry: reads the configuration, starts the components, and stops them in order on a signal. Exit codes: 0
// after a signal, 1 after a failure, 2 for an invalid argument or setting.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { accountHandlers } from '../../actors/accounts/account-commands.ts'
import { matchHandlers } from '../../actors/matches/match-commands.ts'
import { walletHandlers } from '../../actors/wallets/wallet-commands.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { loadSecrets, readLocalKey, writeLocalKey } from '../../storage/secrets.ts'
import { AdminSocket } from '../admin/admin-socket.ts'
import { systemClock } from '../clock.ts'
import { type Config, ConfigError, loadConfig, VARIABLES } from '../config.ts'
import type { DataSource } from '../data-source.ts'
import type { AccountId } from '../ids.ts'
import { type MatchPort, openEncodingThread } from '../matching/match-thread.ts'
import { banner } from '../process/banner.ts'
import { helpOf, readArguments, UsageError } from '../process/command-line.ts'
import { withLargeHeapSteps } from '../process/heap.ts'
import { type Log, openLog } from '../process/log.ts'
import { Metrics } from '../process/metrics.ts'
import { watchRuntime } from '../process/runtime.ts'
import { Shutdown } from '../process/shutdown.ts'
import { variableProblems } from '../process/variable-names.ts'
import { systemRandom } from '../random.ts'
import { tapeFolder } from '../tape/layout.ts'
import { openReplay } from '../venues/recording/replay-feed.ts'
import type { Venue, VenueParts } from '../venues/venue.ts'
import { openSource } from '../venues/venue-source.ts'
import { openVenues, venueTable } from '../venues/venues.ts'
import { CoverageSettings, coverageHandlers } from './coverage.ts'
import { createEngine, type Engine } from './engine.ts'
import type { Leader } from './leader.ts'
import { assertPaths, warnWithoutNetwork } from './preflight.ts'

interface Source {
  readonly open: (parts: VenueParts) => readonly Venue[]
  readonly stop: () => Promise<void>
}

async function openVenueSource(config: Config, log: Log, shutdown: Shutdown): Promise<Source> {
  const onLost = (reason: string): void => {
    // Ctrl-C in a terminal also reaches the simulator, which then ends by itself.
    if (shutdown.hasBegun) return
    log.fatal({ reason }, 'the simulated venues ended')
    shutdown.begin(1)
  }
  if (config.venues.kind === 'replay') {
    const { file } = config.venues
    return { open: (parts) => openReplay(file, parts), stop: async () => undefined }
  }
  const { addresses, stop } = await openSource(config, {
    clock: systemClock,
    onLost,
    // The lock of the data folder also protects this subfolder.
    worldFolder: resolve(config.dataDir, 'sim-world'),
  })
  if (config.venues.kind === 'live') void warnWithoutNetwork(addresses, log)
  const { polymarket, kalshi } = addresses
  log.info({ polymarket, kalshi: { ...kalshi, privateKeyPem: undefined } }, 'venue addresses')
  return { open: (parts) => openVenues(parts, addresses), stop }
}

/** Null if no sentence encoder is configured. Throws ConfigError if the encoder is unusable. */
async function openMatching(
  { matchEncoderDir }: Config,
  metrics: Metrics,
): Promise<MatchPort | null> {
  if (matchEncoderDir === null) return null
  const opened = await openEncodingThread(matchEncoderDir, metrics)
  if (opened.kind === 'open') return opened.port
  throw new ConfigError([`MATCH_ENCODER_DIR ${opened.reason}`])
}

function secretsOf({ jwtSecret, secretsKey, dataDir }: Config) {
  if (jwtSecret !== null && secretsKey !== null) return { jwtSecret, secretsKey }
  const storedSecrets = loadSecrets(dataDir)
  return {
    jwtSecret: jwtSecret ?? storedSecrets.jwtSecret,
    secretsKey: secretsKey ?? storedSecrets.secretsKey,
  }
}

async function openLocalKey(config: Config, engine: Engine): Promise<string | null> {
  if (!config.hasDemoKey) return null
  const storedKey = readLocalKey(config.dataDir)
  const key = await engine.accounts.openLocalAccount(storedKey)
  if (key !== storedKey) writeLocalKey(config.dataDir, key)
  return key
}

/** Null without a cluster, or if the process stops before it leads. */
async function openLeading(
  config: Config,
  parts: { storage: Storage; log: Log; metrics: Metrics; shutdown: Shutdown },
): Promise<{ readonly leader: Leader; readonly serverSettings: Partial<Config> } | null> {
  if (config.role !== 'engine') return null
  const { storage, log, metrics, shutdown } = parts
  const { connectCluster, engineServerSettings, openLeader } = await import('./leader.ts')
  const cluster = await connectCluster(config, { clock: systemClock, log, metrics })
  const ending = new AbortController()
  const opening = openLeader({
    ...{ storage, clock: systemClock, log, metrics, cluster, signal: ending.signal },
    names: venueTable(config.venueNames),
    retention: { retentionDays: config.retentionDays, sizeBytesMax: config.dataBytesMax },
    onDeposed: () => shutdown.begin(1),
  })
  // The storage is closed after the standby has ended, because a standby writes to it.
  shutdown.add(async () => {
    ending.abort()
    await opening.catch(() => undefined)
  })
  const leader = await opening
  if (leader === null) return null
  shutdown.add(() => leader.stop())
  return { leader, serverSettings: engineServerSettings(config) }
}

async function run(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  if (config.role !== 'gateway') return runEngine(config, log, shutdown)
  const { runGateway } = await import('./gateway.ts')
  return runGateway(config, log, shutdown)
}

async function runEngine(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  const clock = systemClock
  const startedAtMs = clock.monotonicMs()
  const metrics = new Metrics()
  watchRuntime(metrics)
  const matching = await openMatching(config, metrics)
  if (shutdown.hasBegun) return
  const storage = await openLmdbStorage({ dataDir: config.dataDir, clock, log, metrics })
  const closeStorage = () => storage.close()
  shutdown.add(closeStorage)
  if (shutdown.hasBegun) return
  // The simulator is started before this engine may lead, because its start takes seconds. Connections open later.
  const source = await openVenueSource(config, log, shutdown)
  if (shutdown.hasBegun) return
  shutdown.add(source.stop)
  const leading = await openLeading(config, { storage, log, metrics, shutdown })
  if (shutdown.hasBegun) return
  const leader = leading?.leader ?? null
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const coverage = new CoverageSettings(config)
  const engine = createEngine(
    {
      ...{ ...config, ...leading?.serverSettings, ...secretsOf(config) },
      ...{ buildsDocuments: true, data: dataOf(config) },
      coverageOf: (venue) => coverage.choiceOf(venue),
    },
    {
      clock,
      random: systemRandom(),
      log,
      metrics,
      storage,
      matching,
      venues: source.open,
      epoch: randomBytes(4).toString('hex'),
      version: String(version),
      loadWith: withLargeHeapSteps,
      ...(leader === null ? {} : { cluster: leader.parts }),
      tape: config.tape && { ...config.tape, folder: tapeFolder(config.dataDir) },
    },
  )
  // `stop` also closes the storage. Closing it twice has no effect.
  shutdown.add(() => engine.stop())
  if (leader !== null) shutdown.add(() => leader.pause())
  const admin = new AdminSocket({ dataDir: config.dataDir, clock, log })
  const { accounts } = engine
  const webhooksOf = (id: AccountId) => engine.view.webhooks.list(id)
  admin.register(accountHandlers(accounts.directory, webhooksOf, (id) => accounts.useOf(id)))
  admin.register(matchHandlers(engine.overrides, engine.catalog, clock))
  admin.register(walletHandlers(engine.wallets))
  admin.register(coverageHandlers(coverage, engine.venues))
  await admin.start()
  shutdown.add(() => admin.stop())
  if (shutdown.hasBegun) return
  const key = await openLocalKey(config, engine)
  if (shutdown.hasBegun) return
  await engine.start()
  await leader?.start(engine)
  if (shutdown.hasBegun) return
  const counts = engine.catalog.counts()
  process.stdout.write(
    banner({
      host: config.host,
      port: engine.port,
      data: engine.view.data,
      venues: engine.view.venues().map(({ venue, platform, state }) => ({
        platform,
        state,
        markets: Object.values(counts[venue] ?? {}).reduce((sum, count) => sum + count, 0),
      })),
      key,
      version: engine.view.version,
      startedInMs: clock.monotonicMs() - startedAtMs,
    }),
  )
}

const dataOf = ({ venues: { kind } }: Config): DataSource => (kind === 'sim' ? 'simulated' : kind)

function handleSignals(shutdown: Shutdown, log: Log): void {
  process.on('SIGTERM', () => shutdown.begin(0))
  process.on('SIGINT', () => {
    if (!shutdown.hasBegun && process.stdout.isTTY === true) process.stdout.write('\n  Stopping.\n')
    shutdown.begin(0)
  })
  // The parent process has ended. Only processes with an IPC channel get this event, as in `npm run cluster`.
  process.on('disconnect', () => shutdown.begin(0))
  if (process.send !== undefined && !process.connected) shutdown.begin(0)
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error')
    shutdown.begin(1)
  })
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection')
    shutdown.begin(1)
  })
}

/** Sets the variables of `.env` that are not in the environment. Throws ConfigError for misspelt names. */
function loadEnvironment(): void {
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  const problems = variableProblems({ env: process.env, file }, Object.keys(VARIABLES))
  if (problems.length > 0) throw new ConfigError(problems)
  for (const [name, value] of Object.entries(file)) process.env[name] ??= value
}

function end(code: number, { dataDir, role }: Config): void {
  if (code === 0 && process.stdout.isTTY === true) {
    const place = role === 'gateway' ? '' : ` Its data is in ${dataDir}.`
    process.stdout.write(`  Twinbook has stopped.${place}\n`)
  }
  process.exit(code)
}

function printError(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
}

/** Keeps the process alive until it listens. Clock timers alone would let the process exit with code 0. */
const keepAliveChannel = new MessageChannel()

const COMMAND = {
  name: 'npm start',
  about:
    'Starts the engine with its REST API, stream, webhooks and dashboard, until Ctrl-C or SIGTERM.',
  notes: [
    'Settings are variables of the environment or of .env (README):',
    ...Object.entries(VARIABLES).map(
      ([name, { default: value, means }]) =>
        `  ${name.padEnd(27)} ${means}${value === '' ? '' : ` (${value})`}`,
    ),
    'Exit codes: 0 after a signal, 1 after a failure, 2 for a bad argument or setting.',
  ],
} as const

// Only the user may read files of this process and of the simulator.
process.umask(0o077)
try {
  if (readArguments(COMMAND, process.argv.slice(2)) === 'help') {
    process.stdout.write(helpOf(COMMAND))
    process.exit(0)
  }
  loadEnvironment()
  const terminalLevel = process.stderr.isTTY === true ? { LOG_LEVEL: 'warn' } : {}
  const config = loadConfig({ ...terminalLevel, ...process.env })
  assertPaths(config)
  const log = openLog(config.logLevel)
  const shutdown = new Shutdown({ clock: systemClock, log, exit: (code) => end(code, config) })
  handleSignals(shutdown, log)
  keepAliveChannel.port1.ref()
  run(config, log, shutdown).catch((error: unknown) => {
    // A component that was still starting may fail while the process ends.
    if (!shutdown.hasBegun) printError(error)
    shutdown.begin(error instanceof ConfigError ? 2 : 1)
  })
} catch (error) {
  printError(error)
  process.exit(error instanceof ConfigError || error instanceof UsageError ? 2 : 1)
}
