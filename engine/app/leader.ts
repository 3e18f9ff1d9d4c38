// The engine's side of a cluster (`ROLE=engine`). A standby waits until the lease is free. The leader writes the log
// and checkpoints, and answers gateways.

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { Checkpoints } from '../../actors/cluster/checkpoints.ts'
import { Feeder } from '../../actors/cluster/feeder.ts'
import { OutboxReplication } from '../../actors/cluster/replicated-outbox.ts'
import { Standby } from '../../actors/cluster/standby.ts'
import { startStorageHousekeeping } from '../../actors/housekeeping.ts'
import { answerBars } from '../../actors/mirror/bars.ts'
import { answerBookDemand } from '../../actors/mirror/book-demand.ts'
import { answerOlderTrades } from '../../actors/mirror/older-trades.ts'
import { QuotaServer } from '../../actors/mirror/quota-shares.ts'
import { ClusterAccounts } from '../../storage/cluster-accounts.ts'
import type { Following } from '../../storage/cluster-bucket.ts'
import { ClusterWebhooks } from '../../storage/cluster-webhooks.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { type LogItem, writeItem } from '../../storage/records/log-items.ts'
import { type Clock, pause, type StopTimer } from '../clock.ts'
import {
  type Answer,
  type ClusterLog,
  type LogSubscription,
  type RequestSubject,
  SHARDS,
} from '../cluster/cluster-log.ts'
import { gated } from '../cluster/event-gate.ts'
import { answerBatches, type Revocation, revocationMessage } from '../cluster/gateway-messages.ts'
import { type Lease, takeLease } from '../cluster/lease.ts'
import { Loopback } from '../cluster/loopback.ts'
import { type Member, type MemberRole, Members } from '../cluster/members.ts'
import { SealedLog } from '../cluster/sealed-log.ts'
import { LogWriter } from '../cluster/writer.ts'
import type { Config } from '../config.ts'
import type { Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { VenueTable } from '../venue-table.ts'
import type { ClusterParts, Engine } from './engine.ts'

interface LeaderParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly cluster: ClusterLog
  /** Aborting the signal ends a standby's wait. */
  readonly signal: AbortSignal
  readonly names: VenueTable
  /** Limits of retention. They also apply to a standby. */
  readonly retention: { readonly retentionDays: number; readonly sizeBytesMax: number }
  /** Called once when another engine leads. The process must then end. */
  readonly onDeposed: () => void
}

export function engineServerSettings(config: Config) {
  return {
    host: '127.0.0.1',
    trustedProxies: [...config.trustedProxies, '127.0.0.1'],
    opensLocalAccount: false,
  }
}

const HEARTBEAT_MS = 1_000
const DRAIN_MS_MAX = 3_000
/** Pause after every few hundred pending deliveries that are written, so that the log keeps up. */
const PENDING_PAUSE_MS = 20

