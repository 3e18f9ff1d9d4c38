// A socket of Kalshi, for books or for trades: its address and signature, when it counts as dead, and its frames' way
// into a stream.

import { type FrameTap, SocketFeed, type SocketOptions } from '../socket-feed.ts'
import type { VenueParts } from '../venue.ts'
import type { VenueCounters } from '../venue-counters.ts'
import type { Combos } from './combos.ts'
import type { MarketTerms } from './market-terms.ts'
import type { OrderbookSnapshot } from './messages.ts'
import type { KalshiStream } from './stream.ts'

/** What a socket of this venue needs besides its parts. */
export interface SocketAccess {
  readonly url: () => string
  readonly headers: () => Record<string, string>
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly combos: Combos
  readonly terms: MarketTerms
  /** A book over REST; null when the venue does not answer. */
  readonly fetchBook: (ticker: string) => Promise<OrderbookSnapshot | null>
}

/** The venue pings every 10 s: two and a half periods without any sign is death. */
const DEAD_AFTER_MS = 25_000

type Purpose = Pick<
  SocketOptions,
  'stream' | 'connection' | 'noDataAfterMs' | 'onOpen' | 'onDown' | 'onSilence'
>

/** A socket whose frames go through `stream`. */
export function kalshiSocket(
  { clock, random, log, metrics }: VenueParts,
  { url, headers, tap, counters }: SocketAccess,
  stream: KalshiStream,
  purpose: Purpose,
): SocketFeed {
  return new SocketFeed({
    ...{ clock, random, log, metrics, url, headers },
    ...(tap === undefined ? {} : { tap }),
    drift: counters.drift,
    ...purpose,
    venue: 'b',
    deadAfterMs: DEAD_AFTER_MS,
    onFrame: (frame) => stream.take(frame),
  })
}
