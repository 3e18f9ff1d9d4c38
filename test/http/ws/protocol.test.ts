// Commands: what is understood, what is refused, and that no bytes make the parser throw.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { parseCommand } from '../../../http/ws/protocol.ts'

const parse = (value: unknown) =>
  parseCommand(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))

test('[WS3] a command is known by any of its names', () => {
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
      channels: ['trades'],
      target,
      since: null,
    })
  }
})

test('[WS3] an id of null is none, as in our answers to a command without one', () => {
  assert.deepEqual(parse({ action: 'ping', id: null }), { kind: 'ping', id: null })
})

test('[WS3] a target is everything, a venue, or a list', () => {
  const target = (fields: object) => {
    const command = parse({ op: 'unsubscribe', channels: ['prices', 'prices'], ...fields })
    return 'target' in command ? command.target : command
  }
  assert.deepEqual(target({ market_ids: ['a', '*'] }), { kind: 'all' })
  assert.deepEqual(target({ platform: 'venue_b' }), { kind: 'venue', platform: 'venue_b' })
  const list = { kind: 'markets', marketIds: ['a'], eventSlugs: ['e'] }
  assert.deepEqual(target({ market_ids: ['a'], event_slugs: 'e' }), list)
})

test('[WS4] what is wrong is refused with its code', () => {
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
    [{ action: 'subscribe', channel: 'depth', market_ids: ['*'] }, 'UNKNOWN_CHANNEL'],
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
  assert.equal(parseCommand(Buffer.from([0xff, 0x7b])).kind, 'refused')
})

test('[WS4] no bytes make the parser throw', () => {
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
    assert.ok(parseCommand(bytes.subarray(0, end)).kind)
  }
})
