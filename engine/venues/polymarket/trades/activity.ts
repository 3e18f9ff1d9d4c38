// The activity stream (RTDS): every fill of the venue and its participants over one unfiltered
// socket. Fills of markets that nobody watches or knows go out like the rest.
// Not for: identity (trades.ts), doubts (engine/venues/polymarket/trades/check.ts). Upholds POLYFEED6 to POLYFEED8, WALLETREAD13.

import { pause, type StopTimer } from '../../../clock.ts'
import type { VenueEvent } from '../../../events.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import { type FrameTap, type RawFrame, SocketFeed } from '../../feed.ts'
import type { VenueParts } from '../../venue.ts'
import type { Intake } from '../intake.ts'
import { parseActivity } from '../parse.ts'
import type { FollowedWallets } from '../wallets/follow.ts'
import type { TradeHistory } from './history.ts'
import { readTrade, type TradeLedger } from './trades.ts'

/** The connection number of the activity stream; the books' sockets count from 1. */
const ACTIVITY_CONNECTION = 0

export interface ActivityParts {
  readonly venue: VenueParts
  readonly url: string
  readonly tap: FrameTap | null
  readonly intake: Intake
  readonly ledger: TradeLedger
  readonly followed: FollowedWallets
  readonly history: TradeHistory
  readonly emit: (event: VenueEvent) => void
  readonly silentAfterMs: number
}

const SUBSCRIBE = JSON.stringify({
  action: 'subscribe',
  subscriptions: [{ topic: 'activity', type: '*' }],
})
const PING_EVERY_MS = 5_000
const DEAD_AFTER_MS = 30_000
/** Fills reach the stream, and their seconds round down, this much after they happened. */
const OVERLAP_MS = 5_000
/** A silence is judged twice, this far apart: a fill may be on its way. */
const SECOND_LOOK_MS = 3_000
/** Gaps that the stream itself reports are at most one in this time; their beginnings are joined. */
const GAPS_APART_MS = 60_000

/** One socket that keeps itself alive, and what it means for the venue's trades. */
export class ActivityFeed {
  readonly #parts: ActivityParts
  readonly #socket: SocketFeed
  #aborter = new AbortController()
  #lostSinceMs: TimeMs | null = null
  #isJudging = false
  #gapSinceMs: TimeMs | null = null
  #gapAllowedAtMs = 0
  #stopGapTimer: StopTimer | null = null

