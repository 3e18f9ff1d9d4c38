// The way of one connection's frames: parse, count, check the sequence, map, emit. The live sockets
// and the replay use it alike; what is done about replies and holes comes in as callbacks.
// Every frame ends in exactly one counter. Upholds KSTREAM1 to KSTREAM3.

import type { VenueEvent } from '../../events.ts'
import { type Log, LogSampler } from '../../process/log.ts'
import type { Count, Metrics } from '../../process/metrics.ts'
import type { TimeMs } from '../../units.ts'
import { Doubts } from '../answers.ts'
import type { RawFrame } from '../feed.ts'
import { SequenceCheck, type SequenceVerdict } from './book/sequence.ts'
import { mapMessage, type Refusal } from './map.ts'
import type { DataMessage, KalshiMessage, Reply } from './messages.ts'
import { type Place, parseFrame, type Rejected } from './parse.ts'

/** Counts what was read, ignored and rejected, and lets a sample of it into the log. */
export class Tally {
  /** Answers over REST that are not believed. */
  readonly doubts: Doubts
  readonly #metrics: Metrics
  readonly #log: Log
  readonly #sampler = new LogSampler()
  readonly #counts = new Map<string, Count>()

  constructor(metrics: Metrics, log: Log) {
    this.#metrics = metrics
    this.#log = log
    this.doubts = new Doubts({ metrics, log, venue: 'b' })
  }

  /** A message of this kind became an event. */
  mapped(kind: string): void {
    this.#count('venue_messages_total', 'Messages that became events', 'kind', kind).inc()
  }

  /** Something arrived that we do not need. */
  ignored(reason: string): void {
    this.#count('venue_ignored_total', 'Messages of no use to us', 'reason', reason).inc()
  }

  /** Something arrived that we cannot trust; `sample` shows what, cut short. */
  rejected(reason: string, sample: string): void {
    this.#count('venue_rejected_total', 'Messages that cannot be trusted', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (isWritten) this.#log.warn({ reason, count, sample: sample.slice(0, 200) }, 'rejected')
  }

  /** Counts a refusal of map.ts. */
  refused(refusal: Refusal | Rejected, sample: string): void {
    if (refusal.kind === 'ignored') this.ignored(refusal.reason)
    else this.rejected(refusal.reason, sample)
  }

  /** Something went wrong that is no message: a poll, a page, a command. */
  trouble(reason: string, details: Record<string, unknown> = {}): void {
    this.#count('venue_troubles_total', 'Failures that were handled', 'reason', reason).inc()
    const { isWritten, count } = this.#sampler.admit(reason)
    if (isWritten) this.#log.warn({ reason, count, ...details }, 'venue trouble')
  }

  #count(name: string, help: string, label: 'kind' | 'reason', value: string): Count {
    const key = name + value
    let count = this.#counts.get(key)
    if (count === undefined) {
      count = this.#metrics.count(name, help, { venue: 'b', [label]: value })
      this.#counts.set(key, count)
    }
    return count
  }
}

export interface StreamHooks {
  readonly emit: (event: VenueEvent) => void
  /** A reply to a command; its sequence number has been noted. */
  readonly onReply: (reply: Reply) => void
  /** Messages of this sid are missing; the message that showed it follows through `emit`. */
  readonly onGap: (sid: number, lastInOrderAtMs: TimeMs | null) => void
  /** A message of this sid could not be used; of this market, when that much was readable. */
  readonly onLost: (sid: number, ticker: string | null, lastInOrderAtMs: TimeMs | null) => void
  /** Asked before a message is mapped; false drops it, counted. */
  readonly accepts?: (message: DataMessage) => boolean
  /** After a message became events. */
  readonly onMapped?: (message: DataMessage) => void
}

/** The frames of one connection. */
export class KalshiStream {
  readonly #hooks: StreamHooks
  readonly #tally: Tally
  readonly #sequence = new SequenceCheck()
  readonly #lastInOrderAtMs = new Map<number, TimeMs>()

