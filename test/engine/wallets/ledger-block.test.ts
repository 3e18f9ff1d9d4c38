// Blocks of the ledger: what goes in comes out, in little room; bytes that were cut or changed never throw.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { WALLET_EVENT_KINDS, type WalletEvent } from '../../../engine/wallet.ts'
import {
  LEDGER_BLOCK_EVENTS_MAX,
  LedgerBlock,
  packBlock,
} from '../../../engine/wallets/ledger-block.ts'
import { TextTable } from '../../../engine/wallets/text-table.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'

const ODD_TEXTS = [
  '',
  '0',
  '007',
  '12345',
  '0x',
  '0xabc',
  '0xABC',
  '0xabcd',
  'abcd',
  'Zürich ☃ \u{1f4a9}',
  '\ud800',
  '9'.repeat(800),
  `0x${'f'.repeat(1_001)}`,
  'x'.repeat(300),
  '-1',
  '0x12g4',
]

test('round-trips events of every kind through a block', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom('blocks', seed)
    const events = Array.from({ length: random.below(40) }, () => strangeEvent(random))
    const block = LedgerBlock.open(packBlock(events))
    assert.ok(block !== null)
    assert.deepEqual([...block.events()], events, `block ${seed}`)
    assert.equal(block.count, events.length)
    const bare = LedgerBlock.open(packBlock(events), { hasHashes: false })
    assert.deepEqual(
      [...(bare?.events() ?? [])],
      events.map((event) => ({ ...event, txHash: '' })),
    )
    const named = events.flatMap(({ market, converted }) => [market, ...converted])
    assert.deepEqual(block.markets().sort(), [...new Set(named)].filter((id) => id !== '').sort())
    for (const [index, { timeMs: atMs }] of events.entries()) {
      assert.equal(block.timeMs(index), atMs)
    }
  }
  for (let seed = 0; seed < 50; seed += 1) {
    const { events } = randomHistory(seed)
    assert.deepEqual([...(LedgerBlock.open(packBlock(events))?.events() ?? [])], events)
  }
})

test('preserves the numbers of texts of any kind through serialisation', () => {
  const table = TextTable.empty()
  const texts = [
    ...ODD_TEXTS,
    ...Array.from({ length: 3_000 }, (_, index) => `${(index + 2) * 7_919}`),
  ]
  const numbers = texts.map((text) => table.add(text))
  assert.deepEqual(
    numbers,
    [...new Set(texts)].map((_, index) => index),
  )
  const opened = TextTable.over(...table.sections())
  assert.ok(opened !== null)
  for (const [index, text] of texts.entries()) {
    assert.equal(opened.numberOf(text), index)
    assert.equal(opened.add(text), index)
  }
  assert.equal(opened.numberOf('not here'), -1)
  assert.deepEqual(
    texts.map((_, index) => opened.text(index)),
    texts,
  )
  assert.equal(opened.add('new'), texts.length)
  const again = TextTable.over(...opened.copy().sections())
  assert.equal(again?.numberOf('new'), texts.length)
  assert.equal(again?.text(texts.length - 1), texts.at(-1))
})

test('uses at most 90 bytes per event in a busy wallet’s full block, and refuses a further event', () => {
  const random = seededRandom('room')
  const hex = () => `0x${Array.from({ length: 64 }, () => random.below(16).toString(16)).join('')}`
  const markets = Array.from({ length: 400 }, () => nativeMarketId(hex()))
  const events = Array.from({ length: LEDGER_BLOCK_EVENTS_MAX }, (_, index): WalletEvent => {
    const market = random.pick(markets)
    return {
      ...strangeEvent(random),
      timeMs: timeMs(1_784_000_000_000 + index * 1_000),
      ...{ kind: 'buy', market, txHash: hex(), converted: [] },
      token: outcomeId(`${BigInt(market)}`.slice(0, 76) + random.below(2)),
    }
  })
  const bytes = packBlock(events)
  const bytesEach = bytes.byteLength / events.length
  assert.ok(bytesEach <= 90, `${bytesEach} bytes an event`)
  assert.equal(LedgerBlock.open(bytes)?.count, LEDGER_BLOCK_EVENTS_MAX)
  assert.throws(() => packBlock([...events, strangeEvent(random)]), RangeError)
})

test('either rejects truncated or changed bytes or decodes every event', () => {
  const random = seededRandom('damaged blocks')
  const bytes = packBlock(Array.from({ length: 30 }, () => strangeEvent(random)))
  for (let length = 0; length < bytes.byteLength; length += 1) {
    assert.equal(LedgerBlock.open(bytes.slice(0, length)), null, `cut to ${length}`)
  }
  let refused = 0
  const rounds = process.env.TEST_LONG === '1' ? 50_000 : 2_000
  for (let round = 0; round < rounds; round += 1) {
    const damaged = bytes.slice()
    damaged[random.below(round % 2 === 0 ? bytes.byteLength : 200)] = random.below(256)
    const block = LedgerBlock.open(damaged)
    if (block === null) refused += 1
    else assert.equal([...block.events()].length + block.markets().length >= 0, true)
  }
  assert.ok(refused > rounds / 20 && refused < rounds, `${refused} refused`)
})

function strangeEvent(random: ReturnType<typeof seededRandom>): WalletEvent {
  const kind = random.pick(WALLET_EVENT_KINDS)
  const text = () => (random.below(2) === 0 ? random.pick(ODD_TEXTS) : `0x${random.below(1e9)}`)
  const amount = () => Math.floor(10 ** (random.next() * 15.9))
  const isConversion = kind === 'conversion'
  return {
    kind,
    timeMs: timeMs(random.below(4_000_000) * 1_000 + (random.below(9) === 0 ? 417 : 0)),
    txHash: text(),
    market: nativeMarketId(text()),
    token: random.below(2) === 0 ? null : outcomeId(text()),
    size: sizeMicros(amount()),
    price: priceMicros(random.below(MICROS + 1)),
    usd: usdMicros(amount() * (random.below(9) === 0 ? -1 : 1)),
    fee: usdMicros(random.below(3) === 0 ? random.below(100_000) : 0),
    role: random.pick([null, 'taker', 'maker']),
    converted: isConversion
      ? Array.from({ length: 1 + random.below(4) }, () => nativeMarketId(text()))
      : [],
  }
}
