import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { type TapeDisk, tapeDisk } from '../../../engine/tape/disk.ts'
import { hourFolder, partPath, partsOf } from '../../../engine/tape/layout.ts'
import { readManifest } from '../../../engine/tape/manifest.ts'
import { openPart } from '../../../engine/tape/part.ts'
import { Tape, type TapeRecord } from '../../../storage/tape/tape.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import {
  bookText,
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
  type WorldRecord,
} from '../../support/worlds/tape-world.ts'

const ROOT = testFolder('tape')
const SECOND_US = 1_000_000
const HOUR_US = 3_600 * SECOND_US
const ALL = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }

/** The ten markets are swept at the start and after every 1,000 updates. */
function record(name: string, set: { readonly count: number; readonly stepUs?: number }) {
  const folder = join(ROOT, name)
  const world = new TapeWorld({ seed: name, markets: 10 })
  const tape = recordingTape(tapeSettings(folder), NOON_US)
  const updates: WorldRecord[] = []
  for (const swept of world.sweep(true)) tape.put(swept)
  for (let count = 1; count <= set.count; count += 1) {
    const update = world.next(set.stepUs)
    updates.push(update)
    tape.put(update)
    if (count % 1_000 === 0) for (const swept of world.sweep(false)) tape.put(swept)
  }
  return { folder, world, tape, updates }
}

const updatesOf = (records: Iterable<TapeRecord>) =>
  [...records].flatMap(({ us, item }) => (item.kind === 'update' ? [{ us, item }] : []))
const lossesOf = (records: Iterable<TapeRecord>) =>
  [...records].flatMap(({ item }) => (item.kind === 'lost' ? [item] : []))

test('returns every update of a closed tape once, in order', () => {
  const { folder, tape, updates } = record('closed', { count: 3_000 })
  assert.equal(tape.close(), null)
  assert.deepEqual(updatesOf(new Tape(folder).read(ALL)), updates)
})

test('closes the file of the tape when its reader stops early', () => {
  const { folder, tape } = record('early', { count: 3_000 })
  tape.close()
  const unused = () => {
    const file = openSync(import.meta.filename, 'r')
    closeSync(file)
    return file
  }
  // The system assigns the lowest free number.
  const before = unused()
  const records = new Tape(folder).read(ALL)
  records.next()
  assert.notEqual(unused(), before)
  records.return(undefined)
  assert.equal(unused(), before)
})

test('returns the updates in the tape’s journal while the tape is being written', () => {
  const { folder, tape, updates } = record('open', { count: 3_000 })
  tape.flush()
  assert.deepEqual(updatesOf(new Tape(folder).read(ALL)), updates)
})

test('reads the same books as a reference implementation from the tape at any time', () => {
  const { folder, world, tape } = record('books', { count: 6_000 })
  tape.close()
  const random = seededRandom('times')
  const spanUs = world.us - NOON_US - 1_000
  for (let trial = 0; trial < 25; trial += 1) {
    const fromUs = NOON_US + 1_000 + random.below(spanUs)
    const states = new Map<number, string>()
    for (const { item } of new Tape(folder).read({ fromUs, toUs: fromUs + 1, withStates: true })) {
      if (item.kind === 'state') states.set(item.state.market, bookText(item.state.book))
    }
    const expected = world.markets.map((market) => world.bookAt(market, fromUs - 1))
    assert.deepEqual(
      world.markets.map(({ ref }) => states.get(ref.number)),
      expected,
    )
  }
})

