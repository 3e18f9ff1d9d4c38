// Interface between the engine and its gateways: an append-only log in shards, small records, objects, requests and
// announcements. The engine writes the log. Gateways and standbys read it.

/**
 * Shards of the log.
 * - `books`: books and prices, retained for minutes.
 * - `trades`: trades and items of all other kinds, retained for a day.
 * - `hooks`: deliveries of webhooks, which only standbys read, retained for three days.
 */
export const SHARDS = ['books', 'trades', 'hooks'] as const

/** A shard contains all venues, because the fixed cost of a batch exceeds the cost of its content. */
export type ShardName = (typeof SHARDS)[number]

export const marketShards = ['books', 'trades'] as const satisfies readonly ShardName[]

export type LogFailure =
  /** Another writer has appended to the shard. */
  | 'fenced'
  /** The connection is lost, or no response arrived in time. The operation may have succeeded. */
  | 'down'
  /** The log is full, or the data is too large for the log. */
  | 'full'
  | 'changed'
  /** No process answers requests of this kind. */
  | 'unanswered'

export class LogError extends Error {
  readonly reason: LogFailure

  constructor(reason: LogFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LogError'
    this.reason = reason
  }
}

export interface Delivered {
  /** Increases within a shard, from 1. */
  readonly sequence: number
  readonly bytes: Uint8Array
  /** Number of later batches in the shard when the log sent this batch. */
  readonly behind: number
}

/** The log detects duplicates by this id. A reader requests a batch from the engine by this id. */
export const idOfBatch = (epoch: string, shard: ShardName, batch: number): string =>
  `${epoch}:${shard}:${batch}`

export interface Append {
  readonly bytes: Uint8Array
  readonly id: string
  readonly after: number
  readonly isAckedSeparately?: boolean
}

export interface ShardReader {
  /**
   * Called with the batches in order. The next call waits for the returned promise. Sequences have gaps where the log
   * has deleted batches. Must not throw.
   */
  readonly onBatch: (batch: Delivered) => void | Promise<void>
  /** Called instead of `onBatch` for a batch that was not written with this cluster's key. */
  readonly onRefused?: (batch: Pick<Delivered, 'sequence' | 'behind'>) => void
}

export interface LogSubscription {
  stop(): Promise<void>
}

export interface BucketEntry {
  readonly key: string
  /** Null: the record was removed. */
  readonly value: Uint8Array | null
  readonly revision: number
}

/**
 * Small records by key (letters, digits, `-`, `_`, `.`). Each has an increasing revision. All methods reject with
 * LogError.
 */
export interface Bucket {
  /** Null: the record does not exist. A null `value`: the record was not written by this cluster and can be replaced. */
  get(key: string): Promise<BucketEntry | null>
  /** Resolves to the new revision when the log has stored the record. */
  put(key: string, value: Uint8Array): Promise<number>
  /** Like `put`, but only if the record has this revision (0: it does not exist). Otherwise rejects with `changed`. */
  replace(key: string, value: Uint8Array, revision: number): Promise<number>
  remove(key: string): Promise<void>
  /**
   * Calls `onEntry` with every record, then `onSnapshotEnd` once, then `onEntry` with every change, until stopped.
   * After a lost connection records may be repeated.
   */
  watch(watcher: {
    readonly onEntry: (entry: BucketEntry) => void
    readonly onSnapshotEnd: () => void
    /**
     * Called instead of `onEntry` for a record that was not written with this cluster's key, or that is older than the
     * last version.
     */
    readonly onRefused?: (key: string) => void
  }): Promise<LogSubscription>
}

export type BucketName = 'accounts' | 'lease' | 'webhooks'

export type LinkState = 'up' | 'down'

/** A rejection reaches the requester as `unanswered`. */
export type Answer = (body: Uint8Array) => Promise<Uint8Array>

/**
 * Subjects of requests. The gateway with the name `<name>` answers `http.<name>`. The leader answers all other
 * subjects.
 */
export type RequestSubject =
  | 'http'
  | `http.${string}`
  | 'checkpoint'
  | 'quota'
  | 'coverage'
  | 'trades'
  | 'bars'
  | 'batch'
/** Announcements reach the current subscribers only. */
export type AnnouncementSubject = 'revoked' | 'member' | 'places' | 'tickets'

export interface ClusterLog {
  readonly link: LinkState
  onLink(listener: (link: LinkState) => void): void
  /** Sequence of the newest batch of a shard. 0 if the shard never had a batch. Rejects with LogError. */
  head(shard: ShardName): Promise<number>
  /**
   * Appends a batch. Resolves with its sequence when the log has stored the batch. Any number of batches may be
   * pending. They are appended in the order of the calls.
   * - `after`: the required sequence of the shard's newest batch. Otherwise the call rejects with `fenced`.
   * - `id`: a repeated id within two minutes is not appended again and resolves with the first batch's sequence.
   * - `isAckedSeparately`: the acknowledgement must not confirm preceding batches.
   */
  publish(shard: ShardName, batch: Append): Promise<number>
  /**
   * Reads a shard from a sequence on, until stopped. Continues after lost connections. Buffers a limited number of
   * batches.
   */
  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription
  bucket(name: BucketName): Promise<Bucket>
  putObject(name: string, bytes: Uint8Array): Promise<void>
  /** The newest object of a name. Null if none exists. Rejects with LogError if the object is damaged. */
  getObject(name: string): Promise<Uint8Array | null>
  /** Rejects with LogError after `requestMsMax`, or at once with `full` if `requestsMax` requests are pending. */
  request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array>
  /** Answers requests. SealedLog limits a process to its share of `answersMax` and rejects further requests at once. */
  answer(subject: RequestSubject, answer: Answer): LogSubscription
  /** Sends to the current subscribers. Nothing is stored. */
  announce(subject: AnnouncementSubject, body: Uint8Array): void
  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription
  close(): Promise<void>
}

export const requestMsMax = 4_000
export const requestsMax = 1_024
/** Maximum running answers per subject, shared by the requesting processes. */
export const answersMax = 64
/** Maximum bytes of a batch. A tick with more data makes several batches. */
export const clusterBatchBytesMax = 512 * 1_024
export const readAheadMax = 256
