// Tables of accounts, API keys and revoked tokens. A promise resolves when its change is durable. Records carry a
// checksum; damaged records are reported and skipped.

import type { AccountId, KeyId } from '../engine/ids.ts'
import type { AccountRecord, AccountTable, EndedToken, KeyRecord } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Schemas, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
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
import { TABLES } from './tables.ts'

/** A write that takes longer rejects. */
const TIMEOUT_MS = 5_000

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
    const key = textKey(record.id)
    const row = this.#accounts.encode(key, ACCOUNT_SCHEMA, accountFields(record))
    return this.#put(this.#accounts, key, row)
  }

  removeAccount(id: AccountId): Promise<void> {
    return this.#remove(this.#accounts, id)
  }

  putKey(record: KeyRecord): Promise<void> {
    const key = textKey(record.id)
    return this.#put(this.#keys, key, this.#keys.encode(key, KEY_SCHEMA, keyFields(record)))
  }

  removeKey(id: KeyId): Promise<void> {
    return this.#remove(this.#keys, id)
  }

  putEndedToken(record: EndedToken): Promise<void> {
    const key = textKey(record.tokenId)
    const row = this.#endedTokens.encode(key, ENDED_TOKEN_SCHEMA, endedTokenFields(record))
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
