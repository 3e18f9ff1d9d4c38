// The channel `prices`: a market's price at every change, or at most once a window. A message carries
// seq and offset of the newest change that it includes. Not for: windows (fan-out/conflation.ts).
// Upholds PRICES1, PRICES2.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../../actors/views.ts'
import type { MarketPrice, PriceUpdate, Stamp, Update } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { MICROS, priceCents } from '../../../engine/units.ts'
import { priceText } from '../../records/render.ts'
import { nullable, PriceSchema } from '../../schemas.ts'
import { type Encoder, type Frame, keyOf, MessageKind } from '../encode/encoder.ts'
import { Conflation } from '../fan-out/conflation.ts'
import { type Lane, laneOf } from '../fan-out/lanes.ts'
import { counted, exampleOf } from '../messages.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'
import { writeSpread } from './orderbook.ts'

const NAME = 'prices'

const CONFLATE_MS = [0, 250, 1_000] as const
const LANES = CONFLATE_MS.map((conflate_ms) => laneOf(NAME, { conflate_ms }))
/** Every change, at once. */
const { lane: EVERY } = laneOf(NAME, { conflate_ms: 0 })

const DATA = keyOf('data')
const PRICE = new MessageKind<MarketPrice>('price', NAME, {
  json: (head, price) => `${head},"data":${priceText(price)}}`,
  msgpack(to, { price, bid, ask, source }) {
    to.bytes(DATA)
    to.map(7)
    to.numberField('price', price / MICROS)
    to.wholeField('price_cents', priceCents(price))
    to.numberField('best_bid', bid === null ? null : bid / MICROS)
    to.numberField('best_ask', ask === null ? null : ask / MICROS)
    writeSpread(to, bid, ask)
    to.textField('source', source)
  },
})

/** `price` of a change. */
export function priceMessage(encoder: Encoder, update: PriceUpdate): Frame {
  return encoder.message(PRICE, update.market, update, update.price)
}

/** The present price with the newest stamp, using none up. */
export function presentPrice(
  encoder: Encoder,
  market: MarketRef,
  price: MarketPrice,
  { offset, seq }: Stamp,
): Frame {
  const { observedAtMs } = price
  const times = { venueTimeMs: observedAtMs, receivedAtMs: observedAtMs }
  return encoder.message(PRICE, market, { offset, seq, ...times }, price)
}

const price = () => Type.Number({ minimum: 0, maximum: 1 })

export const StreamPriceSchema = Type.Object({
  price: PriceSchema.properties.price,
  price_cents: Type.Integer({ minimum: 0, maximum: 100 }),
  best_bid: nullable(price()),
  best_ask: nullable(price()),
  spread: nullable(Type.Number()),
  mid_price: nullable(price()),
  source: PriceSchema.properties.source,
})

/** What a market costs. */
export const prices: Channel = {
  name: NAME,
  delivery: 'everyOrConflated',
  hasState: true,
  options: { conflate_ms: { allowed: CONFLATE_MS, default: 0 } },
  lanes: LANES,
  hears: ['price'],
  messages: {
    price: {
      summary: 'The present price',
      schema: counted('price', NAME, { data: StreamPriceSchema }),
      example: exampleOf('price', NAME, {
        data: {
          price: 0.425,
          price_cents: 43,
          best_bid: 0.42,
          best_ask: 0.43,
          spread: 0.01,
          mid_price: 0.425,
          source: 'midpoint',
        },
      }),
    },
  },
  shapes: { StreamPriceSchema },
  row: {
    messages: '`price`: price, price_cents, best_bid, best_ask, mid_price, spread, source',
    when: 'every change, or at most once in `conflate_ms`',
    begins: 'present price',
  },
  open: (parts) => new Prices(parts),
}

class Prices implements OpenChannel {
  readonly #parts: ChannelParts
  /** Of the lanes that conflate. */
  readonly #windows: ReadonlyMap<Lane, Conflation<PriceUpdate>>

  constructor(parts: ChannelParts) {
    this.#parts = parts
    const { fanOut } = parts
    const conflated = LANES.filter(({ lane }) => lane !== EVERY)
    this.#windows = new Map(
      conflated.map(({ lane, options }) => {
        const windows = new Conflation<PriceUpdate>({
          windowMs: options.conflate_ms,
          hasListeners: (market) => fanOut.hasListeners(lane, market),
          merge: (_older, newer) => newer,
          send: (market, update) =>
            fanOut.send(lane, market, 'state', (encoder) => priceMessage(encoder, update)),
        })
        return [lane, windows]
      }),
    )
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'price') return
    const { clock, fanOut, slices } = this.#parts
    fanOut.send(EVERY, update.market, 'state', (encoder) => priceMessage(encoder, update))
    const nowMs = clock.monotonicMs()
    for (const [lane, windows] of this.#windows) {
      if (!fanOut.isAwake(lane)) continue
      windows.note(update.market, update, nowMs)
      slices.plan(windows)
    }
  }

  latest(_lane: Lane, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(NAME, market)
  }

  state(lane: Lane, view: MarketView, encoder: Encoder): Frame {
    return presentPrice(encoder, view.ref, view.price(), this.latest(lane, view.ref.number))
  }

  forget(market: MarketNumber): void {
    for (const windows of this.#windows.values()) windows.forget(market)
  }
}
