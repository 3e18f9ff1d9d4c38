import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import {
  WALLET_EVENT_KINDS,
  type WalletEvent,
  type WalletEventKind,
} from '../../../engine/wallet.ts'
import {
  LEDGER_BLOCK_EVENTS_MAX,
  packBlock,
  unpackBlock,
} from '../../../engine/wallets/ledger-block.ts'
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

const event = (
  [kind, atMs, txHash, market, token]: readonly [WalletEventKind, number, string, string, string],
  [size, price, usd, fee]: readonly [number, number, number, number],
  role: WalletEvent['role'],
  converted: readonly string[] = [],
): WalletEvent => ({
  ...{ kind, timeMs: timeMs(atMs), txHash, market: nativeMarketId(market) },
  token: token === '' ? null : outcomeId(token),
  ...{ size: sizeMicros(size), price: priceMicros(price), usd: usdMicros(usd) },
  ...{ fee: usdMicros(fee), role, converted: converted.map(nativeMarketId) },
})

const GOLDEN_EVENTS: readonly WalletEvent[] = [
  event(
    ['buy', 1_784_000_000_417, '0xab12', '0x0c1', '7005'],
    [12_500_000, 415_000, 5_187_500, 41_500],
    'taker',
  ),
  event(
    ['sell', 1_784_000_001_000, '0xab13', '0x0c1', '06'],
    [Number.MAX_SAFE_INTEGER, MICROS, -1, 0],
    'maker',
  ),
  event(['conversion', 1_784_000_002_000, '', '0x0c2', ''], [3, 0, 0, 0], null, [
    '0x0c2',
    'Zürich',
  ]),
  event(['comboOther', 0, 'x'.repeat(99), '0xABC', '0x'], [1, 1, 2, 3], 'taker'),
]

test('decodes a ledger block to the events of every kind that were encoded', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom('blocks', seed)
    const events = Array.from({ length: random.below(40) }, () => strangeEvent(random))
    assert.deepEqual(unpackBlock(packBlock(events)), events, `block ${seed}`)
  }
  for (let seed = 0; seed < 50; seed += 1) {
    const { events } = randomHistory(seed)
    assert.deepEqual(unpackBlock(packBlock(events)), events)
  }
})

// An earlier version wrote the stored block.
test('decodes a recorded ledger block, and encodes its events to the recorded bytes', () => {
  const bytes = Buffer.from(GOLDEN_BLOCK, 'base64')
  assert.deepEqual(unpackBlock(bytes), GOLDEN_EVENTS)
  const again = packBlock(GOLDEN_EVENTS)
  assert.deepEqual(Buffer.from(again).toString('base64'), GOLDEN_PACKED)
})

test('uses at most 90 bytes per event in a full ledger block of a busy wallet, and refuses a further event', () => {
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
  assert.equal(unpackBlock(bytes)?.length, LEDGER_BLOCK_EVENTS_MAX)
  assert.throws(() => packBlock([...events, strangeEvent(random)]), RangeError)
})

test('rejects truncated or changed bytes of a ledger block, or decodes every event', () => {
  const random = seededRandom('damaged blocks')
  const bytes = packBlock(Array.from({ length: 30 }, () => strangeEvent(random)))
  for (let length = 0; length < bytes.byteLength; length += 1) {
    assert.equal(unpackBlock(bytes.slice(0, length)), null, `cut to ${length}`)
  }
  let refused = 0
  const rounds = process.env.TEST_LONG === '1' ? 50_000 : 500
  for (let round = 0; round < rounds; round += 1) {
    const damaged = bytes.slice()
    damaged[random.below(round % 2 === 0 ? bytes.byteLength : 200)] = random.below(256)
    if (unpackBlock(damaged) === null) refused += 1
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

const GOLDEN_BLOCK = [
  'AWRlbBAAAAAIAAAAEAAAAAQAAAAYAAAAEAAAACAAAAAgAAAAIAAAAAgAAAAQAAAAIgAAABAAAAAJAAAADAAAANIAAAAQAAAABAAA',
  'AAMAAAAArlVqAa5VagKuVWoAAAAACBEFKwAAAAAAAAAAAQACAAEAAgAAAAMAAAABAAIAAwAYVQYAQEIPAAAAAAABAAAAAAAAAITX',
  'Z0H///////8/QwAAAAAAAAhAAAAAAAAA8D8AAAAA68lTQQAAAAAAAPC/AAAAAAAAAAAAAAAAAAAAQAAAAACAQ+RAAAAAAAAAAAAA',
  'AAAAAAAAAAAAAAAAAAhAoQEAAAAAAAACAAAAAgAAAAEAAAADAAAABgIAwQYCAMIACjAAeABBAEIAQwAADFoA/AByAGkAYwBoAAAA',
  'AAAAADknd7lKlV5GYFj4LrtUzQkBAnAFAQEGAgAAAAAAAAAAavrIgegUdbfK6P6vAAAAAAICqxICAqsTAAAAxngAeAB4AHgAeAB4',
  'AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgA',
  'eAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4',
  'AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AAAAAAAAAKtCx8ruhyjpzfuwGkKzm5o=',
].join('')
const GOLDEN_PACKED = [
  'AWRlbBAAAAAIAAAAEAAAAAQAAAAYAAAAEAAAACAAAAAgAAAAIAAAAAgAAAAQAAAAIgAAAAAAAAAJAAAAAAAAANIAAAAAAAAABAAA',
  'AAMAAAAArlVqAa5VagKuVWoAAAAACBEFKwAAAAAAAAAAAQACAAEAAgAAAAMAAAABAAIAAwAYVQYAQEIPAAAAAAABAAAAAAAAAITX',
  'Z0H///////8/QwAAAAAAAAhAAAAAAAAA8D8AAAAA68lTQQAAAAAAAPC/AAAAAAAAAAAAAAAAAAAAQAAAAACAQ+RAAAAAAAAAAAAA',
  'AAAAAAAAAAAAAAAAAAhAoQEAAAAAAAACAAAAAgAAAAEAAAADAAAABgIAwQYCAMIACjAAeABBAEIAQwAADFoA/AByAGkAYwBoAAAA',
  'AAAAAAECcAUBAQYCAAAAAAAAAAACAqsSAgKrEwAAAMZ4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4',
  'AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgA',
  'eAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4AHgAeAB4',
  'AHgAeAAAAAAAAAA=',
].join('')
