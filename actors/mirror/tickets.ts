// What gateways tell each other of tickets, as bytes.

import { Packr } from 'msgpackr'
import { KEY_SCOPES } from '../../engine/accounts/account.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import { timeMs } from '../../engine/units.ts'
import { FieldReader } from '../../storage/records/records.ts'
import type { Caller } from '../views.ts'

/** A ticket was issued, or somebody came in with it; `id` is its hash. */
export type TicketNews =
  | {
      readonly kind: 'issued'
      readonly id: string
      readonly caller: Caller
      readonly leftMs: number
    }
  | { readonly kind: 'taken'; readonly id: string }

const TIERS = ['free', 'pro', 'enterprise'] as const
const packr = new Packr({ useRecords: false, variableMapSize: true })

export function encodeTicketNews(news: TicketNews): Uint8Array {
  if (news.kind === 'taken') return packr.pack([news.kind, news.id])
  const { caller, id, leftMs } = news
  const { accountId: account, email, tier, createdAtMs, requestsPerMinute, socketsMax } = caller
  const { keyId: key, token, scopes } = caller
  const whose = [account, email, tier, createdAtMs, requestsPerMinute, socketsMax]
  const tokenFields =
    token === null ? [null, 0, 0] : [token.id, token.generation, token.expiresAtMs]
  return packr.pack([news.kind, id, leftMs, ...whose, key, ...tokenFields, scopes])
}

/** Null unless the bytes are such news. */
export function decodeTicketNews(bytes: Uint8Array): TicketNews | null {
  try {
    const fields = new FieldReader(packr.unpack(bytes))
    const [kind, id] = [fields.choice(['issued', 'taken'] as const), fields.text()]
    const news: TicketNews = kind === 'taken' ? { kind, id } : { kind, id, ...readIssued(fields) }
    return fields.isAtEnd() ? news : null
  } catch {
    return null
  }
}

function readIssued(fields: FieldReader): { caller: Caller; leftMs: number } {
  const leftMs = fields.number()
  const whose = {
    accountId: accountId(fields.text()),
    email: fields.text(),
    tier: fields.choice(TIERS),
    createdAtMs: timeMs(fields.number()),
    requestsPerMinute: fields.number(),
    socketsMax: fields.number(),
  }
  const key = fields.textOrNull()
  const tokenId = fields.textOrNull()
  const [generation, expiresAtMs] = [fields.number(), timeMs(fields.number())]
  const token = tokenId === null ? null : { id: tokenId, generation, expiresAtMs }
  return {
    leftMs,
    caller: {
      ...whose,
      keyId: key === null ? null : keyId(key),
      token,
      scopes: fields.choices(KEY_SCOPES),
    },
  }
}
