// Helpers for tables that are stored both locally and in a bucket of the cluster's log. A change resolves when both
// have stored it.

import type { Bucket, BucketEntry, LogSubscription } from '../engine/cluster/cluster-log.ts'

export interface Following extends LogSubscription {
  /** Keys that the bucket contained when the subscription began. */
  readonly names: ReadonlySet<string>
  /**
   * Stops applying changes because this process became the leader. Later changes by clients outside the cluster still
   * call `onRefused`.
   */
  lead(): Promise<void>
}

/**
 * Applies the bucket's records and then each change, in sequence, until stopped. Resolves when all existing records are
 * applied. `apply` must not reject.
 */
export async function followBucket(
  bucket: Bucket,
  apply: (entry: BucketEntry) => Promise<void>,
  onRefused: (key: string) => void = () => undefined,
): Promise<Following> {
  let isFollowing = true
  let last: Promise<void> = Promise.resolve()
  const names = new Set<string>()
  const onEntry = (entry: BucketEntry) => {
    if (!isFollowing) return
    names.add(entry.key)
    last = last.then(() => apply(entry))
  }
  let onSnapshotEnd: () => void = () => undefined
  const complete = new Promise<void>((resolve) => {
    onSnapshotEnd = resolve
  })
  const watch = await bucket.watch({ onEntry, onSnapshotEnd, onRefused })
  await complete
  await last
  return {
    names,
    lead: async () => {
      isFollowing = false
      await last
    },
    stop: async () => {
      await watch.stop()
      await last
    },
  }
}

export type NamedRecords = Iterable<readonly [name: string, value: () => Buffer]>

/**
 * Copies local records that the bucket lacks into the bucket. Skips the names in `existing` without a request. Returns
 * the number of copied records.
 */
export async function shareRecords(
  bucket: Bucket,
  records: NamedRecords,
  existing: ReadonlySet<string>,
): Promise<number> {
  let count = 0
  for (const [name, value] of [...records]) {
    if (existing.has(name)) continue
    const entry = await bucket.get(name)
    if (entry !== null && entry.value !== null) continue
    await bucket.put(name, value())
    count += 1
  }
  return count
}

/** Waits until both writes have ended. Rejects with the first error. */
export async function both<Own>(own: Promise<Own>, shared: Promise<unknown>): Promise<Own> {
  const [ownResult, sharedResult] = await Promise.allSettled([own, shared])
  if (ownResult.status === 'rejected') throw ownResult.reason
  if (sharedResult.status === 'rejected') throw sharedResult.reason
  return ownResult.value
}
