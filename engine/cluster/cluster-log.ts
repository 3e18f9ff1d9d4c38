// What the engine and its gateways share: an append-only log in shards, small records, objects, requests and announcements.
// The engine writes it, gateways and standbys read it. Adapters: nats.ts; a test brings one with faults.

/**
 * `books`: books and prices, kept for minutes. `trades`: trades and everything else, kept for a day. `hooks`: deliveries of
 * webhooks, which only standbys read, kept for three.
 */
export const SHARDS = ['books', 'trades', 'hooks'] as const

/** One ordered part of the log, of all venues: each batch costs more than what is in it. It is the end of its subject too. */
export type ShardName = (typeof SHARDS)[number]

/** What gateways read. */
export const marketShards = ['books', 'trades'] as const satisfies readonly ShardName[]

/** Why the log did not do as asked. */
export type LogFailure =
  /** Another writer came in between: the expected sequence is not the last one. */
  | 'fenced'
  /** No connection, or no answer in time: whether it was done is not known. */
  | 'down'
  /** The log has no room, or what it was given is too large for it. */
  | 'full'
  /** A record is not what the caller expected it to be. */
  | 'changed'
  /** Nobody answers requests of this kind now. */
  | 'unanswered'

export class LogError extends Error {
  readonly reason: LogFailure

  constructor(reason: LogFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LogError'
    this.reason = reason
  }
}

/** A batch as a reader gets it. Sequences are the log's own: they ascend by one within a shard, from 1. */
export interface Delivered {
  readonly sequence: number
  readonly bytes: Uint8Array
  /** Batches of the shard behind this one, as the log knew when it sent it. */
  readonly behind: number
}

/** By which the log has a batch once, and the engine is asked for it (`batch`). */
export const idOfBatch = (epoch: string, shard: ShardName, batch: number): string =>
  `${epoch}:${shard}:${batch}`

/** A batch for a shard. */
export interface Append {
  readonly bytes: Uint8Array
  readonly id: string
  readonly after: number
  readonly isAckedSeparately?: boolean
}

/** A reader of one shard. */
export interface ShardReader {
  /**
   * Called in order, one at a time: the next batch waits for the promise. Batches that the log no longer has are left out, so
   * that the first sequence may be above the one asked for, and sequences may have holes. Must not throw.
   */
  readonly onBatch: (batch: Delivered) => void | Promise<void>
  /** In place of `onBatch`, for a batch that no process of this cluster wrote. */
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

/** Small records by key (letters, digits, `-`, `_`, `.`), each with a revision that grows. All methods reject with LogError. */
export interface Bucket {
  /** Null: there is none. An entry without a value: what is there was not written by this cluster, and can be replaced. */
  get(key: string): Promise<BucketEntry | null>
  /** Resolves with the new revision once the log has it safe. */
  put(key: string, value: Uint8Array): Promise<number>
  /** The same, only while the record has this revision (0: while there is none); else rejects with `changed`. */
  replace(key: string, value: Uint8Array, revision: number): Promise<number>
  remove(key: string): Promise<void>
  /**
   * Calls `onEntry` with every record that is there or was removed, then `onWhole` once, then with every change, until stopped. After a lost
   * connection it begins anew by itself: a record may come again.
   */
  watch(watcher: {
    readonly onEntry: (entry: BucketEntry) => void
    readonly onSnapshotEnd: () => void
    /** In place of `onEntry`, for a record that this cluster did not write, or that is older than the one before. */
    readonly onRefused?: (key: string) => void
  }): Promise<LogSubscription>
}

export type BucketName = 'accounts' | 'lease' | 'webhooks'

/** Whether the log can be reached. */
export type LinkState = 'up' | 'down'

/** Answers requests; what it rejects with reaches the asker as `unanswered`. */
export type Answer = (body: Uint8Array) => Promise<Uint8Array>

/** Subjects of requests: the engine that leads answers them; `http.<name>` the gateway of that name. */
export type RequestSubject =
  | 'http'
  | `http.${string}`
  | 'checkpoint'
  | 'quota'
  | 'trades'
  | 'bars'
  | 'batch'
/** Subjects of announcements, which reach whoever listens at that moment. */
export type AnnouncementSubject = 'revoked' | 'member' | 'places' | 'tickets'

export interface ClusterLog {
  readonly link: LinkState
  /** Calls back with every change of the link. */
  onLink(listener: (link: LinkState) => void): void
  /** The sequence of the newest batch of a shard; 0: it never had one. Rejects with LogError. */
  head(shard: ShardName): Promise<number>
  /**
   * Appends a batch; resolves with its sequence once the log has it safe. `after`: the sequence that the shard's newest batch
   * must have, else it rejects with `fenced`. A second batch with the same `id` within two minutes is not appended: the
   * first one's sequence is given again. Many may be under way; they are appended in the order of the calls. `isAlone`: it is
   * not known whether the log has those that were sent right before, so that it is acknowledged by itself.
   */
  publish(shard: ShardName, batch: Append): Promise<number>
  /** Reads a shard from a sequence on, until stopped, over lost connections too. Holds a bounded number of batches. */
  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription
  bucket(name: BucketName): Promise<Bucket>
  /** Replaces an object of any size. */
  putObject(name: string, bytes: Uint8Array): Promise<void>
  /** The newest object of a name, whole; null: there is none. Rejects with LogError for a damaged one. */
  getObject(name: string): Promise<Uint8Array | null>
  /** Asks the engine; rejects with LogError after `askMsMax`. At most `asksMax` are under way, further ones are `full`. */
  request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array>
  /** Answers at most `answersMax` at a time; further requests are refused at once, so that their asker tries another way. */
  answer(subject: RequestSubject, answer: Answer): LogSubscription
  /** Tells whoever listens; nothing is kept. */
  announce(subject: AnnouncementSubject, body: Uint8Array): void
  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription
  /** Sends what waits, then leaves. */
  close(): Promise<void>
}

/** How long a request may take, in milliseconds. */
export const requestMsMax = 4_000
/** Requests of one process under way. */
export const requestsMax = 1_024
/** Requests that the engine answers at a time. */
export const answersMax = 64
/** Bytes of one batch; a larger turn is several batches. */
export const clusterBatchBytesMax = 512 * 1_024
/** Batches that a reader holds. */
export const readAheadMax = 256
