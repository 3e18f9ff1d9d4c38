import { KEY_SCOPES, scopesOf, TIER_NAMES } from '../../engine/accounts/account.ts'
import {
  as,
  boolean,
  choice,
  mapped,
  number,
  orNull,
  record,
  since,
  text,
  texts,
  time,
} from '../../engine/codec.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import type { AccountRecord, EndedToken, KeyRecord } from '../contract/rows.ts'
import { listed } from './records.ts'

const account = record<Required<AccountRecord>>({
  id: as(text, accountId),
  email: text,
  passwordHash: orNull(text),
  tier: choice(TIER_NAMES),
  requestsPerMinute: orNull(number),
  socketsMax: orNull(number),
  createdAtMs: time,
  isDisabled: since(2, boolean, false),
  tokenGeneration: since(3, number, 0),
  deliveriesPerSecond: since(4, orNull(number), null),
  watchlist: since(5, texts, []),
})

export const accountCodec = listed<AccountRecord>(
  5,
  mapped(
    account,
    (value) => ({ deliveriesPerSecond: null, watchlist: [], ...value }),
    ({ deliveriesPerSecond, watchlist, ...rest }) => ({
      ...rest,
      ...(deliveriesPerSecond === null ? {} : { deliveriesPerSecond }),
      ...(watchlist.length === 0 ? {} : { watchlist }),
    }),
  ),
)

/** An unknown scope grants no permission. */
const scopes = mapped<string, KeyRecord['scopes']>(
  text,
  (value) => value.join(','),
  (names) => scopesOf(KEY_SCOPES.filter((scope) => names.split(',').includes(scope))),
)

export const keyCodec = listed<KeyRecord>(
  2,
  record<KeyRecord>({
    id: as(text, keyId),
    accountId: as(text, accountId),
    hash: text,
    prefix: text,
    label: text,
    createdAtMs: time,
    lastUsedAtMs: orNull(time),
    scopes: since(2, scopes, KEY_SCOPES),
  }),
)

export const endedTokenCodec = listed<EndedToken>(
  1,
  record<EndedToken>({ tokenId: text, accountId: as(text, accountId), expiresAtMs: time }),
)
