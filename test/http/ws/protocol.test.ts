import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import { seededRandom } from '../../../engine/random.ts'
import { parseCommand } from '../../../http/ws/protocol.ts'

const parse = (value: unknown) =>
  parseCommand(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), false)

test('accepts all aliases of a stream command', () => {
  for (const name of ['action', 'op', 'cmd', 'type']) {
    assert.deepEqual(parse({ [name]: 'ping', id: 'x' }), { kind: 'ping', id: 'x' })
  }
  const target = { kind: 'markets', marketIds: ['m'], eventSlugs: [] }
  for (const ids of [
    { market_ids: ['m'] },
    { markets: ['m'] },
    { market_id: 'm' },
    { markets: 'm' },
  ]) {
    assert.deepEqual(parse({ action: 'subscribe', channel: 'trades', ...ids }), {
      kind: 'subscribe',
      id: null,
      variants: ['trades'],
      target,
      since: null,
    })
  }
})

test('treats a null command id as absent', () => {
  assert.deepEqual(parse({ action: 'ping', id: null }), { kind: 'ping', id: null })
})

test('accepts all markets, a venue or a list of markets as the target of a command', () => {
  const target = (fields: object) => {
    const command = parse({ op: 'unsubscribe', channels: ['prices', 'prices'], ...fields })
    return 'target' in command ? command.target : command
  }
  assert.deepEqual(target({ market_ids: ['a', '*'] }), { kind: 'all' })
  assert.deepEqual(target({ platform: 'venue_b' }), { kind: 'venue', platform: 'venue_b' })
  const list = { kind: 'markets', marketIds: ['a'], eventSlugs: ['e'] }
  assert.deepEqual(target({ market_ids: ['a'], event_slugs: 'e' }), list)
})

test('refuses each kind of invalid command with its error code', () => {
  const trades = { action: 'subscribe', channel: 'trades', id: 4 }
  const ids = Array.from({ length: 101 }, (_, index) => `m${index}`)
  for (const [value, code] of [
    ['', 'PARSE_ERROR'],
    ['{', 'PARSE_ERROR'],
    ['null', 'PARSE_ERROR'],
    ['[]', 'PARSE_ERROR'],
    ['"x"', 'PARSE_ERROR'],
    [{}, 'UNKNOWN_ACTION'],
    [{ action: 'jump' }, 'UNKNOWN_ACTION'],
    [{ action: ['ping'] }, 'UNKNOWN_ACTION'],
    [{ action: 'subscribe' }, 'UNKNOWN_CHANNEL'],
    [{ action: 'subscribe', channel: 'deep', market_ids: ['*'] }, 'UNKNOWN_CHANNEL'],
    [{ action: 'subscribe', channel: 'toString', market_ids: ['*'] }, 'UNKNOWN_CHANNEL'],
    [trades, 'INVALID_FILTER'],
    [{ ...trades, market_ids: [] }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: [5] }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: ids }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: ['x'.repeat(300)] }, 'INVALID_FILTER'],
    [{ ...trades, platform: 'venue_a', market_ids: ['m'] }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: ['*'], since: { epoch: 'k', offset: -1 } }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: ['*'], since: 'k' }, 'INVALID_FILTER'],
    [{ ...trades, market_ids: ['*'], conflate_ms: 250 }, 'INVALID_FILTER'],
    [{ action: 'snapshot', market_ids: ['*'] }, 'INVALID_FILTER'],
    [`{"action":"ping","x":"${'y'.repeat(17_000)}"}`, 'MESSAGE_TOO_LARGE'],
  ] as const) {
    const refused = parse(value)
    assert.ok(refused.kind === 'refused', JSON.stringify(value))
    assert.equal(refused.code, code, JSON.stringify(value).slice(0, 80))
    if (typeof value === 'object' && 'id' in value) assert.equal(refused.id, 4)
  }
  assert.equal(parseCommand(Buffer.from([0xff, 0x7b]), false).kind, 'refused')
})

test('parses any bytes as a command or an error without throwing', () => {
  const random = seededRandom('commands')
  const seed = JSON.stringify({
    action: 'subscribe',
    id: 1,
    channel: 'orderbook',
    market_ids: ['venue_a_1', '*'],
    since: { epoch: 'k3f9c2', offset: 12 },
  })
  for (let round = 0; round < 5_000; round += 1) {
    const bytes = Buffer.from(seed)
    for (let edit = 0; edit < 3; edit += 1) bytes[random.below(bytes.length)] = random.below(256)
    const end = random.next() < 0.2 ? random.below(bytes.length) : bytes.length
    assert.ok(parseCommand(bytes.subarray(0, end), round % 2 === 0).kind)
  }
})

