// Wire format of ticket messages between gateways.

import { Packr } from 'msgpackr'
import { KEY_SCOPES } from '../../engine/accounts/account.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import { timeMs } from '../../engine/units.ts'
import { FieldReader } from '../../storage/records/records.ts'
import type { Caller } from '../views.ts'

/** A ticket was issued or used; `id` is its hash. */
export type TicketMessage =
  | {
      readonly kind: 'issued'
      readonly id: string
      readonly caller: Caller
      readonly leftMs: number
    }
  | { readonly kind: 'taken'; readonly id: string }

const TIERS = ['free', 'pro', 'enterprise'] as const
const packr = new Packr({ useRecords: false, variableMapSize: true })

export function encodeTicketMessage(message: TicketMessage): Uint8Array {
  if (message.kind === 'taken') return packr.pack([message.kind, message.id])
  const { caller, id, leftMs } = message
  const { accountId: account, email, tier, createdAtMs, requestsPerMinute, socketsMax } = caller
  const { keyId: key, token, scopes } = caller
  const callerFields = [account, email, tier, createdAtMs, requestsPerMinute, socketsMax]
  const tokenFields =
    token === null ? [null, 0, 0] : [token.id, token.generation, token.expiresAtMs]
  return packr.pack([message.kind, id, leftMs, ...callerFields, key, ...tokenFields, scopes])
}

/** Null for invalid bytes. */
export function decodeTicketMessage(bytes: Uint8Array): TicketMessage | null {
  try {
    const fields = new FieldReader(packr.unpack(bytes))
    const [kind, id] = [fields.choice(['issued', 'taken'] as const), fields.text()]
    const message: TicketMessage =
      kind === 'taken' ? { kind, id } : { kind, id, ...readIssued(fields) }
    return fields.isAtEnd() ? message : null
  } catch {
    return null
  }
}

function readIssued(fields: FieldReader): { caller: Caller; leftMs: number } {
  const leftMs = fields.number()
  const callerFields = {
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
      ...callerFields,
      keyId: key === null ? null : keyId(key),
      token,
      scopes: fields.choices(KEY_SCOPES),
    },
  }
}
