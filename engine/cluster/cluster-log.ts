// Interface between the engine and its gateways: an append-only log in shards, small records, objects, requests and
// announcements. The engine writes the log; gateways and standbys read it.

/**
 * Shards of the log.
 * - `books`: books and prices, retained for minutes.
 * - `trades`: trades and everything else, retained for a day.
 * - `hooks`: deliveries of webhooks, which only standbys read, retained for three days.
 */
export const SHARDS = ['books', 'trades', 'hooks'] as const

/**
 * Name of a shard, also the suffix of its subject. A shard contains all venues, because the fixed cost of a batch
 * exceeds that of its content.
 */
export type ShardName = (typeof SHARDS)[number]

export const marketShards = ['books', 'trades'] as const satisfies readonly ShardName[]

/** Why a log operation failed. */
export type LogFailure =
  /** Another writer has appended, so the expected sequence is not the last one. */
  | 'fenced'
  /** There is no connection, or no response in time. The operation may have succeeded. */
  | 'down'
  /** The log is full, or the data is too large for it. */
  | 'full'
  /** The record has another revision. */
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

/** A batch as a reader receives it. `sequence` increases within a shard, from 1. */
export interface Delivered {
  readonly sequence: number
  readonly bytes: Uint8Array
  /** Number of later batches in the shard when the log sent this one. */
  readonly behind: number
}

/** Id by which the log recognises duplicates, and by which a reader requests the batch from the engine. */
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
   * Called with the batches in order. The next call waits for the returned promise. Batches that the log has deleted
   * are skipped, so sequences may have gaps. Must not throw.
   */
  readonly onBatch: (batch: Delivered) => void | Promise<void>
  /** Called instead of `onBatch` for a batch that was not written with this cluster's key. */
  readonly onRefused?: (batch: Pick<Delivered, 'sequence' | 'behind'>) => void
}

export interface LogSubscription {
  stop(): Promise<void>
}

/** A small record with its revision. */
export interface BucketEntry {
  readonly key: string
  /** Null: the record was removed. */
  readonly value: Uint8Array | null
  readonly revision: number
}

/**
 * Small records by key (letters, digits, `-`, `_`, `.`), each with an increasing revision. All methods
 * reject with LogError.
 */
export interface Bucket {
  /** Null: there is no record. A null `value`: the record was not written by this cluster and can be replaced. */
  get(key: string): Promise<BucketEntry | null>
  /** Resolves to the new revision once the log has stored the record. */
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
     * Called instead of `onEntry` for a record that was not written with this cluster's key, or is older than the last
     * one.
     */
    readonly onRefused?: (key: string) => void
  }): Promise<LogSubscription>
}

export type BucketName = 'accounts' | 'lease' | 'webhooks'

/** Whether the log is reachable. */
export type LinkState = 'up' | 'down'

/** Answers requests. A rejection reaches the requester as `unanswered`. */
export type Answer = (body: Uint8Array) => Promise<Uint8Array>

/** Subjects of requests. The leader answers them, except `http.<name>`, which the gateway of that name answers. */
export type RequestSubject =
  | 'http'
  | `http.${string}`
  | 'checkpoint'
  | 'quota'
  | 'coverage'
  | 'trades'
  | 'bars'
  | 'batch'
/** Subjects of announcements, which reach the current subscribers only. */
export type AnnouncementSubject = 'revoked' | 'member' | 'places' | 'tickets'

export interface ClusterLog {
  readonly link: LinkState
  /** Calls `listener` with every change of the link. */
  onLink(listener: (link: LinkState) => void): void
  /** Sequence of the newest batch of a shard; 0 if it never had one. Rejects with LogError. */
  head(shard: ShardName): Promise<number>
  /**
   * Appends a batch. Resolves with its sequence once the log has stored it. Any number may be pending. They
   * are appended in the order of the calls.
   * - `after`: the required sequence of the shard's newest batch, else it rejects with `fenced`.
   * - `id`: a second batch with the same id within two minutes is not appended and gets the first one's
   *   sequence.
   * - `isAckedSeparately`: requests an acknowledgement of this batch only, because it is unknown whether the log has
   *   the preceding ones.
   */
  publish(shard: ShardName, batch: Append): Promise<number>
  /**
   * Reads a shard from a sequence on, until stopped. Continues after lost connections. Buffers a limited number of
   * batches.
   */
  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription
  bucket(name: BucketName): Promise<Bucket>
  /** Replaces an object, which may have any size. */
  putObject(name: string, bytes: Uint8Array): Promise<void>
  /** Returns the newest object of a name; null: there is none. Rejects with LogError if it is damaged. */
  getObject(name: string): Promise<Uint8Array | null>
  /** Sends a request. Rejects with LogError after `requestMsMax`, or at once with `full` if `requestsMax` are pending. */
  request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array>
  /** Answers requests. SealedLog rejects requests of a process beyond its share of `answersMax` at once. */
  answer(subject: RequestSubject, answer: Answer): LogSubscription
  /** Sends to the current subscribers. Nothing is stored. */
  announce(subject: AnnouncementSubject, body: Uint8Array): void
  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription
  /** Flushes pending data, then disconnects. */
  close(): Promise<void>
}

/** Time limit of a request in milliseconds. */
export const requestMsMax = 4_000
/** Pending requests of one process. */
export const requestsMax = 1_024
/** Maximum running answers per subject, shared by the requesting processes. */
export const answersMax = 64
/** Maximum bytes of a batch. A tick with more data makes several batches. */
export const clusterBatchBytesMax = 512 * 1_024
/** Batches that a reader buffers. */
export const readAheadMax = 256
