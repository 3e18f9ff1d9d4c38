// Server process of the end-to-end bench. The command line selects the server. `relay` publishes each frame with a bare
// uWebSockets.js app, without parsing. Any other name is the complete engine with LMDB, alone or in a cluster, with the
// connectors' parsers and mappers.

import { WebSocket } from 'ws'
import { connectCluster } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import { loadConfig } from '../../engine/config.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { SocketFeed } from '../../engine/venues/socket-feed.ts'
import { openBroadcast } from '../bare-app.ts'
import { openStorage } from '../harness.ts'
import { processorMicros, serve } from '../in-child.ts'
import { type IngestFrame, ingestLoad, ingestPath } from '../ingest/load.ts'
import { type QuietEngine, startQuietEngine } from '../quiet-engine.ts'
import { listingOf } from '../sim-load.ts'
import { clockOfFrames } from '../venue-path.ts'

const HOST = '127.0.0.1'
const ALIVE_MS = 600_000

const [, , name = ''] = process.argv
let frameCount = 0
const metrics = new Metrics()
let catalog: QuietEngine['engine']['catalog'] | null = null

export interface Opening {
  readonly venuePort: number
  readonly dataDir: string
  readonly marketsPerVenue: number
  /** Environment variables for the cluster log. Without them the engine runs alone. */
  readonly nats?: Readonly<Record<string, string>>
}

async function ours({ venuePort, dataDir, marketsPerVenue, nats }: Opening) {
  const clock = clockOfFrames()
  const storage = await openStorage(dataDir, clock)
  // The venue process starts with the same world.
  const { world } = ingestLoad(1, marketsPerVenue)
  for (const market of world.markets) storage.markets.put(listingOf(market))
  // Each process measures latency with its own clock.
  const parts = { clock: systemClock, log: silentLog, metrics }
  const cluster = nats === undefined ? null : await connectCluster(loadConfig(nats), parts)
  const { engine, apiKey, emit } = await startQuietEngine(storage, clock, { metrics, cluster })
  catalog = engine.catalog
  const take = ingestPath(world, emit)
  await new Promise<void>((resolve) => {
    const feed = new SocketFeed({
      ...{ venue: 'a', stream: 'books', connection: 1, clock, log: silentLog },
      ...{ random: seededRandom('end-to-end'), metrics: new Metrics() },
      ...{ noDataAfterMs: ALIVE_MS, deadAfterMs: ALIVE_MS },
      url: () => `ws://${HOST}:${venuePort}/${name}`,
      onOpen: () => resolve(),
      onFrame({ text }) {
        frameCount += 1
        take({ stream: streamOf(text), text })
        return 'data'
      },
      onDown: (reason) => {
        throw new Error(`the venue was lost: ${reason}`)
      },
    })
    feed.start()
  })
  return { port: engine.port, apiKey }
}

/** The stream to which a frame belongs, by its prefix. The real venues have one socket for each of these streams. */
function streamOf(text: string): IngestFrame['stream'] {
  if (text.startsWith('{"type":')) return 'b'
  return text.startsWith('{"connection_id"') ? 'activity' : 'a'
}

async function relay({ venuePort }: Opening) {
  const { app, listen } = await openBroadcast()
  const port = await listen()
  const venue = new WebSocket(`ws://${HOST}:${venuePort}/relay`, {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  })
  venue.on('message', (data) => {
    frameCount += 1
    if (Buffer.isBuffer(data)) app.publish('all', data, false)
  })
  await new Promise((resolve, reject) => venue.once('open', resolve).once('error', reject))
  return { port, apiKey: null }
}

function sum(counter: string): number {
  return [...metrics.counts(counter).values()].reduce((total, { value }) => total + value, 0)
}

export const api = serve({
  /** Returns the server's port, and the key of its account if the server needs one. */
  open: name === 'relay' ? relay : ours,
  staleCount: () =>
    [...(catalog?.markets(null) ?? [])].filter((market) => market.book().isStale).length,
  /**
   * Processor time since the start, frames received from the venue, largest resident memory, and batches that the
   * engine wrote into the cluster log.
   */
  look: () => ({
    processorMicros: processorMicros(),
    frameCount,
    residentBytesMax: 1_024 * process.resourceUsage().maxRSS,
    batchCount: sum('cluster_batches_total'),
    batchBytes: sum('cluster_batch_bytes_total'),
  }),
})
