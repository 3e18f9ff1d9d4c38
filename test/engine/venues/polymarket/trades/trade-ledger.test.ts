import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VenueEvent } from '../../../../../engine/events.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs } from '../../../../../engine/units.ts'
import type { WireTrade } from '../../../../../engine/venues/polymarket/messages.ts'
import {
  numberRows,
  readTrade,
  type Suspicion,
  TradeLedger,
  type TradeRow,
  tradeEvent,
} from '../../../../../engine/venues/polymarket/trades/trade-ledger.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 300 : 25
const AT = timeMs(1_795_000_000_000)

function wire(more: Partial<WireTrade> = {}): WireTrade {
  return {
    proxyWallet: '0xAA11',
    asset: '111',
    conditionId: '0xabc',
    side: 'BUY',
    size: 25.5,
    price: 0.42,
    timestamp: 1_795_000_000,
    transactionHash: '0xFEED',
    ...more,
  }
}

function row(more: Partial<WireTrade> = {}): TradeRow {
  const read = readTrade(wire(more))
  assert.ok(typeof read !== 'string', String(read))
  return read
}

function openLedger() {
  const events: VenueEvent[] = []
  const suspicions: Suspicion[] = []
  const ledger = new TradeLedger({
    emit: (event) => events.push(event),
    onSuspicion: (suspicion) => suspicions.push(suspicion),
  })
  const ids = () => events.flatMap((event) => (event.kind === 'trade' ? [event.nativeId] : []))
  const wallets = () =>
    events.flatMap((event) => (event.kind === 'tradeParticipant' ? [event.wallet] : []))
  return { ledger, events, suspicions, ids, wallets }
}

test('assigns a row the same id from stream and Data API, whatever the row’s number format and letter case', () => {
  const streamed = tradeEvent({ row: row({ price: '0.5199999923664122' }), n: 0 }, 'stream', AT)
  const fetched = tradeEvent(
    { row: row({ price: 0.52, size: '25.50', proxyWallet: '0xaa11' }), n: 0 },
    'backfill',
    AT,
  )
  assert.equal(streamed.nativeId, '0xfeed-111-0xaa11-buy-25500000-520000-0')
  assert.equal(fetched.nativeId, streamed.nativeId)
  assert.equal(fetched.venueTimeMs, streamed.venueTimeMs)
  assert.deepEqual(
    { ...fetched, source: 'stream' },
    { ...streamed },
    'nothing but the source differs',
  )
})

test('refuses impossible trade rows with a specific reason', () => {
  assert.equal(readTrade(wire({ price: 1.5 })), 'trade_price')
  assert.equal(readTrade(wire({ price: Number.NaN })), 'trade_price')
  assert.equal(readTrade(wire({ price: 'x' })), 'trade_price')
  assert.equal(readTrade(wire({ size: 0 })), 'trade_size')
  assert.equal(readTrade(wire({ size: -1 })), 'trade_size')
  assert.equal(readTrade(wire({ size: 1e300 })), 'trade_size')
  assert.equal(readTrade(wire({ size: 1.1e8 })), 'trade_size')
  assert.equal(readTrade(wire({ timestamp: 12 })), 'trade_time')
  assert.equal(readTrade(wire({ timestamp: 1e13 })), 'trade_time')
})

test('emits the first of repeated rows, and emits a repeated row when a check shows that it is a separate trade', () => {
  const { ledger, ids, suspicions } = openLedger()
  ledger.addMatched(row(), AT)
  ledger.addMatched(row(), AT)
  assert.equal(ids().length, 1)
  assert.equal(suspicions[0]?.kind, 'repeat')
  ledger.reconcile([row()], AT)
  assert.equal(ids().length, 1, 'one row at the venue: the second message was a repeat')
  ledger.addMatched(row(), AT)
  assert.equal(suspicions.length, 2, 'a third message causes another check')
  ledger.reconcile([row(), row(), row()], AT)
  assert.deepEqual(
    ids().map((id) => id.slice(-2)),
    ['-0', '-1', '-2'],
  )
})

test('does not emit a row that arrives late on the stream when a Data API response already contained the row', () => {
  const { ledger, ids, suspicions } = openLedger()
  ledger.reconcile([row(), row()], AT)
  assert.equal(ids().length, 2)
  ledger.addMatched(row(), AT)
  ledger.addMatched(row(), AT)
  assert.equal(ids().length, 2)
  assert.equal(suspicions.length, 0)
  ledger.addFetched([row({ size: 1 })], AT)
  ledger.addMatched(row({ size: 1 }), AT)
  assert.equal(ids().length, 3, 'a back-fill emitted it')
})

