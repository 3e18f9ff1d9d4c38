// Child process of crash.long.test.ts: reports each acknowledged write until it is killed. Arguments: data folder,
// round.

import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../../engine/clock.ts'
import { barOf, joined } from '../../engine/market/candle.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { account, key, NOON_MS, trade, traded } from '../support/worlds/stored.ts'

const MARKETS = 5

async function main(dataDir: string, round: string): Promise<void> {
  const notify = (message: { readonly kind: string; readonly id?: string }) =>
    process.send?.(message)
  const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  const random = seededRandom('crash', round)
  const run = storage.runs.begin(`epoch-${round}`, timeMs(NOON_MS))
  let offset = 0
  for (let step = 0; ; step += 1) {
    // The trades of one tick and their indexes must be stored completely or not at all.
    const burst = 1 + random.below(60)
    for (let count = 0; count < burst; count += 1) {
      const position = { run: run.number, offset, seq: offset }
      const time = timeMs(NOON_MS + random.below(50) * 1_000)
      const number = random.below(MARKETS)
      const row = trade(`${round}-${offset}`, { ...position, timeMs: time })
      const stored = storage.trades.put(traded(number), row)
      for (const size of ['minute', 'hour'] as const) {
        const one = barOf(size, stored)
        const existing = storage.bars.get(number, size, one.startMs)
        storage.bars.put(number, size, existing === null ? one : joined(existing, one))
      }
      if (random.below(4) === 0) storage.trades.setMaker(random.below(MARKETS), `${round}-0`, '0xm')
      offset += 1
    }
    const id = `${round}x${step}`
    await Promise.all([
      storage.accounts.putAccount(account(id)).then(() => notify({ kind: 'account', id })),
      storage.accounts.putKey(key(id)).then(() => notify({ kind: 'key', id })),
    ])
    if (step % 3 === 2) {
      const removed = `${round}x${step - 2}`
      await storage.accounts.removeKey(key(removed).id)
      notify({ kind: 'removed', id: removed })
    }
    await turn()
  }
}

void main(process.argv[2] ?? '', process.argv[3] ?? '0')
