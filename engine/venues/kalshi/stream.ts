// The way of one connection's frames: parse, count, check the sequence, map, emit. The live sockets
// and the replay use it alike; what is done about replies and holes comes in as callbacks.
// Every frame ends in exactly one counter.

import type { VenueEvent } from '../../events.ts'
import { nativeMarketId } from '../../ids.ts'
import type { TimeMs } from '../../units.ts'
import type { RawFrame } from '../socket-feed.ts'
import type { VenueCounters } from '../venue-counters.ts'
import { SequenceCheck, type SequenceResult } from './book/sequence.ts'
import type { Combos } from './combos.ts'
import { noteBlock, noteFeeTerms, noteTicker } from './drift-checks.ts'
import { DELTA_OFF_GRID, mapMessage } from './map.ts'
import type { MarketTerms } from './market-terms.ts'
import type {
  DataMessage,
  ErrorReply,
  FeeMessage,
  KalshiMessage,
  Reply,
  UnreadMessage,
} from './messages.ts'
import { parseFrame, type StreamPosition } from './parse.ts'

interface StreamHooks {
  readonly emit: (event: VenueEvent) => void
  /** A reply to a command; its sequence number has been noted. */
  readonly onReply: (reply: Reply) => void
  /** Messages of this sid are missing; the message that showed it follows through `emit`. */
  readonly onGap: (sid: number, lastInOrderAtMs: TimeMs | null) => void
  /**
   * A message of this sid could not be used; of this market, when that much was readable. Without a market it may be any
   * of the sid, and without a sid any of the connection.
   */
  readonly onLost: (
    sid: number | null,
    ticker: string | null,
    lastInOrderAtMs: TimeMs | null,
  ) => void
  /** Asked before a message is mapped; false drops it, counted. */
  readonly accepts?: (message: DataMessage) => boolean
  /** Combinations that their names do not show. */
  readonly combos?: Combos
  /** Which prices an order may be placed at; without it any. */
  readonly terms?: Pick<MarketTerms, 'mayRest'>
  /** The message as it is to be understood. */
  readonly transform?: (message: DataMessage) => DataMessage
  /** An order stands at a price outside of its market's ranges. */
  readonly onOffGrid?: (ticker: string) => void
  /** An event has other fees from now on. */
  readonly onFee?: (message: FeeMessage) => void
  /** After a message became events. */
  readonly onMapped?: (message: DataMessage) => void
}

