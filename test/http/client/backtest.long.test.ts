// Runs the backtest of http/client/README.md on hours exported from the simulated venues. The judge computes the profit
// from the records of the tape, without the exported files.

import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HOUR_US, tapeFolder } from '../../../engine/tape/layout.ts'
import { Tape, type TapeRecord } from '../../../storage/tape/tape.ts'
import { NaiveBook } from '../../support/reference/naive/book.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { beforeAgain, Rig } from '../../support/rigs/full-service.ts'
import { runToEnd } from '../../support/rigs/run-to-end.ts'

/** The interpreter that has pandas: that of the path, or Debian's. */
const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import pandas']).status === 0,
)
const isRequired = process.env.PANDAS_TESTS === 'required'
const skip = python === undefined && !isRequired && 'python3 has no pandas; .ci/run installs it'
const VENUES = ['venue_a', 'venue_b'] as const
const TRADES = 150

function exampleProgram(): string {
  const page = readFileSync('http/client/README.md', 'utf8')
  const program = /```python\n([\s\S]*?)```/.exec(page)?.[1]
  assert.ok(program !== undefined)
  assert.ok(program.trimEnd().split('\n').length <= 60)
  return program
}

const CENT = 10_000n
const SIZE = 10_000_000n
const LIMIT = 100_000_000n

/** The documented strategy on one market, in integers. */
class MarketMaker {
  readonly book = new NaiveBook()
  isFresh = false
  fills = 0
  #cash = 0n
  #position = 0n
  #last = 0n

  #best(): { bid: bigint; ask: bigint } | null {
    const [bid, ask] = [this.book.levels('bid')[0], this.book.levels('ask')[0]]
    if (bid === undefined || ask === undefined) return null
    return { bid: BigInt(bid.price), ask: BigInt(ask.price) }
  }

  trade(side: 'buy' | 'sell', price: bigint, size: bigint): void {
    this.#last = price
    const best = this.#best()
    if (!this.isFresh || best === null || best.ask - best.bid < 3n * CENT) return
    const isBuy = side === 'sell'
    const quote = isBuy ? best.bid + CENT : best.ask - CENT
    if (isBuy ? price > quote : price < quote) return
    const room = isBuy ? LIMIT - this.#position : LIMIT + this.#position
    const filled = [size, SIZE, room].reduce((least, other) => (other < least ? other : least))
    if (filled === 0n) return
    this.fills += 1
    this.#position += isBuy ? filled : -filled
    this.#cash += isBuy ? -filled * quote : filled * quote
  }

  get position(): number {
    return Number(this.#position) / 1e6
  }

  get profit(): number {
    const best = this.#best()
    const twice = best === null ? 2n * this.#last : best.bid + best.ask
    return Number(2n * this.#cash + this.#position * twice) / 2e12
  }
}

/** By market id. Includes markets without fills. */
function judged(records: Iterable<TapeRecord>): ReadonlyMap<string, MarketMaker> {
  const makers = new Map<string, MarketMaker>()
  const makerOf = (id: string | undefined): MarketMaker => {
    assert.ok(id !== undefined)
    const maker = makers.get(id) ?? new MarketMaker()
    makers.set(id, maker)
    return maker
  }
  for (const { item, markets } of records) {
    if (item.kind === 'state') {
      const maker = makerOf(markets.refOf(item.state.market)?.id)
      maker.book.replace(item.state.book.bids, item.state.book.asks)
      maker.isFresh = !item.state.book.isStale
    }
    if (item.kind !== 'update') continue
    const { update } = item
    if (update.kind === 'book') {
      for (const change of update.changes) makerOf(update.market.id).book.set(change)
    } else if (update.kind === 'bookReplaced') {
      assert.ok(item.book !== null)
      const maker = makerOf(update.market.id)
      maker.book.replace(item.book.bids, item.book.asks)
      maker.isFresh = !item.book.isStale
    } else if (update.kind === 'bookStale' || update.kind === 'bookConfirmed') {
      makerOf(update.market.id).isFresh = update.kind === 'bookConfirmed'
    } else if (update.kind === 'trade' && !update.trade.isBlock) {
      const { side, price, size } = update.trade
      makerOf(update.market.id).trade(side, BigInt(price), BigInt(size))
    }
  }
  return makers
}

/** The last field of a line is dollars, which the program rounds to four decimals. */
function assertPrinted(
  printed: readonly string[],
  expected: readonly (readonly [...texts: string[], dollars: number])[],
): void {
  const fields = printed.map((line) => line.split(' '))
  const texts = (line: readonly unknown[]) => line.slice(0, -1)
  assert.deepEqual(fields.map(texts), expected.map(texts))
  for (const [index, line] of fields.entries()) {
    const difference = Number(line.at(-1)) - Number(expected[index]?.at(-1))
    assert.ok(Math.abs(difference) < 0.000_051, `${line} is ${expected[index]}`)
  }
}

function tradesOn(tape: Tape, platform: string): number {
  let count = 0
  const query = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, platforms: [platform] }
  for (const { item } of tape.read(query)) {
    if (item.kind === 'update' && item.update.kind === 'trade') count += 1
  }
  return count
}

