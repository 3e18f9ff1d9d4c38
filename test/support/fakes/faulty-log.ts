// An in-process cluster log with seeded faults. Without faults it works correctly.

import type { Clock } from '../../../engine/clock.ts'
import type {
  AnnouncementSubject,
  Answer,
  Bucket,
  BucketEntry,
  BucketName,
  ClusterLog,
  Delivered,
  LinkState,
  LogSubscription,
  RequestSubject,
  ShardName,
} from '../../../engine/cluster/cluster-log.ts'
import { LogError, requestMsMax, type ShardReader } from '../../../engine/cluster/cluster-log.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'

/** Probabilities from 0 to 1. */
export interface LogFaults {
  /** A batch is not appended to the log. */
  readonly lostBatches: number
  /** A batch is appended, but its writer gets no acknowledgement. */
  readonly lostAcks: number
  /** A reader receives a batch twice. */
  readonly repeats: number
  /** A reader receives a batch after the next batch. */
  readonly swaps: number
  /** A reader never receives a batch. */
  readonly holes: number
  /** Maximum delay in each direction, in milliseconds. */
  readonly delayMsMax: number
}

export const NO_FAULTS: LogFaults = {
  lostBatches: 0,
  lostAcks: 0,
  repeats: 0,
  swaps: 0,
  holes: 0,
  delayMsMax: 0,
}

interface Shard {
  readonly batches: Map<number, Uint8Array>
  last: number
  readonly ids: Map<string, number>
  readonly readers: Set<Reading>
}

interface BucketRows {
  revision: number
  readonly rows: Map<string, BucketEntry>
  readonly watchers: Set<(entry: BucketEntry) => void>
}

/** All connections share this log. */
export class FaultyLogServer {
  readonly clock: Clock
  readonly random: Random
  faults: LogFaults = NO_FAULTS
  readonly #shards = new Map<ShardName, Shard>()
  readonly #buckets = new Map<BucketName, BucketRows>()
  readonly objects = new Map<string, Uint8Array>()
  readonly answers = new Map<RequestSubject, Answer>()
  readonly listeners = new Map<AnnouncementSubject, Set<(body: Uint8Array) => void>>()
  readonly connections = new Set<FaultyLog>()

  constructor(clock: Clock, seed: number | string = 1) {
    this.clock = clock
    this.random = seededRandom('faulty log', seed)
  }

  connect(): FaultyLog {
    const log = new FaultyLog(this)
    this.connections.add(log)
    return log
  }

  shard(name: ShardName): Shard {
    let shard = this.#shards.get(name)
    if (shard === undefined) {
      shard = { batches: new Map(), last: 0, ids: new Map(), readers: new Set() }
      this.#shards.set(name, shard)
    }
    return shard
  }

  rows(name: BucketName): BucketRows {
    let rows = this.#buckets.get(name)
    if (rows === undefined) {
      rows = { revision: 0, rows: new Map(), watchers: new Set() }
      this.#buckets.set(name, rows)
    }
    return rows
  }

  happens(share: number): boolean {
    return share > 0 && this.random.next() < share
  }

  delayMs(): number {
    return this.faults.delayMsMax === 0 ? 0 : this.random.below(this.faults.delayMsMax + 1)
  }

  /** Removes the newest batches of a shard, like a power loss without a flush. */
  forget(name: ShardName, count: number): void {
    const shard = this.shard(name)
    for (let left = count; left > 0 && shard.last > 0; left -= 1) {
      shard.batches.delete(shard.last)
      shard.last -= 1
    }
    shard.ids.clear()
  }

  /** Removes all data, like a start on an empty disk. Sequences and revisions restart. */
  loseData(): void {
    for (const shard of this.#shards.values()) {
      shard.batches.clear()
      shard.ids.clear()
      shard.last = 0
      for (const reader of shard.readers) reader.restart()
    }
    for (const bucket of this.#buckets.values()) {
      bucket.rows.clear()
      bucket.revision = 0
    }
    this.objects.clear()
  }

