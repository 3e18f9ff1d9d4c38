import type { AccountId, KeyId } from '../engine/ids.ts'
import type { AccountRecord, EndedToken, KeyRecord } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { accountCodec, endedTokenCodec, keyCodec } from './records/account.ts'
import { textKey } from './records/keys.ts'
import { TABLES } from './tables.ts'

/** Changes resolve when they are durable. They reject if writing fails or takes more than 5 s. */
export class Accounts {
  readonly #environment: Environment
  readonly #accounts: RecordTable<AccountRecord>
  readonly #keys: RecordTable<KeyRecord>
  readonly #endedTokens: RecordTable<EndedToken>

  constructor(environment: Environment) {
    this.#environment = environment
    this.#accounts = new RecordTable(environment.table(TABLES.accounts), accountCodec)
    this.#keys = new RecordTable(environment.table(TABLES.keys), keyCodec)
    this.#endedTokens = new RecordTable(environment.table(TABLES.endedTokens), endedTokenCodec)
  }

  accounts(): Iterable<AccountRecord> {
    return this.#accounts.all()
  }

  keys(): Iterable<KeyRecord> {
    return this.#keys.all()
  }

  endedTokens(): Iterable<EndedToken> {
    return this.#endedTokens.all()
  }

  putAccount(record: AccountRecord): Promise<void> {
    return this.#put(this.#accounts, record.id, record)
  }

  /** Removes only the account. The caller must remove its keys, revoked tokens and webhooks first. */
  removeAccount(id: AccountId): Promise<void> {
    return this.#remove(this.#accounts, id)
  }

  putKey(record: KeyRecord): Promise<void> {
    return this.#put(this.#keys, record.id, record)
  }

  removeKey(id: KeyId): Promise<void> {
    return this.#remove(this.#keys, id)
  }

  putEndedToken(record: EndedToken): Promise<void> {
    return this.#put(this.#endedTokens, record.tokenId, record)
  }

  removeEndedToken(tokenId: string): Promise<void> {
    return this.#remove(this.#endedTokens, tokenId)
  }

  #put<Value>(table: RecordTable<Value>, id: string, value: Value): Promise<void> {
    table.put(textKey(id), value)
    return this.#environment.durable()
  }

  #remove<Value>({ rows }: RecordTable<Value>, id: string): Promise<void> {
    rows.remove(textKey(id))
    return this.#environment.durable()
  }
}
