// Venue process of the end-to-end bench. It sends prepared frames of the simulated world at their planned times or
// later.

import { type WebSocket, WebSocketServer } from 'ws'
import type { SimMarket } from '../../engine/venues/simulator/model.ts'
import { serve } from '../in-child.ts'
import { type IngestLoad, ingestLoad } from '../ingest/load.ts'
import { sharedMs } from '../latency-recorder.ts'
import { bookLine } from '../sim-load.ts'
import { numbered, type SendPlan } from './frames.ts'

const HOST = '127.0.0.1'
const MARKET = /"market":"(0x\w+)"|"market_ticker":"([^"]+)"/
const sockets = new Map<string, WebSocket>()
let load: IngestLoad | null = null
let texts: readonly string[] = []

const idOf = ({ listing: { venue, nativeId } }: SimMarket) => `venue_${venue}_${nativeId}`

function socketOf(side: string): WebSocket {
  const socket = sockets.get(`/${side}`)
  if (socket === undefined) throw new Error(`${side} did not connect`)
  return socket
}

/** Sends all due frames in one event-loop tick, once per millisecond. */
function send(socket: WebSocket, { startMs, perSecond, from, to }: SendPlan): Promise<void> {
  return new Promise((resolve) => {
    let next = from
    const step = (): void => {
      const dueCount = Math.floor(((sharedMs() - startMs) * perSecond) / 1_000) + 1
      const end = Math.min(to, from + Math.max(0, dueCount))
      for (; next < end; next += 1) socket.send(texts[next] ?? '')
      if (next >= to) return resolve()
      const nextMs = startMs + ((next - from) * 1_000) / perSecond
      setTimeout(step, Math.max(1, Math.floor(nextMs - sharedMs())))
    }
    step()
  })
}

export const api = serve({
  async open(wantedCount: number, marketsPerVenue: number) {
    load = ingestLoad(wantedCount, marketsPerVenue)
    texts = load.frames.map(({ text }, index) => numbered(text, index))
    const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
    server.on('connection', (socket, request) => void sockets.set(request.url ?? '', socket))
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('cannot listen')
    return { port: address.port, frameCount: texts.length }
  },
  /** Sends every market's initial book to the server of this name, without planned times. */
  snapshots(side: string): void {
    for (const { text } of load?.world.snapshots ?? []) socketOf(side).send(text)
  },
  send: (side: string, plan: SendPlan) => send(socketOf(side), plan),
  /** The open markets with most frames, by unified id. */
  busiest(count: number): readonly string[] {
    const frames = new Map<string, number>()
    for (const text of texts) {
      const [, a, b] = MARKET.exec(text) ?? []
      const id = a ?? b ?? ''
      frames.set(id, (frames.get(id) ?? 0) + 1)
    }
    const countOf = ({ listing }: SimMarket) => frames.get(listing.nativeId) ?? 0
    const markets = load?.world.markets ?? []
    const sorted = markets.toSorted((one, other) => countOf(other) - countOf(one))
    return sorted.slice(0, count).map(idOf)
  },
  /** All books after the last frame, one line each, by unified id. */
  truth(): readonly string[] {
    return (load?.world.markets ?? []).map((market) => bookLine(idOf(market), market.book))
  },
})
