// A bucket of encrypted records. Each record is bound to its key and has a version that increases with every change.
// Replayed older records, and removals that were made without CLUSTER_KEY, are rejected.

import type { Clock } from '../clock.ts'
import {
  type Bucket,
  type BucketEntry,
  type BucketName,
  LogError,
  type LogSubscription,
} from './cluster-log.ts'
import type { ClusterSeal } from './seal.ts'

export type RefusedKind = 'batch' | 'object' | 'record' | 'request' | 'answer' | 'announcement'
/**
 * `forged`: not made with this CLUSTER_KEY. `old`: a time too far in the past or future, or an older version. `repeat`:
 * received before.
 */
export type RefusedWhy = 'forged' | 'old' | 'repeat'
export type Refuse = (kind: RefusedKind, why: RefusedWhy) => void

interface SealedBucketParts {
  readonly name: BucketName
  readonly seal: ClusterSeal
  readonly clock: Clock
  readonly refuse: Refuse
}

const REMOVED = 0
const PRESENT = 1

export class SealedBucket implements Bucket {
  readonly #inner: Bucket
  readonly #parts: SealedBucketParts
  /** The newest version of each record that was read or written. Bounded by the number of records. */
  readonly #newest = new Map<string, { readonly version: number; readonly isRemoved: boolean }>()
  #version = 0

  constructor(inner: Bucket, parts: SealedBucketParts) {
    this.#inner = inner
    this.#parts = parts
  }

  async get(key: string): Promise<BucketEntry | null> {
    const entry = await this.#inner.get(key)
    if (entry === null) return null
    const read = this.#read(entry)
    // Returns an entry without a value instead of null, because a writer needs the revision to replace the record.
    if (read === null) return { ...entry, value: null }
    return read.value === null ? null : read
  }

  put(key: string, value: Uint8Array): Promise<number> {
    return this.#write(key, value, (bytes) => this.#inner.put(key, bytes))
  }

  async replace(key: string, value: Uint8Array, revision: number): Promise<number> {
    const write = (over: number) =>
      this.#write(key, value, (bytes) => this.#inner.replace(key, bytes, over))
    try {
      return await write(revision)
    } catch (error) {
      if (revision !== 0 || !(error instanceof LogError) || error.reason !== 'changed') throw error
      // A removed record still exists in the inner bucket, marked as removed.
      const entry = await this.#inner.get(key)
      if (entry === null || this.#read(entry)?.value !== null) throw error
      return write(entry.revision)
    }
  }

  async remove(key: string): Promise<void> {
    await this.#write(key, null, (bytes) => this.#inner.put(key, bytes))
  }

  watch(watcher: Parameters<Bucket['watch']>[0]): Promise<LogSubscription> {
    return this.#inner.watch({
      onSnapshotEnd: watcher.onSnapshotEnd,
      onEntry: (entry) => {
        const read = this.#read(entry)
        if (read !== null) watcher.onEntry(read)
        else watcher.onRefused?.(entry.key)
      },
    })
  }

  async #write(
    key: string,
    value: Uint8Array | null,
    send: (bytes: Uint8Array) => Promise<number>,
  ): Promise<number> {
    const { seal, clock } = this.#parts
    const newestVersion = this.#newest.get(key)?.version ?? 0
    // The clock of the previous writer may be ahead of this process's clock.
    const version = Math.max(clock.nowMs(), this.#version + 1, newestVersion + 1)
    this.#version = version
    const isRemoved = value === null
    const body = Buffer.concat([Buffer.of(isRemoved ? REMOVED : PRESENT), value ?? Buffer.of()])
    const revision = await send(seal.seal(this.#contextOf(key), version, body).bytes)
    this.#note(key, version, isRemoved)
    return revision
  }

  /** Null: the record was rejected. */
  #read({ key, value, revision }: BucketEntry): BucketEntry | null {
    const { seal, refuse } = this.#parts
    const newest = this.#newest.get(key)
    if (value === null) {
      if (newest === undefined || newest.isRemoved) return { key, value, revision }
      refuse('record', 'forged')
      return null
    }
    const opened = seal.open(this.#contextOf(key), value)
    if (opened === null || opened.body.length === 0) {
      refuse('record', 'forged')
      return null
    }
    if (newest !== undefined && opened.stamp < newest.version) {
      refuse('record', 'old')
      return null
    }
    const isRemoved = opened.body[0] === REMOVED
    this.#note(key, opened.stamp, isRemoved)
    return { key, value: isRemoved ? null : opened.body.subarray(1), revision }
  }

  #note(key: string, version: number, isRemoved: boolean): void {
    if ((this.#newest.get(key)?.version ?? 0) <= version)
      this.#newest.set(key, { version, isRemoved })
  }

  #contextOf(key: string): string {
    return `record.${this.#parts.name}.${key}`
  }
}
