// The channel `prices`: the price of a market at every change, or at most once per conflation window. `seq` and
// `offset` are those of the newest change that the message includes.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../../actors/views.ts'
import type {
  BookReplaced,
  MarketPrice,
  PriceUpdate,
  StaleReason,
  Stamp,
  Update,
} from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { priceText, staleText } from '../../records/render.ts'
import { nullable, PriceSchema, staleFields } from '../../schemas.ts'
import { type Encoder, type Frame, MessageKind, resyncMessage } from '../encode/encoder.ts'
import { writePrice, writeStale } from '../encode/msgpack-records.ts'
import { type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import { Conflation } from '../fan-out/conflation.ts'
import { counted } from '../messages.ts'
import { resyncReason } from '../resume/recent-book-updates.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'
import { sendStaleness } from './orderbook.ts'

const NAME = 'prices'

const CONFLATE_MS = [0, 250, 1_000] as const
const VARIANTS = CONFLATE_MS.map((conflate_ms) => variantOf(NAME, { conflate_ms }))
const STALENESS = { channel: NAME, variants: VARIANTS.map(({ variant }) => variant) }
const { variant: EVERY } = variantOf(NAME, { conflate_ms: 0 })

/** `staleReason`: why the book of the price is stale; null: the book is live. */
interface Priced {
  readonly price: MarketPrice
  readonly staleReason: StaleReason | null
}

const PRICE = new MessageKind<Priced>('price', NAME, {
  json: ({ price, staleReason }) => `${staleText(staleReason)},"data":${priceText(price)}`,
  count: () => 3,
  msgpack(to, { price, staleReason }) {
    writeStale(to, staleReason)
    to.text('data')
    writePrice(to, price)
  },
})

export function priceMessage(
  encoder: Encoder,
  update: PriceUpdate,
  staleReason: StaleReason | null = null,
): Frame {
  return encoder.message(PRICE, update.market, update, { price: update.price, staleReason })
}

/** The current price with the latest `offset` and `seq`. Increments neither. */
export function presentPrice(
  encoder: Encoder,
  market: MarketRef,
  priced: Priced,
  { offset, seq }: Stamp,
): Frame {
  const { observedAtMs } = priced.price
  const times = { venueTimeMs: observedAtMs, receivedAtMs: observedAtMs }
  return encoder.message(PRICE, market, { offset, seq, ...times }, priced)
}

function staleReasonOf(view: MarketView | null): StaleReason | null {
  return view === null ? 'not_covered' : view.levels(0).staleReason
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

export const prices: Channel = {
  name: NAME,
  delivery: 'everyOrConflated',
  hasState: true,
  needsBook: true,
  options: { conflate_ms: { allowed: CONFLATE_MS, default: 0 } },
  variants: VARIANTS,
  updateKinds: ['price', 'bookReplaced', 'bookStale', 'bookConfirmed'],
  messages: {
    price: counted('price', NAME, {
      summary: 'The current price. `stale`: the book that it comes from may be out of date',
      fields: { ...staleFields(), data: StreamPriceSchema },
      example: {
        stale: false,
        stale_reason: null,
        data: {
          price: 0.425,
          price_cents: 43,
          best_bid: 0.42,
          best_ask: 0.43,
          spread: 0.01,
          mid_price: 0.425,
          source: 'midpoint',
        },
      },
    }),
  },
  shapes: { StreamPriceSchema },
  row: {
    messages: '`price`: price, price_cents, best_bid, best_ask, mid_price, spread, source; `stale`',
    when: 'every change, or at most once in `conflate_ms`',
    begins: 'present price',
  },
  open: (parts) => new Prices(parts),
}

class Prices implements OpenChannel {
  readonly #parts: ChannelParts
  /** Conflation windows by variant, without the variant that sends every change. */
  readonly #windows: ReadonlyMap<ChannelVariant, Conflation<PriceUpdate>>

  constructor(parts: ChannelParts) {
    this.#parts = parts
    const { fanOut } = parts
    const conflated = VARIANTS.filter(({ variant }) => variant !== EVERY)
    this.#windows = new Map(
      conflated.map(({ variant, options }) => {
        const windows = new Conflation<PriceUpdate>(parts.scheduler, {
          windowMs: options.conflate_ms,
          hasSubscribers: (market) => fanOut.hasSubscribers(variant, market),
          merge: (_older, newer) => newer,
          send: (_market, update) => this.#send(variant, update),
        })
        return [variant, windows]
      }),
    )
  }

  onUpdate(update: Update): void {
    if (update.kind === 'price') this.#note(update)
    else if (update.kind === 'bookReplaced') {
      for (const { variant } of VARIANTS) this.#replace(variant, update)
    } else if (update.kind === 'bookStale' || update.kind === 'bookConfirmed') {
      const { seq } = this.latest(EVERY, update.market.number)
      sendStaleness(this.#parts.fanOut, STALENESS, update, seq)
    }
  }

  #replace(variant: ChannelVariant, { market, reason }: BookReplaced): void {
    const { engine, fanOut } = this.#parts
    fanOut.send(variant, market, 'state', (encoder) => {
      const view = engine.catalog.byNumber(market.number)
      if (view === null) return null
      const resync = encoder.reply(resyncMessage(NAME, market, resyncReason(reason)))
      return [resync, this.state(variant, view, encoder)]
    })
  }

  #send(variant: ChannelVariant, update: PriceUpdate): void {
    const { engine, fanOut } = this.#parts
    fanOut.send(variant, update.market, 'state', (encoder) =>
      priceMessage(encoder, update, staleReasonOf(engine.catalog.byNumber(update.market.number))),
    )
  }

  #note(update: PriceUpdate): void {
    const { fanOut } = this.#parts
    this.#send(EVERY, update)
    for (const [variant, windows] of this.#windows) {
      if (fanOut.isActive(variant)) windows.note(update.market, update)
    }
  }

  latest(_variant: ChannelVariant, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(NAME, market)
  }

  state(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame {
    const priced = { price: view.price(), staleReason: staleReasonOf(view) }
    return presentPrice(encoder, view.ref, priced, this.latest(variant, view.ref.number))
  }

  removeMarket(market: MarketNumber): void {
    for (const windows of this.#windows.values()) windows.removeMarket(market)
  }
}
