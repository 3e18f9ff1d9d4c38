// Records of accounts, keys and revoked tokens: their fields by schema version.

import { KEY_SCOPES, scopesOf, TIER_NAMES } from '../../engine/accounts/account.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import { timeMs } from '../../engine/units.ts'
import type { AccountRecord, EndedToken, KeyRecord } from '../contract/storage.ts'
import type { Schemas } from '../lmdb/table.ts'
import type { FieldReader } from './records.ts'

/** 2 adds scopes. */
export const KEY_SCHEMA = 2
/** 2 adds `isDisabled`, 3 `tokenGeneration`, 4 the operator's delivery rate. */
export const ACCOUNT_SCHEMA = 4
export const ENDED_TOKEN_SCHEMA = 1

export const accountSchemas: Schemas<AccountRecord> = {
  1: (fields) => ({ ...readAccount(fields), isDisabled: false, tokenGeneration: 0 }),
  2: (fields) => ({ ...readAccount(fields), isDisabled: fields.boolean(), tokenGeneration: 0 }),
  3: readWithTokens,
  4: (fields) => {
    const account = readWithTokens(fields)
    const deliveriesPerSecond = fields.numberOrNull()
    return deliveriesPerSecond === null ? account : { ...account, deliveriesPerSecond }
  },
}

function readWithTokens(fields: FieldReader): AccountRecord {
  const account = { ...readAccount(fields), isDisabled: fields.boolean() }
  return { ...account, tokenGeneration: fields.number() }
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

export const keySchemas: Schemas<KeyRecord> = {
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

/** Scopes as comma-separated text. An unknown scope grants nothing. */
function readScopes(fields: FieldReader): KeyRecord['scopes'] {
  const names = fields.text().split(',')
  return scopesOf(KEY_SCOPES.filter((scope) => names.includes(scope)))
}

export const endedTokenSchemas: Schemas<EndedToken> = {
  1: (fields) => ({
    tokenId: fields.text(),
    accountId: accountId(fields.text()),
    expiresAtMs: timeMs(fields.number()),
  }),
}

export function accountFields(record: AccountRecord): readonly unknown[] {
  const { id, email, passwordHash, tier, requestsPerMinute, socketsMax, createdAtMs } = record
  const limits = [tier, requestsPerMinute, socketsMax]
  const { isDisabled, tokenGeneration, deliveriesPerSecond: deliveries = null } = record
  return [id, email, passwordHash, ...limits, createdAtMs, isDisabled, tokenGeneration, deliveries]
}

export function keyFields(record: KeyRecord): readonly unknown[] {
  const { id, accountId: owner, hash, prefix, label, createdAtMs, lastUsedAtMs } = record
  return [id, owner, hash, prefix, label, createdAtMs, lastUsedAtMs, record.scopes.join(',')]
}

export function endedTokenFields({ tokenId, accountId: owner, expiresAtMs }: EndedToken) {
  return [tokenId, owner, expiresAtMs]
}
