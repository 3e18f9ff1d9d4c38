// The channel `depth`: the best levels of a book, at most once per conflation window. `seq` and `offset` are those of
// the newest change that the message includes.

import type { BookView, MarketView } from '../../../actors/views.ts'
import type { BookReplaced, BookUpdate, Stamp, Update } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { staleText } from '../../records/render.ts'
import { staleFields } from '../../schemas.ts'
import {
  type Encoder,
  type Frame,
  MessageKind,
  type ResyncReason,
  resyncMessage,
} from '../encode/encoder.ts'
import { writeStale } from '../encode/msgpack-records.ts'
import { type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import { Conflation } from '../fan-out/conflation.ts'
import { counted } from '../messages.ts'
import { resyncReason } from '../resume/recent-book-updates.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'
import {
  bookText,
  EXAMPLE_BOOK,
  ORDERBOOK,
  StreamBookSchema,
  sendStaleness,
  writeBook,
} from './orderbook.ts'

const NAME = 'depth'

const LEVELS = [5, 10, 20] as const
const CONFLATE_MS = [100, 250, 1_000] as const
const VARIANTS = LEVELS.flatMap((levels) =>
  CONFLATE_MS.map((conflate_ms) => ({
    ...variantOf(NAME, { levels, conflate_ms }),
    kind: depthKind(levels),
  })),
)

const STALENESS = { channel: NAME, variants: VARIANTS.map(({ variant }) => variant) }

type Best = Pick<BookView, 'bids' | 'asks' | 'staleReason'>

export function depthKind(levels: number): MessageKind<Best> {
  return new MessageKind<Best>(NAME, NAME, {
    json: (book, market) =>
      `${staleText(book.staleReason)},"data":${bookText(book, market, levels)}`,
    count: () => 3,
    msgpack(to, book, { platform }) {
      writeStale(to, book.staleReason)
      writeBook(to, book, platform, levels)
    },
  })
}

export const depth: Channel = {
  name: NAME,
  delivery: 'conflated',
  hasState: true,
  needsBook: true,
  options: {
    levels: { allowed: LEVELS, default: 10 },
    conflate_ms: { allowed: CONFLATE_MS, default: 250 },
  },
  variants: VARIANTS,
  updateKinds: ['book', 'bookReplaced', 'bookStale', 'bookConfirmed'],
  messages: {
    depth: counted(NAME, NAME, {
      summary: 'The best levels of a book, complete in each message',
      fields: { ...staleFields(), data: StreamBookSchema },
      example: { stale: false, stale_reason: null, data: EXAMPLE_BOOK },
    }),
  },
  shapes: {},
  row: {
    messages: '`depth`: the best levels, complete in each message; `stale`',
    when: 'at most once in `conflate_ms`',
    begins: 'present state',
  },
  open: (parts) => new DepthChannel(parts),
}

/** `reason` is null unless the last sent state is out of sync. */
interface BookChange {
  readonly update: BookUpdate | BookReplaced
  readonly reason: ResyncReason | null
}

type DepthVariant = (typeof VARIANTS)[number]

class DepthChannel implements OpenChannel {
  readonly #parts: ChannelParts
  readonly #windows: ReadonlyMap<ChannelVariant, Conflation<BookChange>>

  constructor(parts: ChannelParts) {
    this.#parts = parts
    this.#windows = new Map(VARIANTS.map((facts) => [facts.variant, this.#openWindows(facts)]))
  }

  #openWindows(facts: DepthVariant): Conflation<BookChange> {
    return new Conflation<BookChange>(this.#parts.scheduler, {
      windowMs: facts.options.conflate_ms,
      hasSubscribers: (market) => this.#parts.fanOut.hasSubscribers(facts.variant, market),
      // Keep the reason for `resync` until a message replaces the out-of-sync state.
      merge: (older, newer) =>
        older.reason === null || newer.reason !== null
          ? newer
          : { update: newer.update, reason: older.reason },
      send: (market, change) => this.#send(facts, market, change),
    })
  }

  onUpdate(update: Update): void {
    if (update.kind === 'book') this.#note(update, null)
    else if (update.kind === 'bookReplaced') this.#note(update, resyncReason(update.reason))
    else if (update.kind === 'bookStale' || update.kind === 'bookConfirmed') {
      sendStaleness(this.#parts.fanOut, STALENESS, update)
    }
  }

  /** `reason`: why the book was replaced, so that the last sent state is out of sync. Null for an ordinary change. */
  #note(update: BookChange['update'], reason: ResyncReason | null): void {
    const { fanOut } = this.#parts
    for (const [variant, windows] of this.#windows) {
      if (fanOut.isActive(variant)) windows.note(update.market, { update, reason })
    }
  }

  /** The channel uses the counters of `orderbook`. */
  latest(_variant: ChannelVariant, market: MarketNumber): Stamp {
    return this.#parts.publisher.latest(ORDERBOOK, market)
  }

  state(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null {
    const facts = VARIANTS.find((each) => each.variant === variant)
    if (facts === undefined) return null
    const book = view.levels(facts.options.levels)
    return encoder.message(facts.kind, view.ref, book, book)
  }

  removeMarket(market: MarketNumber): void {
    for (const windows of this.#windows.values()) windows.removeMarket(market)
  }

  #send(
    { variant, options, kind }: DepthVariant,
    market: MarketRef,
    { update, reason }: BookChange,
  ): void {
    const { engine, fanOut } = this.#parts
    const view = engine.catalog.byNumber(market.number)
    if (view === null) return
    const book = view.levels(options.levels)
    fanOut.send(variant, market, 'state', (encoder) => {
      const message = encoder.message(kind, market, update, book)
      return reason === null
        ? message
        : [encoder.reply(resyncMessage(NAME, market, reason)), message]
    })
  }
}
