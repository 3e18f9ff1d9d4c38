import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { MICROS, priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { HourFigures } from '../../../engine/wallets/wallet-figures.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import type { StoredWallet, StoredWalletMarket } from '../../../storage/contract/wallets.ts'
import { addressOf, storedWallet } from '../../support/worlds/stored-wallets.ts'
import type { StorageUnderTest } from '../storage.ts'

const [ONE, TWO, THREE] = [addressOf(1), addressOf(2), addressOf(3)]
const bytesOf = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => (index * 7 + seed) % 256)

function market(id: string, set: Partial<StoredWalletMarket> = {}): StoredWalletMarket {
  return {
    ...{ question: `${id}?`, slug: `slug-${id}`, eventSlug: null, labels: ['é😀', 'No'] },
    isConverted: false,
    takerFee: { rateMicros: 30_000, exponent: 1, multiplierMicros: MICROS },
    ...{ nativeId: nativeMarketId(id), payout: null, resolvedAtMs: null, group: null },
    tokens: [outcomeId(`${id}-yes`), outcomeId(`${id}-no`)],
    ...set,
  }
}

const NO_FIGURES = { realized: usdMicros(0), volume: usdMicros(0), trades: 0 }
const hourOf = (hour: number, set: Partial<HourFigures>): HourFigures => ({
  ...{ hour, ...NO_FIGURES, fees: usdMicros(0), income: usdMicros(0) },
  ...set,
})

/** Wallets with null in every optional field, and with extreme numbers of either sign. */
function rows(): readonly StoredWallet[] {
  const plain = storedWallet(ONE)
  const dollars = usdMicros(4_503_599_627_370_496)
  return [
    { ...plain, eoa: null, handle: null, pseudonym: null, image: null, hours: [] },
    storedWallet(TWO, {
      ...{ isComplete: false, events: 1_000_000, pnlEvents: 7, blocks: 1_954 },
      handle: 'é😀',
      totals: {
        ...{ ...plain.totals, realized: usdMicros(-9_007_199_254_740_991), volume: dollars },
        ...{ firstTradeMs: null, lastTradeMs: null },
        ...{ comboEvents: 3, comboRealized: null },
      },
      hours: [
        hourOf(0, { realized: usdMicros(-1), fees: usdMicros(-7), income: dollars }),
        hourOf(496_000, { realized: usdMicros(1 - dollars), volume: dollars, trades: 2 ** 31 }),
        hourOf(496_001, { realized: usdMicros(5), volume: usdMicros(7), trades: 1 }),
      ],
    }),
  ]
}

export function walletContract({ open, settle }: StorageUnderTest): void {
  test('stores and replaces a wallet with every field, and counts a replaced wallet once', async () => {
    let storage = await open()
    const [one, two] = rows()
    assert.ok(one !== undefined && two !== undefined)
    for (const wallet of [two, one, storedWallet(TWO), two]) storage.wallets.put(wallet)
    storage = await settle(storage)
    assert.deepEqual([...storage.wallets.all()], [one, two], 'in order of address')
    assert.deepEqual(storage.wallets.get(TWO), two)
    const { hours, ...head } = two
    assert.equal(hours.length, 3)
    assert.deepEqual(storage.wallets.head(TWO), head)
    assert.deepEqual([storage.wallets.get(THREE), storage.wallets.head(THREE)], [null, null])
    assert.equal(storage.wallets.count(), 2)
    storage.wallets.put({ ...one, handle: 'changed' })
    storage = await settle(storage)
    assert.equal(storage.wallets.get(ONE)?.handle, 'changed')
    assert.equal(storage.wallets.count(), 2)
  })

  test('finds a wallet by the address of its owner', async () => {
    let storage = await open()
    storage.wallets.putOwner(ONE, TWO)
    storage.wallets.putOwner(THREE, TWO)
    storage = await settle(storage)
    storage.wallets.putOwner(THREE, ONE)
    storage = await settle(storage)
    const found = [ONE, THREE, TWO].map((eoa) => storage.wallets.proxyOf(eoa))
    assert.deepEqual(found, [TWO, ONE, null])
  })

  test('stores event blocks and PnL states of a wallet as unchanged bytes until they are removed', async () => {
    let storage = await open()
    const { wallets } = storage
    for (let index = 0; index < 3; index += 1) {
      wallets.putBlock(ONE, index, bytesOf(index * 70_000, index))
      wallets.putBlock(TWO, index, bytesOf(10, index + 50))
    }
    wallets.putPnlState(ONE, bytesOf(300_001, 9))
    wallets.putPnlState(TWO, bytesOf(0, 9))
    wallets.putBlock(ONE, 1, bytesOf(3, 77))
    storage = await settle(storage)
    const expected = [bytesOf(0, 0), bytesOf(3, 77), bytesOf(140_000, 2), null]
    assert.deepEqual(blocksOf(storage), expected)
    assert.deepEqual(storage.wallets.pnlState(ONE), bytesOf(300_001, 9))
    assert.deepEqual(storage.wallets.pnlState(TWO), bytesOf(0, 9))
    // Transferring the buffer to a worker must not detach the stored bytes.
    const taken = storage.wallets.block(ONE, 2)
    assert.equal(taken?.byteOffset, 0)
    assert.equal(taken?.buffer.byteLength, 140_000)
    structuredClone(taken, { transfer: [taken.buffer] })
    assert.deepEqual(blocksOf(storage), expected)
    storage.wallets.put(storedWallet(ONE))
    storage.wallets.removeBlocks(ONE, 1)
    storage.wallets.removeBlocks(THREE, 0)
    storage = await settle(storage)
    assert.deepEqual(blocksOf(storage), [bytesOf(0, 0), null, null, null])
    assert.deepEqual(
      storage.wallets.get(ONE),
      storedWallet(ONE),
      'the row of the wallet is not deleted',
    )
    assert.deepEqual(storage.wallets.block(TWO, 2), bytesOf(10, 52))
  })

  test('stores every field of a wallet’s market that the catalogue does not contain', async () => {
    let storage = await open()
    const group = ['m1', 'm2', 'm3'].map(nativeMarketId)
    const retained = [
      market('m1', { group, payout: priceMicros(500_000), resolvedAtMs: timeMs(12) }),
      market('x'.repeat(900), { tokens: [], labels: [], question: null, slug: null }),
      market('m2', { eventSlug: 'e', isConverted: true }),
    ]
    storage.wallets.putMarket(market('m1'))
    for (const one of retained) storage.wallets.putMarket(one)
    storage = await settle(storage)
    for (const one of retained) assert.deepEqual(storage.wallets.market(one.nativeId), one)
    assert.equal(storage.wallets.market(nativeMarketId('other')), null)
  })
}

const blocksOf = ({ wallets }: Storage) => [0, 1, 2, 3].map((index) => wallets.block(ONE, index))
