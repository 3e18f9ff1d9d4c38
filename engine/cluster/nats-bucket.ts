import { JetStreamApiError, type JetStreamClient, StorageType } from '@nats-io/jetstream'
import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import { TimeoutError } from '@nats-io/transport-node'
import { type Clock, pause } from '../clock.ts'
import type { Log } from '../process/log.ts'
import { type Bucket, type BucketEntry, LogError, type LogSubscription } from './cluster-log.ts'

interface BucketParts {
  readonly replicas: number
  readonly bytesMax: number
  readonly timeoutMs: number
  readonly creates: boolean
  readonly onUp: (action: () => void) => void
  readonly clock: Clock
  readonly log: Log
  readonly failureOf: (error: unknown) => LogError
}

const WRONG_LAST_SEQUENCE = 10_071
const STREAM_NOT_FOUND = 10_059
const RETRY_MS = 250

export async function openBucket(
  client: JetStreamClient,
  name: string,
  parts: BucketParts,
): Promise<Bucket> {
  const { replicas, bytesMax, timeoutMs, creates, failureOf } = parts
  const limits = { history: 1, storage: StorageType.File, replicas, max_bytes: bytesMax }
  const create = async (): Promise<KV> => {
    if (creates) return new Kvm(client).create(name, { ...limits, timeout: timeoutMs })
    const bucket = await new Kvm(client).open(name, { timeout: timeoutMs })
    await bucket.status()
    return bucket
  }
  const failed = (error: unknown): LogError => {
    const isChanged = error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE
    return isChanged ? new LogError('changed', error.message, error) : failureOf(error)
  }
  const kv = await create().catch((error) => {
    throw failed(error)
  })
  /** `isRead`: a server without the bucket does not respond to a read. */
  const withRecreation = async <Value>(
    action: () => Promise<Value>,
    isRead = false,
  ): Promise<Value> => {
    try {
      return await action()
    } catch (error) {
      const isStreamMissing = error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND
      const isSilent = isRead && error instanceof TimeoutError
      if (!isStreamMissing && !isSilent && failed(error).reason !== 'unanswered')
        throw failed(error)
    }
    // The server has lost its data, including the bucket.
    try {
      await create()
      return await action()
    } catch (error) {
      throw failed(error)
    }
  }
  return {
    get: (key) =>
      withRecreation(async () => {
        const entry = await kv.get(key)
        return entry === null || entry.operation !== 'PUT' ? null : entryOf(entry)
      }, true),
    put: (key, value) => withRecreation(() => kv.put(key, value)),
    replace: (key, value, revision) =>
      withRecreation(() =>
        revision === 0 ? kv.create(key, value) : kv.update(key, value, revision),
      ),
    remove: (key) => withRecreation(() => kv.delete(key)),
    async watch(watcher) {
      const bucketWatch = new BucketWatch(kv, watcher, parts)
      await withRecreation(() => bucketWatch.start())
      parts.onUp(() => bucketWatch.restart())
      return bucketWatch
    },
  }
}

function entryOf({ key, value, revision, operation }: KvEntry): BucketEntry {
  return { key, value: operation === 'PUT' ? value : null, revision }
}

type Watcher = Parameters<Bucket['watch']>[0]

/** Restarts the watch of a bucket after a lost connection. Only the first watch reports the end of the snapshot. */
class BucketWatch implements LogSubscription {
  readonly #kv: KV
  readonly #watcher: Watcher
  readonly #parts: BucketParts
  readonly #abort = new AbortController()
  #entries: Awaited<ReturnType<KV['watch']>> | null = null
  #done: Promise<void> = Promise.resolve()

  constructor(kv: KV, watcher: Watcher, parts: BucketParts) {
    this.#kv = kv
    this.#watcher = watcher
    this.#parts = parts
  }

  async start(): Promise<void> {
    this.#entries = await this.#kv.watch({ key: '>' })
    this.#done = this.#run()
  }

  restart(): void {
    this.#entries?.stop()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    this.#entries?.stop()
    await this.#done
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    const { clock, log } = this.#parts
    let isSnapshotEnded = false
    const endSnapshot = () => {
      if (!isSnapshotEnded) this.#watcher.onSnapshotEnd()
      isSnapshotEnded = true
    }
    const isEmpty = await this.#kv.status().then(
      ({ values }) => values === 0,
      () => false,
    )
    if (isEmpty) endSnapshot()
    while (!signal.aborted) {
      try {
        this.#entries ??= await this.#kv.watch({ key: '>' })
        if (signal.aborted) this.#entries.stop()
        for await (const entry of this.#entries) {
          if (signal.aborted) return
          this.#watcher.onEntry(entryOf(entry))
          if (entry.delta === 0) endSnapshot()
        }
      } catch (error) {
        log.debug({ err: error }, 'the watch of a bucket restarts')
      }
      this.#entries = null
      await pause(clock, RETRY_MS, signal)
    }
  }
}