test('reads book states from the previous hour’s tape file while the new file does not contain all states', () => {
  const folder = join(ROOT, 'hours')
  const fromUs = NOON_US + HOUR_US - 20 * SECOND_US
  const world = new TapeWorld({ seed: 'hours', markets: 5, fromUs })
  const tape = recordingTape(tapeSettings(folder), fromUs)
  for (const swept of world.sweep(true)) tape.put(swept)
  while (world.us < NOON_US + HOUR_US - SECOND_US) tape.put(world.next(50_000))
  // The listings of the new file, without states.
  world.us = NOON_US + HOUR_US
  for (const swept of world.sweep(true)) if (swept.item.kind === 'listed') tape.put(swept)
  for (let count = 0; count < 300; count += 1) tape.put(world.next(50_000))
  tape.close()
  const atUs = NOON_US + HOUR_US + 5 * SECOND_US
  const states = new Map<number, string>()
  for (const { item } of new Tape(folder).read({
    fromUs: atUs,
    toUs: atUs + 1,
    withStates: true,
  })) {
    if (item.kind === 'state') states.set(item.state.market, bookText(item.state.book))
  }
  assert.deepEqual(
    world.markets.map(({ ref }) => states.get(ref.number)),
    world.markets.map((market) => world.bookAt(market, atUs - 1)),
  )
})

test('returns the updates of the selected markets and period from a tape', () => {
  const { folder, tape, updates } = record('selected', { count: 4_000 })
  tape.close()
  const [first, last] = [updates[1_000]?.us ?? 0, updates[3_000]?.us ?? 0]
  const markets = ['VENUE_A_market-3', 'venue_a_market-7', 'venue_a_unknown']
  const found = updatesOf(new Tape(folder).read({ fromUs: first, toUs: last, markets }))
  const expected = updates.filter(({ us, item }) => {
    const number = item.kind === 'update' && 'market' in item.update && item.update.market?.number
    return us >= first && us < last && (number === 4 || number === 8)
  })
  assert.ok(expected.length > 100)
  assert.deepEqual(found, expected)
  assert.deepEqual(updatesOf(new Tape(folder).read({ ...ALL, platforms: ['venue_b'] })), [])
})

test('loses no flushed update of the tape when the process is killed, and records the outage', () => {
  const { folder, world, updates } = record('killed', { count: 2_345 })
  const lastUs = updates.findLast(({ us }) => us % 20 === 0)?.us ?? 0
  const restartUs = world.us + SECOND_US
  const next = recordingTape(tapeSettings(folder, { epoch: 'run2' }), restartUs)
  next.close()
  const records = [...new Tape(folder).read(ALL)]
  const written = updatesOf(records)
  assert.deepEqual(written, updates.slice(0, written.length))
  assert.ok((written.at(-1)?.us ?? 0) >= lastUs)
  const [loss, ...more] = lossesOf(records)
  assert.deepEqual(more, [])
  assert.equal(loss?.cause, 'killed')
  assert.equal(loss?.toUs, restartUs)
  assert.equal(records.at(-1)?.epoch, 'run2')
  const hour = hourFolder(folder, 'venue_a', NOON_US)
  assert.equal(existsSync(partPath(hour, 0, 'journal')), false)
  assert.equal(openPart(hour, 0)?.isClosed, true)
})

test('records the cause `stopped` after an orderly stop of the tape', () => {
  const { folder, world, tape } = record('stopped', { count: 100 })
  tape.close()
  recordingTape(tapeSettings(folder, { epoch: 'run2' }), world.us + SECOND_US).close()
  assert.deepEqual(
    lossesOf(new Tape(folder).read(ALL)).map(({ cause }) => cause),
    ['stopped'],
  )
})

test('truncates an incomplete batch and an incomplete block of the tape at the next start', () => {
  const { folder, world, tape, updates } = record('torn', { count: 6_000 })
  tape.flush()
  const hour = hourFolder(folder, 'venue_a', NOON_US)
  const [file, journal] = [partPath(hour, 0, 'tape'), partPath(hour, 0, 'journal')]
  truncateSync(journal, statSync(journal).size - 3)
  appendFileSync(file, readFileSync(file).subarray(0, 1_000))
  const whileTorn = updatesOf(new Tape(folder).read(ALL))
  recordingTape(tapeSettings(folder, { epoch: 'run2' }), world.us + 1).close()
  const repaired = updatesOf(new Tape(folder).read(ALL))
  assert.deepEqual(repaired, whileTorn)
  assert.deepEqual(repaired, updates.slice(0, repaired.length))
  assert.ok(updates.length - repaired.length < 60)
})

