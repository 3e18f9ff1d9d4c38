// The channel `arbitrage`: opportunities as they open, change and close; `market_id` is the first leg's.
// Not for: finding them (actors/arbitrage/arbitrage.ts). Upholds ARBSTREAM1.

import { Type } from '@sinclair/typebox'
import type { ArbitrageUpdate } from '../../../engine/events.ts'
import { ringArbitrageMax } from '../../../engine/limits.ts'
import { writeValue } from '../../../engine/msgpack-writer.ts'
import { CLOSE_REASONS } from '../../../engine/opportunity.ts'
import {
  EXAMPLE_OPPORTUNITY,
  OpportunitySchema,
  opportunityRecord,
} from '../../records/opportunities.ts'
import { choice, nullable } from '../../schemas.ts'
import { type Encoder, type Frame, keyOf, MessageKind } from '../encode/encoder.ts'
import { laneOf } from '../fan-out/lanes.ts'
import { counted, exampleOf } from '../messages.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'

const NAME = 'arbitrage'
const EVENTS: readonly ArbitrageUpdate['event'][] = ['opened', 'changed', 'closed']

const DATA = keyOf('data')
const ARBITRAGE = new MessageKind<ArbitrageUpdate>(NAME, NAME, {
  json: (head, update) => `${head},"data":${JSON.stringify(dataOf(update))}}`,
  msgpack(to, update) {
    to.bytes(DATA)
    writeValue(to, dataOf(update))
  },
})

/** What a message says; of what webhooks say, too. */
export function dataOf({ event, reason, opportunity, receivedAtMs }: ArbitrageUpdate) {
  const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
  return { event, close_reason: reason, ...record }
}

/** `arbitrage`; `epoch` of the run that sent it first, when a later run repeats it. */
export function arbitrageMessage(encoder: Encoder, update: ArbitrageUpdate, epoch?: string): Frame {
  return encoder.message(ARBITRAGE, update.market, update, update, epoch)
}

export const ArbitrageSchema = Type.Object({
  event: choice(EVENTS),
  close_reason: nullable(choice(CLOSE_REASONS)),
  ...OpportunitySchema.properties,
})

/** The data of a message in examples. */
export const EXAMPLE_ARBITRAGE = { event: 'opened', close_reason: null, ...EXAMPLE_OPPORTUNITY }

/** Baskets of outcomes that earn after depth and fees. */
export const arbitrage: Channel = {
  name: NAME,
  delivery: 'every',
  hasState: false,
  options: {},
  lanes: [laneOf(NAME, {})],
  hears: ['arbitrage'],
  messages: {
    arbitrage: {
      summary: 'An opportunity opened, changed or closed',
      schema: counted(NAME, NAME, { data: ArbitrageSchema }),
      example: exampleOf(NAME, NAME, { data: EXAMPLE_ARBITRAGE }),
    },
  },
  shapes: { ArbitrageSchema },
  row: {
    messages:
      '`arbitrage`: `event` (`opened`, `changed`, `closed`), `close_reason`, and the opportunity as `/v1/arbitrage` has it; `market_id` is the first leg’s',
    when: 'opened and closed at once, a change at most every 250 ms',
    begins: '–',
  },
  open: (parts) =>
    new LoggedChannel(parts, {
      name: NAME,
      capacity: ringArbitrageMax,
      table: null,
      write: (encoder, update, epoch) =>
        update.kind === 'arbitrage' ? arbitrageMessage(encoder, update, epoch) : null,
    }),
}
