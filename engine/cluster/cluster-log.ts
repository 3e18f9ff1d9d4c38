// Interface between the engine and its gateways: an append-only log in shards, small records, objects,
// requests and announcements. The engine writes the log, gateways and standbys read it. Adapters: nats.ts,
// and a fault-injecting one in tests.

/**
 * Shards of the log.
 * - `books`: books and prices, retained for minutes.
 * - `trades`: trades and everything else, retained for a day.
 * - `hooks`: deliveries of webhooks, which only standbys read, retained for three days.
 */
export const SHARDS = ['books', 'trades', 'hooks'] as const

/**
 * One ordered part of the log, for all venues, because a batch costs more than its content. Also the suffix
 * of its subject.
 */
export type ShardName = (typeof SHARDS)[number]

/** The shards that gateways read. */
export const marketShards = ['books', 'trades'] as const satisfies readonly ShardName[]

/** Why a log operation failed. */
export type LogFailure =
  /** Another writer appended in between: the expected sequence is not the last one. */
  | 'fenced'
  /** No connection, or no response in time. The operation may have been done. */
  | 'down'
  /** The log is full, or the data is too large for it. */
  | 'full'
  /** A record does not have the expected revision. */
  | 'changed'
  /** No process answers requests of this kind now. */
  | 'unanswered'

export class LogError extends Error {
  readonly reason: LogFailure

  constructor(reason: LogFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LogError'
    this.reason = reason
  }
}

/** A batch as a reader receives it. Sequences are the log's own: they increase by one within a shard, from 1. */
export interface Delivered {
  readonly sequence: number
  readonly bytes: Uint8Array
  /** Batches of the shard after this one, as of when the log sent it. */
  readonly behind: number
}

/** Id by which the log removes duplicates, and by which a batch is requested from the engine (`batch`). */
export const idOfBatch = (epoch: string, shard: ShardName, batch: number): string =>
  `${epoch}:${shard}:${batch}`

export interface Append {
  readonly bytes: Uint8Array
  readonly id: string
  readonly after: number
  readonly isAckedSeparately?: boolean
}

/** A reader of one shard. */
export interface ShardReader {
  /**
   * Called in order, one at a time: the next batch waits for the promise. Batches that the log no longer
   * has are skipped, so the first sequence may be above the requested one, and sequences may have gaps.
   * Must not throw.
   */
  readonly onBatch: (batch: Delivered) => void | Promise<void>
  /** Called instead of `onBatch` for a batch that no process of this cluster wrote. */
  readonly onRefused?: (batch: Pick<Delivered, 'sequence' | 'behind'>) => void
}

export interface LogSubscription {
  stop(): Promise<void>
}

/** A small record with its revision. */
export interface BucketEntry {
  readonly key: string
  /** Null: it was removed. */
  readonly value: Uint8Array | null
  readonly revision: number
}

/**
 * Small records by key (letters, digits, `-`, `_`, `.`), each with an increasing revision. All methods
 * reject with LogError.
 */
export interface Bucket {
  /** Null: no record. An entry with a null value was not written by this cluster and can be replaced. */
  get(key: string): Promise<BucketEntry | null>
  /** Resolves with the new revision once the log has stored it. */
  put(key: string, value: Uint8Array): Promise<number>
  /**
   * Like `put`, but only while the record has this revision (0: does not exist). Otherwise rejects with
   * `changed`.
   */
  replace(key: string, value: Uint8Array, revision: number): Promise<number>
  remove(key: string): Promise<void>
  /**
   * Calls `onEntry` with every existing or removed record, then `onSnapshotEnd` once, then `onEntry` with
   * every change, until stopped. Restarts after a lost connection, so a record may be repeated.
   */
  watch(watcher: {
    readonly onEntry: (entry: BucketEntry) => void
    readonly onSnapshotEnd: () => void
    /**
     * Called instead of `onEntry` for a record that this cluster did not write, or that is older than the
     * one before.
     */
    readonly onRefused?: (key: string) => void
  }): Promise<LogSubscription>
}

export type BucketName = 'accounts' | 'lease' | 'webhooks'

/** Whether the log is reachable. */
export type LinkState = 'up' | 'down'

/** Answers requests. A rejection reaches the requester as `unanswered`. */
export type Answer = (body: Uint8Array) => Promise<Uint8Array>

/** Subjects of requests. The leader answers them. `http.<name>` is answered by the gateway of that name. */
export type RequestSubject =
  | 'http'
  | `http.${string}`
  | 'checkpoint'
  | 'quota'
  | 'trades'
  | 'bars'
  | 'batch'
/** Subjects of announcements, which reach the current subscribers only. */
export type AnnouncementSubject = 'revoked' | 'member' | 'places' | 'tickets'

export interface ClusterLog {
  readonly link: LinkState
  /** Calls `listener` with every change of the link. */
  onLink(listener: (link: LinkState) => void): void
  /** The sequence of the newest batch of a shard. 0: it never had one. Rejects with LogError. */
  head(shard: ShardName): Promise<number>
  /**
   * Appends a batch. Resolves with its sequence once the log has stored it. Any number may be pending. They
   * are appended in the order of the calls.
   * - `after`: the required sequence of the shard's newest batch, else it rejects with `fenced`.
   * - `id`: a second batch with the same id within two minutes is not appended and gets the first one's
   *   sequence.
   * - `isAckedSeparately`: it is unknown whether the log has the batches sent right before, so this one
   *   gets its own acknowledgement.
   */
  publish(shard: ShardName, batch: Append): Promise<number>
  /**
   * Reads a shard from a sequence on, until stopped, across lost connections. Buffers a bounded number of
   * batches.
   */
  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription
  bucket(name: BucketName): Promise<Bucket>
  /** Replaces an object of any size. */
  putObject(name: string, bytes: Uint8Array): Promise<void>
  /** The newest object of a name, complete. Null: none. Rejects with LogError for a damaged one. */
  getObject(name: string): Promise<Uint8Array | null>
  /**
   * Sends a request. Rejects with LogError after `requestMsMax`. At most `requestsMax` are pending, further
   * ones are `full`.
   */
  request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array>
  /** Answers requests. SealedLog rejects a process's requests above its share of `answersMax` at once. */
  answer(subject: RequestSubject, answer: Answer): LogSubscription
  /** Sends to the current subscribers. Nothing is stored. */
  announce(subject: AnnouncementSubject, body: Uint8Array): void
  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription
  /** Flushes pending data, then disconnects. */
  close(): Promise<void>
}

/** Time limit of a request, milliseconds. */
export const requestMsMax = 4_000
/** Pending requests of one process. */
export const requestsMax = 1_024
/** Requests of a subject that are answered concurrently, shared by the requesting processes. */
export const answersMax = 64
/** Bytes of one batch. More data in one event-loop tick becomes several batches. */
export const clusterBatchBytesMax = 512 * 1_024
/** Batches that a reader buffers. */
export const readAheadMax = 256