  constructor(parts: ActivityParts) {
    this.#parts = parts
    const { clock, random, log, metrics } = parts.venue
    this.#socket = new SocketFeed({
      venue: 'a',
      stream: 'trades',
      connection: ACTIVITY_CONNECTION,
      url: () => parts.url,
      onOpen: () => this.#opened(),
      onFrame: (frame) => this.#received(frame),
      onDown: (reason) => this.#down(reason),
      onSilence: () => void this.#judgeSilence(),
      pingText: 'PING',
      pingEveryMs: PING_EVERY_MS,
      silentAfterMs: parts.silentAfterMs,
      deadAfterMs: DEAD_AFTER_MS,
      ...(parts.tap === null ? {} : { tap: parts.tap }),
      clock,
      random,
      log,
      metrics,
    })
  }

  get socket(): SocketFeed {
    return this.#socket
  }

  start(): void {
    this.#aborter = new AbortController()
    this.#socket.start()
  }

  stop(): Promise<void> {
    this.#aborter.abort()
    this.#stopGapTimer?.()
    this.#stopGapTimer = null
    return this.#socket.stop()
  }

  /** Trades since then may be missing: told at once, or joined with the next telling. */
  doubt(sinceMs: TimeMs, reason: string): void {
    this.#parts.intake.trouble('trades_in_doubt', reason)
    this.#gapSinceMs = this.#gapSinceMs === null ? sinceMs : least(this.#gapSinceMs, sinceMs)
    const waitMs = this.#gapAllowedAtMs - this.#parts.venue.clock.monotonicMs()
    if (waitMs <= 0) this.#tellGap(reason)
    else this.#stopGapTimer ??= this.#parts.venue.clock.after(waitMs, () => this.#tellGap(reason))
  }

  #tellGap(reason: string): void {
    this.#stopGapTimer?.()
    this.#stopGapTimer = null
    const sinceMs = this.#gapSinceMs
    if (sinceMs === null) return
    this.#gapSinceMs = null
    this.#gapAllowedAtMs = this.#parts.venue.clock.monotonicMs() + GAPS_APART_MS
    this.#tell('feedGap', reason, sinceMs)
  }

  #opened(): void {
    this.#socket.send(SUBSCRIBE)
    const sinceMs = this.#lostSinceMs
    this.#lostSinceMs = null
    this.#tell('feedUp', 'connected', sinceMs)
  }

  #down(reason: string): void {
    const { lastDataAtMs, lateSinceMs } = this.#socket
    const lastMs = lastDataAtMs ?? this.#parts.venue.clock.nowMs()
    const sinceMs = timeMs(Math.min(lastMs, lateSinceMs ?? lastMs) - OVERLAP_MS)
    this.#lostSinceMs = this.#lostSinceMs === null ? sinceMs : least(this.#lostSinceMs, sinceMs)
    this.#tell('feedDown', reason, this.#lostSinceMs)
  }

  #tell(kind: 'feedUp' | 'feedDown' | 'feedGap', reason: string, sinceMs: TimeMs | null): void {
    const nowMs = this.#parts.venue.clock.nowMs()
    this.#parts.emit({
      kind,
      venue: 'a',
      venueTimeMs: nowMs,
      receivedAtMs: nowMs,
      stream: 'trades',
      connection: ACTIVITY_CONNECTION,
      outcomes: [],
      reason,
      sinceMs,
    })
  }

  #received(frame: RawFrame): 'data' | 'sign' {
    const { intake, ledger, followed, emit } = this.#parts
    const parsed = parseActivity(frame.text)
    switch (parsed.kind) {
      case 'sign':
        return 'sign'
      case 'other':
        intake.ignore('other_topic')
        return 'sign'
      case 'rejected':
        intake.reject(parsed.reason, frame.text)
        this.doubt(timeMs(frame.receivedAtMs - OVERLAP_MS), parsed.reason)
        return 'data'
      case 'activity': {
        const { kind, row: wire } = parsed.message
        const row = readTrade(wire)
        if (typeof row === 'string') {
          // The Data API would give the same row: a back-fill could not help.
          intake.reject(row, frame.text)
          return 'data'
        }
        intake.message(kind)
        if (kind === 'matched') ledger.addMatched(row, frame.receivedAtMs)
        else {
          ledger.addParticipant(row, frame.receivedAtMs)
          const fill = followed.fill(row, wire, frame.receivedAtMs)
          if (fill !== null) emit(fill)
        }
        return 'data'
      }
    }
  }

  /** A busy venue is never silent for long: does the Data API know trades that we do not? */
  async #judgeSilence(): Promise<void> {
    if (this.#isJudging) return
    this.#isJudging = true
    const { history, ledger, venue, intake } = this.#parts
    const signal = this.#aborter.signal
    const dataAtMs = this.#socket.lastDataAtMs
    try {
      const newestMs = await history.newestMs(signal)
      // Before the first fill of the stream, only what happened after we connected can be missing.
      const seenMs = Math.max(ledger.newestTradeMs, (dataAtMs ?? 0) - OVERLAP_MS)
      if (newestMs === null || newestMs <= seenMs) return
      await pause(venue.clock, SECOND_LOOK_MS, signal)
      if (signal.aborted || !this.#socket.isOpen || this.#socket.lastDataAtMs !== dataAtMs) return
      this.#socket.reconnect('silent while the Data API shows trades')
    } catch (error) {
      if (!signal.aborted) intake.trouble('silence_check_failed', String(error))
    } finally {
      this.#isJudging = false
    }
  }
}

function least(one: TimeMs, other: TimeMs): TimeMs {
  return one < other ? one : other
}
