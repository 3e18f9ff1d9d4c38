// Frames of the simulated world pass through the complete engine with LMDB, alternately with and without the tape. The
// main thread's processor time is compared, because the tape's thread writes beside it. Then one thread replays what was
// recorded as messages of the stream, and exports its book changes as Parquet.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { TapeRecorder } from '../actors/tape/tape-recorder.ts'
import { ReplayReader } from '../engine/app/replay/replay-reader.ts'
import { systemClock } from '../engine/clock.ts'
import type { Update } from '../engine/events.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { openTapeThread } from '../engine/tape/tape-thread.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { tapeItemNames } from '../storage/records/tape-items.ts'
import { exportFile } from '../storage/tape/export/export-file.ts'
import { hourRows } from '../storage/tape/export/hour-rows.ts'
import { Tape } from '../storage/tape/tape.ts'
import { aimedRow, type Bench, check, figureRow, hashOf, inFolder, withLmdb } from './harness.ts'
import { ingestLoad, ingestPath } from './ingest/load.ts'
import { median } from './latency-recorder.ts'
import { startQuietEngine } from './quiet-engine.ts'
import { listingOf } from './sim-load.ts'
import { clockOfFrames } from './venue-path.ts'

const FRAMES_PER_TICK = 64
/** Targets: share of the main thread's time that the tape adds, bytes per book change, messages and rows per second of a core. */
const ADDED_MAX = 0.1
const CHANGE_BYTES_MAX = 12
const REPLAY_MIN = 200_000
const EXPORT_MIN = 250_000
const EVER = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }

export const bench: Bench = {
  name: 'tape',
  question:
    'What does recording all updates cost, how large is the tape, and how fast are replays and exports?',
  excludes: 'the subscribers, the tape’s thread, a cold page cache',
  async run({ isSmall, logLine }) {
    const load = ingestLoad(isSmall ? 2_000 : 160_000, isSmall ? 20 : 100)
    return inFolder((dataDir) =>
      withLmdb(async (storage) => {
        for (const market of load.world.markets) storage.markets.put(listingOf(market))
        const folder = join(dataDir, 'tape')
        const { ratio, bookChanges, updates, bytes } = await record(load, {
          storage,
          folder,
          isSmall,
        })
        logLine('recorded')
        const records = [...new Tape(folder).read(EVER)]
        const written = records.filter(({ item }) => item.kind === 'update').length
        const losses = records.filter(({ item }) => item.kind === 'lost').length
        check(losses === 0, `${losses} losses`)
        check(written === updates, `${written} of ${updates} updates are on the tape`)
        const rates = (rateOf: (folder: string) => number): number =>
          median(Array.from({ length: isSmall ? 1 : 5 }, () => rateOf(folder)))
        const rows = [
          aimedRow('main thread with the tape / without', ratio, { atMost: 1 + ADDED_MAX }),
          aimedRow(
            'disk per book change, everything included',
            bytes / bookChanges,
            { atMost: CHANGE_BYTES_MAX },
            'bytes',
          ),
          aimedRow(
            'replay as NDJSON per second of a core',
            rates(replayRate),
            { atLeast: REPLAY_MIN },
            'messages',
          ),
          aimedRow(
            'book changes as Parquet per second of a core',
            rates(exportRate),
            { atLeast: EXPORT_MIN },
            'rows',
          ),
          figureRow('updates recorded', String(updates)),
        ]
        const checked = `${written} updates on the tape, each published once while it recorded, and no loss`
        return { rows, state: { hash: hashOf([String(written)]), checked, isRepeatable: !isSmall } }
      }),
    )
  },
}

/** Passes the frames in pairs of parts, the first of each with the tape. The first pair is not counted. */
async function record(
  load: ReturnType<typeof ingestLoad>,
  { storage, folder, isSmall }: { storage: Storage; folder: string; isSmall: boolean },
) {
  const { engine, emit } = await startQuietEngine(storage, clockOfFrames())
  const { publisher, catalog } = engine
  const names = catalog.names.keys
  const venues = names.map((venue) => ({ venue, platform: catalog.names.platform(venue) }))
  const limits = { daysMax: 7, bytesMax: 2 ** 34, itemNames: tapeItemNames }
  const recorder = new TapeRecorder({
    ...{ clock: systemClock, log: silentLog, metrics: new Metrics(), publisher, catalog },
    ...{ port: openTapeThread(), venues: names, selection: { kind: 'all' } },
    settings: { folder, epoch: publisher.epoch, venues, ...limits },
  })
  await recorder.start()
  let [isOn, updates, bookChanges] = [true, 0, 0]
  publisher.watch({
    name: 'tape',
    onUpdate(update: Update) {
      if (!isOn) return
      updates += 1
      if (update.kind === 'book') bookChanges += 1
      recorder.onUpdate(update)
    },
  })
  const path = ingestPath(load.world, emit)
  for (const { venue, text } of load.world.snapshots) path({ stream: venue, text })
  const parts = isSmall ? 4 : 64
  const ratios: number[] = []
  let withTapeMs = 0
  const size = Math.floor(load.frames.length / parts)
  for (let part = 0; part < parts; part += 1) {
    isOn = part % 2 === 0
    const frames = load.frames.slice(part * size, (part + 1) * size)
    const before = threadMs()
    for (let at = 0; at < frames.length; at += FRAMES_PER_TICK) {
      for (const frame of frames.slice(at, at + FRAMES_PER_TICK)) path(frame)
      await nextTick()
    }
    await storage.committed()
    const tookMs = threadMs() - before
    if (isOn) withTapeMs = tookMs
    else if (part > 1) ratios.push(withTapeMs / tookMs)
  }
  await recorder.stop()
  const { bytes } = recorder.status()
  await engine.stop()
  return { ratio: median(ratios), updates, bookChanges, bytes: Math.max(bytes, sizeOf(folder)) }
}

/** Messages per second of processor time. */
function replayRate(folder: string): number {
  const before = threadMs()
  const channels = ['orderbook', 'trades', 'prices'] as const
  const reader = new ReplayReader(folder, {
    ...EVER,
    selections: channels.map((channel) => ({ channel, platforms: null, markets: null })),
    ...{ format: 'ndjson', states: 'send', isTimed: false, isGzip: false, fromOffset: null },
  })
  let count = 0
  for (;;) {
    const { bytes, isLast } = reader.next()
    for (const byte of bytes) if (byte === 10) count += 1
    if (isLast) break
  }
  return (1_000 * count) / (threadMs() - before)
}

/** Rows per second of processor time. */
function exportRate(folder: string): number {
  const tape = new Tape(folder)
  const hours = tape.hours()
  let rows = 0
  for (const hour of hours) {
    for (const row of hourRows(tape, hour, 'book_changes')) if (row !== null) rows += 1
  }
  const before = threadMs()
  for (const hour of hours) {
    const chunks = exportFile(tape, hour, { table: 'book_changes', format: 'parquet' })
    while (chunks.next().done !== true);
  }
  return (1_000 * rows) / (threadMs() - before)
}

function sizeOf(folder: string): number {
  let bytes = 0
  for (const { path } of new Tape(folder).hours())
    bytes += readFileSync(join(path, 'part-0000.tape')).length
  return bytes
}

function threadMs(): number {
  if (process.platform !== 'linux') return systemClock.monotonicMs()
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
}
