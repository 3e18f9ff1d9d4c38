// A bucket whose records are encrypted, each for its key, with a version that rises with every change: an older record that is
// written again is refused, and so is a removal that no holder of CLUSTER_KEY made.

import type { Clock } from '../clock.ts'
import {
  type Bucket,
  type BucketEntry,
  type BucketName,
  LogError,
  type LogSubscription,
} from './cluster-log.ts'
import type { ClusterSeal } from './seal.ts'

/** What came over NATS and is not used. */
export type RefusedKind = 'batch' | 'object' | 'record' | 'request' | 'answer' | 'announcement'
/** `forged`: not made with this CLUSTER_KEY. `old`: a time that is too long ago or to come, or an older version. */
export type RefusedWhy = 'forged' | 'old' | 'repeat'
export type Refuse = (kind: RefusedKind, why: RefusedWhy) => void

interface SealedBucketParts {
  readonly name: BucketName
  readonly seal: ClusterSeal
  readonly clock: Clock
  readonly refuse: Refuse
}

/** The first byte of a record. */
const REMOVED = 0
const PRESENT = 1

export class SealedBucket implements Bucket {
  readonly #inner: Bucket
  readonly #parts: SealedBucketParts
  /** Of each record that was read or written; bounded by the records. */
  readonly #newest = new Map<string, { readonly version: number; readonly isRemoved: boolean }>()
  /** The newest that was given out. */
  #version = 0

  constructor(inner: Bucket, parts: SealedBucketParts) {
    this.#inner = inner
    this.#parts = parts
  }

  async get(key: string): Promise<BucketEntry | null> {
    const entry = await this.#inner.get(key)
    if (entry === null) return null
    const read = this.#read(entry)
    // Not removed, but nothing that can be used: the revision says what a writer replaces.
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
      // A removal is a record too.
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
    // The clock of whoever wrote before may be ahead of this one's.
    const version = Math.max(clock.nowMs(), this.#version + 1, newestVersion + 1)
    this.#version = version
    const isRemoved = value === null
    const body = Buffer.concat([Buffer.of(isRemoved ? REMOVED : PRESENT), value ?? Buffer.of()])
    const revision = await send(seal.seal(this.#contextOf(key), version, body).bytes)
    this.#note(key, version, isRemoved)
    return revision
  }

  /** Null: it is refused. */
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
