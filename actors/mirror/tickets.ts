// Messages with which gateways share stream tickets.

import { KEY_SCOPES, TIER_NAMES } from '../../engine/accounts/account.ts'
import {
  as,
  choice,
  constant,
  type Field,
  list,
  mapped,
  message,
  number,
  orNull,
  record,
  text,
  time,
} from '../../engine/codec.ts'
import { accountId, keyId } from '../../engine/ids.ts'
import { timeMs } from '../../engine/units.ts'
import type { Caller } from '../views.ts'

/** A ticket was issued or used. `id` is the ticket's hash. */
export type TicketMessage =
  | {
      readonly kind: 'issued'
      readonly id: string
      readonly caller: Caller
      readonly leftMs: number
    }
  | { readonly kind: 'taken'; readonly id: string }

type Issued = Extract<TicketMessage, { readonly kind: 'issued' }>
type Taken = Extract<TicketMessage, { readonly kind: 'taken' }>
type Token = NonNullable<Caller['token']>

const token = mapped<StoredToken, Caller['token']>(
  record<StoredToken>({ id: orNull(text), generation: number, expiresAtMs: time }),
  (value) => value ?? { id: null, generation: 0, expiresAtMs: timeMs(0) },
  ({ id, ...rest }) => (id === null ? null : { id, ...rest }),
)
type StoredToken = Omit<Token, 'id'> & { readonly id: string | null }

const MESSAGES = {
  issued: record<Issued>({
    kind: constant('issued'),
    id: text,
    leftMs: number,
    caller: record<Caller>({
      accountId: as(text, accountId),
      email: text,
      tier: choice(TIER_NAMES),
      createdAtMs: time,
      requestsPerMinute: number,
      socketsMax: number,
      keyId: orNull(as(text, keyId)),
      token,
      scopes: list(choice(KEY_SCOPES)),
    }),
  }),
  taken: record<Taken>({ kind: constant('taken'), id: text }),
}
const messageKind = choice(['issued', 'taken'])

export const ticketMessage = message<TicketMessage>({
  put: (to, value) => {
    const fields: Field<TicketMessage> = MESSAGES[value.kind]
    messageKind.put(to, value.kind)
    fields.put(to, value)
  },
  take: (from) => MESSAGES[messageKind.take(from)].take(from),
})