test('prints the profit of the market maker in the README on exported hours of the simulator', {
  skip,
}, async (t) => {
  assert.ok(python !== undefined, 'python3 has no pandas')
  const folder = testFolder('backtest')
  const out = join(folder, 'exported')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'backtest.py'), exampleProgram())
  const rig = new Rig()
  try {
    await rig.startVenues({ messagesPerSecond: 400, marketsPerVenue: 40, faults: 'off' })
    const { engine } = await rig.startEngine({ TAPE: 'on' })
    const tape = new Tape(tapeFolder(rig.dataDir))
    for (const platform of VENUES) {
      while (tradesOn(tape, platform) < TRADES) await beforeAgain()
    }
    assert.equal(await engine.end(), 0)
    const hours = tape.hours()
    const [first, last] = [hours[0]?.startUs ?? 0, (hours.at(-1)?.startUs ?? 0) + HOUR_US]
    const iso = (us: number) => new Date(us / 1_000).toISOString().slice(0, 13)
    const tables = 'book_snapshots,book_changes,trades'
    const exported = await runToEnd(
      'engine/app/commands/export.ts',
      [
        '--from',
        iso(first),
        '--to',
        iso(last),
        '--tables',
        tables,
        '--format',
        'csv.gz',
        '--out',
        out,
        '--partial',
      ],
      { env: { DATA_DIR: rig.dataDir } },
    )
    assert.deepEqual([exported.code, exported.stderr], [0, ''])
    let fills = 0
    for (const platform of VENUES) {
      const ran: SpawnSyncReturns<string> = spawnSync(
        python,
        [join(folder, 'backtest.py'), out, platform],
        {
          encoding: 'utf8',
        },
      )
      assert.equal(ran.status, 0, ran.stderr)
      const query = { fromUs: first, toUs: last, platforms: [platform], withSweeps: true }
      const makers = judged(tape.read(query))
      const expected = [...makers].sort(([one], [other]) => (one < other ? -1 : 1))
      const sums = { fills: 0, profit: 0 }
      for (const [, maker] of expected) {
        sums.fills += maker.fills
        sums.profit += maker.profit
      }
      const lines = expected.map(([id, maker]) => {
        return [id, String(maker.fills), maker.position.toFixed(6), maker.profit] as const
      })
      const printed = ran.stdout.trimEnd().split('\n')
      assertPrinted(printed, [...lines, ['total', String(sums.fills), sums.profit]])
      t.diagnostic(`${platform}: ${sums.fills} fills, profit ${sums.profit.toFixed(4)}`)
      fills += sums.fills
    }
    assert.ok(fills > 0)
  } finally {
    await rig.close()
  }
})
