// Writes records of the tape as messages of the stream.

import type { ReplayChannel, ReplayQuery } from '../../../actors/views.ts'
import { lifecycleMessage } from '../../../http/ws/channels/lifecycle.ts'
import { bookSnapshot, bookUpdate } from '../../../http/ws/channels/orderbook.ts'
import { presentPrice, priceMessage } from '../../../http/ws/channels/prices.ts'
import { tradeMessage } from '../../../http/ws/channels/trades.ts'
import { whaleMessage } from '../../../http/ws/channels/whales.ts'
import {
  type Encoder,
  type Frame,
  freshMessage,
  gapMessage,
  resyncMessage,
  staleMessage,
  statusMessage,
} from '../../../http/ws/encode/encoder.ts'
import { JsonEncoder } from '../../../http/ws/encode/json.ts'
import { MsgpackEncoder } from '../../../http/ws/encode/msgpack.ts'
import { resyncReason } from '../../../http/ws/resume/recent-book-updates.ts'
import type { BookState, MarketState } from '../../../storage/records/log-items.ts'
import type { MarketTable } from '../../../storage/tape/market-table.ts'
import type { TapeRecord } from '../../../storage/tape/tape.ts'
import type { MarketPrice, StaleReason, Stamp, Update } from '../../events.ts'
import type { MarketRef } from '../../market/market.ts'
import { OrderBook } from '../../market/order-book.ts'
import { US_PER_MS } from '../../tape/layout.ts'
import type { Lost } from '../../tape/lost.ts'
import { timeMs } from '../../units.ts'
import { SelectedMarkets } from './selected-markets.ts'

export class ReplayMessages {
  readonly #selected: ReadonlyMap<ReplayChannel, SelectedMarkets>
  readonly #query: Pick<ReplayQuery, 'format' | 'states'>
  readonly #send: (frame: Frame) => void
  /** Why the book of a market is stale, by market id. Absent: it is live. */
  readonly #stale = new Map<string, StaleReason>()
  /** The newest price of each selected market, by market id. */
  readonly #prices = new Map<string, { readonly price: MarketPrice; readonly stamp: Stamp }>()
  #epoch: string | null = null
  #encoder: Encoder
  #markets: MarketTable | null = null
  #us = 0

