import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ReplayQuery } from '../../../../actors/views.ts'
import { ReplayReader } from '../../../../engine/app/replay/replay-reader.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { replayOf } from '../../../support/worlds/replay-queries.ts'
import {
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
} from '../../../support/worlds/tape-world.ts'

const FOLDER = join(testFolder('replay-reader'), 'tape')
const HOUR_US = 3_600_000_000
const HOURS = 5
const QUERY = replayOf(['trades'], { fromUs: NOON_US, toUs: NOON_US + HOURS * HOUR_US })

function chunksOf(query: ReplayQuery): readonly Uint8Array[] {
  const reader = new ReplayReader(FOLDER, query)
  const chunks: Uint8Array[] = []
  for (;;) {
    const { bytes, isLast } = reader.next()
    chunks.push(bytes)
    if (isLast) return chunks
  }
}

test('returns an empty chunk after each block of the tape that has no selected messages', () => {
  const world = new TapeWorld({ seed: 'blocks', markets: 3 })
  const tape = recordingTape(tapeSettings(FOLDER), NOON_US)
  for (let hour = 0; hour < HOURS; hour += 1) {
    world.us = NOON_US + hour * HOUR_US
    tape.writer.tick(world.us)
    for (const row of world.sweep(true)) tape.put(row)
    for (let count = 0; count < 100; count += 1) tape.put(world.next())
    tape.flush()
  }
  tape.close()
  const all = Buffer.concat(chunksOf(QUERY)).toString()
  const last: { offset: number } = JSON.parse(all.trimEnd().split('\n').at(-1) ?? '')
  const rest = chunksOf({ ...QUERY, fromOffset: last.offset - 1 })
  assert.ok(rest.length >= HOURS)
  assert.deepEqual(
    rest.slice(0, HOURS - 1).map(({ length }) => length),
    Array(HOURS - 1).fill(0),
  )
  assert.ok(all.endsWith(Buffer.concat(rest).toString()))
  const packed = chunksOf({ ...QUERY, fromOffset: last.offset - 1, isGzip: true })
  assert.deepEqual(gunzipSync(Buffer.concat(packed)), Buffer.concat(rest))
})
