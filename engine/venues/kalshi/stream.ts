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

export interface StreamHooks {
  readonly emit: (event: VenueEvent) => void
  readonly onReply: (reply: Reply) => void
  /** Called when messages of this sid are missing, before the message that revealed the gap is emitted. */
  readonly onGap: (sid: number, lastInOrderAtMs: TimeMs | null) => void
  /** Called when a message is unusable. Ticker null: any market of the sid may be affected. Sid null: any market. */
  readonly onLost: (
    sid: number | null,
    ticker: string | null,
    lastInOrderAtMs: TimeMs | null,
  ) => void
  /** Called before a message is converted. If it returns false, the message is dropped and counted. */
  readonly accepts?: (message: DataMessage) => boolean
  readonly combos?: Combos
  /** Price ranges of the markets. Default: every price is accepted. */
  readonly terms?: Pick<MarketTerms, 'mayRest'>
  readonly transform?: (message: DataMessage) => DataMessage
  /** Called when an order is at a price outside its market's ranges. */
  readonly onOffGrid?: (ticker: string) => void
  readonly onFee?: (message: FeeMessage) => void
  readonly onMapped?: (message: DataMessage) => void
}

const EXPECTED_UNREAD: ReadonlySet<string> = new Set(['event_lifecycle'])
/** The documented error codes. The venue retired 6, 16 and 17. */
const ERROR_CODES: ReadonlySet<number> = new Set([
  ...[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  ...[18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28],
])

/** An error code as a metric label. Undocumented codes share one label. */
export function codeName(code: number): string {
  return ERROR_CODES.has(code) ? String(code) : 'other'
}

export class KalshiStream {
  readonly #hooks: StreamHooks
  readonly #counters: VenueCounters
  readonly #sequence = new SequenceCheck()
  readonly #lastInOrderAtMs = new Map<number, TimeMs>()

  /** Bound once, because every delta calls it. */
  readonly #mayRest: MarketTerms['mayRest']

  constructor(hooks: StreamHooks, counters: VenueCounters) {
    this.#hooks = hooks
    this.#counters = counters
    const { terms } = hooks
    this.#mayRest = (ticker, price) => terms === undefined || terms.mayRest(ticker, price)
  }

  restart(): void {
    this.#sequence.clear()
    this.#lastInOrderAtMs.clear()
  }

  resetSid(sid: number): void {
    this.#sequence.remove(sid)
    this.#lastInOrderAtMs.delete(sid)
  }

  /** Processes a frame. Returns 'sign' if the frame is a reply to a command, otherwise 'data'. */
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
    // A new subscription counts from 1. In a recording it may reuse the sid of an earlier connection.
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
   * Handles a message of an unknown kind. If it may change a market, the market's listing is read again. If it may
   * concern a book, the book is suspect.
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

  /** Records the sequence number. Returns false if the message is late and must not be applied. */
  #isTimely(message: KalshiMessage, receivedAtMs: TimeMs): boolean {
    if (message.kind === 'ticker' || message.kind === 'subscribed') return true
    // `unsubscribed` ends the numbering of the sid.
    if (message.kind === 'unsubscribed') return true
    const { sid, seq } = message
    if (sid === null || seq === null || sid === 0 || seq === 0) return true
    // A late message corrupts only a book. Trades are deduplicated by id, and a late reply is still valid.
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

  /** Records the sequence number of an unusable message. Its market is suspect even if the number is late. */
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
