// The table of accounts and keys: every change is on the platter before its promise resolves, and
// every record carries a checksum; a damaged one is reported and never served.
// Not for: who may do what (engine/account.ts). Upholds STORE8, R31, R32, R38.

import { accountId, type KeyId, keyId } from '../engine/ids.ts'
import { timeMs } from '../engine/units.ts'
import type { Environment } from './environment.ts'
import { textKey } from './keys.ts'
import { chunkedRows } from './markets.ts'
import type { AccountRecord, AccountTable, KeyRecord } from './storage.ts'
import type { Schemas, Table } from './table.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1
/** How long the disk may take before the user is told that it failed. */
const TIMEOUT_MS = 5_000
const TIERS = ['free', 'pro', 'enterprise'] as const

const accountSchemas: Schemas<AccountRecord> = {
  1: (fields) => ({
    id: accountId(fields.text()),
    email: fields.text(),
    passwordHash: fields.textOrNull(),
    tier: fields.choice(TIERS),
    requestsPerMinute: fields.numberOrNull(),
    socketsMax: fields.numberOrNull(),
    createdAtMs: timeMs(fields.number()),
  }),
}

const keySchemas: Schemas<KeyRecord> = {
  1: (fields) => ({
    id: keyId(fields.text()),
    accountId: accountId(fields.text()),
    hash: fields.text(),
    prefix: fields.text(),
    label: fields.text(),
    createdAtMs: timeMs(fields.number()),
    lastUsedAtMs: fields.orNull(timeMs),
  }),
}

export class Accounts implements AccountTable {
  readonly #environment: Environment
  readonly #accounts: Table
  readonly #keys: Table

  constructor(environment: Environment) {
    this.#environment = environment
    this.#accounts = environment.table(TABLES.accounts)
    this.#keys = environment.table(TABLES.keys)
  }

  accounts(): Iterable<AccountRecord> {
    return records(this.#accounts, accountSchemas)
  }

  keys(): Iterable<KeyRecord> {
    return records(this.#keys, keySchemas)
  }

  putAccount(record: AccountRecord): Promise<void> {
    return this.#put(this.#accounts, record.id, [
      record.id,
      record.email,
      record.passwordHash,
      record.tier,
      record.requestsPerMinute,
      record.socketsMax,
      record.createdAtMs,
    ])
  }

  putKey(record: KeyRecord): Promise<void> {
    return this.#put(this.#keys, record.id, [
      record.id,
      record.accountId,
      record.hash,
      record.prefix,
      record.label,
      record.createdAtMs,
      record.lastUsedAtMs,
    ])
  }

  removeKey(id: KeyId): Promise<void> {
    this.#keys.remove(textKey(id))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }

  #put(table: Table, id: string, fields: readonly unknown[]): Promise<void> {
    const key = textKey(id)
    table.put(key, table.encode(key, SCHEMA, fields))
    return this.#environment.committedWithin(TIMEOUT_MS)
  }
}

function* records<Decoded>(table: Table, schemas: Schemas<Decoded>): Iterable<Decoded> {
  for (const row of chunkedRows(table)) {
    const record = table.decode(row, schemas)
    if (record !== null) yield record
  }
}
