// An example of a channel that its descriptor alone defines: net dollars bought in a market since startup.

import { Type } from '@sinclair/typebox'
import type { Stamp, Update } from '../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import { MICROS } from '../../engine/units.ts'
import type { Channel, ChannelParts, OpenChannel } from '../../http/ws/channels/channel.ts'
import {
  type Dated,
  dataFields,
  type Encoder,
  type Frame,
  MessageKind,
} from '../../http/ws/encode/encoder.ts'
import { type ChannelVariant, variantOf } from '../../http/ws/fan-out/channel-variants.ts'
import { Conflation } from '../../http/ws/fan-out/conflation.ts'
import { counted } from '../../http/ws/messages.ts'

const NAME = 'flow'
const PACES = [0, 1_000] as const
const { variant: EVERY } = variantOf(NAME, { pace_ms: 0 })
const { variant: PACED } = variantOf(NAME, { pace_ms: 1_000 })

/** `micros` is in millionths of a dollar. `stamp` belongs to the newest trade of the sum. */
interface Flow {
  readonly micros: number
  readonly stamp: Dated
}

const FLOW = new MessageKind<Flow>(
  NAME,
  NAME,
  dataFields(({ micros }) => ({ net_usd: micros / MICROS })),
)

const FlowSchema = Type.Object({ net_usd: Type.Number() })

export const flow: Channel = {
  name: NAME,
  delivery: 'everyOrConflated',
  hasState: true,
  options: { pace_ms: { allowed: PACES, default: 0 } },
  variants: PACES.map((pace_ms) => variantOf(NAME, { pace_ms })),
  updateKinds: ['trade'],
  messages: {
    flow: counted(NAME, NAME, {
      summary: 'What was bought less what was sold',
      fields: { data: FlowSchema },
      example: { data: { net_usd: -12.5 } },
    }),
  },
  shapes: { FlowSchema },
  row: { messages: '`flow`: net_usd', when: 'every trade', begins: 'present state' },
  open: (parts) => new FlowChannel(parts),
}

class FlowChannel implements OpenChannel {
  readonly #parts: ChannelParts
  readonly #flows = new Map<MarketNumber, Flow>()
  readonly #windows: Conflation<Flow>

  constructor(parts: ChannelParts) {
    this.#parts = parts
    const { fanOut } = parts
    this.#windows = new Conflation<Flow>(parts.scheduler, {
      windowMs: 1_000,
      hasSubscribers: (market) => fanOut.hasSubscribers(PACED, market),
      merge: (_older, newer) => newer,
      send: (market, changes) => this.#send(PACED, market, changes),
    })
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'trade') return
    const { market, trade } = update
    const before = this.#flows.get(market.number)?.micros ?? 0
    const micros = before + (trade.side === 'buy' ? trade.usd : -trade.usd)
    const flowNow = { micros, stamp: update }
    this.#flows.set(market.number, flowNow)
    this.#send(EVERY, market, flowNow)
    if (this.#parts.fanOut.isActive(PACED)) this.#windows.note(market, flowNow)
  }

  latest(_lane: ChannelVariant, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest('trades', market)
  }

  state(_lane: ChannelVariant, { ref }: { ref: MarketRef }, encoder: Encoder): Frame | null {
    const existing = this.#flows.get(ref.number)
    return existing === undefined ? null : encoder.message(FLOW, ref, existing.stamp, existing)
  }

  removeMarket(market: MarketNumber): void {
    this.#flows.delete(market)
    this.#windows.removeMarket(market)
  }

  #send(variant: ChannelVariant, market: MarketRef, changes: Flow): void {
    this.#parts.fanOut.send(variant, market, 'state', (encoder) =>
      encoder.message(FLOW, market, changes.stamp, changes),
    )
  }
}
