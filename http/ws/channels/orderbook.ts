// The channel `orderbook`: a snapshot, then every change of the book with absolute sizes.

import { Type } from '@sinclair/typebox'
import type { BookView, MarketView } from '../../../actors/views.ts'
import type {
  BookConfirmed,
  BookReplaced,
  BookStale,
  BookUpdate,
  Level,
  Stamp,
  Update,
} from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { levelsText, levelText, quoted, spreadText, staleText } from '../../records/render.ts'
import { LevelSchema, nullable, staleFields } from '../../schemas.ts'
import {
  type Encoder,
  type Frame,
  freshMessage,
  keyOf,
  MessageKind,
  resyncMessage,
  staleMessage,
} from '../encode/encoder.ts'
import { writeLevels, writeSpread, writeStale } from '../encode/msgpack-records.ts'
import { type ChannelName, type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { counted } from '../messages.ts'
import { RecentBookUpdates, resyncReason } from '../resume/recent-book-updates.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'

/** The publisher counts book changes under this name. */
export const ORDERBOOK = 'orderbook'

const KEYS = {
  checksum: keyOf('checksum'),
  data: keyOf('data'),
  bids: keyOf('bids'),
  asks: keyOf('asks'),
}

const UPDATE = new MessageKind<BookUpdate>('update', ORDERBOOK, {
  json(update, market) {
    const platform = quoted(market.platform)
    let bids = ''
    let asks = ''
    for (const { side, price, size } of update.changes) {
      const level = levelText(price, size, platform)
      if (side === 'bid') bids = bids === '' ? level : `${bids},${level}`
      else asks = asks === '' ? level : `${asks},${level}`
    }
    const checksum = update.checksum === null ? '' : `"checksum":${update.checksum},`
    return `${checksum}"data":{"bids":[${bids}],"asks":[${asks}]}`
  },
  count: ({ checksum }) => (checksum === null ? 1 : 2),
  msgpack(to, { changes, checksum }, { platform }) {
    if (checksum !== null) {
      to.bytes(KEYS.checksum)
      to.integer(checksum)
    }
    to.bytes(KEYS.data)
    to.map(2)
    const bids = changes.filter(({ side }) => side === 'bid')
    const asks = changes.filter(({ side }) => side === 'ask')
    writeSides(to, { bids, asks }, platform)
  },
})

const SNAPSHOT = new MessageKind<BookView>('snapshot', ORDERBOOK, {
  json: (book, market) =>
    `${staleText(book.staleReason)},"checksum":${book.checksum},"data":${bookText(book, market)}`,
  count: () => 4,
  msgpack(to, book, { platform }) {
    writeStale(to, book.staleReason)
    to.bytes(KEYS.checksum)
    to.integer(book.checksum)
    writeBook(to, book, platform)
  },
})

export function bookUpdate(encoder: Encoder, update: BookUpdate): Frame {
  return encoder.message(UPDATE, update.market, update, update)
}

/** A complete book with the offset and `seq` of its newest change. */
export function bookSnapshot(encoder: Encoder, { ref }: Pick<MarketView, 'ref'>, book: BookView) {
  return encoder.message(SNAPSHOT, ref, book, book)
}

const BookSidesSchema = Type.Object({
  bids: Type.Array(LevelSchema),
  asks: Type.Array(LevelSchema),
})

export const StreamBookSchema = Type.Object({
  bids: Type.Array(LevelSchema),
  asks: Type.Array(LevelSchema),
  spread: nullable(Type.Number()),
  mid_price: nullable(Type.Number()),
})

const checksum = () => Type.Integer({ minimum: 0, maximum: 0xffff_ffff })

const EXAMPLE_LEVEL = { price: 0.42, size: 150, platform: 'venue_a' }

export const EXAMPLE_BOOK = {
  bids: [EXAMPLE_LEVEL],
  asks: [{ price: 0.43, size: 80, platform: 'venue_a' }],
  spread: 0.01,
  mid_price: 0.425,
}

export const orderbook: Channel = {
  name: ORDERBOOK,
  delivery: 'every',
  hasState: true,
  needsBook: true,
  options: {},
  variants: [variantOf(ORDERBOOK, {})],
  updateKinds: ['book', 'bookReplaced', 'bookStale', 'bookConfirmed'],
  messages: {
    snapshot: counted('snapshot', ORDERBOOK, {
      summary:
        'A complete book. After a stale snapshot, `resync` with another snapshot follows, or `fresh`',
      fields: { ...staleFields(), checksum: checksum(), data: StreamBookSchema },
      example: { stale: false, stale_reason: null, checksum: 3_632_233_996, data: EXAMPLE_BOOK },
    }),
    update: counted('update', ORDERBOOK, {
      summary: 'Changed levels of a book, with absolute sizes; 0 removes a level',
      fields: { checksum: Type.Optional(checksum()), data: BookSidesSchema },
      example: { data: { bids: [{ ...EXAMPLE_LEVEL, size: 0 }], asks: [] } },
    }),
  },
  shapes: { BookSidesSchema, StreamBookSchema },
  row: {
    messages: '`snapshot`; `update` with absolute sizes, 0 removes a level',
    when: 'every change',
    begins: 'snapshot',
  },
  open: (parts) => new Orderbook(parts),
}

const STALENESS = { channel: ORDERBOOK, variants: [ORDERBOOK] }

class Orderbook implements OpenChannel {
  readonly #parts: ChannelParts
  readonly books: RecentBookUpdates
  seen: number

  constructor(parts: ChannelParts) {
    this.#parts = parts
    this.seen = parts.publisher.offset(ORDERBOOK)
    this.books = new RecentBookUpdates(this.seen)
  }

  onUpdate(update: Update): void {
    if (update.kind === 'book') {
      this.books.push(update)
      this.seen = update.offset
      const { fanOut } = this.#parts
      fanOut.send(ORDERBOOK, update.market, 'change', (encoder) => bookUpdate(encoder, update))
    } else if (update.kind === 'bookReplaced') this.#replace(update)
    else if (update.kind === 'bookStale' || update.kind === 'bookConfirmed') {
      if (!sendStaleness(this.#parts.fanOut, STALENESS, update)) return
      if (update.kind === 'bookStale') this.books.markStale(update)
      else this.books.confirm(update)
    }
  }

  latest(_variant: string, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(ORDERBOOK, market)
  }

  state(_variant: string, view: MarketView, encoder: Encoder): Frame {
    return bookSnapshot(encoder, view, view.book())
  }

  removeMarket(market: MarketNumber): void {
    this.books.removeMarket(market)
  }

  #replace(update: BookReplaced): void {
    const { market } = update
    const reason = resyncReason(update.reason)
    const { engine, fanOut } = this.#parts
    this.books.replace(update)
    fanOut.send(ORDERBOOK, market, 'state', (encoder) => {
      const view = engine.catalog.find(market.id)
      if (view === null) return null
      const resync = encoder.reply(resyncMessage(ORDERBOOK, market, reason))
      return [resync, bookSnapshot(encoder, view, view.book())]
    })
  }
}

/**
 * Sends `stale`, or `fresh` for a confirmed book that was stale. Returns false if nothing was sent: the book was not
 * stale, or the venue announces all its stale books together. `seq`: the market's latest in this channel.
 */
export function sendStaleness(
  fanOut: FanOut,
  { channel, variants }: { channel: ChannelName; variants: readonly ChannelVariant[] },
  update: BookStale | BookConfirmed,
  seq: number = update.seq,
): boolean {
  if (update.kind === 'bookStale' ? update.isOfVenue : !update.wasStale) return false
  const { market } = update
  const message =
    update.kind === 'bookStale' ? staleMessage(channel, update) : freshMessage(channel, market, seq)
  for (const variant of variants) {
    fanOut.send(variant, market, 'change', (encoder) => encoder.reply(message))
  }
  return true
}

interface Sides {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
}

/** The JSON fields of a book: at most `levels` per side, spread and mid price. */
export function bookText({ bids, asks }: Sides, market: MarketRef, levels?: number): string {
  const platform = quoted(market.platform)
  const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
  return `{"bids":${levelsText(bids, platform, levels)},"asks":${levelsText(asks, platform, levels)},${spread}}`
}

/** Writes the field `data` of a book: at most `levels` per side, spread and mid price. */
export function writeBook(to: MsgpackWriter, book: Sides, platform: string, levels?: number): void {
  to.bytes(KEYS.data)
  to.map(4)
  writeSides(to, book, platform, levels)
  writeSpread(to, book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)
}

function writeSides(to: MsgpackWriter, sides: Sides, platform: string, levels?: number): void {
  to.bytes(KEYS.bids)
  writeLevels(to, sides.bids, platform, levels)
  to.bytes(KEYS.asks)
  writeLevels(to, sides.asks, platform, levels)
}
