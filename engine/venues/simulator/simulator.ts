// Starts and stops both simulated venues: the world, the timer of its steps, Polymarket's four servers and Kalshi's
// server.

import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { CHANGE_NAMES } from '../../fault-names.ts'
import type { Log } from '../../process/log.ts'
import { type Random, seededRandom } from '../../random.ts'
import { runInSlices, runToEnd, type SlicedWork } from '../../time-slices.ts'
import { MINUTE_MS } from '../../units.ts'
import { Calendar, V2_SHARE } from './calendar.ts'
import { Changes } from './changes.ts'
import type { ReadyMessage } from './child-options.ts'
import { Faults } from './faults.ts'
import { SimHalts } from './kalshi/exchange.ts'
import { startKalshiServer } from './kalshi/server.ts'
import type { SimChange, SimFault, SimMarket, World } from './model.ts'
import { startPolymarketServer } from './polymarket/server.ts'
import { worldState } from './state.ts'
import { PERSISTED, readSnapshot, restoreSnapshot, writeSnapshot } from './world/snapshot.ts'
import { WalletLedgers } from './world/wallet-ledgers.ts'
import { type Plan, SimulatedWorld } from './world/world.ts'

const STEP_MS = 20
const SAVE_MS = MINUTE_MS
const SIM_KEY_ID = 'sim'

export interface SimulatorOptions {
  /** Integer from 0 to 2^32 − 1. */
  readonly seed: number
  /** 20 to 250,000. */
  readonly marketsPerVenue: number
  readonly v2Share?: number
  /** Stream messages per second of both venues together, 1 to 20,000. */
  readonly messagesPerSecond: number
  readonly faults: readonly (SimFault | SimChange)[]
  /** Seconds after which venue a's activity stream ends. Null or absent: never. */
  readonly activityEndsS?: number | null
  readonly gapsPerMinute?: number
  readonly clock: Clock
  /** Source of random numbers. Default: derived from the seed and the start time. */
  readonly random?: Random
  readonly plan?: Plan
  readonly log: Log
  /** Port of Gamma. CLOB has +1, Data +2, RTDS +3, Kalshi +10. 0: the system chooses all ports. */
  readonly basePort: number
  /** The public key of key id `sim`. Null: the simulator creates a key pair. */
  readonly kalshiPublicKeyPem: string | null
  readonly host?: string
  /** Folder in which the world is persisted, in one file per seed, size and share. Null: the world is not persisted. */
  readonly worldFolder?: string | null
  /** Generates some past days for a new world: trades, and wallets that won, lost and redeemed. Default: false. */
  readonly hasPast?: boolean
}

export interface Simulator {
  /** URLs of all servers, in the format of the connectors' settings. */
  readonly urls: ReadyMessage['urls']
  readonly kalshiKeyId: typeof SIM_KEY_ID
  /** The private key of key id `sim`. Empty if the caller supplied a public key. */
  readonly kalshiPrivateKeyPem: string
  readonly world: World
  readonly wallets: WalletLedgers
  readonly changes: Changes
  stop(): Promise<void>
}

