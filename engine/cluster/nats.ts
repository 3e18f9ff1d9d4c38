// The log on NATS with JetStream: a stream per shard, a key-value bucket per kind of records, an object store, requests
// and announcements. Restarts readers that receive nothing while the shard has more, and readers whose stream lost its
// newest batches. Loaded only in roles that use it.

import { readFileSync } from 'node:fs'
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { type ObjectStore, Objm, setSha256Backend } from '@nats-io/obj'
import {
  ConnectionError,
  connect,
  createInbox,
  credsAuthenticator,
  headers,
  type Msg,
  type NatsConnection,
  nanos,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node'
import { type Clock, pause } from '../clock.ts'
import type { Log } from '../process/log.ts'
import {
  type AnnouncementSubject,
  type Answer,
  type Append,
  type Bucket,
  type BucketName,
  type ClusterLog,
  type LinkState,
  LogError,
  type LogSubscription,
  type RequestSubject,
  requestMsMax,
  requestsMax,
  type ShardName,
  type ShardReader,
} from './cluster-log.ts'
import { openBucket } from './nats-bucket.ts'
import { NatsPublisher, refusalOf } from './nats-publisher.ts'
import { NatsReader } from './nats-reader.ts'

interface NatsParts {
  /** One or more servers, `nats://host:port` or `tls://host:port`, comma-separated. */
  readonly url: string
  readonly creds: string | null
  readonly ca: string | null
  /** Null: the server requires no login, or `creds` contains it. */
  readonly login: { readonly user: string; readonly password: string } | null
  /**
   * An engine creates streams, buckets and the object store. A gateway's user may not create them, so it waits for
   * them.
   */
  readonly side: 'engine' | 'gateway'
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  /** Time limit of one operation. Default {@link requestMsMax}. */
  readonly timeoutMs?: number
}

const MINUTE_NS = 60_000
const GIB = 2 ** 30
const LIMITS: Readonly<Record<ShardName, { readonly ageMs: number; readonly bytes: number }>> = {
  books: { ageMs: 15 * MINUTE_NS, bytes: 4 * GIB },
  trades: { ageMs: 24 * 60 * MINUTE_NS, bytes: 4 * GIB },
  hooks: { ageMs: 72 * 60 * MINUTE_NS, bytes: 4 * GIB },
}
const DUPLICATE_MS = 2 * MINUTE_NS
const BUCKET_BYTES_MAX = GIB
const OBJECTS = 'TB_OBJECTS'
const FAILED = 'Tb-Failed'
const RECONNECT_MS = 250
const PING_MS = 2_000

/** Connects, and waits for the server without limit. Rejects with an Error for unreadable or rejected credentials. */
export async function openNats(parts: NatsParts): Promise<ClusterLog> {
  const { url, creds, ca, login, side, name, clock, log } = parts
  const { timeoutMs: timeout = requestMsMax } = parts
  // The client's own JavaScript hashes large checkpoints ten times slower.
  setSha256Backend('native')
  const options = {
    servers: url.split(',').map((one) => one.trim()),
    name,
    ...(creds === null ? {} : { authenticator: credsAuthenticator(readFileSync(creds)) }),
    ...(login === null ? {} : { user: login.user, pass: login.password }),
    inboxPrefix: inboxOf(side),
    ...(ca === null ? {} : { tls: { caFile: ca } }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
    // Without this option the client retains two stack traces for each pending acknowledgement.
    noAsyncTraces: true,
    timeout,
  }
  for (let tries = 0; ; tries += 1) {
    let connection: NatsConnection | null = null
    try {
      connection = await connect(options)
      return new NatsLog(connection, await jetstreamManager(connection, { timeout }), parts)
    } catch (error) {
      await connection?.close()
      // The client's `waitOnFirstConnect` is not used, because it would also retry rejected credentials without end.
      if (!isAbsence(error)) throw error
      if (tries === 0) log.warn({ err: error }, 'waiting for NATS')
      await pause(clock, RECONNECT_MS)
    }
  }
}

/** Subject prefix of responses. Each role has its own prefix. Only the role's NATS user may subscribe to the prefix. */
const inboxOf = (side: NatsParts['side']): string => `_INBOX.${side}`

/** The server is missing or not ready: nothing listens, the server closed the connection, or it did not respond in time. */
function isAbsence(error: unknown): boolean {
  return error instanceof ConnectionError || error instanceof TimeoutError
}

class NatsLog implements ClusterLog {
  readonly #connection: NatsConnection
  readonly #manager: JetStreamManager
  readonly #client: JetStreamClient
  readonly #publisher: NatsPublisher
  readonly #parts: NatsParts
  readonly #timeoutMs: number
  readonly #streams = new Map<ShardName, Promise<string>>()
  readonly #ready = new Set<ShardName>()
  readonly #listeners: ((link: LinkState) => void)[] = []
  #objects: Promise<ObjectStore> | null = null
  #requestCount = 0
  link: LinkState = 'up'

  constructor(connection: NatsConnection, manager: JetStreamManager, parts: NatsParts) {
    this.#connection = connection
    this.#manager = manager
    this.#parts = parts
    this.#timeoutMs = parts.timeoutMs ?? requestMsMax
    this.#client = jetstream(connection, { timeout: this.#timeoutMs })
    const inbox = createInbox(inboxOf(parts.side))
    this.#publisher = new NatsPublisher(connection, parts.clock, this.#timeoutMs, inbox)
    void this.#follow()
  }

  onLink(listener: (link: LinkState) => void): void {
    this.#listeners.push(listener)
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection' || type === 'close') this.#set('down')
      if (type === 'reconnect') this.#set('up')
    }
    this.#set('down')
  }

  #set(link: LinkState): void {
    if (link === this.link) return
    this.link = link
    if (link === 'down') this.#publisher.giveUpAll()
    this.#parts.log.warn({ link }, 'the connection to NATS changed')
    for (const listener of this.#listeners) listener(link)
  }

  get #creates(): boolean {
    return this.#parts.side === 'engine'
  }

  #stream(shard: ShardName): Promise<string> {
    const existing = this.#streams.get(shard)
    if (existing !== undefined) return existing
    const making = this.#makeStream(shard)
    this.#streams.set(shard, making)
    making.catch(() => this.#streams.delete(shard))
    return making
  }

  async #makeStream(shard: ShardName): Promise<string> {
    const name = `TB_${shard}`
    const { ageMs, bytes } = LIMITS[shard]
    try {
      await this.#manager.streams.info(name)
      return name
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || !this.#creates) throw failureOf(error)
    }
    try {
      await this.#manager.streams.add({
        name,
        subjects: [`tb.${shard}`],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.Old,
        max_age: nanos(ageMs),
        max_bytes: bytes,
        duplicate_window: nanos(DUPLICATE_MS),
        num_replicas: this.#connection.info?.cluster === undefined ? 1 : 3,
      })
      return name
    } catch (error) {
      throw failureOf(error)
    }
  }

  async head(shard: ShardName): Promise<number> {
    return (await this.#ends(shard)).last
  }

  async #ends(shard: ShardName): Promise<{ first: number; last: number }> {
    const name = await this.#stream(shard)
    try {
      const { state } = await this.#manager.streams.info(name)
      return { first: state.first_seq, last: state.last_seq }
    } catch (error) {
      // The next call creates the stream again, because a server that lost its disk has lost the stream.
      this.#invalidate(shard)
      throw failureOf(error)
    }
  }

  async publish(shard: ShardName, batch: Append): Promise<number> {
    // While disconnected, the client would buffer messages without limit.
    if (this.link === 'down') throw new LogError('down', 'NATS is not connected')
    if (!this.#ready.has(shard)) await this.#stream(shard)
    this.#ready.add(shard)
    try {
      return await this.#publisher.publish(`tb.${shard}`, batch)
    } catch (error) {
      const failure = failureOf(error)
      if (failure.reason !== 'unanswered') throw failure
      // The stream does not exist: the server has just started or has lost it.
      this.#invalidate(shard)
      throw new LogError('down', failure.message, error)
    }
  }

  #invalidate(shard: ShardName): void {
    this.#streams.delete(shard)
    this.#ready.delete(shard)
  }

  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription {
    const { clock, log } = this.#parts
    const ends = () => this.#ends(shard)
    const open = async (next: number) => {
      const stream = await this.#stream(shard)
      const policy = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: next }
      return this.#client.consumers.get(stream, policy)
    }
    const natsReader = new NatsReader({ clock, log, shard, reader, ends, open }, from)
    this.onLink((link) => {
      if (link === 'up') natsReader.restart()
    })
    return natsReader
  }

  bucket(name: BucketName): Promise<Bucket> {
    const onUp = (action: () => void) =>
      this.onLink((link) => {
        if (link === 'up') action()
      })
    const replicas = this.#connection.info?.cluster === undefined ? 1 : 3
    const { clock, log } = this.#parts
    const bytesMax = BUCKET_BYTES_MAX
    const limits = { replicas, bytesMax, timeoutMs: this.#timeoutMs, creates: this.#creates }
    return openBucket(this.#client, `TB_${name}`, { ...limits, onUp, clock, log, failureOf })
  }

  async #store(): Promise<ObjectStore> {
    const objects = new Objm(this.#client)
    this.#objects ??= this.#creates
      ? objects.create(OBJECTS, { storage: StorageType.File })
      : objects.open(OBJECTS)
    try {
      return await this.#objects
    } catch (error) {
      this.#objects = null
      throw failureOf(error)
    }
  }

  async putObject(name: string, bytes: Uint8Array): Promise<void> {
    const store = await this.#store()
    try {
      await store.putBlob({ name }, bytes)
    } catch (error) {
      this.#objects = null
      throw failureOf(error)
    }
  }

  async getObject(name: string): Promise<Uint8Array | null> {
    const store = await this.#store()
    try {
      return await store.getBlob(name)
    } catch {
      // The object is read again, because a newer object may have replaced it during the read.
      await pause(this.#parts.clock, RECONNECT_MS)
    }
    try {
      return await store.getBlob(name)
    } catch (error) {
      throw failureOf(error)
    }
  }

  async request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array> {
    if (this.link === 'down') throw new LogError('down', 'NATS is not connected')
    if (this.#requestCount >= requestsMax)
      throw new LogError('full', 'too many requests are under way')
    this.#requestCount += 1
    try {
      const timeout = this.#timeoutMs
      const reply = await this.#connection.request(`tb.ask.${subject}`, body, { timeout })
      const failed = reply.headers?.get(FAILED) ?? ''
      if (failed !== '') throw new LogError('unanswered', failed)
      return reply.data
    } catch (error) {
      throw failureOf(error)
    } finally {
      this.#requestCount -= 1
    }
  }

  answer(subject: RequestSubject, answer: Answer): LogSubscription {
    const refuse = (message: Msg, why: string) => {
      const replyHeaders = headers()
      replyHeaders.set(FAILED, why)
      message.respond(undefined, { headers: replyHeaders })
    }
    const handle = async (message: Msg) => {
      try {
        const body = await answer(message.data)
        const payloadMax = this.#connection.info?.max_payload ?? 0
        if (body.length > payloadMax)
          refuse(message, 'the answer is larger than the maximum of NATS')
        else message.respond(body)
      } catch (error) {
        refuse(message, reasonOf(error))
      }
    }
    const subscription = this.#connection.subscribe(`tb.ask.${subject}`, {
      callback: (error, message) => {
        if (error === null) void handle(message)
      },
    })
    return { stop: async () => subscription.unsubscribe() }
  }

  announce(subject: AnnouncementSubject, body: Uint8Array): void {
    if (this.link === 'up') this.#connection.publish(`tb.told.${subject}`, body)
  }

  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription {
    const subscription = this.#connection.subscribe(`tb.told.${subject}`, {
      callback: (error, message) => {
        if (error === null) listener(message.data)
      },
    })
    return { stop: async () => subscription.unsubscribe() }
  }

  async close(): Promise<void> {
    this.#publisher.stop()
    try {
      await this.#connection.drain()
    } catch {
      await this.#connection.close()
    }
  }
}

/** Removes line breaks, because the text is sent in a header. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200) || 'failed'
}

function failureOf(error: unknown): LogError {
  if (error instanceof LogError) return error
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof JetStreamApiError) {
    return refusalOf(error.code, message, error)
  }
  const whys = [name, cause instanceof Error ? cause.name : '']
  const hasNoResponder =
    (error instanceof RequestError && error.isNoResponders()) ||
    whys.some((one) => one === 'NoRespondersError' || one === 'JetStreamNotEnabled')
  return new LogError(hasNoResponder ? 'unanswered' : 'down', message, error)
}
