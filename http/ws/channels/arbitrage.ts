// The channel `arbitrage`: opportunities that opened, changed or closed. `market_id` is the market of the first leg.

import { Type } from '@sinclair/typebox'
import type { EngineView } from '../../../actors/views.ts'
import type { ArbitrageUpdate } from '../../../engine/events.ts'
import { ringArbitrageMax } from '../../../engine/limits.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { CLOSE_REASONS } from '../../../engine/opportunity.ts'
import { MICROS } from '../../../engine/units.ts'
import {
  EXAMPLE_OPPORTUNITY,
  OpportunitySchema,
  opportunityRecord,
} from '../../records/opportunities.ts'
import { choice, nullable } from '../../schemas.ts'
import { dataFields, type Encoder, type Frame, MessageKind } from '../encode/encoder.ts'
import { type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import { counted } from '../messages.ts'
import type { LoggedUpdate } from '../resume/message-log.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'

const NAME = 'arbitrage'
const EVENTS: readonly ArbitrageUpdate['event'][] = ['opened', 'changed', 'closed']

/** Allowed values of `min_profit_usd`. A short list lets many subscribers share one encoded message. */
const MIN_PROFITS_USD = [0, 1, 5, 10, 50, 100] as const
/** Allowed values of `min_edge`, in dollars per contract. */
const MIN_EDGES = [0, 0.005, 0.01, 0.02, 0.05] as const
const VARIANTS = MIN_PROFITS_USD.flatMap((min_profit_usd) =>
  MIN_EDGES.map((min_edge) => variantOf(NAME, { min_profit_usd, min_edge })),
)
const OPTIONS_OF = new Map(VARIANTS.map(({ variant, options }) => [variant, options]))

const ARBITRAGE = new MessageKind<ArbitrageUpdate>(NAME, NAME, dataFields(dataOf))

function dataOf({ event, reason, opportunity, receivedAtMs }: ArbitrageUpdate) {
  const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
  return { event, close_reason: reason, ...record }
}

/** `epoch`: the epoch of the run that first sent the message. Required if a later run sends it again. */
export function arbitrageMessage(encoder: Encoder, update: ArbitrageUpdate, epoch?: string): Frame {
  return encoder.message(ARBITRAGE, update.market, update, update, epoch)
}

export const ArbitrageSchema = Type.Object({
  event: choice(EVENTS),
  close_reason: nullable(choice(CLOSE_REASONS)),
  ...OpportunitySchema.properties,
})

export const EXAMPLE_ARBITRAGE = { event: 'opened', close_reason: null, ...EXAMPLE_OPPORTUNITY }

/**
 * True once the opportunity's peak values reached the variant's minimums. The variant then gets all later messages
 * about the opportunity.
 */
function isIn(variant: ChannelVariant, update: LoggedUpdate): boolean {
  const options = OPTIONS_OF.get(variant)
  if (options === undefined || update.kind !== 'arbitrage') return false
  const { profit, edge } = update.peak
  return profit >= options.min_profit_usd * MICROS && edge >= options.min_edge
}

/**
 * The first leg of a matched pair is always at the first venue. A market of another venue is a first leg only in an
 * event basket of its own venue.
 */
function unsupportedReason({ catalog }: EngineView, { venue, number }: MarketRef): string | null {
  const [first] = catalog.names.keys
  if (first === undefined || venue === first) return null
  const slug = catalog.byNumber(number)?.summary.event ?? null
  const event = slug === null ? null : catalog.event(venue, slug)
  if (event !== null && event.winnerAmong !== null) return null
  return `an opportunity is told under its first leg's market, which is ${catalog.names.platform(first)}'s: give the id of the market there that is matched with this one, or *`
}

export const arbitrage: Channel = {
  name: NAME,
  delivery: 'every',
  hasState: false,
  needsBook: true,
  options: {
    min_profit_usd: { allowed: MIN_PROFITS_USD, default: 0 },
    min_edge: { allowed: MIN_EDGES, default: 0 },
  },
  variants: VARIANTS,
  updateKinds: ['arbitrage'],
  messages: {
    arbitrage: counted(NAME, NAME, {
      summary: 'An opportunity opened, changed or closed',
      fields: { data: ArbitrageSchema },
      example: { data: EXAMPLE_ARBITRAGE },
    }),
  },
  shapes: { ArbitrageSchema },
  row: {
    messages:
      '`arbitrage`: `event` (`opened`, `changed`, `closed`), `close_reason`, and the opportunity as `/v1/arbitrage` has it; `market_id` is the first leg’s',
    when: 'opened and closed at once, a change at most every 250 ms; from the first message that meets the options',
    begins: '–',
  },
  open(parts) {
    const channel = new LoggedChannel(parts, {
      name: NAME,
      capacity: ringArbitrageMax,
      table: null,
      variants: VARIANTS.map(({ variant }) => variant),
      isIn,
      isOfEarlier: (update) => update.kind === 'arbitrage' && update.reason === 'restarted',
      write: (encoder, update, epoch) =>
        update.kind === 'arbitrage' ? arbitrageMessage(encoder, update, epoch) : null,
    })
    return Object.assign(channel, {
      unsupportedReason: (market: MarketRef) => unsupportedReason(parts.engine, market),
    })
  },
}
