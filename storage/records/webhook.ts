// The record of one webhook: its fields by schema version; its number is in the key. Secrets are already encrypted.

import { accountId, VENUE_KEYS, webhookId } from '../../engine/ids.ts'
import { priceMicros, timeMs, usdMicros } from '../../engine/units.ts'
import {
  type DisabledReason,
  type PreviousSecret,
  type Webhook,
  type WebhookFilters,
  webhookNumber,
} from '../../engine/webhooks/webhook.ts'
import type { Schemas } from '../lmdb/table.ts'
import type { FieldReader } from './records.ts'
import { SIDES } from './trade.ts'

/**
 * 2 adds the opportunity thresholds after the other filters; 3 then the takers; 4 then their side; 5 the host's
 * verification before the previous secrets.
 */
export const WEBHOOK_SCHEMA = 5
const DISABLED_REASONS: readonly DisabledReason[] = ['gone', 'failing']

export function webhookFields(webhook: Webhook): readonly unknown[] {
  const { id, accountId: owner, url, eventTypes, filters, description } = webhook
  const { isActive, disabledReason, createdAtMs, secret, isVerified, previousSecrets } = webhook
  const { marketIds, venue, wallets, minUsd, minChange, side, eventSlugs, categories } = filters
  const { minProfit, minEdge, minAgeMs, takerWallets, takerSide } = filters
  const filterFields = [marketIds, venue, wallets, minUsd, minChange, side, eventSlugs, categories]
  const state = [description, isActive, disabledReason, createdAtMs, secret, isVerified]
  const previous = previousSecrets.flatMap((each) => [each.secret, each.untilMs])
  const later = [minProfit, minEdge, minAgeMs, takerWallets, takerSide]
  return [id, owner, url, eventTypes, ...filterFields, ...later, ...state, ...previous]
}

/** Decoders of the webhook under this key. */
export function webhookSchemas(key: Buffer): Schemas<Webhook> {
  return {
    1: (fields) => readWebhook(key, fields, 1),
    2: (fields) => readWebhook(key, fields, 2),
    3: (fields) => readWebhook(key, fields, 3),
    4: (fields) => readWebhook(key, fields, 4),
    5: (fields) => readWebhook(key, fields, 5),
  }
}

function readWebhook(key: Buffer, fields: FieldReader, schema: number): Webhook {
  return {
    number: webhookNumber(key.readUInt32BE(0)),
    id: webhookId(fields.text()),
    accountId: accountId(fields.text()),
    url: fields.text(),
    eventTypes: fields.texts(),
    filters: readFilters(fields, schema),
    description: fields.textOrNull(),
    isActive: fields.boolean(),
    disabledReason: fields.choiceOrNull(DISABLED_REASONS),
    createdAtMs: timeMs(fields.number()),
    secret: fields.text(),
    isVerified: schema < 5 || fields.boolean(),
    previousSecrets: readPreviousSecrets(fields),
  }
}

/** Reads the rest of the record. */
function readPreviousSecrets(fields: FieldReader): readonly PreviousSecret[] {
  const secrets: PreviousSecret[] = []
  while (!fields.isAtEnd()) {
    secrets.push({ secret: fields.text(), untilMs: timeMs(fields.number()) })
  }
  return secrets
}

function readFilters(fields: FieldReader, schema: number): WebhookFilters {
  return {
    marketIds: fields.textsOrNull(),
    venue: fields.choiceOrNull(VENUE_KEYS),
    wallets: fields.textsOrNull(),
    minUsd: fields.orNull(usdMicros),
    minChange: fields.orNull(priceMicros),
    side: fields.choiceOrNull(SIDES),
    eventSlugs: fields.textsOrNull(),
    categories: fields.textsOrNull(),
    minProfit: schema < 2 ? null : fields.orNull(usdMicros),
    minEdge: schema < 2 ? null : fields.orNull(priceMicros),
    minAgeMs: schema < 2 ? null : fields.orNull((value) => value),
    takerWallets: schema < 3 ? null : fields.textsOrNull(),
    takerSide: schema < 4 ? null : fields.choiceOrNull(SIDES),
  }
}
