import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../../../engine/random.ts'
import { restPrice } from '../../../../../engine/trade-parts.ts'
import { complement, priceMicros, sizeMicros, timeMs } from '../../../../../engine/units.ts'
import {
  fillsOf,
  fillsOfMakers,
  fillsWithRest,
} from '../../../../../engine/venues/polymarket/trades/fills.ts'
import {
  type Fill,
  type LastTrade,
  readTrade,
  type TradeRow,
} from '../../../../../engine/venues/polymarket/trades/trade-ledger.ts'

const AT = timeMs(1_795_000_000_000)

const fill = (contracts: number, price: number): Fill => ({
  size: sizeMicros(Math.round(contracts * 1e6)),
  price: priceMicros(Math.round(price * 1e6)),
})

/** Total size of the fills at their average price, in floating point like the venue's row. */
function rowOf(fills: readonly Fill[]): TradeRow {
  const size = fills.reduce((sum, one) => sum + one.size / 1e6, 0)
  const dollars = fills.reduce((sum, one) => sum + (one.size / 1e6) * (one.price / 1e6), 0)
  const read = readTrade({
    ...{ proxyWallet: '0xaa', asset: '11', conditionId: '0x1', side: 'BUY' as const },
    ...{ size, price: dollars / size, timestamp: AT / 1_000, transactionHash: '0xfeed' },
  })
  assert.ok(typeof read !== 'string', String(read))
  return read
}

const message = ({ price, size }: Fill): LastTrade => ({
  ...{ market: nativeMarketId('0x1'), asset: '11', txHash: '0xfeed', side: 'buy' },
  ...{ price, size, timeMs: AT },
})
/** The same fill in prices of the opposite token. */
const mirrored = (one: Fill): LastTrade => ({
  ...message(one),
  ...{ asset: '12', side: 'sell', price: complement(one.price) },
})

const texts = (fills: readonly Fill[] | string | null) =>
  typeof fills === 'string' || fills === null
    ? fills
    : fills.map(({ price, size }) => `${size}@${price}`).sort()

function someFills(random: Random): Fill[] {
  const fills = Array.from({ length: 1 + random.below(6) }, () =>
    fill((1 + random.below(50_000)) / 100, (1 + random.below(999)) / 1_000),
  )
  const [first] = fills
  // Two makers may have equal orders.
  return first !== undefined && random.below(3) === 0 ? [...fills, first] : fills
}

test('splits a trade row into its fills despite reordered, repeated and mirrored messages', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const random = seededRandom('fills', seed)
    const fills = someFills(random)
    const row = rowOf(fills)
    const messages = fills.map((one) => (random.below(4) === 0 ? mirrored(one) : message(one)))
    for (const one of fills) {
      if (random.below(4) === 0) messages.push(random.below(2) === 0 ? message(one) : mirrored(one))
    }
    messages.sort(() => random.below(3) - 1)
    const found = fillsOf(row, messages)
    assert.ok(Array.isArray(found), `seed ${seed}: ${String(found)}`)
    const size = found.reduce((sum, one) => sum + one.size, 0)
    assert.equal(size, row.size, `seed ${seed}`)
    // With repeated messages, several combinations may add up to the row.
    if (messages.length === fills.length)
      assert.deepEqual(texts(found), texts(fills), `seed ${seed}`)
  }
})

test('waits for further fill messages while the sum of the messages is smaller than the row', () => {
  const fills = [fill(3, 0.5), fill(7, 0.51)]
  const row = rowOf(fills)
  assert.equal(fillsOf(row, []), 'incomplete')
  assert.equal(fillsOf(row, [message(fill(3, 0.5))]), 'incomplete')
  assert.deepEqual(texts(fillsOf(row, fills.map(message))), texts(fills))
})

test('rejects fill messages with a different sum of dollars, side or market than the row', () => {
  const row = rowOf([fill(3, 0.5), fill(7, 0.51)])
  assert.equal(fillsOf(row, [message(fill(10, 0.51))]), 'unlike')
  const others: LastTrade[] = [
    { ...message(fill(10, 0.507)), side: 'sell' },
    { ...mirrored(fill(10, 0.507)), side: 'buy' },
    { ...mirrored(fill(10, 0.507)), market: nativeMarketId('0x2') },
  ]
  assert.equal(fillsOf(row, others), 'incomplete')
  assert.deepEqual(texts(fillsOf(row, [message(fill(10, 0.507))])), ['10000000@507000'])
})

test('computes the price of a row’s missing fill so that all fills add up to the row’s dollars', () => {
  const fills = [fill(3, 0.5), fill(7, 0.51)]
  const row = rowOf(fills)
  assert.deepEqual(texts(fillsWithRest(row, [message(fill(3, 0.5))])), texts(fills))
  assert.equal(fillsWithRest(row, []), null)
  assert.equal(fillsWithRest(row, [message(fill(9.99, 0.01))]), null, 'no price is above a dollar')
  const large = [fill(500, 0.333), fill(1, 0.25)]
  assert.equal(restPrice(rowOf(large), large.slice(0, 1)), 250_000, 'the average is rounded')
  const larger = [fill(500_000, 0.333), fill(1, 0.25)]
  assert.equal(
    restPrice(rowOf(larger), larger.slice(0, 1)),
    null,
    'the remainder is too small for an exact price',
  )
})

test('computes the fills of a row from makers that sold the row’s token or bought the opposite token', () => {
  const fills = [fill(3, 0.5), fill(7, 0.51)]
  const row = rowOf(fills)
  const sold: TradeRow = { ...row, wallet: '0xbb', side: 'sell', ...fill(7, 0.51) }
  const minted: TradeRow = { ...row, wallet: '0xcc', asset: '12', ...fill(3, 0.5) }
  assert.deepEqual(
    fillsOfMakers(row, [row, sold, minted])?.map(({ price }) => price),
    [500_000, 510_000],
    'best price first',
  )
  assert.equal(fillsOfMakers(row, [row, sold]), null, 'one maker is missing')
  assert.equal(fillsOfMakers(row, []), null)
})
