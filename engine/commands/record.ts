// `npm run record -- polymarket|kalshi SECONDS [FILE]`: records what a venue's sockets send, with the
// listings needed to play it (`VENUES=replay:FILE`). With VENUES=live the real venue, with VENUES=sim
// (the default) the simulated one; hosts and keys by the variables of engine/config.ts.
// The most traded open markets of the first pages are recorded.

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { pause, systemClock } from '../clock.ts'
import { ConfigError, loadConfig } from '../config.ts'
import type { VenueKey } from '../ids.ts'
import type { EventListing, MarketListing } from '../market/market.ts'
import { openLog } from '../process/log.ts'
import { Metrics } from '../process/metrics.ts'
import { systemRandom } from '../random.ts'
import { Recorder } from '../venues/recorder.ts'
import { openSource } from '../venues/source.ts'
import type { Venue } from '../venues/venue.ts'
import { openVenues, type VenueAddresses } from '../venues/venues.ts'

const USAGE = 'usage: npm run record -- polymarket|kalshi SECONDS [FILE]'
const KEYS: Readonly<Record<string, VenueKey>> = { polymarket: 'a', kalshi: 'b' }
const MARKETS_RECORDED = 200
/** Markets looked at to find those. */
const MARKETS_SEEN = 5_000
const SECONDS_MAX = 86_400

interface Request {
  readonly venue: VenueKey
  readonly seconds: number
  readonly file: string
}

async function main(): Promise<void> {
  const request = readRequest(process.argv.slice(2))
  const config = loadConfig(process.env)
  if (config.venues.kind === 'replay') throw new Error('a replay cannot be recorded again')
  const onLost = (reason: string) => process.stderr.write(`the simulated venues ended: ${reason}\n`)
  const source = await openSource(config, { clock: systemClock, onLost, worldFolder: null })
  // Clock timers keep no process alive, and an unreachable venue leaves no socket to do it.
  const { port1: anchor } = new MessageChannel()
  anchor.ref()
  try {
    await record(request, source.addresses, config.logLevel)
  } finally {
    anchor.close()
    await source.stop()
  }
}

function readRequest(args: readonly string[]): Request {
  const [name = '', secondsText = '', file = `test/fixtures/${name}/recording.jsonl`] = args
  const venue = KEYS[name]
  const seconds = Number(secondsText)
  if (venue === undefined || !(seconds > 0 && seconds <= SECONDS_MAX)) throw new Error(USAGE)
  return { venue, seconds, file }
}

async function record(request: Request, addresses: VenueAddresses, level: string): Promise<void> {
  const log = openLog(level)
  mkdirSync(dirname(request.file), { recursive: true })
  const recorder = new Recorder({ file: request.file, clock: systemClock })
  const stopping = new AbortController()
  const interrupt = () => stopping.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  const parts = {
    clock: systemClock,
    random: systemRandom(),
    log,
    metrics: new Metrics(),
    emit: () => {},
  }
  const venue = openVenues(parts, addresses, recorder.tap).find(({ key }) => key === request.venue)
  if (venue === undefined) throw new Error('no such venue')
  try {
    const markets = await recordCatalog(venue, recorder, stopping.signal)
    venue.feed.start()
    venue.feed.watch(
      markets.map(({ nativeId, outcomes, status, openAtMs, closeAtMs }) => ({
        ...{ nativeId, status, openAtMs, closeAtMs },
        outcomes: outcomes.map((outcome) => outcome.id),
      })),
    )
    log.info({ markets: markets.length, seconds: request.seconds }, 'recording')
    await pause(systemClock, request.seconds * 1_000, stopping.signal)
  } finally {
    await venue.feed.stop()
    await recorder.stop()
  }
  const { frameCount, droppedCount } = recorder
  process.stdout.write(`${request.file}: ${frameCount} frames, ${droppedCount} dropped\n`)
}

/** Writes the most traded open markets among the first few thousand, with their events. */
async function recordCatalog(
  venue: Venue,
  recorder: Recorder,
  signal: AbortSignal,
): Promise<readonly MarketListing[]> {
  const enough = new AbortController()
  const open: MarketListing[] = []
  const events = new Map<string, EventListing>()
  try {
    await venue.catalog.crawl(
      (page) => {
        for (const event of page.events) events.set(event.nativeId, event)
        open.push(...page.markets.filter((market) => market.status === 'open'))
        if (open.length >= MARKETS_SEEN) enough.abort()
      },
      AbortSignal.any([signal, enough.signal]),
    )
  } catch (error) {
    // Ended by ourselves once enough markets were seen; anything else is a real failure.
    if (!enough.signal.aborted) throw error
  }
  open.sort((one, other) => other.volume24h - one.volume24h)
  const chosen = open.slice(0, MARKETS_RECORDED)
  const named = new Set(chosen.map((market) => market.event))
  const kept = [...events.values()].filter((event) => named.has(event.nativeId))
  recorder.addCatalog(venue.key, { markets: chosen, events: kept })
  return chosen
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const isPlain = error instanceof ConfigError || error instanceof Error
    process.stderr.write(`${isPlain ? error.message : String(error)}\n`)
    process.exit(error instanceof ConfigError ? 2 : 1)
  },
)
