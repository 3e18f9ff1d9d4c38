// The webhook's number is in the key. Its secrets are already encrypted.

import {
  as,
  boolean,
  choice,
  number,
  orNull,
  price,
  record,
  rest,
  since,
  stated,
  text,
  texts,
  time,
  usd,
} from '../../engine/codec.ts'
import { accountId, webhookId } from '../../engine/ids.ts'
import { WEBHOOK_FORMATS } from '../../engine/webhooks/chat-message.ts'
import {
  type DisabledReason,
  type PreviousSecret,
  type Webhook,
  type WebhookFilters,
  webhookNumber,
} from '../../engine/webhooks/webhook.ts'
import { venue } from './listings.ts'
import { listed } from './records.ts'
import { side } from './trade-fields.ts'

const DISABLED_REASONS: readonly DisabledReason[] = ['gone', 'failing']

const filters = record<WebhookFilters>({
  marketIds: orNull(texts),
  venue: orNull(venue),
  wallets: orNull(texts),
  minUsd: orNull(usd),
  minChange: orNull(price),
  side: orNull(side),
  eventSlugs: orNull(texts),
  categories: orNull(texts),
  minProfit: since(2, orNull(usd), null),
  minEdge: since(2, orNull(price), null),
  minAgeMs: since(2, orNull(number), null),
  takerWallets: since(3, orNull(texts), null),
  takerSide: since(4, orNull(side), null),
})

export const webhookCodec = listed<Webhook>(
  6,
  record<Webhook>({
    number: stated(({ key }) => webhookNumber(key.readUInt32BE(0))),
    id: as(text, webhookId),
    accountId: as(text, accountId),
    url: text,
    eventTypes: texts,
    filters,
    description: orNull(text),
    isActive: boolean,
    disabledReason: orNull(choice(DISABLED_REASONS)),
    createdAtMs: time,
    secret: text,
    isVerified: since(5, boolean, true),
    format: since(6, choice(WEBHOOK_FORMATS), 'standard'),
    previousSecrets: rest(record<PreviousSecret>({ secret: text, untilMs: time })),
  }),
)
