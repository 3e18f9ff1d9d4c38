// Creates Kalshi's sockets for books and trades: URL and signature, timeouts, and routing of frames to a stream.

import { type FrameTap, SocketFeed, type SocketOptions } from '../socket-feed.ts'
import type { VenueParts } from '../venue.ts'
import type { VenueCounters } from '../venue-counters.ts'
import type { Combos } from './combos.ts'
import type { MarketTerms } from './market-terms.ts'
import type { OrderbookSnapshot } from './messages.ts'
import type { KalshiStream } from './stream.ts'

/** What a socket of this venue needs in addition to VenueParts. */
export interface SocketAccess {
  readonly url: () => string
  readonly headers: () => Record<string, string>
  readonly tap: FrameTap | undefined
  readonly counters: VenueCounters
  readonly combos: Combos
  readonly terms: MarketTerms
  /** Fetches a book over REST; null if there is no response. */
  readonly fetchBook: (ticker: string) => Promise<OrderbookSnapshot | null>
}

/** The venue pings every 10 s. The connection counts as dead after two and a half periods without data or pings. */
const DEAD_AFTER_MS = 25_000

type Purpose = Pick<
  SocketOptions,
  'stream' | 'connection' | 'noDataAfterMs' | 'onOpen' | 'onDown' | 'onSilence'
>

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
