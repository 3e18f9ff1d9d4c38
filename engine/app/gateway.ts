// The composition root of a gateway: the API server over a mirror of the engine. If the mirror fails or another engine
// run leads, the gateway closes its streams and serves a new mirror. Clients resume with `since` and receive a gap for
// lost messages.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Accounts } from '../../actors/accounts/accounts.ts'
import { MarketSearch } from '../../actors/catalog/search.ts'
import { followAccounts } from '../../actors/mirror/accounts.ts'
import { MirrorBookDemand } from '../../actors/mirror/book-demand.ts'
import { FORWARDED_VIEWS } from '../../actors/mirror/forwarded-views.ts'
import { Mirror, type MirrorFault } from '../../actors/mirror/mirror.ts'
import { QuotaShares } from '../../actors/mirror/quota-shares.ts'
import { SharedConnectionSlots } from '../../actors/mirror/shared-connection-slots.ts'
import { ticketMessage } from '../../actors/mirror/tickets.ts'
import type { ClusterView, EngineView, StatsView } from '../../actors/views.ts'
import type { Forward } from '../../http/request/forwarding.ts'
import { createServer, type Server } from '../../http/server.ts'
import { Tickets } from '../../http/ws/session/tickets.ts'
import { type Clock, pause, type StopTimer, systemClock } from '../clock.ts'
import { type Checkpoint, checkpointObject, decodeCheckpoint } from '../cluster/checkpoint.ts'
import { type ClusterLog, LogError, type LogSubscription } from '../cluster/cluster-log.ts'
import { Follower, type FollowFault } from '../cluster/follower.ts'
import { gatewayRequestMessage, gatewayResponseMessage } from '../cluster/gateway-messages.ts'
import { Loopback } from '../cluster/loopback.ts'
import { Members } from '../cluster/members.ts'
import { type Config, ConfigError } from '../config.ts'
import { ALL_MARKETS } from '../coverage-policy.ts'
import { EngineError } from '../errors.ts'
import { bookAgeMsMax } from '../limits.ts'
import { withLargeHeapSteps } from '../process/heap.ts'
import type { Log } from '../process/log.ts'
import { Metrics } from '../process/metrics.ts'
import type { Shutdown } from '../process/shutdown.ts'
import { openSearch } from '../search/search.ts'
import type { VenueFacts } from '../venue-table.ts'
import { venueTable } from '../venues/venues.ts'
import type { ServerSettings } from './engine.ts'
import { connectCluster } from './leader.ts'
import { McpCalls } from './mcp/mcp-calls.ts'

interface GatewayParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly cluster: ClusterLog
  /** Default: engine/venues/venues.ts. */
  readonly table?: readonly VenueFacts[]
  /**
   * Name of this process in answers to the engine and to other gateways. Unique in the cluster. Letters, digits, `-`,
   * `_`, `.`.
   */
  readonly name: string
  readonly version: string
}

const LEADER_TIMEOUT_MS = 5_000
const CHECK_MS = 100
const RETRY_MS = 1_000

interface Followed {
  readonly mirror: Mirror
  readonly follower: Follower
  readonly demand: MirrorBookDemand
  /** Why the mirror cannot continue. Null: the mirror has no fault. */
  readonly fault: () => string | null
  readonly close: () => Promise<void>
}

interface ServedMirror extends Followed {
  readonly server: Server
  readonly view: EngineView
}

export class Gateway {
  readonly #settings: ServerSettings
  readonly #parts: GatewayParts
  readonly #names: ReturnType<typeof venueTable>
  readonly #shares: QuotaShares
  readonly #members: Members
  readonly #connectionSlots: SharedConnectionSlots
  readonly #tickets: Tickets
  readonly #mcp = new McpCalls()
  readonly #subscriptions: readonly LogSubscription[]
  readonly #timers: StopTimer[] = []
  #accounts: { readonly accounts: Accounts; readonly stop: () => Promise<void> } | null = null
  #served: ServedMirror | null = null
  #faultCount = 0
  #lastFault: string | null = null
  /** Answers other gateways' requests for further pages of lists that began at this gateway. */
  #answering: LogSubscription | null = null
  #loopback: Loopback | null = null
  #isStopped = false
  #isReplacing = false
  readonly #startedAtMs: number
  /**
   * Set if the last checkpoint was rejected and another one must be requested. `overEpoch`: any checkpoint of another
   * run than this epoch is sufficient.
   */
  #rejectedCheckpoint: { readonly overEpoch: string | null } | null = null
  #triedMs: number | null = null

