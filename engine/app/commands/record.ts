// `npm run record -- polymarket|kalshi SECONDS [FILE]` records the messages of a venue's sockets, and the listings that
// a replay needs (`VENUES=replay:FILE`). It records the most traded open markets of the venue that VENUES selects.

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { pause, systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import type { EventListing, MarketListing } from '../../market/market.ts'
import { type Arguments, openProgress, UsageError } from '../../process/command-line.ts'
import { openLog } from '../../process/log.ts'
import { Metrics } from '../../process/metrics.ts'
import { systemRandom } from '../../random.ts'
import { Recorder } from '../../venues/recording/recorder.ts'
import type { Venue } from '../../venues/venue.ts'
import { openSource } from '../../venues/venue-source.ts'
import { openVenues, VENUES, type VenueAddresses } from '../../venues/venues.ts'
import { runCommand } from './run-command.ts'

const PROTOCOLS = VENUES.map(({ protocol }) => protocol)
const MARKETS_RECORDED = 200
const MARKETS_CRAWLED = 5_000
const SECONDS_MAX = 86_400

const COMMAND = {
  name: 'npm run record',
  about: 'Records what a venue\u2019s sockets send, with the listings that a replay needs.',
  usage: [`${PROTOCOLS.join('|')} SECONDS [FILE]`],
  positionals: {
    SECONDS: `how long, above 0 and up to ${SECONDS_MAX}`,
    FILE: 'where to (test/fixtures/VENUE/recording.jsonl)',
  },
  positionalCounts: [2, 3],
  examples: ['polymarket 60', 'kalshi 600 kalshi.jsonl'],
  notes: [
    'VENUES=live records the real venue, VENUES=sim (the default) the simulated one; VENUES=replay:FILE plays a recording.',
    'Exit codes: 0 done or stopped by a signal, 1 after a failure, 2 for a bad request or setting.',
  ],
} as const

interface Request {
  readonly venue: Venue['key']
  readonly seconds: number
  readonly file: string
}

async function main({ positionals }: Arguments): Promise<void> {
  const request = readRequest(positionals)
  const config = loadConfig(process.env)
  if (config.venues.kind === 'replay') {
    throw new UsageError(
      'VENUES is a replay, which cannot be recorded again; it accepts sim or live',
    )
  }
  const onLost = (reason: string) => process.stderr.write(`the simulated venues ended: ${reason}\n`)
  const source = await openSource(config, { clock: systemClock, onLost, worldFolder: null })
  try {
    await record(request, source.addresses, config.logLevel)
  } finally {
    await source.stop()
  }
}

function readRequest(args: readonly string[]): Request {
  const [name = '', secondsText = '', file = `test/fixtures/${name}/recording.jsonl`] = args
  const venue = VENUES.find(({ protocol }) => protocol === name)?.key
  if (venue === undefined) {
    throw new UsageError(`${name} is no venue; it is ${PROTOCOLS.join(' or ')}`)
  }
  const seconds = Number(secondsText)
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) {
    throw new UsageError(
      `SECONDS is ${secondsText}; it accepts a number above 0 and up to ${SECONDS_MAX}`,
    )
  }
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
  const progress = openProgress()
  progress.show('reading the catalogue', true)
  let stopProgress = (): void => undefined
  try {
    const markets = await recordCatalog(venue, recorder, stopping.signal)
    venue.feed.start()
    venue.feed.watch(
      markets.map(({ nativeId, outcomes, status, openAtMs, closeAtMs }) => ({
        ...{ nativeId, status, openAtMs, closeAtMs },
        outcomes: outcomes.map((outcome) => outcome.id),
      })),
    )
    venue.feed.cover(markets.map(({ nativeId }) => nativeId))
    log.info({ markets: markets.length, seconds: request.seconds }, 'recording')
    const startMs = systemClock.monotonicMs()
    stopProgress = systemClock.every(1_000, () => {
      const seconds = Math.round((systemClock.monotonicMs() - startMs) / 1_000)
      progress.show(`${recorder.frameCount} frames after ${seconds} of ${request.seconds} s`)
    })
    await pause(systemClock, request.seconds * 1_000, stopping.signal)
  } finally {
    stopProgress()
    progress.end()
    await venue.feed.stop()
    await recorder.stop()
  }
  const { frameCount, droppedCount } = recorder
  process.stdout.write(`${request.file}: ${frameCount} frames, ${droppedCount} dropped\n`)
}

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
        if (open.length >= MARKETS_CRAWLED) enough.abort()
      },
      AbortSignal.any([signal, enough.signal]),
    )
  } catch (error) {
    // The crawl is aborted when enough markets were read.
    if (!enough.signal.aborted) throw error
  }
  open.sort((one, other) => other.volume24h - one.volume24h)
  const chosen = open.slice(0, MARKETS_RECORDED)
  const named = new Set(chosen.map((market) => market.event))
  const recordedEvents = [...events.values()].filter((event) => named.has(event.nativeId))
  recorder.addCatalog(venue.key, { markets: chosen, events: recordedEvents })
  return chosen
}

await runCommand(COMMAND, main)
