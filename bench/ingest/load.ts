// Frames of the ingest bench and their path into the engine. The actors compute the expected updates beforehand, frame
// by frame. The limit publishes these finished objects.

import { Catalog } from '../../actors/catalog/catalog.ts'
import { System } from '../../actors/system.ts'
import { EventRoutes } from '../../actors/venue/event-routes.ts'
import type { Update, VenueEvent } from '../../engine/events.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { Publisher } from '../../engine/publisher.ts'
import { parseActivity } from '../../engine/venues/polymarket/parse.ts'
import { readTrade, TradeLedger } from '../../engine/venues/polymarket/trades/trade-ledger.ts'
import type { SimTrade } from '../../engine/venues/simulator/model.ts'
import { tradeRow } from '../../engine/venues/simulator/polymarket/trade-rows.ts'
import { bookUpdate } from '../../http/ws/channels/orderbook.ts'
import { priceMessage } from '../../http/ws/channels/prices.ts'
import { tradeMessage } from '../../http/ws/channels/trades.ts'
import { JsonEncoder } from '../../http/ws/encode/json.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { ManualClock } from '../../test/support/fakes/manual-clock.ts'
import { marketParts, NAMES } from '../../test/support/worlds/builders.ts'
import { check } from '../harness.ts'
import { listingOf, type SimLoad, simLoad } from '../sim-load.ts'
import { RECEIVED_AT, venuePath } from '../venue-path.ts'

const SEED = 17
const TRADE_SHARE = 0.05

/** A frame of one of three streams: books of venue a, books and trades of venue b, or trades of venue a. */
export interface IngestFrame {
  readonly stream: 'a' | 'b' | 'activity'
  readonly text: string
}

export interface IngestLoad {
  readonly world: SimLoad
  readonly frames: readonly IngestFrame[]
  readonly tradeCount: number
}

/** Prepares about `frameCount` frames. Every twentieth is a trade. */
export function ingestLoad(frameCount: number, marketsPerVenue: number): IngestLoad {
  const world = simLoad({ seed: SEED, marketsPerVenue, frameCount })
  const ofA = world.trades.filter(({ market }) => market.listing.venue === 'a')
  const ofB = world.frames.filter(({ text }) => isTradeOfB(text)).length
  const wanted = (TRADE_SHARE * world.frames.length - ofB) / (1 - TRADE_SHARE)
  const takenOfA = Math.min(Math.max(Math.round(wanted), 0), ofA.length)
  const frames: IngestFrame[] = []
  let seen = 0
  let taken = 0
  for (const { venue, text } of world.frames) {
    frames.push({ stream: venue, text })
    if (!text.includes('"event_type":"last_trade_price"')) continue
    const trade = ofA[seen]
    seen += 1
    if (trade === undefined || Math.floor((seen * takenOfA) / ofA.length) <= taken) continue
    taken += 1
    frames.push({ stream: 'activity', text: activityText(trade) })
  }
  return { world, frames, tradeCount: ofB + taken }
}

const isTradeOfB = (text: string): boolean => text.startsWith('{"type":"trade"')

/** A trade in the format of the simulated venue's own stream. */
function activityText(trade: SimTrade): string {
  const payload = JSON.stringify(tradeRow(trade, 0))
  return `{"connection_id":"bench","topic":"activity","type":"orders_matched","timestamp":${trade.atMs},"payload":${payload}}`
}

type IngestPath = (frame: IngestFrame) => void

export function ingestPath(world: SimLoad, emit: (event: VenueEvent) => void): IngestPath {
  const books = { a: venuePath('a', world, emit), b: venuePath('b', world, emit) }
  const ledger = new TradeLedger({
    emit,
    onSuspicion: ({ kind }) => check(false, `a trade of venue a was suspected: ${kind}`),
  })
  return ({ stream, text }) => {
    if (stream !== 'activity') return books[stream](text)
    const parsed = parseActivity(text)
    if (parsed.kind !== 'activity') return check(false, 'an activity frame was not read')
    const row = readTrade(parsed.message.row)
    if (typeof row === 'string') return check(false, `a trade of venue a was refused: ${row}`)
    ledger.addMatched(row, RECEIVED_AT)
  }
}

/** Whether a subscriber to books, trades and prices receives the update as a counted message. */
export function isCounted({ kind }: Update): boolean {
  return kind === 'book' || kind === 'trade' || kind === 'price'
}

export async function messagesOf(
  { world, frames }: IngestLoad,
  storage: Storage,
): Promise<readonly (readonly unknown[])[]> {
  const metrics = new Metrics()
  const clock = new ManualClock(RECEIVED_AT)
  const publisher = new Publisher({ epoch: 'bench', log: silentLog, metrics })
  const system = new System({ clock, log: silentLog, metrics, mustHold: () => false })
  const { parts: market } = marketParts({ publisher, storage, nowMs: () => clock.nowMs() })
  const index = { put() {}, remove() {}, find: async () => new Uint32Array() }
  const catalog = new Catalog({ names: NAMES, clock, system, storage, index, market })
  catalog.take({ markets: world.markets.map(listingOf), events: [] })
  const routes = new EventRoutes({ catalog, metrics, onWalletFill: () => undefined })
  const encoder = new JsonEncoder({ epoch: 'bench', catalog, nowMs: () => RECEIVED_AT })
  let messages: unknown[] = []
  publisher.watch({
    name: 'bench',
    onUpdate(update) {
      if (update.kind === 'book') messages.push(JSON.parse(String(bookUpdate(encoder, update))))
      if (update.kind === 'trade') messages.push(JSON.parse(String(tradeMessage(encoder, update))))
      if (update.kind === 'price') messages.push(JSON.parse(String(priceMessage(encoder, update))))
    },
  })
  const path = ingestPath(world, (event) => routes.route(event))
  for (const { venue, text } of world.snapshots) path({ stream: venue, text })
  const ofFrames = frames.map((frame) => {
    messages = []
    path(frame)
    return messages
  })
  await storage.committed()
  return ofFrames
}