  constructor(settings: ServerSettings, parts: GatewayParts) {
    const { clock, cluster, name, metrics } = parts
    this.#settings = settings
    this.#parts = parts
    this.#names = venueTable(settings.venueNames, parts.table)
    this.#startedAtMs = clock.monotonicMs()
    this.#shares = new QuotaShares({
      clock,
      name,
      request: (body) => cluster.request('quota', body),
    })
    this.#members = new Members({
      ...{ log: cluster, clock },
      self: () => ({
        ...{ role: 'gateway', name, term: null },
        lagBatches: this.#served?.follower.behind ?? 0,
        lagMs: this.#served?.mirror.lagMs ?? 0,
      }),
    })
    this.#connectionSlots = new SharedConnectionSlots({
      ...{ clock, name, announce: (body) => cluster.announce('places', body) },
      onExcess: (account, most) => this.#served?.server.hub.endBeyond(account, most),
    })
    this.#tickets = new Tickets(clock, (update) =>
      cluster.announce('tickets', ticketMessage.encode(update)),
    )
    this.#subscriptions = [
      cluster.subscribe('places', (body) => this.#connectionSlots.receive(body)),
      cluster.subscribe('tickets', (body) => {
        const update = ticketMessage.decode(body)
        if (update !== null) this.#tickets.applyUpdate(update)
      }),
    ]
    const lag = 'Batches of the log that this gateway has not read.'
    metrics.gauge('cluster_lag_batches', lag, () => this.#served?.follower.behind ?? 0)
    const lagMs = 'Delay of the newest update from the engine to the mirror, in milliseconds.'
    metrics.gauge('cluster_lag_ms', lagMs, () => this.#served?.mirror.lagMs ?? 0)
    const stale = '1 while no message of the engine arrives, so that all data is stale.'
    metrics.gauge('cluster_is_cut', stale, () =>
      Number(this.#served?.mirror.isDisconnected ?? true),
    )
  }

  get port(): number {
    return this.#served?.server.port ?? this.#settings.port
  }

  get view(): EngineView | null {
    return this.#served?.view ?? null
  }

  get mirror(): Mirror | null {
    return this.#served?.mirror ?? null
  }

  get faults(): { readonly count: number; readonly last: string | null } {
    return { count: this.#faultCount, last: this.#lastFault }
  }

  async start(): Promise<void> {
    const { clock, cluster, log, name } = this.#parts
    while (this.#accounts === null && !this.#isStopped) {
      try {
        const quotas = (kind: Parameters<QuotaShares['of']>[0]) => this.#shares.of(kind)
        const counted = { quotas, connectionSlots: this.#connectionSlots }
        this.#accounts = await followAccounts(cluster, {
          ...{ ...this.#settings, ...counted, clock, log },
        })
      } catch (error) {
        log.warn({ err: error }, 'the accounts cannot be read yet')
        await pause(clock, RETRY_MS)
      }
    }
    // Each call looks the streams up, because the server may have been replaced.
    const streams = () => this.#served?.server.hub.accountWatcher
    this.#accounts?.accounts.watch({
      onRevoked: (key) => streams()?.onRevoked?.(key),
      onTokenEnded: (id) => streams()?.onTokenEnded?.(id),
      onTokensEnded: (account) => streams()?.onTokensEnded?.(account),
      onAccountDeactivated: (account, reason) => streams()?.onAccountDeactivated?.(account, reason),
      onLimits: (account, limits) => streams()?.onLimits?.(account, limits),
    })
    await this.#replace()
    const loopback = new Loopback(this.port)
    this.#loopback = loopback
    // Further pages of a list come from the gateway where the list began.
    this.#answering = cluster.answer(`http.${name}`, (body) => loopback.answer(body))
    this.#timers.push(clock.every(CHECK_MS, () => this.#check()))
  }

  /** Closes client connections over some seconds, so that clients reconnect to another gateway. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const stopTimer of this.#timers) stopTimer()
    await this.#answering?.stop()
    this.#loopback?.close()
    const served = this.#served
    await served?.server.drain()
    await served?.close()
    await this.#mcp.stop()
    await served?.server.stop()
    this.#connectionSlots.stop()
    for (const subscription of this.#subscriptions) await subscription.stop()
    await this.#shares.stop()
    await this.#members.stop()
    await this.#accounts?.stop()
  }

  #check(): void {
    const served = this.#served
    if (served === null) return
    const sinceReceivedMs = this.#parts.clock.monotonicMs() - served.follower.receivedAtMs
    served.mirror.setDisconnected(sinceReceivedMs > LEADER_TIMEOUT_MS || served.fault() !== null)
    served.mirror.checkStall()
  }

  #noteFault(fault: FollowFault | MirrorFault, epoch: string): void {
    const { log, metrics } = this.#parts
    this.#faultCount += 1
    this.#lastFault = fault
    this.#rejectedCheckpoint = { overEpoch: fault === 'new_epoch' ? epoch : null }
    const help = 'Mirrors that were discarded, by reason.'
    metrics.count('cluster_mirrors_ended_total', help, { fault }).inc()
    log.warn({ fault }, 'the mirror has a fault and is rebuilt')
  }

  /** Creates mirrors until a complete mirror is served. Returns at once if a mirror is already served. */
  async #replace(): Promise<void> {
    if (this.#isReplacing) return
    this.#isReplacing = true
    const { log, clock } = this.#parts
    const startedAtMs = clock.monotonicMs()
    while (!this.#isStopped) {
      try {
        const followed = await this.#follow()
        if (followed !== null) await this.#serve(followed)
        if (followed?.fault() === null) {
          const afterMs = Math.round(clock.monotonicMs() - startedAtMs)
          log.info({ epoch: followed.mirror.epoch, afterMs }, 'the mirror is complete')
          break
        }
      } catch (error) {
        this.#rejectedCheckpoint ??= { overEpoch: null }
        log.warn({ err: error }, 'the mirror could not be built')
      }
      await pause(clock, RETRY_MS)
    }
    this.#isReplacing = false
  }

  /** Creates a mirror and reads the log up to its end at the time of the call. Null: the mirror failed. */
  async #follow(): Promise<Followed | null> {
    const { clock, log, metrics, cluster } = this.#parts
    const checkpoint = await this.#checkpoint()
    let firstFault: FollowFault | MirrorFault | null = null
    const onFault = (fault: FollowFault | MirrorFault): void => {
      if (firstFault !== null) return
      firstFault = fault
      this.#noteFault(fault, checkpoint.epoch)
      // The creator discards a failed mirror that is not served yet.
      if (this.#served?.mirror !== mirror) return
      mirror.setDisconnected(true)
      void this.#replace()
    }
    const index = new MarketSearch({ port: openSearch(), clock, log })
    let mirror: Mirror
    try {
      const request = (subject: 'trades' | 'bars', body: Uint8Array) =>
        cluster.request(subject, body)
      // Not a spread object: the compiler would not check names of optional properties.
      const names = this.#names
      mirror = new Mirror(checkpoint, { clock, metrics, log, names, index, onFault, request })
      index.rebuildFrom(() => mirror.catalog.texts())
      index.hold()
      await mirror.load(checkpoint)
    } catch (error) {
      await index.close()
      throw error
    }
    const demand = new MirrorBookDemand({
      clock,
      isLive: (number) => mirror.catalog.mirrorOf(number)?.hasFreshBook === true,
      coversAll: () => coversAll(mirror.figures),
      send: (body) => cluster.request('coverage', body),
    })
    mirror.publisher.watch(demand)
    const follower = new Follower({
      ...{ clock, metrics, log: cluster, from: checkpoint },
      sink: {
        take: (shard, items) => mirror.take(shard, items),
        recall: (epoch, items) => mirror.recall(epoch, items),
        onFault,
      },
    })
    const close = async () => {
      await follower.stop()
      mirror.close()
      demand.stop()
      await index.close()
    }
    const isReady = await follower.start().catch(async (error: unknown) => {
      await close()
      throw error
    })
    if (isReady && firstFault === null && !this.#isStopped) {
      index.release()
      return { mirror, follower, demand, fault: () => firstFault, close }
    }
    await close()
    return null
  }

  /** The newest checkpoint. Requests a new one from the engine if none exists or the last one was rejected. */
  async #checkpoint(): Promise<Checkpoint> {
    const { cluster } = this.#parts
    const read = async (): Promise<Checkpoint | null> => {
      const bytes = await cluster.getObject(checkpointObject).catch(() => null)
      return bytes === null ? null : decodeCheckpoint(bytes)
    }
    if (this.#rejectedCheckpoint === null) {
      const stored = await read()
      if (stored !== null) return stored
    }
    const pending = cluster.request(
      'checkpoint',
      Buffer.from(this.#rejectedCheckpoint?.overEpoch ?? ''),
    )
    const failed = await pending.then(() => null).catch((error: unknown) => ({ error }))
    const made = await read()
    // No engine leads. A checkpoint that was created since the last attempt is sufficient.
    if (failed !== null && (made === null || made.takenAtMs === this.#triedMs)) throw failed.error
    if (made === null) throw new Error('there is no checkpoint that can be read')
    this.#triedMs = made.takenAtMs
    this.#rejectedCheckpoint = null
    return made
  }

  async #serve(followed: Followed): Promise<void> {
    const accounts = this.#accounts?.accounts
    if (accounts === undefined) return
    const { clock, log, metrics, name } = this.#parts
    const { mirror } = followed
    const { publisher } = mirror
    const view = this.#viewOf(followed, accounts)
    const before = this.#served
    let server = before?.server ?? null
    if (server === null) {
      server = await createServer({
        ...{ ...this.#settings, engine: view, publisher, clock, log, metrics },
        ...{ forward: this.#forward, servedBy: name, tickets: this.#tickets, mcp: this.#mcp },
      })
      this.#mcp.listen(this.#settings.host, server.port)
    } else await server.replace(view, publisher)
    publisher.watch(server.hub)
    this.#served = { ...followed, server, view }
    await before?.close()
  }

  readonly #forward: Forward = async ({ gateway, ...request }) => {
    const { cluster } = this.#parts
    const pending = cluster.request(
      gateway === null ? 'http' : `http.${gateway}`,
      gatewayRequestMessage.encode(request),
    )
    const bytes = await pending.catch((error: unknown) => {
      if (gateway === null || !(error instanceof LogError) || error.reason !== 'unanswered')
        throw error
      throw new EngineError('BAD_REQUEST', 'the cursor has expired; start again without it')
    })
    const answer = gatewayResponseMessage.decode(bytes)
    if (answer === null) throw new Error('the answer of the engine could not be read')
    return answer
  }

  #viewOf({ mirror, follower, demand }: Followed, accounts: Accounts): EngineView {
    const { clock, cluster, name, version } = this.#parts
    const { catalog, matches, sports, tradeLog, whaleLog, epoch } = mirror
    return {
      ...FORWARDED_VIEWS,
      ...{ version, epoch, catalog, accounts, matches, sports, tradeLog, whaleLog },
      wallets: {
        ...FORWARDED_VIEWS.wallets,
        get count() {
          return mirror.figures.wallets
        },
      },
      get data() {
        return mirror.figures.data
      },
      stats: () => mirror.figures,
      venues: () => mirror.venues(),
      coverage: () => demand,
      isStorageHealthy: () => !mirror.isDisconnected,
      delayMs: () => mirror.lagMs,
      bookAgeMsMax,
      confirmBook: () => null,
      uptimeSeconds: () => Math.floor((clock.monotonicMs() - this.#startedAtMs) / 1_000),
      cluster: (): ClusterView => ({
        role: 'gateway',
        name,
        link: cluster.link,
        lagBatches: follower.behind,
        lagMs: mirror.lagMs,
        isConnected: !mirror.isDisconnected,
        leader: this.#members.leader,
        members: this.#members.all(),
      }),
    }
  }
}

function coversAll({ books }: StatsView): boolean {
  const policies = Object.values(books)
  return policies.length > 0 && policies.every(({ policy }) => policy === ALL_MARKETS.text)
}

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
  const gateway = new Gateway(
    { ...config, jwtSecret, buildsDocuments: true },
    {
      ...{ clock, log, metrics, cluster, version: String(version) },
      name: `${hostname()}-${process.pid}`,
    },
  )
  shutdown.add(() => gateway.stop())
  if (shutdown.hasBegun) return
  await withLargeHeapSteps(() => gateway.start())
  if (shutdown.hasBegun) return
  process.stdout.write(
    `\n  Twinbook ${version}, a gateway, listens at http://${config.host}:${gateway.port}\n\n`,
  )
}