  /** Removes the oldest batches of a shard, like the size limit of the real log. */
  discard(name: ShardName, count: number): void {
    const { batches } = this.shard(name)
    for (const sequence of [...batches.keys()].sort((one, other) => one - other).slice(0, count)) {
      batches.delete(sequence)
    }
  }
}

class Reading implements LogSubscription {
  readonly #server: FaultyLogServer
  readonly #log: FaultyLog
  readonly #shard: Shard
  readonly #reader: ShardReader
  #next: number
  #isBusy = false
  #isStopped = false
  #held: Delivered | null = null

  constructor(
    server: FaultyLogServer,
    log: FaultyLog,
    position: { shard: Shard; from: number },
    reader: ShardReader,
  ) {
    this.#server = server
    this.#log = log
    this.#shard = position.shard
    this.#reader = reader
    this.#next = position.from
  }

  wake(): void {
    if (this.#isBusy || this.#isStopped || this.#log.link === 'down') return
    if (this.#next > this.#shard.last && this.#held === null) return
    this.#isBusy = true
    this.#server.clock.after(this.#server.delayMs(), () => void this.#deliver())
  }

  restart(): void {
    this.#next = 1
    this.#held = null
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#shard.readers.delete(this)
  }

  async #deliver(): Promise<void> {
    if (!this.#isStopped && this.#log.link === 'up') {
      for (const batch of this.#take()) if (!this.#isStopped) await this.#reader.onBatch(batch)
    }
    this.#isBusy = false
    this.wake()
  }

  #take(): readonly Delivered[] {
    const { faults } = this.#server
    const held = this.#held
    this.#held = null
    const behind: Delivered[] = held === null ? [] : [held]
    while (this.#next <= this.#shard.last) {
      const sequence = this.#next
      this.#next += 1
      const bytes = this.#shard.batches.get(sequence)
      if (bytes === undefined) continue
      const batch = { sequence, bytes, behind: this.#shard.last - sequence }
      if (this.#server.happens(faults.holes)) continue
      if (held === null && this.#server.happens(faults.swaps)) {
        this.#held = batch
        continue
      }
      const twice = this.#server.happens(faults.repeats) ? [batch] : []
      return [batch, ...twice, ...behind]
    }
    return behind
  }
}

/** The connection of one process to the log. */
export class FaultyLog implements ClusterLog {
  readonly #server: FaultyLogServer
  readonly #onLink: ((link: LinkState) => void)[] = []
  readonly #readings = new Set<Reading>()
  /** Resolves when all earlier publications have arrived, so that the order of the calls is preserved. */
  #arrival: Promise<void> = Promise.resolve()
  link: LinkState = 'up'

  constructor(server: FaultyLogServer) {
    this.#server = server
  }

  setLink(link: LinkState): void {
    if (link === this.link) return
    this.link = link
    for (const listener of this.#onLink) listener(link)
    if (link === 'up') for (const sync of this.#readings) sync.wake()
  }

  onLink(listener: (link: LinkState) => void): void {
    this.#onLink.push(listener)
  }

  async head(shard: ShardName): Promise<number> {
    await this.#way()
    return this.#server.shard(shard).last
  }

  async publish(
    name: ShardName,
    {
      bytes,
      id,
      after,
    }: { readonly bytes: Uint8Array; readonly id: string; readonly after: number },
  ): Promise<number> {
    const before = this.#arrival
    let arrived: () => void = () => undefined
    this.#arrival = new Promise((resolve) => {
      arrived = resolve
    })
    await this.#wait(this.#server.delayMs())
    await before
    arrived()
    if (this.link === 'down') throw new LogError('down', 'no connection')
    if (this.#server.happens(this.#server.faults.lostBatches)) throw new LogError('down', 'lost')
    const shard = this.#server.shard(name)
    const existing = shard.ids.get(id)
    if (existing === undefined && shard.last !== after) {
      throw new LogError('fenced', `the last sequence of ${name} is ${shard.last}, not ${after}`)
    }
    const sequence = existing ?? shard.last + 1
    if (existing === undefined) {
      shard.last = sequence
      shard.batches.set(sequence, Uint8Array.from(bytes))
      shard.ids.set(id, sequence)
      for (const reader of shard.readers) reader.wake()
    }
    if (this.#server.happens(this.#server.faults.lostAcks)) throw new LogError('down', 'unheard')
    await this.#way()
    return sequence
  }

  read(name: ShardName, from: number, reader: ShardReader): LogSubscription {
    const shard = this.#server.shard(name)
    const oldest = Math.min(...shard.batches.keys(), shard.last + 1)
    const position = { shard, from: Math.max(from, oldest) }
    const sync = new Reading(this.#server, this, position, reader)
    shard.readers.add(sync)
    this.#readings.add(sync)
    sync.wake()
    return sync
  }

  async bucket(name: BucketName): Promise<Bucket> {
    await this.#way()
    const rows = this.#server.rows(name)
    const put = async (key: string, value: Uint8Array | null): Promise<number> => {
      rows.revision += 1
      const entry = { key, value, revision: rows.revision }
      rows.rows.set(key, entry)
      for (const watcher of rows.watchers) watcher(entry)
      return entry.revision
    }
    return {
      get: async (key) => {
        await this.#way()
        const entry = rows.rows.get(key)
        return entry === undefined || entry.value === null ? null : entry
      },
      put: async (key, value) => {
        await this.#way()
        return put(key, value)
      },
      replace: async (key, value, revision) => {
        await this.#way()
        const existing = rows.rows.get(key)
        const now = existing === undefined || existing.value === null ? 0 : existing.revision
        if (now !== revision) throw new LogError('changed', `${key} has revision ${now}`)
        const given = await put(key, value)
        await this.#way()
        return given
      },
      remove: async (key) => {
        await this.#way()
        await put(key, null)
      },
      watch: async ({ onEntry, onSnapshotEnd }) => {
        await this.#way()
        for (const entry of rows.rows.values()) onEntry(entry)
        onSnapshotEnd()
        const receive = (entry: BucketEntry) => {
          if (this.link === 'up') onEntry(entry)
        }
        rows.watchers.add(receive)
        return { stop: async () => void rows.watchers.delete(receive) }
      },
    }
  }

  async putObject(name: string, bytes: Uint8Array): Promise<void> {
    await this.#way()
    this.#server.objects.set(name, Uint8Array.from(bytes))
  }

  async getObject(name: string): Promise<Uint8Array | null> {
    await this.#way()
    return this.#server.objects.get(name) ?? null
  }

  async request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array> {
    await this.#way()
    const existing = this.#server.answers.get(subject)
    if (existing === undefined) {
      throw new LogError('unanswered', `nobody answers ${subject}`)
    }
    const late = new Promise<never>((_, reject) => {
      this.#server.clock.after(requestMsMax, () =>
        reject(new LogError('down', 'no answer in time')),
      )
    })
    const reported = existing(body).catch((error: unknown) => {
      throw new LogError('unanswered', String(error))
    })
    return Promise.race([reported, late])
  }

  answer(subject: RequestSubject, answer: Answer): LogSubscription {
    this.#server.answers.set(subject, answer)
    return {
      stop: async () => {
        if (this.#server.answers.get(subject) === answer) this.#server.answers.delete(subject)
      },
    }
  }

  announce(subject: AnnouncementSubject, body: Uint8Array): void {
    if (this.link === 'down') return
    for (const listener of this.#server.listeners.get(subject) ?? []) {
      this.#server.clock.after(this.#server.delayMs(), () => listener(body))
    }
  }

  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription {
    const listeners = this.#server.listeners.get(subject) ?? new Set()
    this.#server.listeners.set(subject, listeners)
    const received = (body: Uint8Array) => {
      if (this.link === 'up') listener(body)
    }
    listeners.add(received)
    return { stop: async () => void listeners.delete(received) }
  }

  async close(): Promise<void> {
    for (const sync of this.#readings) await sync.stop()
    this.#server.connections.delete(this)
    this.setLink('down')
  }

  async #way(): Promise<void> {
    await this.#wait(this.#server.delayMs())
    if (this.link === 'down') throw new LogError('down', 'no connection')
  }

  /** Does not use the clock if there is no delay. */
  #wait(delayMs: number): Promise<void> {
    if (delayMs === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#server.clock.after(delayMs, resolve))
  }
}