  /** `send` takes each message. A message is valid until the next one. */
  constructor(
    query: Pick<ReplayQuery, 'selections' | 'format' | 'states'>,
    send: (frame: Frame) => void,
  ) {
    const { selections } = query
    this.#send = send
    const channels = new Set(selections.map(({ channel }) => channel))
    this.#selected = new Map(
      [...channels].map((channel) => {
        return [channel, new SelectedMarkets(selections.filter((of) => of.channel === channel))]
      }),
    )
    this.#query = query
    this.#encoder = this.#encoderOf('')
  }

  /** Sends the messages of a record, in order. */
  write({ us, epoch, item, markets, platform, isAtStart }: TapeRecord): void {
    this.#us = us
    this.#markets = markets
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#encoder = this.#encoderOf(epoch)
    }
    if (item.kind === 'update') this.#update(item.update, item.book)
    else if (item.kind === 'state') this.#state(item.state, { markets, isAtStart })
    else if (item.kind === 'lost') this.#lost(item, platform)
  }

  #encoderOf(epoch: string): Encoder {
    const parts = {
      epoch,
      nowMs: () => timeMs(this.#us / US_PER_MS),
      catalog: { find: (id: string) => this.#find(id) },
    }
    return this.#query.format === 'msgpack' ? new MsgpackEncoder(parts) : new JsonEncoder(parts)
  }

  #find(id: string) {
    const number = this.#markets?.numberOf(id) ?? null
    return number === null ? null : (this.#markets?.get(number) ?? null)
  }

  /** Sends the present price of a selected market. */
  #sendPrice(market: MarketRef): void {
    const priced = this.#prices.get(market.id)
    if (priced === undefined) return
    const { price, stamp } = priced
    const staleReason = this.#stale.get(market.id) ?? null
    this.#send(presentPrice(this.#encoder, market, { price, staleReason }, stamp))
  }

  #has(channel: ReplayChannel, market: MarketRef): boolean {
    return this.#selected.get(channel)?.has(market) ?? false
  }

  #update(update: Update, after: BookState | null): void {
    const encoder = this.#encoder
    switch (update.kind) {
      case 'book':
        if (this.#has('orderbook', update.market)) this.#send(bookUpdate(encoder, update))
        return
      case 'bookReplaced': {
        if (after === null) return
        const { market } = update
        this.#note(market.id, after.staleReason)
        const reason = resyncReason(update.reason)
        if (this.#has('orderbook', market)) {
          this.#send(encoder.reply(resyncMessage('orderbook', market, reason)))
          this.#send(bookSnapshot(encoder, { ref: market }, withChecksum(after)))
        }
        if (!this.#prices.has(market.id)) return
        this.#send(encoder.reply(resyncMessage('prices', market, reason)))
        this.#sendPrice(market)
        return
      }
      case 'bookStale':
        this.#note(update.market.id, update.reason)
        for (const channel of ['orderbook', 'prices'] as const) {
          if (this.#has(channel, update.market))
            this.#send(encoder.reply(staleMessage(channel, update)))
        }
        return
      case 'bookConfirmed': {
        const { market, wasStale, seq } = update
        this.#note(market.id, null)
        if (!wasStale) return
        if (this.#has('orderbook', market)) {
          this.#send(encoder.reply(freshMessage('orderbook', market, seq)))
        }
        const priced = this.#prices.get(market.id)
        if (priced === undefined) return
        this.#send(encoder.reply(freshMessage('prices', market, priced.stamp.seq)))
        return
      }
      case 'trade':
        if (this.#has('trades', update.market)) this.#send(tradeMessage(encoder, update))
        return
      case 'price': {
        if (!this.#has('prices', update.market)) return
        const { price, offset, seq } = update
        this.#prices.set(update.market.id, { price, stamp: { offset, seq } })
        this.#send(priceMessage(encoder, update, this.#stale.get(update.market.id) ?? null))
        return
      }
      case 'whale':
        if (this.#has('whales', update.market)) this.#send(whaleMessage(encoder, update))
        return
      case 'lifecycle':
        if (this.#has('lifecycle', update.market)) this.#send(lifecycleMessage(encoder, update))
        return
      case 'status':
        this.#send(encoder.reply(statusMessage(update)))
        return
      case 'gap': {
        const { channel, market, platform, fromMs, toMs, count } = update
        const selected = this.#selected.get('trades')
        const isSelected = market === null ? selected?.touches(platform) : selected?.has(market)
        if (isSelected !== true) return
        const where = market === null ? { platform } : { marketId: market.id }
        this.#send(encoder.reply(gapMessage({ channel, where, fromMs, toMs, count })))
        return
      }
      case 'arbitrage':
        return
    }
  }

  #state(
    { market, book, price, seqs }: MarketState,
    { markets, isAtStart }: Pick<TapeRecord, 'markets' | 'isAtStart'>,
  ): void {
    const ref = markets.refOf(market)
    if (ref === null) return
    this.#note(ref.id, book.staleReason)
    if (this.#has('prices', ref)) {
      this.#prices.set(ref.id, { price, stamp: { offset: 0, seq: seqs.prices } })
    }
    const { states } = this.#query
    if (isAtStart && states === 'omit') return
    const encoder = this.#encoder
    const isResync = isAtStart && states === 'resync'
    if (this.#has('orderbook', ref)) {
      if (isResync) this.#send(encoder.reply(resyncMessage('orderbook', ref, 'seek')))
      this.#send(bookSnapshot(encoder, { ref }, withChecksum(book)))
    }
    if (!this.#has('prices', ref)) return
    if (isResync) this.#send(encoder.reply(resyncMessage('prices', ref, 'seek')))
    this.#sendPrice(ref)
  }

  /** Updates of a period are missing: of any channel, if the service did not run. */
  #lost({ cause, fromUs, toUs }: Lost, platform: string): void {
    const [fromMs, toMs] = [timeMs(fromUs / US_PER_MS), timeMs(toUs / US_PER_MS)]
    if (cause === 'stopped' || cause === 'killed') {
      const period = { from_ms: fromMs, to_ms: toMs }
      this.#send(this.#encoder.reply({ type: 'disconnect', platform, reason: cause, ...period }))
      return
    }
    for (const [channel, selected] of this.#selected) {
      if (!selected.touches(platform)) continue
      const gap = gapMessage({ channel, where: { platform }, fromMs, toMs, count: null })
      this.#send(this.#encoder.reply({ ...gap, reason: cause }))
    }
  }

  #note(id: string, reason: StaleReason | null): void {
    if (reason === null) this.#stale.delete(id)
    else this.#stale.set(id, reason)
  }
}

function withChecksum(book: BookState) {
  const levels = new OrderBook()
  levels.replace(book.bids, book.asks)
  const { bids, asks, ...rest } = book
  return { ...rest, bids: [...bids], asks: [...asks], checksum: levels.checksum() }
}
