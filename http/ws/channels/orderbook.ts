// The channel `orderbook`: a snapshot, then every change of a book with absolute sizes. Also encodes books for other
// channels.

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
import { encoded, type MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { MICROS, midPrice, type PriceMicros } from '../../../engine/units.ts'
import { levelsText, levelText, spreadText } from '../../records/render.ts'
import { LevelSchema, nullable } from '../../schemas.ts'
import {
  type Encoder,
  type Frame,
  freshMessage,
  keyOf,
  MessageKind,
  staleMessage,
} from '../encode/encoder.ts'
import { type ChannelName, type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { counted, exampleOf } from '../messages.ts'
import { resumeBooks } from '../resume/book-resume.ts'
import { RecentBookUpdates, resyncReason } from '../resume/recent-book-updates.ts'
import type { Resume } from '../session/hub-access.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'

/** Also the key of the publisher's counters of book changes. */
export const ORDERBOOK = 'orderbook'

const KEYS = {
  checksum: keyOf('checksum'),
  data: keyOf('data'),
  bids: keyOf('bids'),
  asks: keyOf('asks'),
  size: keyOf('size'),
  platform: keyOf('platform'),
}
/** Header of a map with two entries, and its first key, `bids`. */
const SIDES = encoded((to) => {
  to.map(2)
  to.text('bids')
})
/** A level up to its price. */
const LEVEL = encoded((to) => {
  to.map(3)
  to.text('price')
})

const UPDATE = new MessageKind<BookUpdate>('update', ORDERBOOK, {
  json(head, update, { platform }) {
    let bids = ''
    let asks = ''
    for (const { side, price, size } of update.changes) {
      const level = levelText(price, size, platform)
      if (side === 'bid') bids = bids === '' ? level : `${bids},${level}`
      else asks = asks === '' ? level : `${asks},${level}`
    }
    const checksum = update.checksum === null ? '' : `,"checksum":${update.checksum}`
    return `${head}${checksum},"data":{"bids":[${bids}],"asks":[${asks}]}}`
  },
  fieldCount: ({ checksum }) => (checksum === null ? 1 : 2),
  msgpack(to, { changes, checksum }, { platform }) {
    if (checksum !== null) {
      to.bytes(KEYS.checksum)
      to.integer(checksum)
    }
    to.bytes(KEYS.data)
    to.bytes(SIDES)
    let bidCount = 0
    for (const { side } of changes) if (side === 'bid') bidCount += 1
    to.array(bidCount)
    for (const change of changes) if (change.side === 'bid') writeLevel(to, change, platform)
    to.bytes(KEYS.asks)
    to.array(changes.length - bidCount)
    for (const change of changes) if (change.side !== 'bid') writeLevel(to, change, platform)
  },
})

const SNAPSHOT = new MessageKind<BookView>('snapshot', ORDERBOOK, {
  json(head, book, { platform }) {
    return `${head},"stale":${book.isStale},"checksum":${book.checksum},"data":${bookText(book, platform)}}`
  },
  fieldCount: () => 3,
  msgpack(to, book, { platform }) {
    to.text('stale')
    to.boolean(book.isStale)
    to.bytes(KEYS.checksum)
    to.integer(book.checksum)
    to.bytes(KEYS.data)
    writeBook(to, book, platform)
  },
})

export function bookUpdate(encoder: Encoder, update: BookUpdate): Frame {
  return encoder.message(UPDATE, update.market, update, update)
}

/** A complete book with the stamp of its newest change. */
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

/** Example data of a complete book. */
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
  options: {},
  variants: [variantOf(ORDERBOOK, {})],
  updateKinds: ['book', 'bookReplaced', 'bookStale', 'bookConfirmed'],
  messages: {
    snapshot: {
      summary: 'A whole book; a stale one is followed by `resync` and another, or by `fresh`',
      schema: counted('snapshot', ORDERBOOK, {
        stale: Type.Boolean(),
        checksum: checksum(),
        data: StreamBookSchema,
      }),
      example: exampleOf('snapshot', ORDERBOOK, {
        stale: false,
        checksum: 3_632_233_996,
        data: EXAMPLE_BOOK,
      }),
    },
    update: {
      summary: 'Changed levels of a book, with absolute sizes; 0 removes a level',
      schema: counted('update', ORDERBOOK, {
        checksum: Type.Optional(checksum()),
        data: BookSidesSchema,
      }),
      example: exampleOf('update', ORDERBOOK, {
        data: { bids: [{ ...EXAMPLE_LEVEL, size: 0 }], asks: [] },
      }),
    },
  },
  shapes: { BookSidesSchema, StreamBookSchema },
  row: {
    messages: '`snapshot`; `update` with absolute sizes, 0 removes a level',
    when: 'every change',
    begins: 'snapshot',
  },
  open: (parts) => new Orderbook(parts),
}

class Orderbook implements OpenChannel {
  readonly #parts: ChannelParts
  readonly #recent: RecentBookUpdates
  readonly resume: Resume
  seen: number

  constructor(parts: ChannelParts) {
    this.#parts = parts
    this.seen = parts.publisher.offset(ORDERBOOK)
    this.#recent = new RecentBookUpdates(this.seen)
    const books = { channel: ORDERBOOK, recent: this.#recent, write: bookUpdate }
    this.resume = (connection, hub, wanted) => resumeBooks(connection, hub, { ...wanted, books })
  }

  onUpdate(update: Update): void {
    if (update.kind === 'book') {
      this.#recent.push(update)
      this.seen = update.offset
      const { fanOut } = this.#parts
      fanOut.send(ORDERBOOK, update.market, 'change', (encoder) => bookUpdate(encoder, update))
    } else if (update.kind === 'bookReplaced') this.#replace(update)
    else if (update.kind === 'bookStale') this.#markStale(update)
    else if (update.kind === 'bookConfirmed') this.#confirm(update)
  }

  latest(_variant: string, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(ORDERBOOK, market)
  }

  state(_variant: string, view: MarketView, encoder: Encoder): Frame {
    return bookSnapshot(encoder, view, view.book())
  }

  removeMarket(market: MarketNumber): void {
    this.#recent.removeMarket(market)
  }

  /** A book was replaced: sends `resync`, then its snapshot, to every subscriber. */
  #replace(update: BookReplaced): void {
    const { market } = update
    const reason = resyncReason(update.reason)
    const { engine, fanOut } = this.#parts
    this.#recent.replace(update)
    fanOut.send(ORDERBOOK, market, 'state', (encoder) => {
      const view = engine.catalog.find(market.id)
      if (view === null) return null
      return [encoder.resync(ORDERBOOK, market, reason), bookSnapshot(encoder, view, view.book())]
    })
  }

  #markStale(stale: BookStale): void {
    if (stale.isOfVenue) return
    this.#recent.markStale(stale)
    sendStale(this.#parts.fanOut, ORDERBOOK, ORDERBOOK, stale)
  }

  /** A stale book was confirmed: sends `fresh` without a new state. */
  #confirm(update: BookConfirmed): void {
    const { market, wasStale, seq } = update
    if (!wasStale) return
    this.#recent.confirm(update)
    sendFresh(this.#parts.fanOut, ORDERBOOK, ORDERBOOK, { market, seq })
  }
}

/** Sends `stale` of a market to every subscriber of a variant. */
export function sendStale(
  fanOut: FanOut,
  variant: ChannelVariant,
  channel: ChannelName,
  stale: BookStale,
): void {
  const write = (encoder: Encoder) => encoder.reply(staleMessage(channel, stale))
  fanOut.send(variant, stale.market, 'change', write)
}

/** Sends `fresh` of a market to every subscriber of a variant. */
export function sendFresh(
  fanOut: FanOut,
  variant: ChannelVariant,
  channel: ChannelName,
  { market, seq }: { readonly market: MarketRef; readonly seq: number },
): void {
  const write = (encoder: Encoder) => encoder.reply(freshMessage(channel, market, seq))
  fanOut.send(variant, market, 'change', write)
}

type Sides = Pick<BookView, 'bids' | 'asks'>

/** At most `levels` per side, with spread and mid price, as JSON text. */
export function bookText({ bids, asks }: Sides, platform: string, levels?: number): string {
  const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
  return `{"bids":${levelsText(bids, platform, levels)},"asks":${levelsText(asks, platform, levels)},${spread}}`
}

/** The MessagePack form of `bookText`. */
export function writeBook(
  to: MsgpackWriter,
  { bids, asks }: Sides,
  platform: string,
  levels?: number,
): void {
  to.map(4)
  to.bytes(KEYS.bids)
  writeLevels(to, bids, platform, levels)
  to.bytes(KEYS.asks)
  writeLevels(to, asks, platform, levels)
  writeSpread(to, bids[0]?.price ?? null, asks[0]?.price ?? null)
}

/** The fields `spread` and `mid_price` as MessagePack; nil if a side is empty. */
export function writeSpread(
  to: MsgpackWriter,
  bid: PriceMicros | null,
  ask: PriceMicros | null,
): void {
  const hasBoth = bid !== null && ask !== null
  to.numberField('spread', hasBoth ? (ask - bid) / MICROS : null)
  to.numberField('mid_price', hasBoth ? midPrice(bid, ask) / MICROS : null)
}

function writeLevels(
  to: MsgpackWriter,
  levels: readonly Level[],
  platform: MarketRef['platform'],
  most = levels.length,
): void {
  const count = Math.min(most, levels.length)
  to.array(count)
  for (let index = 0; index < count; index += 1) {
    const level = levels[index]
    if (level !== undefined) writeLevel(to, level, platform)
  }
}

function writeLevel(to: MsgpackWriter, { price, size }: Level, platform: string): void {
  to.bytes(LEVEL)
  to.number(price / MICROS)
  to.bytes(KEYS.size)
  to.number(size / MICROS)
  to.bytes(KEYS.platform)
  to.text(platform)
}