/** Kinds of messages without use here. */
const EXPECTED_UNREAD: ReadonlySet<string> = new Set(['event_lifecycle'])
/** The documented codes of refusals; 6, 16 and 17 were retired. */
const ERROR_CODES: ReadonlySet<number> = new Set([
  ...[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  ...[18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28],
])

/** A code for a counter: those that are not documented count as one. */
export function codeName(code: number): string {
  return ERROR_CODES.has(code) ? String(code) : 'other'
}

/** The frames of one connection. */
export class KalshiStream {
  readonly #hooks: StreamHooks
  readonly #counters: VenueCounters
  readonly #sequence = new SequenceCheck()
  readonly #lastInOrderAtMs = new Map<number, TimeMs>()

  /** Made once: every delta passes it. */
  readonly #mayRest: MarketTerms['mayRest']

  constructor(hooks: StreamHooks, counters: VenueCounters) {
    this.#hooks = hooks
    this.#counters = counters
    const { terms } = hooks
    this.#mayRest = (ticker, price) => terms === undefined || terms.mayRest(ticker, price)
  }

  /** The connection was replaced: its subscriptions are numbered anew. */
  restart(): void {
    this.#sequence.clear()
    this.#lastInOrderAtMs.clear()
  }

  /** The sid was given up. */
  resetSid(sid: number): void {
    this.#sequence.remove(sid)
    this.#lastInOrderAtMs.delete(sid)
  }

  /** Takes a frame to its end; returns whether it was data, and not an answer to a command. */
  take(frame: RawFrame): 'data' | 'sign' {
    return this.#take(frame) ? 'data' : 'sign'
  }

  #take(frame: RawFrame): boolean {
    const message = parseFrame(frame.text)
    if (message.kind === 'rejected') {
      this.#counters.rejected(message.reason, frame.text)
      if (message.position !== undefined) this.#lost(message.position, frame.receivedAtMs)
      return true
    }
    if (!this.#isTimely(message, frame.receivedAtMs)) {
      this.#counters.ignored('late')
      return true
    }
    // A new subscription counts from 1, also in a recording that goes on over a reconnect.
    if (message.kind === 'subscribed') this.resetSid(message.sid)
    switch (message.kind) {
      case 'subscribed':
      case 'ok':
      case 'unsubscribed':
      case 'error':
        this.#counters.ignored('reply')
        if (message.kind === 'error') this.#noteError(message)
        this.#hooks.onReply(message)
        return false
      case 'fee':
        this.#counters.mapped('fee')
        noteFeeTerms(message.terms, message.event, this.#counters.drift)
        this.#hooks.onFee?.(message)
        return true
      case 'unread':
        this.#counters.ignored('unread')
        this.#noteUnread(message, frame)
        return true
      default:
        this.#map(message, frame)
        return true
    }
  }

  /**
   * What is said of a market in words that are not known here may concern its listing, which is read again, or its book,
   * which has then missed it.
   */
  #noteUnread({ name, change, ticker, sid, isOfBook }: UnreadMessage, frame: RawFrame): void {
    const { drift } = this.#counters
    if (change !== null) drift.note('ws.lifecycle', change, frame.text)
    else if (!EXPECTED_UNREAD.has(name)) drift.note('ws.type', name, frame.text)
    if (ticker !== null && this.#hooks.combos?.has(ticker) === true) return
    const { receivedAtMs } = frame
    if (isOfBook) this.#hooks.onLost(sid, ticker, receivedAtMs)
    if (change === null || ticker === null) return
    const stamps = { venue: 'b', venueTimeMs: receivedAtMs, receivedAtMs } as const
    this.#hooks.emit({ kind: 'marketSeen', ...stamps, market: nativeMarketId(ticker) })
  }

  #noteError({ code, text }: ErrorReply): void {
    if (!ERROR_CODES.has(code)) this.#counters.drift.note('ws.error', String(code), text)
  }

  readonly #onBoundLevel = (ticker: string): void =>
    this.#counters.drift.note('book.level', 'at 0 or 1', ticker, 'notice')

  #map(given: DataMessage, frame: RawFrame): void {
    const { accepts, emit, onMapped, combos, terms, transform } = this.#hooks
    if (combos?.has(given.ticker) === true) return this.#counters.ignored('combo')
    if (accepts !== undefined && !accepts(given)) {
      this.#counters.ignored('unwatched')
      return
    }
    const message = transform === undefined ? given : transform(given)
    const mayRest = terms === undefined ? undefined : this.#mayRest
    const refusal = mapMessage(message, frame.receivedAtMs, emit, mayRest, this.#onBoundLevel)
    if (refusal !== null) {
      this.#counters.refused(refusal, frame.text)
      if (refusal === DELTA_OFF_GRID) this.#noteOffGrid(message.ticker, frame)
      if (refusal.kind === 'rejected') {
        const { sid, ticker } = message
        this.#hooks.onLost(sid, ticker, this.#lastInOrderAtMs.get(sid) ?? null)
      }
      return
    }
    this.#counters.mapped(message.kind)
    if (message.kind === 'trade') noteBlock(message, this.#counters.drift)
    else if (message.kind === 'ticker') noteTicker(message, this.#counters.drift)
    onMapped?.(message)
  }

  #noteOffGrid(ticker: string, { text }: RawFrame): void {
    this.#counters.drift.note('book.off_grid', ticker.split('-', 1)[0], text, 'notice')
    this.#hooks.onOffGrid?.(ticker)
  }

  /** Notes the sequence number; false for a message that must not be applied any more. */
  #isTimely(message: KalshiMessage, receivedAtMs: TimeMs): boolean {
    if (message.kind === 'ticker' || message.kind === 'subscribed') return true
    // After `unsubscribed` the sid is over, and its number with it.
    if (message.kind === 'unsubscribed') return true
    const { sid, seq } = message
    if (sid === null || seq === null || sid === 0 || seq === 0) return true
    // A late message harms a book alone: trades are known by their ids, and a late reply still holds.
    return this.#note(sid, seq, receivedAtMs) !== 'late' || !isOfBook(message)
  }

  #note(sid: number, seq: number, receivedAtMs: TimeMs): SequenceResult {
    const result = this.#sequence.note(sid, seq)
    if (result === 'late') return result
    if (result === 'gap') {
      this.#counters.trouble('sequence_gap', { sid })
      this.#hooks.onGap(sid, this.#lastInOrderAtMs.get(sid) ?? null)
    }
    this.#lastInOrderAtMs.set(sid, receivedAtMs)
    return result
  }

  /**
   * Unusable: the numbers go on where it had one, and only its market is suspect. The numbers of what cannot be read are
   * no reason to leave a book live, a late one included.
   */
  #lost({ sid, seq, ticker }: StreamPosition, receivedAtMs: TimeMs): void {
    const lastInOrderAtMs = sid === null ? null : (this.#lastInOrderAtMs.get(sid) ?? null)
    if (ticker !== null && this.#hooks.combos?.has(ticker) === true) return
    if (sid !== null && seq !== null && seq !== 0) this.#note(sid, seq, receivedAtMs)
    this.#hooks.onLost(sid, ticker, lastInOrderAtMs)
  }
}

function isOfBook(message: KalshiMessage): boolean {
  return message.kind === 'orderbookDelta' || message.kind === 'orderbookSnapshot'
}
