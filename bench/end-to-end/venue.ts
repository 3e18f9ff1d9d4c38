// Venue process of the end-to-end bench: sends prepared frames of the simulated world at their planned moments, even if
// late, over the measured side's one socket. Both sides are treated equally.

import { type WebSocket, WebSocketServer } from 'ws'
import { sharedMs } from '../fan-out/messages.ts'
import { Reports, takeCommands } from '../in-child.ts'
import { type IngestLoad, ingestLoad } from '../ingest/load.ts'
import { bookLine } from '../sim-load.ts'
import { numbered, type SendPlan, type VenueCommand, type VenueReport } from './messages.ts'

const HOST = '127.0.0.1'
const { report } = new Reports<VenueReport>()
const sockets = new Map<string, WebSocket>()
let load: IngestLoad | null = null
let texts: readonly string[] = []

async function open({
  frameCount,
  marketsPerVenue,
}: VenueCommand & { kind: 'open' }): Promise<void> {
  const made = ingestLoad(frameCount, marketsPerVenue)
  load = made
  texts = made.frames.map(({ text }, index) => numbered(text, index))
  const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
  server.on('connection', (socket, request) => void sockets.set(request.url ?? '', socket))
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('cannot listen')
  report({ kind: 'listening', port: address.port, frameCount: texts.length })
}

function socketOf(side: string): WebSocket {
  const socket = sockets.get(`/${side}`)
  if (socket === undefined) throw new Error(`${side} did not connect`)
  return socket
}

/** Uses 1 ms timers: all due frames go in one event-loop tick. */
function send(socket: WebSocket, { startMs, perSecond, from, to }: SendPlan): void {
  let next = from
  const step = (): void => {
    const dueCount = Math.floor(((sharedMs() - startMs) * perSecond) / 1_000) + 1
    const end = Math.min(to, from + Math.max(0, dueCount))
    for (; next < end; next += 1) socket.send(texts[next] ?? '')
    if (next >= to) return report({ kind: 'sent' })
    const nextMs = startMs + ((next - from) * 1_000) / perSecond
    setTimeout(step, Math.max(1, Math.floor(nextMs - sharedMs())))
  }
  step()
}

/** Books by unified id, after the last frame. */
function truth(): readonly string[] {
  return (load?.world.markets ?? []).map(({ listing: { venue, nativeId }, book }) =>
    bookLine(`venue_${venue}_${nativeId}`, book),
  )
}

takeCommands(async (command: VenueCommand) => {
  if (command.kind === 'open') await open(command)
  else if (command.kind === 'truth') report({ kind: 'truth', books: truth() })
  else if (command.kind === 'send') send(socketOf(command.side), command)
  else {
    for (const { text } of load?.world.snapshots ?? []) socketOf(command.side).send(text)
    report({ kind: 'sent' })
  }
})
