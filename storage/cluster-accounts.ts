import { createHash } from 'node:crypto'
import type { Bucket, BucketEntry } from '../engine/cluster/cluster-log.ts'
import type { AccountId, KeyId } from '../engine/ids.ts'
import {
  both,
  type Following,
  followBucket,
  type NamedRecords,
  shareRecords,
} from './cluster-bucket.ts'
import type { AccountRecord, EndedToken, KeyRecord } from './contract/rows.ts'
import type { AccountTable } from './contract/storage.ts'
import { accountCodec, endedTokenCodec, keyCodec } from './records/account.ts'
import { textKey } from './records/keys.ts'
import { decodeRecord, encodeRecord } from './records/records.ts'
import { TABLES } from './tables.ts'

/** Kind `gone`: the bucket has a deletion marker for the record. */
export type AccountEntry =
  | { readonly kind: 'account'; readonly account: AccountRecord }
  | { readonly kind: 'key'; readonly key: KeyRecord }
  | { readonly kind: 'token'; readonly token: EndedToken }
  | { readonly kind: 'gone'; readonly of: 'account' | 'key' | 'token'; readonly id: string }

const KINDS = ['account', 'key', 'token'] as const

/** Token ids are hashed because they may contain characters that a bucket key does not allow. */
const tokenName = (tokenId: string) => `token.${createHash('sha256').update(tokenId).digest('hex')}`

/** Null if the entry is damaged or was written by a later version. */
export function readAccountEntry({ key: name, value: bytes }: BucketEntry): AccountEntry | null {
  const of = KINDS.find((kind) => name.startsWith(`${kind}.`))
  if (of === undefined) return null
  const id = name.slice(of.length + 1)
  if (bytes === null) return { kind: 'gone', of, id }
  const row = { key: textKey(of === 'token' ? name : id), value: Buffer.from(bytes) }
  if (of === 'account') {
    const account = decodeRecord(TABLES.accounts, row, accountCodec)
    return account && { kind: of, account }
  }
  if (of === 'key') {
    const key = decodeRecord(TABLES.keys, row, keyCodec)
    return key && { kind: of, key }
  }
  const token = decodeRecord(TABLES.endedTokens, row, endedTokenCodec)
  return token && { kind: of, token }
}

const accountValue = (record: AccountRecord): Buffer =>
  encodeRecord(TABLES.accounts, textKey(record.id), accountCodec, record)
const keyValue = (record: KeyRecord): Buffer =>
  encodeRecord(TABLES.keys, textKey(record.id), keyCodec, record)
const tokenValue = (record: EndedToken): Buffer =>
  encodeRecord(TABLES.endedTokens, textKey(tokenName(record.tokenId)), endedTokenCodec, record)

/** Writes to the local table and to the bucket. Reads only the local table, which `follow` updates. */
export class ClusterAccounts implements AccountTable {
  readonly #own: AccountTable
  readonly #bucket: Bucket

  constructor(own: AccountTable, bucket: Bucket) {
    this.#own = own
    this.#bucket = bucket
  }

  static follow(
    own: AccountTable,
    bucket: Bucket,
    onFailed: (error: unknown) => void,
    onRefused?: (key: string) => void,
  ): Promise<Following> {
    return followBucket(bucket, (entry) => applyEntry(own, entry).catch(onFailed), onRefused)
  }

  share(existing: ReadonlySet<string> = new Set()): Promise<number> {
    return shareRecords(this.#bucket, this.#records(), existing)
  }

  /**
   * Overwrites the record of a client outside the cluster with the local record. Deletes the record if no local record
   * exists.
   */
  async restore(name: string): Promise<void> {
    for (const [recordName, value] of this.#records()) {
      if (recordName === name) return void (await this.#bucket.put(name, value()))
    }
    await this.#bucket.remove(name)
  }

  *#records(): NamedRecords {
    for (const account of this.#own.accounts())
      yield [`account.${account.id}`, () => accountValue(account)]
    for (const key of this.#own.keys()) yield [`key.${key.id}`, () => keyValue(key)]
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

  putAccount(record: AccountRecord): Promise<void> {
    return both(
      this.#own.putAccount(record),
      this.#bucket.put(`account.${record.id}`, accountValue(record)),
    )
  }

  removeAccount(id: AccountId): Promise<void> {
    return both(this.#own.removeAccount(id), this.#bucket.remove(`account.${id}`))
  }

  putKey(record: KeyRecord): Promise<void> {
    return both(this.#own.putKey(record), this.#bucket.put(`key.${record.id}`, keyValue(record)))
  }

  removeKey(id: KeyId): Promise<void> {
    return both(this.#own.removeKey(id), this.#bucket.remove(`key.${id}`))
  }

  putEndedToken(record: EndedToken): Promise<void> {
    return both(
      this.#own.putEndedToken(record),
      this.#bucket.put(tokenName(record.tokenId), tokenValue(record)),
    )
  }

  removeEndedToken(tokenId: string): Promise<void> {
    return both(this.#own.removeEndedToken(tokenId), this.#bucket.remove(tokenName(tokenId)))
  }
}

async function applyEntry(own: AccountTable, entry: BucketEntry): Promise<void> {
  const read = readAccountEntry(entry)
  if (read === null) throw new Error(`the record ${entry.key} of the bucket cannot be read`)
  if (read.kind === 'account') return own.putAccount(read.account)
  if (read.kind === 'key') return own.putKey(read.key)
  if (read.kind === 'token') return own.putEndedToken(read.token)
  const { of, id } = read
  if (of === 'account')
    for (const account of own.accounts())
      if (account.id === id) return own.removeAccount(account.id)
  if (of === 'key') for (const key of own.keys()) if (key.id === id) return own.removeKey(key.id)
}
