import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Replays } from '../../../../engine/app/replay/replays.ts'
import { EngineError } from '../../../../engine/errors.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { replayOf } from '../../../support/worlds/replay-queries.ts'
import {
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
} from '../../../support/worlds/tape-world.ts'

const FOLDER = join(testFolder('replays'), 'tape')
const QUERY = replayOf(['orderbook', 'trades'], {
  ...{ fromUs: NOON_US, toUs: NOON_US + 3_600_000_000 },
})
const replays = new Replays(FOLDER)
after(() => replays.stop())

test('reads in a thread chunk by chunk, and limits the replays of an account', async () => {
  const world = new TapeWorld({ seed: 'replays', markets: 5 })
  const tape = recordingTape(tapeSettings(FOLDER), NOON_US)
  for (const row of world.sweep(true)) tape.put(row)
  for (let count = 0; count < 3_000; count += 1) tape.put(world.next())
  tape.close()
  const [one, other] = [replays.reserve('ann'), replays.reserve('ann')]
  const refused = () =>
    assert.throws(
      () => replays.reserve('ann'),
      (error) => error instanceof EngineError && error.code === 'RATE_LIMITED',
    )
  refused()
  const [first, second] = [one.read(QUERY), other.read(QUERY)]
  let text = ''
  let chunks = 0
  for (;;) {
    const { bytes, isLast } = await first.next()
    text += Buffer.from(bytes).toString()
    chunks += 1
    if (isLast) break
  }
  assert.ok(chunks > 1)
  const types = text
    .trimEnd()
    .split('\n')
    .map((line) => String(JSON.parse(line).type))
  assert.equal(types.filter((type) => type === 'update' || type === 'trade').length, 3_000)
  first.close()
  refused()
  one.release()
  replays.reserve('ann').release()
  assert.equal((await second.next()).isLast, false)
  other.release()
  const third = replays.reserve('ann')
  // The second replay counts until the thread has closed it.
  refused()
  third.release()
})