test('parses a binary frame as JSON, or as MessagePack from any encoder', () => {
  const command = { action: 'subscribe', id: 7, channel: 'trades', market_ids: ['*'] }
  const asText = parse(command)
  assert.equal(asText.kind, 'subscribe')
  for (const bytes of [encode(command), Buffer.from(JSON.stringify(command))]) {
    assert.deepEqual(parseCommand(bytes, true), asText)
  }
  const since = { epoch: 'k3', offset: 2 ** 40 }
  const resumed = parseCommand(encode({ ...command, since }, { useBigInt64: true }), true)
  assert.deepEqual(resumed.kind === 'subscribe' ? resumed.since : null, since)
  for (const bad of [
    encode([1]),
    encode('x'),
    Buffer.from([0x93, 0x01]),
    encode(command).subarray(0, 9),
  ]) {
    const refused = parseCommand(bad, true)
    assert.equal(refused.kind === 'refused' ? refused.code : '', 'PARSE_ERROR')
  }
})

test('applies the options of each channel, and uses the default for an option that is null', () => {
  const variants = (fields: object) => {
    const command = parse({ action: 'subscribe', market_ids: ['m'], ...fields })
    return command.kind === 'subscribe' ? command.variants : command
  }
  for (const [fields, expected] of [
    [{ channel: 'orderbook' }, ['orderbook']],
    [{ channel: 'whales' }, ['whales']],
    [{ channel: 'lifecycle' }, ['lifecycle']],
    [{ channel: 'depth' }, ['depth:10:250']],
    [{ channel: 'depth', levels: 5, conflate_ms: 1_000 }, ['depth:5:1000']],
    [{ channel: 'depth', levels: null, conflate_ms: 100 }, ['depth:10:100']],
    [{ channel: 'prices' }, ['prices:0']],
    [{ channel: 'prices', conflate_ms: 250 }, ['prices:250']],
    [{ channel: 'candles' }, ['candles:1m']],
    [{ channel: 'candles', interval: '4h' }, ['candles:4h']],
    [{ channel: 'candles', interval: 1_440 }, ['candles:1d']],
    [
      { channels: ['trades', 'prices', 'depth'], conflate_ms: 250, levels: 20 },
      ['trades', 'prices:250', 'depth:20:250'],
    ],
  ] as const) {
    assert.deepEqual(variants(fields), expected, JSON.stringify(fields))
  }
})

test('refuses an invalid channel option with the accepted values', () => {
  for (const [fields, message] of [
    [{ channel: 'depth', levels: 7 }, 'levels of depth is one of 5, 10, 20'],
    [{ channel: 'depth', levels: '10' }, 'levels of depth is one of 5, 10, 20'],
    [{ channel: 'depth', conflate_ms: 0 }, 'conflate_ms of depth is one of 100, 250, 1000'],
    [{ channel: 'prices', conflate_ms: 100 }, 'conflate_ms of prices is one of 0, 250, 1000'],
    [
      { channels: ['prices', 'depth'], conflate_ms: 0 },
      'conflate_ms of depth is one of 100, 250, 1000',
    ],
    [
      { channel: 'candles', interval: '2m' },
      'interval of candles is one of 1m, 5m, 15m, 1h, 4h, 1d',
    ],
    [{ channel: 'prices', levels: 5 }, 'levels is an option of depth only'],
    [
      { channel: 'orderbook', conflate_ms: 250 },
      'conflate_ms is an option of depth and prices only',
    ],
    [{ channel: 'trades', interval: '1m' }, 'interval is an option of candles only'],
    [{ channel: 'candles', interval: {} }, 'interval of candles is one of 1m, 5m, 15m, 1h, 4h, 1d'],
  ] as const) {
    const refused = parse({ action: 'subscribe', id: 3, market_ids: ['m'], ...fields })
    assert.deepEqual(refused, { kind: 'refused', id: 3, code: 'INVALID_FILTER', message })
  }
})

test('accepts an unsubscribe without options, and refuses an unsubscribe with invalid options', () => {
  const command = { action: 'unsubscribe', channel: 'depth', market_ids: ['m'] }
  assert.equal(parse(command).kind, 'unsubscribe')
  assert.equal(parse({ ...command, levels: 20 }).kind, 'unsubscribe')
  assert.equal(parse({ ...command, levels: 7 }).kind, 'refused')
})
