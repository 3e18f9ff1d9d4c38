// Processes book messages without sockets: parser, mapper and market actor. After an unusable message the actor's book
// is invalid, and the test must send the requested book.

import type { VenueEvent } from '../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import type { MarketFees } from '../../../engine/market/fees.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { KalshiStream } from '../../../engine/venues/kalshi/stream.ts'
import { type MarketTrack, Tracks } from '../../../engine/venues/polymarket/book/tracks.ts'
import { PolymarketMap } from '../../../engine/venues/polymarket/map.ts'
import { parseFrame } from '../../../engine/venues/polymarket/parse.ts'
import { venueCounters } from '../fakes/venue-counters.ts'
import { FollowedMarket } from '../worlds/followed-market.ts'

/** Number of frames by outcome. */
export type Fates = Map<string, number>

export function countFate(fates: Fates, fate: string): void {
  fates.set(fate, (fates.get(fate) ?? 0) + 1)
}

/** One market of venue a. */
export class PolymarketPath {
  readonly market: FollowedMarket
  readonly fates: Fates = new Map()
  readonly events: VenueEvent[] = []
  readonly fees = new Map<string, MarketFees>()
  readonly #tracks = new Tracks()
  readonly #track: MarketTrack
  readonly #map: PolymarketMap
  #text = ''

  constructor(name: string, tokens: readonly [first: string, second: string]) {
    this.market = new FollowedMarket(name, 'a', tokens)
    const track = this.#tracks.add({
      nativeId: nativeMarketId(name),
      outcomes: tokens.map(outcomeId),
      status: 'open',
      openAtMs: null,
      closeAtMs: null,
    })
    if (track === null) throw new Error('two tokens are a market')
    this.#track = track
    this.#tracks.cover(track.nativeId)
    this.#map = new PolymarketMap({
      tracks: this.#tracks,
      emit: (event) => this.#route(event),
      onRejected: (reason, lost) => {
        countFate(this.fates, `refused ${reason}`)
        if (lost !== null) this.#lose(reason)
      },
      onBook: () => {},
      onLastTrade: () => {},
      onTick: () => this.market.resyncs.push('tick'),
      onFees: (market, fees) => this.fees.set(market, fees),
    })
  }

  take(text: string, receivedAtMs: TimeMs): void {
    this.#text = text
    this.events.length = 0
    const parsed = parseFrame(text)
    if (parsed.kind !== 'messages') return countFate(this.fates, parsed.kind)
    for (const message of parsed.messages) {
      if (message.kind === 'rejected') {
        countFate(this.fates, `rejected ${message.reason}`)
        if (message.tokens.some((token) => this.#tracks.byToken(token) === this.#track)) {
          this.#lose(message.reason)
        }
      } else {
        const fate = this.#map.map(message, receivedAtMs)
        if (fate !== 'rejected') countFate(this.fates, `${message.kind} ${fate}`)
      }
    }
  }

  /** Starts a new subscription, as the feed does to request a fresh book. */
  resubscribe(): void {
    this.#track.reset()
    this.market.resyncs.length = 0
  }

  #lose(reason: string): void {
    this.market.receive({ kind: 'void', reason: 'messages_lost', isOfVenue: false }, this.#text)
    this.market.resyncs.push(reason)
  }

  #route(event: VenueEvent): void {
    this.events.push(event)
    if (event.kind === 'marketStatus') {
      if (event.market === this.#track.nativeId) this.market.receive(event, this.#text)
    } else if (isForMarket(event) && event.outcome === this.#track.first) {
      this.market.receive(event, this.#text)
    }
  }
}

/** All markets of one connection of venue b. */
export class KalshiPath {
  readonly markets = new Map<string, FollowedMarket>()
  readonly fates: Fates = new Map()
  gapCount = 0
  readonly #counts = venueCounters('b')
  readonly #stream: KalshiStream
  #text = ''

  constructor(tickers: readonly string[]) {
    for (const ticker of tickers) {
      this.markets.set(ticker, new FollowedMarket(ticker, 'b', [ticker, `${ticker}:no`]))
    }
    this.#stream = new KalshiStream(
      {
        emit: (event) => this.#route(event),
        onReply: () => countFate(this.fates, 'reply'),
        onGap: () => {
          this.gapCount += 1
          for (const market of this.markets.values()) this.#lose(market, 'sequence_gap')
        },
        onLost: (_, ticker) => {
          for (const market of this.markets.values()) {
            if (ticker === null || ticker === market.name) this.#lose(market, 'unusable')
          }
        },
        accepts: (message) => this.markets.has(message.ticker),
      },
      this.#counts.counters,
    )
  }

  take(text: string, receivedAtMs: TimeMs): void {
    this.#text = text
    this.#stream.take({ connection: 1, receivedAtMs, text })
  }

  /** The values of the venue's counter by label value. */
  counted(family: string): Fates {
    const counts: Fates = new Map()
    for (const [labels, count] of this.#counts.metrics.counts(family)) {
      const { kind, reason }: { kind?: string; reason?: string } = JSON.parse(labels)
      counts.set(kind ?? reason ?? labels, count.value)
    }
    return counts
  }

  #lose(market: FollowedMarket, reason: string): void {
    market.receive({ kind: 'void', reason: 'messages_lost', isOfVenue: false }, this.#text)
    market.resyncs.push(reason)
  }

  #route(event: VenueEvent): void {
    countFate(this.fates, event.kind)
    if (event.kind === 'marketStatus') {
      this.markets.get(event.market)?.receive(event, this.#text)
    } else if (isForMarket(event)) {
      this.markets.get(event.outcome.replace(/:no$/, ''))?.receive(event, this.#text)
    }
  }
}

type ForMarket = Extract<VenueEvent, { readonly outcome: unknown }>

function isForMarket(event: VenueEvent): event is ForMarket {
  return 'outcome' in event
}
