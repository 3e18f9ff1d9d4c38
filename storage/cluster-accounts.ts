// Accounts, keys and revoked tokens of a cluster, stored in this process's table and in a log bucket that gateways and
// standbys mirror. A change resolves when both have stored it.

import { createHash } from 'node:crypto'
import type { Bucket, BucketEntry, LogSubscription } from '../engine/cluster/cluster-log.ts'
import type { AccountId, KeyId } from '../engine/ids.ts'
import type { AccountRecord, AccountTable, EndedToken, KeyRecord } from './contract/storage.ts'
import {
  ACCOUNT_SCHEMA,
  accountFields,
  accountSchemas,
  ENDED_TOKEN_SCHEMA,
  endedTokenFields,
  endedTokenSchemas,
  KEY_SCHEMA,
  keyFields,
  keySchemas,
} from './records/account.ts'
import { textKey } from './records/keys.ts'
import { decodeRecord, encodeRecord } from './records/records.ts'
import { TABLES } from './tables.ts'

/** One record of the bucket; `gone`: it was removed. A removed token had expired. */
export type AccountEntry =
  | { readonly kind: 'account'; readonly account: AccountRecord }
  | { readonly kind: 'key'; readonly key: KeyRecord }
  | { readonly kind: 'token'; readonly token: EndedToken }
  | { readonly kind: 'gone'; readonly of: 'account' | 'key' | 'token'; readonly id: string }

const ACCOUNT = 'account.'
const KEY = 'key.'
const TOKEN = 'token.'

/** Hashed, because a token id may contain characters that a bucket key does not allow. */
const tokenName = (tokenId: string) => TOKEN + createHash('sha256').update(tokenId).digest('hex')

/** Parses a bucket entry; null if it is damaged or of a later version. */
export function readAccountEntry({ key, value }: BucketEntry): AccountEntry | null {
  const bytes = value === null ? null : Buffer.from(value)
  if (key.startsWith(ACCOUNT)) {
    const id = key.slice(ACCOUNT.length)
    if (bytes === null) return { kind: 'gone', of: 'account', id }
    const row = { key: textKey(id), value: bytes }
    const account = decodeRecord(TABLES.accounts, row, accountSchemas)
    return account === null ? null : { kind: 'account', account }
  }
  if (key.startsWith(KEY)) {
    const id = key.slice(KEY.length)
    if (bytes === null) return { kind: 'gone', of: 'key', id }
    const record = decodeRecord(TABLES.keys, { key: textKey(id), value: bytes }, keySchemas)
    return record === null ? null : { kind: 'key', key: record }
  }
  if (!key.startsWith(TOKEN)) return null
  if (bytes === null) return { kind: 'gone', of: 'token', id: key.slice(TOKEN.length) }
  const row = { key: textKey(key), value: bytes }
  const token = decodeRecord(TABLES.endedTokens, row, endedTokenSchemas)
  return token === null ? null : { kind: 'token', token }
}

function accountValue(record: AccountRecord): Buffer {
  const [key, fields] = [textKey(record.id), accountFields(record)]
  return encodeRecord(TABLES.accounts, { key, schema: ACCOUNT_SCHEMA, fields })
}

function keyValue(record: KeyRecord): Buffer {
  const [key, fields] = [textKey(record.id), keyFields(record)]
  return encodeRecord(TABLES.keys, { key, schema: KEY_SCHEMA, fields })
}

function tokenValue(record: EndedToken): Buffer {
  const [key, fields] = [textKey(tokenName(record.tokenId)), endedTokenFields(record)]
  return encodeRecord(TABLES.endedTokens, { key, schema: ENDED_TOKEN_SCHEMA, fields })
}

/** A subscription to a bucket. */
export interface Following extends LogSubscription {
  /** Keys that the bucket contained. */
  readonly names: ReadonlySet<string>
  /**
   * Stops applying changes, because this process is now the leader. Changes from outside the cluster still call
   * `onRefused`.
   */
  lead(): Promise<void>
}

/** Writes to the table and the bucket. Reads from the table, which {@link ClusterAccounts.follow} fills first. */
export class ClusterAccounts implements AccountTable {
  readonly #own: AccountTable
  readonly #bucket: Bucket

  constructor(own: AccountTable, bucket: Bucket) {
    this.#own = own
    this.#bucket = bucket
  }