test('reads a closed tape file without its index when the position of the index is damaged', () => {
  const { folder, tape, updates } = record('trailer', { count: 3_000 })
  tape.close()
  const path = partPath(hourFolder(folder, 'venue_a', NOON_US), 0, 'tape')
  const bytes = readFileSync(path)
  for (const indexAt of [bytes.length, bytes.length - 12, 1.5, -1, 0]) {
    bytes.writeDoubleBE(indexAt, bytes.length - 12)
    writeFileSync(path, bytes)
    assert.deepEqual(updatesOf(new Tape(folder).read(ALL)), updates)
  }
})

for (const isClosed of [true, false]) {
  const which = isClosed ? 'a closed file' : 'a file without an index'
  test(`reports a damaged block of ${which} as lost, and returns all other blocks of the tape`, () => {
    const { folder, world, tape, updates } = record(`damaged-${isClosed}`, { count: 20_000 })
    if (isClosed) tape.close()
    const hour = hourFolder(folder, 'venue_a', NOON_US)
    const entries = openPart(hour, 0)?.scanned.entries ?? []
    const damaged = entries[1]
    assert.ok(entries.length > 3 && damaged !== undefined)
    const path = partPath(hour, 0, 'tape')
    const bytes = readFileSync(path)
    bytes[damaged.position + 300] = (bytes[damaged.position + 300] ?? 0) ^ 1
    writeFileSync(path, bytes)
    if (!isClosed) recordingTape(tapeSettings(folder, { epoch: 'run2' }), world.us + 1).close()
    const records = [...new Tape(folder).read(ALL)]
    const { firstUs, lastUs } = damaged.head
    const expected = updates.filter(({ us }) => us < firstUs || us > lastUs)
    assert.deepEqual(updatesOf(records).slice(0, 15_000), expected.slice(0, 15_000))
    const loss = lossesOf(records).find(({ cause }) => cause === 'damaged')
    assert.ok(loss !== undefined && loss.fromUs <= firstUs && loss.toUs >= lastUs)
  })
}

test('writes a manifest for an hour of the tape when the hour is over', () => {
  const folder = join(ROOT, 'manifest')
  const world = new TapeWorld({ seed: 'manifest', markets: 3, fromUs: NOON_US })
  const tape = recordingTape(tapeSettings(folder), NOON_US)
  for (const swept of world.sweep(true)) tape.put(swept)
  let updates = 0
  while (world.us < NOON_US + HOUR_US - 10 * SECOND_US) {
    tape.put(world.next(5 * SECOND_US))
    updates += 1
  }
  tape.flush()
  const [hour] = new Tape(folder).hours()
  assert.equal(hour?.manifest, null)
  tape.writer.tick(NOON_US + HOUR_US)
  const manifest = readManifest(hourFolder(folder, 'venue_a', NOON_US))
  assert.ok(manifest !== null)
  const { rows, files, gaps } = manifest
  assert.equal((rows.book ?? 0) + (rows.trade ?? 0), updates)
  assert.equal(rows.listed, 3)
  assert.deepEqual(gaps, [])
  const bytes = readFileSync(partPath(hourFolder(folder, 'venue_a', NOON_US), 0, 'tape'))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  assert.deepEqual(
    files.map((file) => [file.name, file.bytes, file.sha256, file.epoch, file.offsets.orderbook]),
    [['part-0000.tape', bytes.length, sha256, 'run1', { first: 1, last: rows.book }]],
  )
})

