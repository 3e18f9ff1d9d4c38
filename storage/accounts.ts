// The tables of accounts, keys and ended tokens: every change is on the platter before its promise resolves, and
// every record carries a checksum; a damaged one is reported and never served.
// Not for: what an account may do (engine/accounts/account.ts). Upholds STORE8.

import { KEY_SCOPES, scopesOf, TIER_NAMES } from '../engine/accounts/account.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../engine/ids.ts'
import { timeMs } from '../engine/units.ts'
import type { AccountRecord, AccountTable, EndedToken, KeyRecord } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Schemas, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { textKey } from './records/keys.ts'
import type { FieldReader } from './records/records.ts'
import { TABLES } from './tables.ts'

/** 2 since keys have scopes. */
const KEY_SCHEMA = 2
/** 2 since accounts can be disabled, 3 since all tokens of an account can be ended. */
const ACCOUNT_SCHEMA = 3
const ENDED_TOKEN_SCHEMA = 1
/** How long the disk may take before the caller is refused. */
const TIMEOUT_MS = 5_000

const accountSchemas: Schemas<AccountRecord> = {
  1: (fields) => ({ ...readAccount(fields), isDisabled: false, tokenGeneration: 0 }),
  2: (fields) => ({ ...readAccount(fields), isDisabled: fields.boolean(), tokenGeneration: 0 }),
  3: (fields) => ({
    ...readAccount(fields),
    isDisabled: fields.boolean(),
    tokenGeneration: fields.number(),
  }),
}

function readAccount(fields: FieldReader): Omit<AccountRecord, 'isDisabled' | 'tokenGeneration'> {
  return {
    id: accountId(fields.text()),
    email: fields.text(),
    passwordHash: fields.textOrNull(),
    tier: fields.choice(TIER_NAMES),
    requestsPerMinute: fields.numberOrNull(),
    socketsMax: fields.numberOrNull(),
    createdAtMs: timeMs(fields.number()),
  }
}

const keySchemas: Schemas<KeyRecord> = {
  1: (fields) => ({ ...readKey(fields), scopes: KEY_SCOPES }),
  2: (fields) => ({ ...readKey(fields), scopes: readScopes(fields) }),
}

function readKey(fields: FieldReader): Omit<KeyRecord, 'scopes'> {
  return {
    id: keyId(fields.text()),
    accountId: accountId(fields.text()),
    hash: fields.text(),
    prefix: fields.text(),
    label: fields.text(),
    createdAtMs: timeMs(fields.number()),
    lastUsedAtMs: fields.orNull(timeMs),
  }
}

/** As text, comma-separated. An unknown scope gives nothing. */
function readScopes(fields: FieldReader): KeyRecord['scopes'] {
  const names = fields.text().split(',')
  return scopesOf(KEY_SCOPES.filter((scope) => names.includes(scope)))
}

const endedTokenSchemas: Schemas<EndedToken> = {
  1: (fields) => ({
    tokenId: fields.text(),
    accountId: accountId(fields.text()),
    expiresAtMs: timeMs(fields.number()),
  }),
}

export class Accounts implements AccountTable {
  readonly #environment: Environment
  readonly #accounts: Table
  readonly #keys: Table
  readonly #endedTokens: Table

  constructor(environment: Environment) {
    this.#environment = environment
    this.#accounts = environment.table(TABLES.accounts)
    this.#keys = environment.table(TABLES.keys)
    this.#endedTokens = environment.table(TABLES.endedTokens)
  }

  accounts(): Iterable<AccountRecord> {
    return records(this.#accounts, accountSchemas)
  }

  keys(): Iterable<KeyRecord> {
    return records(this.#keys, keySchemas)
  }

  endedTokens(): Iterable<EndedToken> {
    return records(this.#endedTokens, endedTokenSchemas)
  }

  putAccount(record: AccountRecord): Promise<void> {
    const { id, email, passwordHash, tier, requestsPerMinute, socketsMax, createdAtMs } = record
    const limits = [tier, requestsPerMinute, socketsMax]
    const { isDisabled, tokenGeneration } = record
    const fields = [id, email, passwordHash, ...limits, createdAtMs, isDisabled, tokenGeneration]
    const key = textKey(id)
    return this.#put(this.#accounts, key, this.#accounts.encode(key, ACCOUNT_SCHEMA, fields))
  }

  removeAccount(id: AccountId): Promise<void> {
    return this.#remove(this.#accounts, id)
  }

  putKey(record: KeyRecord): Promise<void> {
    const { id, accountId: owner, hash, prefix, label, createdAtMs, lastUsedAtMs } = record
    const scopes = record.scopes.join(',')
    const fields = [id, owner, hash, prefix, label, createdAtMs, lastUsedAtMs, scopes]
    const key = textKey(id)
    return this.#put(this.#keys, key, this.#keys.encode(key, KEY_SCHEMA, fields))
  }

  removeKey(id: KeyId): Promise<void> {
    return this.#remove(this.#keys, id)
  }

  putEndedToken({ tokenId, accountId: owner, expiresAtMs }: EndedToken): Promise<void> {
    const key = textKey(tokenId)
    const fields = [tokenId, owner, expiresAtMs]
    const row = this.#endedTokens.encode(key, ENDED_TOKEN_SCHEMA, fields)
    return this.#put(this.#endedTokens, key, row)
  }

  removeEndedToken(tokenId: string): Promise<void> {
    return this.#remove(this.#endedTokens, tokenId)
  }

  #put(table: Table, key: Buffer, value: Buffer): Promise<void> {
    table.put(key, value)
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  #remove(table: Table, id: string): Promise<void> {
    table.remove(textKey(id))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }
}

function* records<Decoded>(table: Table, schemas: Schemas<Decoded>): Iterable<Decoded> {
  for (const row of chunkedRows(table)) {
    const record = table.decode(row, schemas)
    if (record !== null) yield record
  }
}