  /**
   * Applies the bucket's records and then each change to the local table until stopped. A standby uses it, and an
   * engine before it leads. Resolves when the local table has every record. `share` writes records that only the local
   * table has, such as accounts of an engine that ran alone, into the bucket.
   */
  static async follow(
    own: AccountTable,
    bucket: Bucket,
    onFailed: (error: unknown) => void,
    onRefused: (key: string) => void = () => undefined,
  ): Promise<Following> {
    let isFollowing = true
    let last: Promise<unknown> = Promise.resolve()
    const names = new Set<string>()
    // Applied in sequence, so that the newest version of a repeated record wins.
    const take = (entry: BucketEntry) => {
      if (!isFollowing) return
      names.add(entry.key)
      last = last.then(() => applyEntry(own, entry)).catch(onFailed)
    }
    let resolveComplete: () => void = () => undefined
    const complete = new Promise<void>((resolve) => {
      resolveComplete = resolve
    })
    const watch = await bucket.watch({ onEntry: take, onSnapshotEnd: resolveComplete, onRefused })
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

  /**
   * Copies into the bucket the records that only the local table has; returns their count. `existing`: names that the
   * bucket is known to have, which are not looked up.
   */
  async share(existing: ReadonlySet<string> = new Set()): Promise<number> {
    let count = 0
    for (const [name, value] of [...this.#records()]) {
      if (existing.has(name)) continue
      const entry = await this.#bucket.get(name)
      if (entry !== null && entry.value !== null) continue
      await this.#bucket.put(name, value())
      count += 1
    }
    return count
  }

  /** Overwrites a record from outside the cluster with the local record, or removes it if there is none. */
  async restore(name: string): Promise<void> {
    for (const [recordName, value] of this.#records()) {
      if (recordName === name) return void (await this.#bucket.put(name, value()))
    }
    await this.#bucket.remove(name)
  }

  *#records(): Iterable<readonly [string, () => Buffer]> {
    for (const account of this.#own.accounts())
      yield [ACCOUNT + account.id, () => accountValue(account)]
    for (const key of this.#own.keys()) yield [KEY + key.id, () => keyValue(key)]
    for (const token of this.#own.endedTokens())
      yield [tokenName(token.tokenId), () => tokenValue(token)]
  }

  accounts(): Iterable<AccountRecord> {
    return this.#own.accounts()
  }

  keys(): Iterable<KeyRecord> {
    return this.#own.keys()
  }

  endedTokens(): Iterable<EndedToken> {
    return this.#own.endedTokens()
  }

  async putAccount(record: AccountRecord): Promise<void> {
    await this.#both(
      this.#own.putAccount(record),
      this.#bucket.put(ACCOUNT + record.id, accountValue(record)),
    )
  }

  async removeAccount(id: AccountId): Promise<void> {
    await this.#both(this.#own.removeAccount(id), this.#bucket.remove(ACCOUNT + id))
  }

  async putKey(record: KeyRecord): Promise<void> {
    await this.#both(this.#own.putKey(record), this.#bucket.put(KEY + record.id, keyValue(record)))
  }

  async removeKey(id: KeyId): Promise<void> {
    await this.#both(this.#own.removeKey(id), this.#bucket.remove(KEY + id))
  }

  async putEndedToken(record: EndedToken): Promise<void> {
    const name = tokenName(record.tokenId)
    await this.#both(this.#own.putEndedToken(record), this.#bucket.put(name, tokenValue(record)))
  }

  async removeEndedToken(tokenId: string): Promise<void> {
    await this.#both(this.#own.removeEndedToken(tokenId), this.#bucket.remove(tokenName(tokenId)))
  }

  /** Starts both writes in the same event-loop tick; rejects with the first failure once both have ended. */
  async #both(own: Promise<unknown>, shared: Promise<unknown>): Promise<void> {
    for (const ended of await Promise.allSettled([own, shared])) {
      if (ended.status === 'rejected') throw ended.reason
    }
  }
}

async function applyEntry(own: AccountTable, entry: BucketEntry): Promise<void> {
  const read = readAccountEntry(entry)
  if (read === null) throw new Error(`the record ${entry.key} of the bucket cannot be read`)
  if (read.kind === 'account') await own.putAccount(read.account)
  else if (read.kind === 'key') await own.putKey(read.key)
  else if (read.kind === 'token') await own.putEndedToken(read.token)
  else if (read.of !== 'token') await remove(own, read.of, read.id)
}

async function remove(own: AccountTable, of: 'account' | 'key', id: string): Promise<void> {
  if (of === 'account')
    for (const account of own.accounts())
      if (account.id === id) return own.removeAccount(account.id)
  if (of === 'key') for (const key of own.keys()) if (key.id === id) return own.removeKey(key.id)
}