export async function connectCluster(
  { nats, clusterKey, role }: Pick<Config, 'nats' | 'clusterKey' | 'role'>,
  parts: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<ClusterLog> {
  if (clusterKey === null) throw new Error('a cluster needs a CLUSTER_KEY')
  const { openNats } = await import('../cluster/nats.ts')
  const { clock, log } = parts
  const name = `twinbook ${role} ${hostname()} ${process.pid}`
  const side = role === 'gateway' ? 'gateway' : 'engine'
  return new SealedLog(await openNats({ ...nats, clock, log, name, side }), {
    ...parts,
    clusterKey,
  })
}

/** Follows the log until the lease is free. Resolves to null if the process stops before. */
export async function openLeader(parts: LeaderParts): Promise<Leader | null> {
  const { storage, clock, log, metrics, cluster, signal, names, retention } = parts
  let leading: Leader | null = null
  const accounts = await cluster.bucket('accounts')
  const webhooks = new ClusterWebhooks(storage.webhooks, await cluster.bucket('webhooks'))
  const onFailed = (error: unknown) =>
    log.error({ err: error }, 'an account or a webhook could not be stored')
  const shared = new ClusterAccounts(storage.accounts, accounts)
  const fixing = (fix: (key: string) => Promise<void>) => (key: string) => {
    if (leading !== null)
      fix(key).catch((error) => log.warn({ err: error, key }, 'a record could not be restored'))
  }
  const fixAccounts = fixing((key) => shared.restore(key))
  const followed = await ClusterAccounts.follow(storage.accounts, accounts, onFailed, fixAccounts)
  const hooks = await webhooks.follow(
    onFailed,
    fixing((key) => webhooks.restore(key)),
  )
  const standby = new Standby({
    ...{ log: cluster, clock, logger: log, metrics, storage, names, webhooks },
  })
  const stopHousekeeping = startStorageHousekeeping({ clock, storage, log, ...retention })
  standby.start()
  log.info('standing by for the lease')
  const bucket = await cluster.bucket('lease')
  const holder = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`
  const members = new Members({
    ...{ log: cluster, clock },
    self: () =>
      leading?.member ?? {
        ...{ role: 'standby', name: holder, term: null },
        ...{ lagBatches: standby.behind, lagMs: Math.round(standby.lagMs) },
      },
  })
  const shareAgain = async () => {
    log.error(
      'the log of the cluster has lost its data: accounts and webhooks are written to it again',
    )
    while (!signal.aborted) {
      try {
        await shared.share()
        await webhooks.share()
        return
      } catch (error) {
        log.warn({ err: error }, 'accounts and webhooks could not be written to the log')
      }
      await pause(clock, HEARTBEAT_MS, signal)
    }
  }
  const onRecordLost = () => void shareAgain()
  const lease = await takeLease({ bucket, holder, clock, log, onRecordLost }, signal)
  // The leader is created at once, because it renews the lease.
  if (lease !== null) leading = new Leader(parts, lease, { accounts: shared, webhooks, members })
  await (leading === null ? standby.stop() : standby.takeOver())
  stopHousekeeping()
  for (const each of [followed, hooks]) {
    if (leading === null) await each.stop()
    else await leading.guard(each)
  }
  if (leading === null) await members.stop()
  if (leading === null) return null
  const count = (await shared.share(followed.names)) + (await webhooks.share(hooks.names))
  if (count > 0) log.info({ records: count }, 'records of this engine were written to the cluster')
  return leading
}

export class Leader {
  readonly parts: ClusterParts
  readonly #parts: LeaderParts
  readonly #lease: Lease
  #writer: LogWriter<LogItem> | null = null
  #feeder: Feeder | null = null
  #checkpoints: Checkpoints | null = null
  #loopback: Loopback | null = null
  readonly #answers: LogSubscription[] = []
  readonly #guarded: LogSubscription[] = []
  #stopTimer: StopTimer = () => undefined
  readonly #outbox: OutboxReplication
  readonly #takenAtMs: number
  readonly #members: Members
  #isOpen = false
  #isDeposed = false

  constructor(
    parts: LeaderParts,
    lease: Lease,
    shared: {
      readonly accounts: ClusterAccounts
      readonly webhooks: ClusterWebhooks
      readonly members: Members
    },
  ) {
    this.#parts = parts
    this.#lease = lease
    this.#takenAtMs = parts.clock.monotonicMs()
    lease.startRenewing(() => this.#onDeposed())
    const term = 'Term of the lease that this engine holds. Each new leader has a higher one.'
    parts.metrics.gauge('cluster_term', term, () => lease.term)
    this.#outbox = new OutboxReplication({
      own: parts.storage.outbox,
      idOf: (number) => shared.webhooks.idOf(number),
      // The writer publishes waiting items when the log is opened.
      publish: (item) => {
        if (this.#isOpen) this.#writer?.put('hooks', item)
      },
    })
    const { accounts, webhooks, members } = shared
    this.#members = members
    this.#measure()
    this.parts = {
      ...{ accounts, webhooks },
      view: () => ({
        ...{ role: 'engine', name: lease.holder, link: parts.cluster.link, lagMs: 0 },
        ...{ lagBatches: this.#writer?.waiting ?? 0, isConnected: !this.#isDeposed },
        ...{ leader: members.leader, members: members.all() },
      }),
      gate: (take) => gated(() => lease.confirm(), take),
      feeder: (components) => {
        const { cluster, clock, log, metrics } = parts
        const writer = new LogWriter<LogItem>({
          log: cluster,
          epoch: components.publisher.epoch,
          term: lease.term,
          clock,
          logger: log,
          metrics,
          encode: writeItem,
          missing: (fromBatch) => ({ kind: 'missing', fromBatch }),
          isLeading: () => lease.isHeld(),
          onDeposed: () => this.#onDeposed(),
        })
        this.#writer = writer
        this.#feeder = new Feeder({
          ...components,
          put: (shard, item, position) => writer.put(shard, item, position),
        })
        return this.#feeder
      },
    }
  }

  async guard(followed: Following): Promise<void> {
    this.#guarded.push(followed)
    await followed.lead()
  }

  get member(): Member {
    const { holder: name, term } = this.#lease
    return { role: 'engine', name, term, lagBatches: this.#writer?.waiting ?? 0, lagMs: 0 }
  }

  /** Called by the leader, because standbys serve no metrics. */
  #measure(): void {
    const { metrics } = this.#parts
    const of = (role: MemberRole) => this.#members.all().filter((member) => member.role === role)
    const most = (lag: (member: Member) => number) =>
      of('standby').reduce((all, member) => Math.max(all, lag(member)), 0)
    const counted = (role: MemberRole) => () => of(role).length
    metrics.gauge(
      'cluster_standbys',
      'Standbys that announced themselves within five seconds.',
      counted('standby'),
    )
    metrics.gauge(
      'cluster_gateways',
      'Gateways that announced themselves within five seconds.',
      counted('gateway'),
    )
    const batches = 'Batches of the log that the slowest standby has not read.'
    metrics.gauge('cluster_standby_lag_batches', batches, () => most((one) => one.lagBatches))
    const ms =
      'Delay of the newest trade from the engine to the disk of the slowest standby, in milliseconds.'
    metrics.gauge('cluster_standby_lag_ms', ms, () => most((one) => one.lagMs))
  }

  /** Called when the engine's server listens on loopback. Resolves when the first checkpoint is written. */
  async start(engine: Engine): Promise<void> {
    const { cluster, clock, log, metrics, storage } = this.#parts
    const [feeder, writer] = [this.#feeder, this.#writer]
    if (feeder === null || writer === null)
      throw new Error('createEngine must use the parts of this leader')
    const loopback = new Loopback(engine.port)
    this.#loopback = loopback
    this.#announceRevocations(engine)
    this.#answer('http', (body) => loopback.answer(body))
    this.#answer('trades', answerOlderTrades(engine.view))
    this.#answer(
      'batch',
      answerBatches((id) => writer.batch(id)),
    )
    this.#answer('bars', answerBars({ clock, catalog: engine.view.catalog }))
    const { catalog, coverage } = engine.view
    this.#answer('coverage', answerBookDemand({ clock, catalog, coverage }))
    this.#answer('quota', new QuotaServer(engine.accounts, clock).answer)
    const afterMs = Math.round(clock.monotonicMs() - this.#takenAtMs)
    log.info({ term: this.#lease.term, afterMs }, 'the leader answers gateways')
    await this.#openShards(writer)
    this.#isOpen = true
    feeder.isOpen = true
    const { view, publisher } = engine
    const checkpoints = new Checkpoints({
      ...{ log: cluster, clock, logger: log, metrics, term: this.#lease.term, view, publisher },
      events: () => engine.catalog.listedEvents(),
      pairs: () => engine.matches.allListed(),
      opportunities: () => engine.arbitrage.open(),
      feeder,
      shardPositions: () => writer.positions(),
    })
    this.#checkpoints = checkpoints
    this.#answer('checkpoint', async (body) => {
      const askingEpoch = Buffer.from(body).toString()
      // A gateway that requests a checkpoint because of the new run has missed no batches of the run.
      await (askingEpoch === '' || askingEpoch === view.epoch
        ? checkpoints.make()
        : checkpoints.first())
      return new Uint8Array()
    })
    // Started before gateways learn of this run, because they wait for the checkpoint.
    const isMade = checkpoints.start()
    feeder.beat()
    writer.flush()
    this.#stopTimer = clock.every(HEARTBEAT_MS, () => feeder.beat())
    await isMade
    const numbers = [...storage.webhooks.all()].map(({ number }) => number)
    await this.#outbox.publishPending(numbers, () =>
      pause(clock, PENDING_PAUSE_MS, this.#parts.signal),
    )
  }

  /** Leaves requests unanswered if this engine no longer leads, so that the current leader can answer. */
  #answer(subject: RequestSubject, answer: Answer): void {
    const answering = this.#parts.cluster.answer(subject, async (body) => {
      if ((await this.#lease.confirm()) === false) return new Promise(() => undefined)
      return answer(body)
    })
    this.#answers.push(answering)
  }

  /** Retries without limit. Without the log the engine continues alone. */
  async #openShards(writer: LogWriter<LogItem>): Promise<void> {
    const { clock, signal, log } = this.#parts
    while (!signal.aborted) {
      try {
        return await writer.open(SHARDS)
      } catch (error) {
        log.warn({ err: error }, 'the log is not ready')
        await pause(clock, HEARTBEAT_MS, signal)
      }
    }
  }

  /** Must be called before the engine stops. */
  async pause(): Promise<void> {
    this.#checkpoints?.stop()
    this.#stopTimer()
    for (const answering of this.#answers) await answering.stop()
  }

  /** Must be called after the engine has stopped. Writes the waiting batches and releases the lease. */
  async stop(): Promise<void> {
    this.#loopback?.close()
    if (!this.#isDeposed) await this.#writer?.drain(DRAIN_MS_MAX)
    this.#writer?.stop()
    await this.#members.stop()
    await this.#lease.release()
    await this.#parts.cluster.close()
    // A rejection means that the connection was closed while a watch restarted. It is ignored.
    for (const guarded of this.#guarded) await guarded.stop()
  }

  /** Announces ended keys, tokens and accounts at once, because the bucket's records arrive later. */
  #announceRevocations({ accounts }: Engine): void {
    const announce = (of: Revocation['of'], id: string) =>
      this.#parts.cluster.announce('revoked', revocationMessage.encode({ of, id }))
    accounts.watch({
      onRevoked: (key) => announce('key', key),
      onTokenEnded: (id) => announce('token', id),
      onTokensEnded: (account) => announce('tokens', account),
      onAccountDeactivated: (account) => announce('account', account),
    })
  }

  #onDeposed(): void {
    if (this.#isDeposed) return
    this.#isDeposed = true
    this.#writer?.stop()
    for (const answering of this.#answers) void answering.stop()
    this.#parts.log.fatal({ term: this.#lease.term }, 'another engine leads: this one ends')
    this.#parts.onDeposed()
  }
}
