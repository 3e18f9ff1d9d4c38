import type { StopTimer } from '../../clock.ts'
import { type FrameTap, SocketFeed, type SocketOptions } from '../socket-feed.ts'
import type { VenueParts } from '../venue.ts'
import type { VenueCounters } from '../venue-counters.ts'
import type { Combos } from './combos.ts'
import type { MarketTerms } from './market-terms.ts'
import type { ErrorReply, OrderbookSnapshot } from './messages.ts'
import { codeName, KalshiStream, type StreamHooks } from './stream.ts'

export interface SocketAccess {
  readonly url: () => string
  readonly headers: () => Record<string, string>
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly combos: Combos
  readonly terms: MarketTerms
  /** Null if the venue does not respond. */
  readonly fetchBook: (ticker: string) => Promise<OrderbookSnapshot | null>
}

/** The venue pings every 10 s. The connection counts as dead after 25 s without data or pings. */
const DEAD_AFTER_MS = 25_000

export abstract class KalshiSocket {
  readonly socket: SocketFeed
  protected readonly parts: VenueParts
  protected readonly access: SocketAccess
  protected readonly stream: KalshiStream
  #stopTimers: readonly StopTimer[] = []

  constructor(
    parts: VenueParts,
    access: SocketAccess,
    purpose: Pick<SocketOptions, 'stream' | 'connection' | 'noDataAfterMs' | 'connectQueue'>,
  ) {
    const { url, headers, tap, counters } = access
    this.parts = parts
    this.access = access
    this.stream = new KalshiStream(this.hooks(), counters)
    this.socket = new SocketFeed({
      ...{ ...parts, ...purpose, url, headers, tap, drift: counters.drift },
      venue: 'b',
      deadAfterMs: DEAD_AFTER_MS,
      onOpen: () => {
        this.stream.restart()
        this.opened()
      },
      onFrame: (frame) => this.stream.take(frame),
      onDown: (reason) => this.lost(reason),
      onSilence: () => void this.checkSilence(),
    })
  }

  start(): void {
    const { clock } = this.parts
    this.socket.start()
    this.#stopTimers = this.timers().map(([everyMs, action]) => clock.every(everyMs, action))
  }

  stop(): Promise<void> {
    for (const stop of this.#stopTimers) stop()
    return this.socket.stop()
  }

  /** Called by the base constructor, when the fields of the subclass are not yet set. */
  protected abstract hooks(): StreamHooks
  protected abstract timers(): readonly (readonly [everyMs: number, action: () => void])[]
  protected abstract opened(): void
  protected abstract lost(reason: string): void
  protected abstract checkSilence(): void | Promise<void>

  protected noteCommandError({ code, text, sid }: ErrorReply): void {
    this.access.counters.trouble(`command_error_${codeName(code)}`, { text, sid })
  }
}