/** Rejects if a port is in use, and then leaves no listener open. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock, log, basePort } = options
  const host = options.host ?? '127.0.0.1'
  const streams = randomStreams(options)
  const changes = new Changes(CHANGE_NAMES.filter((name) => options.faults.includes(name)))
  const faults = (name: string) => new Faults(options.faults, streams(`${name} faults`), changes)
  const keys = keyPair(options.kalshiPublicKeyPem)
  const halts = new SimHalts({ faults: faults('halts'), random: streams('halts') })
  const { world, wallets, saver } = openWorld(options, streams, halts)
  const polymarket = await startPolymarketServer({
    world,
    wallets,
    faults: faults('polymarket'),
    clock,
    log: log.child({ part: 'simulated polymarket' }),
    host,
    ports: {
      gamma: portAt(basePort, 0),
      clob: portAt(basePort, 1),
      data: portAt(basePort, 2),
      rtds: portAt(basePort, 3),
    },
    state: (query) => worldState({ world, wallets }, query),
    activityEndsS: options.activityEndsS ?? null,
  })
  const kalshi = await startKalshiServer({
    world,
    faults: faults('kalshi'),
    clock,
    log: log.child({ part: 'simulated kalshi' }),
    host,
    port: portAt(basePort, 10),
    keys: new Map([[SIM_KEY_ID, keys.publicKeyPem]]),
    halts,
  }).catch(async (error: unknown) => {
    await polymarket.stop()
    throw error
  })
  // The first save waits until all ports are open. Only the simulator that has the ports may write the file.
  await saver.save()
  const stopSaving = clock.every(SAVE_MS, () => saver.save())
  const stopStepping = clock.every(STEP_MS, () => {
    if (!saver.isCapturing) world.step()
  })
  return {
    urls: urlsOf(host, polymarket.ports, kalshi.port),
    kalshiKeyId: SIM_KEY_ID,
    kalshiPrivateKeyPem: keys.privateKeyPem,
    world,
    wallets,
    changes,
    async stop() {
      stopStepping()
      wallets.stop()
      stopSaving()
      saver.saveAtOnce()
      await Promise.all([polymarket.stop(), kalshi.stop()])
    },
  }
}

interface OpenWorld {
  readonly world: SimulatedWorld
  readonly wallets: WalletLedgers
  readonly saver: Saver
}

function openWorld(
  options: SimulatorOptions,
  streams: (name: string) => Random,
  halts: SimHalts,
): OpenWorld {
  const { seed, marketsPerVenue, messagesPerSecond, clock, log } = options
  const { v2Share = V2_SHARE, gapsPerMinute = 0, worldFolder = null } = options
  const plan = options.plan ?? new Calendar({ seed, marketsPerVenue, v2Share })
  const file =
    worldFolder === null ? null : join(worldFolder, `${seed}-${marketsPerVenue}-${v2Share}.json`)
  const open = (isRestored: boolean): OpenWorld => {
    const earlier = file === null || !isRestored ? null : readSnapshot(file)
    const world = new SimulatedWorld({
      ...{ seed, messagesPerSecond, gapsPerMinute, plan, clock, random: streams('world'), earlier },
      faults: new Faults(options.faults, streams('world faults')),
      isHalted: (market: SimMarket) => halts.isHalted(market),
      ...(file === null ? {} : { tradeCountMax: PERSISTED.trades }),
    })
    const countMax = file === null ? {} : { countMax: PERSISTED.events }
    const wallets = new WalletLedgers({ world, bornMs: world.bornMs, ...countMax })
    if (earlier !== null) restoreSnapshot(earlier, world, wallets)
    else if (options.hasPast === true) world.emitPast()
    return { world, wallets, saver: new Saver({ clock, log, file, world, ledgers: wallets }) }
  }
  try {
    return open(true)
  } catch (error) {
    log.warn({ err: error, file }, 'the saved world cannot be read: a new world replaces it')
    return open(false)
  }
}

class Saver {
  readonly #clock: Clock
  readonly #log: Log
  readonly #file: string | null
  readonly #source: { readonly world: SimulatedWorld; readonly ledgers: WalletLedgers }
  #work: SlicedWork<void> | null = null
  #isCapturing = false

  constructor(options: {
    clock: Clock
    log: Log
    file: string | null
    world: SimulatedWorld
    ledgers: WalletLedgers
  }) {
    this.#clock = options.clock
    this.#log = options.log
    this.#file = options.file
    this.#source = options
  }

  /** True while the state is copied. The world must not step during that time. */
  get isCapturing(): boolean {
    return this.#isCapturing
  }

  /** Resolves when the file is written. Resolves at once if an earlier save is unfinished. Never rejects. */
  async save(): Promise<void> {
    if (this.#work !== null) return
    this.#work = this.#begin()
    await runInSlices(this.#clock, this.#work)
    this.#work = null
  }

  /** Writes the complete file synchronously, instead of an unfinished save. */
  saveAtOnce(): void {
    this.#work?.return()
    runToEnd(this.#begin())
  }

  *#begin(): SlicedWork<void> {
    if (this.#file === null) return
    this.#isCapturing = true
    try {
      yield* writeSnapshot(this.#file, this.#source, () => {
        this.#isCapturing = false
      })
    } catch (error) {
      const message = 'the simulated world was not saved: a restart continues from the last file'
      this.#log.error({ err: error, file: this.#file }, message)
    } finally {
      this.#isCapturing = false
    }
  }
}

function portAt(basePort: number, step: number): number {
  return basePort === 0 ? 0 : basePort + step
}

/** Creates a separate random stream for each part, so that the draws of one part do not change those of another. */
function randomStreams({ seed, clock, random }: SimulatorOptions): (name: string) => Random {
  const start = random === undefined ? clock.nowMs() : random.below(2 ** 32)
  return (name) => seededRandom('simulator', seed, start, name)
}

function keyPair(publicKeyPem: string | null): { publicKeyPem: string; privateKeyPem: string } {
  if (publicKeyPem !== null) return { publicKeyPem, privateKeyPem: '' }
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKeyPem: pair.publicKey, privateKeyPem: pair.privateKey }
}

function urlsOf(
  host: string,
  ports: { gamma: number; clob: number; data: number; rtds: number },
  kalshiPort: number,
): ReadyMessage['urls'] {
  const name = host.includes(':') ? `[${host}]` : host
  return {
    gamma: `http://${name}:${ports.gamma}`,
    clob: `http://${name}:${ports.clob}`,
    data: `http://${name}:${ports.data}`,
    marketWs: `ws://${name}:${ports.clob}/ws/market`,
    rtdsWs: `ws://${name}:${ports.rtds}`,
    kalshiRest: `http://${name}:${kalshiPort}/trade-api/v2`,
    kalshiWs: `ws://${name}:${kalshiPort}/trade-api/ws/v2`,
  }
}
