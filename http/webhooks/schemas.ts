import { type TSchema, Type } from '@sinclair/typebox'
import { opportunityAgeMsMax } from '../../engine/limits.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { CHAT_FORMATS, WEBHOOK_FORMATS } from '../../engine/webhooks/chat-message.ts'
import { DELIVERY_STATUSES } from '../../engine/webhooks/webhook.ts'
import { choice, field, nullable, pageFields, side } from '../schemas.ts'
import type { EventDescriptor } from './types/event-type.ts'
import { EVENT_TYPES, EVENTS } from './types/event-types.ts'

const LIST_ENTRIES_MAX = 100
const TEXT_CHARACTERS_MAX = 256
/** Exceeds any trade, and is exact in micro-dollars. */
const USD_MAX = 1_000_000_000
/** The smallest price step of any market. */
const CHANGE_MIN = 0.000001

const text = () => Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX })
const optional = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema))

function list<S extends TSchema>(items: S, description: string) {
  return optional(Type.Array(items, { minItems: 1, maxItems: LIST_ENTRIES_MAX, description }))
}

const filtersBody = (names: VenueTable) =>
  Type.Object(
    {
      market_ids: list(text(), 'Unified market ids, known or not yet known.'),
      platform: optional(choice(names.platforms)),
      wallets: list(
        Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
        'Addresses; the maker or the taker is one of them. Makers become known up to a minute after the trade, and trade.created is sent then. Where a transaction has several makers, each of them counts as maker of its trades.',
      ),
      taker_wallets: list(
        Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
        'Addresses; the taker is one of them.',
      ),
      min_usd: optional(
        Type.Number({
          minimum: 0,
          maximum: USD_MAX,
          description: 'At least so many US dollars; whale.alert without it: 5000.',
        }),
      ),
      min_change: optional(
        Type.Number({
          minimum: CHANGE_MIN,
          maximum: 1,
          description:
            'Of price.changed: at least so far from the price last sent; without it 0.05.',
        }),
      ),
      min_profit_usd: optional(
        Type.Number({
          minimum: 0,
          maximum: USD_MAX,
          description: 'Of opportunities: so much profit was reached, in US dollars.',
        }),
      ),
      min_edge: optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Of opportunities: so much profit of one contract of each leg was reached.',
        }),
      ),
      min_age_ms: optional(
        Type.Integer({
          minimum: 0,
          maximum: opportunityAgeMsMax,
          description:
            'Of opportunities: it has lasted so long; looked at every 250 ms. One that ends before is not posted.',
        }),
      ),
      side: optional(side()),
      taker_side: optional(side()),
      event_slugs: list(text(), 'Slugs of events, as `event_slug` of their markets.'),
      categories: list(text(), 'Categories, as `category` of the markets.'),
    },
    { additionalProperties: false },
  )

const urlField = () =>
  Type.String({
    description: 'Where events are posted: https, a public host, at most 2048 characters.',
  })
const eventTypesField = (types: readonly EventDescriptor[]) => {
  const short = types.flatMap(({ shortNames }) => shortNames)
  return Type.Array(choice([...types.map(({ name }) => name), ...short]), {
    minItems: 1,
    maxItems: types.length,
    description: 'Each type once; short names are answered with the whole name.',
  })
}
const formatField = () =>
  choice(WEBHOOK_FORMATS, {
    description:
      'Form of the posts: `standard` (default) is signed JSON, the others are messages of that chat service. It cannot be changed later. The url of `telegram` is https://api.telegram.org/bot<token>/sendMessage?chat_id=<number or @name>.',
  })
const descriptionField = () => optional(Type.String({ maxLength: TEXT_CHARACTERS_MAX }))
const secretField = () =>
  optional(
    Type.String({
      description: '`whsec_` and the base64 of 24 to 64 bytes; made for you unless given.',
    }),
  )

export const createBody = (names: VenueTable, types: readonly EventDescriptor[] = EVENTS) =>
  Type.Object(
    {
      url: urlField(),
      format: optional(formatField()),
      event_types: eventTypesField(types),
      filters: optional(filtersBody(names)),
      secret: secretField(),
      description: descriptionField(),
    },
    { additionalProperties: false },
  )

/** Absent fields stay unchanged. `filters` replaces all filters. */
export const changeBody = (names: VenueTable, types: readonly EventDescriptor[] = EVENTS) =>
  Type.Object(
    {
      url: Type.Optional(urlField()),
      event_types: Type.Optional(eventTypesField(types)),
      filters: optional(filtersBody(names)),
      description: descriptionField(),
      active: Type.Optional(
        Type.Boolean({ description: 'True ends a disabling as well: attempts go on.' }),
      ),
    },
    { additionalProperties: false },
  )

export const rotateBody = () =>
  Type.Object({ secret: secretField() }, { additionalProperties: false })

const texts = () => nullable(Type.Array(Type.String()))

/** A null field restricts nothing. */
export const WebhookFiltersSchema = Type.Object({
  market_ids: texts(),
  platform: nullable(Type.String()),
  wallets: texts(),
  taker_wallets: texts(),
  min_usd: nullable(Type.Number({ minimum: 0 })),
  min_change: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  min_profit_usd: nullable(Type.Number({ minimum: 0 })),
  min_edge: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  min_age_ms: nullable(Type.Integer({ minimum: 0 })),
  side: nullable(side()),
  event_slugs: texts(),
  categories: texts(),
  taker_side: nullable(side()),
})

