// The channel `lifecycle`: events such as opening, closing and resolution of a market, each with the market's record
// after the event.

import { Type } from '@sinclair/typebox'
import { LIFECYCLE_EVENTS, type LifecycleUpdate } from '../../../engine/events.ts'
import { ringLifecycleMax } from '../../../engine/limits.ts'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { MARKET_STATUSES } from '../../../engine/market/market.ts'
import { feesRecord, lifecycleRecord } from '../../records/render.ts'
import { choice, FeesSchema, nullable, resolutionStatus, settlementPrice } from '../../schemas.ts'
import { dataFields, type Encoder, type Frame, MessageKind } from '../encode/encoder.ts'
import { variantOf } from '../fan-out/channel-variants.ts'
import { counted } from '../messages.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'

const NAME = 'lifecycle'

const LIFECYCLE = new MessageKind<LifecycleUpdate>(NAME, NAME, dataFields(lifecycleRecord))

/** `epoch`: the epoch of the run that first sent the message. Required if a later run sends it again. */
export function lifecycleMessage(encoder: Encoder, update: LifecycleUpdate, epoch?: string): Frame {
  return encoder.message(LIFECYCLE, update.market, update, update, epoch)
}

const text = () => Type.String()

export const LifecycleSchema = Type.Object({
  event: choice(LIFECYCLE_EVENTS, {
    description:
      'settled: what the market pays became known, or was corrected, after resolved. changed: question, close_time, outcomes, fees or resolution_status.',
  }),
  platform: text(),
  status: choice(MARKET_STATUSES),
  resolution_status: resolutionStatus(),
  settlement_price: settlementPrice(),
  question: text(),
  slug: text(),
  event_slug: nullable(text()),
  outcomes: Type.Array(text()),
  close_time: nullable(Type.Integer()),
  twin_market_id: nullable(text()),
  fees: FeesSchema,
})

export const EXAMPLE_LIFECYCLE = {
  event: 'resolved',
  platform: 'venue_a',
  status: 'resolved',
  resolution_status: 'resolved',
  settlement_price: 1,
  question: 'Will it rain in Denver on Sunday?',
  slug: 'rain-denver-sunday',
  event_slug: 'denver-weather',
  outcomes: ['Yes', 'No'],
  close_time: 1_763_700_000,
  twin_market_id: null,
  fees: feesRecord(FEES_UNKNOWN, 0),
}

export const lifecycle: Channel = {
  name: NAME,
  delivery: 'every',
  hasState: false,
  options: {},
  variants: [variantOf(NAME, {})],
  updateKinds: ['lifecycle'],
  messages: {
    lifecycle: counted(NAME, NAME, {
      summary: 'An event of a market itself, such as its resolution',
      fields: { data: LifecycleSchema },
      example: { data: EXAMPLE_LIFECYCLE },
    }),
  },
  shapes: { LifecycleSchema },
  row: {
    messages:
      '`lifecycle`: `event`, with platform, status, resolution_status, settlement_price, question, slug, event_slug, outcomes, close_time, twin_market_id, fees',
    when: 'every one',
    begins: '–',
  },
  open: (parts) =>
    new LoggedChannel(parts, {
      name: NAME,
      capacity: ringLifecycleMax,
      table: null,
      write: (encoder, update, epoch) =>
        update.kind === 'lifecycle' ? lifecycleMessage(encoder, update, epoch) : null,
    }),
}
