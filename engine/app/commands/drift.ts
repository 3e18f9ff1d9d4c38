// `npm run drift` reads the catalogues of the configured venues once and reports unknown fields and values. It does not
// use a running engine. The engine reports drift in /health, which also covers its sockets.

import { systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import type { VenueKey } from '../../ids.ts'
import { openProgress, UsageError } from '../../process/command-line.ts'
import { silentLog } from '../../process/log.ts'
import { Metrics } from '../../process/metrics.ts'
import { systemRandom } from '../../random.ts'
import { type DriftReport, readDrift } from '../../venues/drift/drift-report.ts'
import { openSource } from '../../venues/venue-source.ts'
import { openVenues, type VenueAddresses, venueTable } from '../../venues/venues.ts'
import { runCommand } from './run-command.ts'

const COMMAND = {
  name: 'npm run drift',
  about: 'Checks once whether the configured venues send data that the code does not recognise.',
  notes: [
    'VENUES=live checks the real venues, VENUES=sim (the default) simulated ones. OPERATING.md lists the variables for hosts and keys.',
    'Reads both complete catalogues within the venues\u2019 rate limits. The real ones take minutes.',
    'Exit codes: 0 users lack no data, 1 the venues send unrecognised data that users lack, 2 invalid request or setting, or a venue did not answer.',
  ],
} as const

async function main(): Promise<number> {
  const config = loadConfig(process.env)
  if (config.venues.kind === 'replay') {
    throw new UsageError('VENUES is a replay, which cannot be checked; set it to sim or live')
  }
  const onLost = (reason: string) => process.stderr.write(`the simulated venues ended: ${reason}\n`)
  const source = await openSource(config, { clock: systemClock, onLost, worldFolder: null })
  const table = venueTable(config.venueNames)
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort())
  process.once('SIGTERM', () => stopping.abort())
  try {
    const reports = await readReports(
      source.addresses,
      (key) => table.platform(key),
      stopping.signal,
    )
    if (reports.some(({ hasLoss }) => hasLoss)) return 1
    return reports.every(({ isComplete }) => isComplete) ? 0 : 2
  } finally {
    await source.stop()
  }
}

async function readReports(
  addresses: VenueAddresses,
  nameOf: (key: VenueKey) => string,
  signal: AbortSignal,
): Promise<readonly DriftReport[]> {
  const random = systemRandom()
  const base = { clock: systemClock, random, log: silentLog, metrics: new Metrics() }
  const progress = openProgress()
  const counts = new Map<string, number>()
  const reports = await Promise.all(
    openVenues({ ...base, emit: () => undefined }, addresses).map(async (venue) => {
      const name = nameOf(venue.key)
      const onMarkets = (count: number) => {
        counts.set(name, count)
        progress.show([...counts].map(([of, each]) => `${of}: ${each} markets`).join(', '))
      }
      const report = await readDrift(venue, name, onMarkets, signal)
      await venue.feed.stop()
      return report
    }),
  )
  progress.end()
  for (const { lines } of reports) process.stdout.write(`${lines.join('\n')}\n`)
  return reports
}

await runCommand(COMMAND, main)