test('assigns each fill of a row a separate id, equal on the stream and in the Data API', () => {
  const { ledger, events, ids } = openLedger()
  const fills = [
    { price: priceMicros(400_000), size: sizeMicros(5_000_000) },
    { price: priceMicros(400_000), size: sizeMicros(5_000_000) },
    { price: priceMicros(430_000), size: sizeMicros(20_000_000) },
  ]
  const average = { size: 30, price: 0.42 }
  ledger.addMatched(row(average), AT, fills)
  const expected = ['5000000-400000-0', '5000000-400000-1', '20000000-430000-0']
  assert.deepEqual(
    ids(),
    expected.map((end) => `0xfeed-111-0xaa11-buy-${end}`),
  )
  ledger.addFetched([row(average)], AT)
  assert.deepEqual(ids().slice(3), ids().slice(0, 3), 'a back-fill reads the same trades')
  ledger.reconcile([row(average)], AT)
  assert.equal(ids().length, 6)
  assert.ok(events.every((event) => event.kind === 'trade' && event.rowSize === 30_000_000))
})

test('records the other wallets of a transaction as makers, whether they arrive before or after the fill', () => {
  const { ledger, wallets, suspicions } = openLedger()
  ledger.addParticipant(row({ proxyWallet: '0xbb' }), AT)
  ledger.addParticipant(row(), AT)
  assert.deepEqual(wallets(), [])
  ledger.addMatched(row(), AT)
  ledger.addParticipant(row({ proxyWallet: '0xCC', side: 'SELL', asset: '222' }), AT)
  ledger.addParticipant(row({ proxyWallet: '0xbb' }), AT)
  ledger.addParticipant(row(), AT)
  assert.deepEqual(wallets(), ['0xbb', '0xcc'])
  ledger.suspectOrphans(AT + 60_000)
  assert.equal(suspicions.length, 0)
})

test('requests the fill of a participant row from the Data API when the fill is missing', () => {
  const { ledger, suspicions, wallets, ids } = openLedger()
  const maker = row({ proxyWallet: '0xbb', side: 'SELL' })
  ledger.addParticipant(maker, AT)
  ledger.suspectOrphans(AT)
  assert.equal(suspicions.length, 0, 'no check before the timeout')
  ledger.suspectOrphans(AT + 1)
  assert.deepEqual(suspicions, [{ kind: 'orphan', row: maker }])
  ledger.reconcile([row()], AT)
  assert.equal(ids().length, 1)
  assert.deepEqual(wallets(), ['0xbb'])
})

test('emits each separate trade once for any order of repeated rows, losses and responses', () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('ledger', seed)
    const { ledger, events, suspicions } = openLedger()
    const trueRows = Array.from({ length: 1 + random.below(12) }, () =>
      row({ transactionHash: `0x${random.below(3)}`, size: 1 + random.below(2) }),
    )
    const messages = trueRows.flatMap((one) => {
      const times = random.pick([0, 1, 1, 1, 2])
      const maker = { ...one, wallet: '0xbb' }
      return [...Array.from({ length: times }, () => ({ one, maker: null })), { one, maker }]
    })
    for (const { one, maker } of shuffled(messages, random)) {
      if (maker === null) ledger.addMatched(one, AT)
      else ledger.addParticipant(maker, AT)
      if (random.below(6) === 0) ledger.reconcile(trueRows, AT)
    }
    ledger.suspectOrphans(AT + 1)
    const isChecked = suspicions.length > 0
    if (isChecked) ledger.reconcile(trueRows, AT)
    const ids = events.flatMap((event) => (event.kind === 'trade' ? [event.nativeId] : []))
    const wanted = numberRows(trueRows).map(
      (numbered) => tradeEvent(numbered, 'stream', AT).nativeId,
    )
    assert.equal(new Set(ids).size, ids.length, `seed ${seed}: an id was emitted twice`)
    for (const id of ids) assert.ok(wanted.includes(id), `seed ${seed}: ${id} is not a true trade`)
    if (isChecked) assert.deepEqual([...ids].sort(), [...wanted].sort(), `seed ${seed}`)
  }
})

test('limits the number of rows in memory, and assigns an evicted row the same id when the row arrives later', () => {
  const { ledger, events } = openLedger()
  ledger.addMatched(row(), AT)
  for (let number = 0; number < 40_000; number += 1) {
    ledger.addMatched(row({ transactionHash: `0x${number}` }), AT)
  }
  ledger.addMatched(row(), AT)
  const ids = events.flatMap((event) => (event.kind === 'trade' ? [event.nativeId] : []))
  assert.equal(ids.length, 40_002)
  assert.equal(ids[0], ids[40_001])
})

function shuffled<T>(items: readonly T[], random: ReturnType<typeof seededRandom>): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