test('removes the oldest hours of the tape beyond the byte limit, and hours older than the limit of days', () => {
  const folder = join(ROOT, 'retention')
  const hourOf = (index: number) => NOON_US + index * HOUR_US
  const startsUs = () => new Tape(folder).hours().map(({ startUs }) => startUs)
  const write = (index: number, set: { bytesMax?: number; daysMax?: number } = {}) => {
    const settings = tapeSettings(folder, { epoch: `run${index}`, ...set })
    const world = new TapeWorld({ seed: 'retention', markets: 3, fromUs: hourOf(index) })
    const tape = recordingTape(settings, hourOf(index))
    for (let count = 0; count < 200; count += 1) tape.put(world.next())
    tape.close()
    return tape.writer.size
  }
  write(0)
  write(1)
  assert.deepEqual(startsUs(), [hourOf(0), hourOf(1)])
  const bytes = statSync(partPath(hourFolder(folder, 'venue_a', hourOf(0)), 0, 'tape')).size
  write(2, { bytesMax: 1.5 * bytes })
  assert.deepEqual(startsUs(), [hourOf(1), hourOf(2)])
  write(72, { daysMax: 2 })
  assert.deepEqual(startsUs(), [hourOf(72)])
})

test('reports each batch of the tape that a full disk refuses, and continues when space is free', () => {
  const folder = join(ROOT, 'full')
  let isFull = false
  const disk = {
    ...tapeDisk,
    write(file: number, bytes: Uint8Array, position: number) {
      if (!isFull) return tapeDisk.write(file, bytes, position)
      tapeDisk.write(file, bytes.subarray(0, bytes.length / 2), position)
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    },
  }
  const world = new TapeWorld({ seed: 'full', markets: 4 })
  const tape = recordingTape(tapeSettings(folder), NOON_US, disk)
  for (const swept of world.sweep(true)) tape.put(swept)
  tape.flush()
  const written: WorldRecord[] = []
  for (let round = 0; round < 200; round += 1) {
    isFull = round % 5 === 3
    const batch = Array.from({ length: 30 }, () => world.next())
    for (const update of batch) tape.put(update, Number.MAX_SAFE_INTEGER)
    const results = tape.flush()
    assert.deepEqual(results, [isFull ? 'disk_full' : null])
    if (!isFull) written.push(...batch)
  }
  isFull = false
  assert.equal(tape.close(), null)
  assert.deepEqual(updatesOf(new Tape(folder).read(ALL)), written)
})

test('opens no further tape file while the disk refuses all writes, at a start and between starts', () => {
  const folder = join(ROOT, 'refused')
  const open = new Set<number>()
  let isRefused = true
  const disk: TapeDisk = {
    ...tapeDisk,
    open(path) {
      const file = tapeDisk.open(path)
      open.add(file)
      return file
    },
    close(file) {
      tapeDisk.close(file)
      open.delete(file)
    },
    write(file, bytes, position) {
      if (isRefused) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
      tapeDisk.write(file, bytes, position)
    },
  }
  const world = new TapeWorld({ seed: 'refused', markets: 4 })
  const settings = tapeSettings(folder)
  const killed = recordingTape(settings, NOON_US, disk)
  for (let attempt = 0; attempt < 5; attempt += 1) {
    for (const swept of world.sweep(true)) killed.put(swept, Number.MAX_SAFE_INTEGER)
    assert.deepEqual(killed.flush(), ['disk_error'])
  }
  isRefused = false
  for (const swept of world.sweep(true)) killed.put(swept)
  const updates = Array.from({ length: 100 }, () => world.next())
  for (const update of updates) killed.put(update)
  killed.flush()
  assert.equal(open.size, 2)
  isRefused = true
  const restartUs = world.us + SECOND_US
  const start = () => recordingTape({ ...settings, epoch: 'run2' }, restartUs, disk)
  for (let attempt = 0; attempt < 5; attempt += 1) assert.throws(start, /i\/o error/)
  assert.equal(open.size, 2)
  isRefused = false
  assert.equal(start().close(), null)
  assert.equal(open.size, 2)
  assert.deepEqual(partsOf(hourFolder(folder, 'venue_a', NOON_US)), [0, 1])
  assert.deepEqual(updatesOf(new Tape(folder).read(ALL)), updates)
})