  constructor(hooks: StreamHooks, tally: Tally) {
    this.#hooks = hooks
    this.#tally = tally
  }

  /** The connection was replaced: its subscriptions are numbered anew. */
  restart(): void {
    this.#sequence.clear()
    this.#lastInOrderAtMs.clear()
  }

  /** The sid was given up. */
  forget(sid: number): void {
    this.#sequence.forget(sid)
    this.#lastInOrderAtMs.delete(sid)
  }

  /** Takes a frame to its end. */
  take(frame: RawFrame): void {
    const message = parseFrame(frame.text)
    if (message.kind === 'rejected') {
      this.#tally.rejected(message.reason, frame.text)
      if (message.place !== undefined) this.#lost(message.place, frame.receivedAtMs)
      return
    }
    if (!this.#isTimely(message, frame.receivedAtMs)) {
      this.#tally.ignored('late')
      return
    }
    // A new subscription counts from 1, also in a recording that goes on over a reconnect.
    if (message.kind === 'subscribed') this.forget(message.sid)
    switch (message.kind) {
      case 'subscribed':
      case 'ok':
      case 'unsubscribed':
      case 'error':
        this.#tally.ignored('reply')
        this.#hooks.onReply(message)
        return
      case 'unread':
        this.#tally.ignored('unread')
        return
      default:
        this.#map(message, frame)
    }
  }

  #map(message: DataMessage, frame: RawFrame): void {
    const { accepts, emit, onMapped } = this.#hooks
    if (accepts !== undefined && !accepts(message)) {
      this.#tally.ignored('unwatched')
      return
    }
    const refusal = mapMessage(message, frame.receivedAtMs, emit)
    if (refusal !== null) {
      this.#tally.refused(refusal, frame.text)
      if (refusal.kind === 'rejected') {
        const { sid, ticker } = message
        this.#hooks.onLost(sid, ticker, this.#lastInOrderAtMs.get(sid) ?? null)
      }
      return
    }
    this.#tally.mapped(message.kind)
    onMapped?.(message)
  }

  /** Notes the sequence number; false for a message that must not be applied any more. */
  #isTimely(message: KalshiMessage, receivedAtMs: TimeMs): boolean {
    if (message.kind === 'ticker' || message.kind === 'subscribed') return true
    // After `unsubscribed` the sid is over, and its number with it.
    if (message.kind === 'unsubscribed') return true
    const { sid, seq } = message
    if (sid === null || seq === null || sid === 0 || seq === 0) return true
    // Only a book is harmed by the old: trades are told apart by their ids, replies are good news.
    return this.#note(sid, seq, receivedAtMs) !== 'late' || !isOfBook(message)
  }

  #note(sid: number, seq: number, receivedAtMs: TimeMs): SequenceVerdict {
    const verdict = this.#sequence.note(sid, seq)
    if (verdict === 'late') return verdict
    if (verdict === 'gap') {
      this.#tally.trouble('sequence_gap', { sid })
      this.#hooks.onGap(sid, this.#lastInOrderAtMs.get(sid) ?? null)
    }
    this.#lastInOrderAtMs.set(sid, receivedAtMs)
    return verdict
  }

  /** Unusable, but it had its place: the numbers go on, and only its market is suspect. */
  #lost(place: Place, receivedAtMs: TimeMs): void {
    const { sid, seq, ticker } = place
    const lastInOrderAtMs = this.#lastInOrderAtMs.get(sid) ?? null
    if (this.#note(sid, seq, receivedAtMs) !== 'late') {
      this.#hooks.onLost(sid, ticker, lastInOrderAtMs)
    }
  }
}

function isOfBook(message: KalshiMessage): boolean {
  return message.kind === 'orderbookDelta' || message.kind === 'orderbookSnapshot'
}