const count = () => Type.Integer({ minimum: 0 })
const milliseconds = (meaning: string) =>
  Type.Integer({ description: `${meaning} Unix milliseconds.` })
const seconds = (meaning: string) => Type.Integer({ description: `${meaning} Unix seconds.` })

/** `created` is the sum of the remaining counts. */
export const DeliveryCountsSchema = Type.Object({
  created: count(),
  delivered: count(),
  exhausted: count(),
  dropped: count(),
  pending: count(),
})

/** `status` is the receiver's HTTP status; null without a response. `error` is null after a 2xx status. */
export const AttemptSchema = Type.Object({
  at: seconds('When it began.'),
  duration_ms: Type.Integer({ minimum: 0 }),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
})

const ReceiverAnswerSchema = Type.Object(
  {
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Content, date, server, `retry-after` and `x-request-id` alone.',
    }),
    body: Type.String({ description: 'Its first 2,048 bytes, read as UTF-8.' }),
    is_cut: Type.Boolean({ description: 'There was more of the body.' }),
  },
  {
    description:
      'The head of the last answer; null: none came, or the attempt was made before answers were kept.',
  },
)

const throttled = () =>
  Type.Integer({
    minimum: 0,
    description:
      'Events that were dropped since the account used up its share of deliveries. They are part of `counts.dropped` and have no delivery. Of `price.changed` each price that would have been posted counts; the next event has the whole change.',
  })

const stateFields = () => ({
  active: Type.Boolean({ description: 'Whether events are made for it and posted.' }),
  disabled_reason: nullable(
    choice(['gone', 'failing'] as const, {
      description: 'We made it inactive: the receiver answered 410, or failed for five days.',
    }),
  ),
  verified: Type.Boolean({
    description:
      'False: its host has not answered a test of this account yet. A test is sent when the webhook is made or gets another host; until one is answered with a 2xx within 24 h nothing else is made for it. `POST …/test` sends another one.',
  }),
  created_at: seconds('When it was made.'),
  failing_since: nullable(
    seconds('Since when every attempt failed; null: none has since the last success.'),
  ),
  previous_secret_until: nullable(
    seconds('Until when the secret rotated out last signs as well; null: it does not.'),
  ),
  counts: DeliveryCountsSchema,
  throttled: throttled(),
})

/** Schemas of webhooks and deliveries for these event types. */
export function webhookShapes(types: readonly string[]) {
  const WebhookSchema = Type.Object({
    id: Type.String(),
    url: Type.String(),
    format: formatField(),
    event_types: Type.Array(choice(types), { minItems: 1 }),
    filters: WebhookFiltersSchema,
    description: nullable(Type.String()),
    ...stateFields(),
  })

  const WebhooksSchema = Type.Object({ webhooks: Type.Array(WebhookSchema), total: count() })

  // Response to creation and rotation. Only these responses contain the secret.
  const WebhookWithSecretSchema = Type.Intersect([
    WebhookSchema,
    Type.Object({ secret: Type.String() }),
  ])

  const DeliverySchema = Type.Object({
    id: Type.String(),
    event_id: Type.String({ description: '`webhook-id` of its posts.' }),
    event_type: choice(types),
    status: choice(DELIVERY_STATUSES),
    created_at: seconds('When the event was kept for this webhook.'),
    next_attempt_at: nullable(seconds('When it is posted next; null: it is finished.')),
    attempts: count(),
    last_attempt: nullable(AttemptSchema),
  })

  const DeliveryDetailSchema = Type.Intersect([
    DeliverySchema,
    Type.Object({
      created_at_ms: milliseconds('When the event was kept for this webhook.'),
      attempted_at_ms: nullable(milliseconds('When the last attempt began; null: none has.')),
      request: Type.Object({
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'As the last attempt sent them, without the signature.',
        }),
        body: Type.String({
          description:
            'The text that is posted at every attempt; for a chat format the message about this event alone.',
        }),
      }),
      response: nullable(ReceiverAnswerSchema),
    }),
  ])

  const WebhookPreviewSchema = Type.Object({
    format: choice(CHAT_FORMATS, { description: 'The chat service.' }),
    event_type: choice(types),
    body: field(Type.Record(Type.String(), Type.Unknown()), 'The JSON that is posted.', {
      text: 'Large trade: $8,600, bought Yes at 43¢',
      blocks: [],
    }),
  })

  const DeliveriesSchema = Type.Object({
    deliveries: Type.Array(DeliverySchema),
    ...pageFields,
  })

  return {
    WebhookSchema,
    WebhooksSchema,
    WebhookWithSecretSchema,
    DeliverySchema,
    DeliveryDetailSchema,
    DeliveriesSchema,
    WebhookPreviewSchema,
  }
}

export const {
  WebhookSchema,
  WebhooksSchema,
  WebhookWithSecretSchema,
  DeliverySchema,
  DeliveryDetailSchema,
  DeliveriesSchema,
  WebhookPreviewSchema,
} = webhookShapes(EVENT_TYPES)

export function eventSchema(type: EventDescriptor, names: VenueTable) {
  return Type.Object({
    type: Type.Literal(type.name),
    timestamp: Type.String({ description: 'When it happened, ISO 8601.' }),
    data: type.data(names),
  })
}
