import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { EngineError, errorCatalogue } from '../../engine/errors.ts'
import { nativeMarketId } from '../../engine/ids.ts'
import { MARKET_STATUSES, mayFollow } from '../../engine/market/market.ts'
import { LogSampler, REDACTION } from '../../engine/process/log.ts'
import { hash32, seededRandom } from '../../engine/random.ts'
import { VenueTable } from '../../engine/venue-table.ts'
import { VENUES, venueTable } from '../../engine/venues/venues.ts'

test('builds a market id from the configured venue name, an underscore and the native id, and parses the id back', () => {
  const names = venueTable({ a: 'poly', b: 'poly_us' })
  assert.equal(names.marketId('b', nativeMarketId('KX_A-1')), 'poly_us_KX_A-1')
  assert.deepEqual(names.split('POLY_US_KX_A-1'), { venue: 'b', native: 'KX_A-1' })
  assert.deepEqual(names.split('poly_0xAB'), { venue: 'a', native: '0xAB' })
  assert.equal(names.split('venue_a_0x1'), null)
})

test('parses condition ids of 62 or 64 digits in upper or lower case to the id of one market', () => {
  const names = venueTable()
  const digits = `01${'ab'.repeat(30)}`
  for (const text of [digits, `${digits}00`, digits.toUpperCase(), `${digits.toUpperCase()}00`]) {
    assert.equal(names.split(`venue_a_0x${text}`)?.native, `0x${digits}00`)
  }
  assert.equal(names.split(`venue_b_0x${digits}`)?.native, `0x${digits}`)
})

test('returns the venue of a platform name, or null when the name is unknown', () => {
  const names = venueTable({ a: 'venue_a', b: 'venue_b' })
  assert.deepEqual(
    ['venue_a', 'venue_b', 'VENUE_A', ''].map((name) => names.venue(name)),
    ['a', 'b', null, null],
  )
})

test('accepts venues with unique letters in order, unique names, and wallets of at most one venue', () => {
  const [first, second] = VENUES
  assert.ok(first !== undefined && second !== undefined)
  const third = { ...second, key: 't', name: 'third' } as const
  assert.deepEqual(new VenueTable([first, second, third]).platforms, [
    'venue_a',
    'venue_b',
    'third',
  ])
  assert.throws(() => new VenueTable([second, first]), /ascend/)
  assert.throws(() => new VenueTable([first, second, { ...third, key: 'b' }]), /ascend/)
  assert.throws(() => new VenueTable([first, { ...second, name: first.name }]), /same name/)
  assert.throws(() => new VenueTable([first, second, { ...third, hasWallets: true }]), /wallets/)
  assert.equal(venueTable().platform('z'), 'venue_z', 'a venue that has left the table')
})

test('assigns an HTTP status and a meaning to every refusal code, and sets the status on the error', () => {
  for (const [code, { status, means }] of Object.entries(errorCatalogue)) {
    assert.ok([400, 401, 403, 404, 405, 409, 413, 422, 426, 429, 500, 503].includes(status), code)
    assert.ok(means.length > 0)
  }
  const error = new EngineError('RATE_LIMITED', 'wait', { retryAfterSeconds: 3 })
  assert.deepEqual([error.status, error.retryAfterSeconds, error.detail], [429, 3, 'wait'])
})

test('allows every market status to change to every other status, except the status resolved', () => {
  for (const from of MARKET_STATUSES) {
    for (const to of MARKET_STATUSES) {
      assert.equal(mayFollow(from, to), from !== 'resolved' || to === 'resolved')
    }
  }
})

test('generates a reproducible, uniform sequence of random numbers from a seed', () => {
  const draw = (...seed: (string | number)[]) => {
    const random = seededRandom(...seed)
    return Array.from({ length: 50 }, () => random.next())
  }
  assert.deepEqual(draw('x', 1), draw('x', 1))
  assert.notDeepEqual(draw('x', 1), draw('x', 2))
  assert.notEqual(hash32('a', 'bc'), hash32('ab', 'c'))
  const random = seededRandom('even')
  const counts = new Array<number>(10).fill(0)
  for (let step = 0; step < 100_000; step += 1) {
    const server = random.below(10)
    counts[server] = (counts[server] ?? 0) + 1
  }
  assert.ok(
    counts.every((count) => Math.abs(count - 10_000) < 500),
    counts.join(' '),
  )
})

test('redacts secrets in log lines by field name, including fields of objects one level deep', () => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const log = pino({ redact: REDACTION }, stream)
  log.info(
    { password: 'hunter2', body: { api_key: 'pmk_1', token: 'ey1' }, secret: 's1', fine: 'seen' },
    'x',
  )
  const text = lines.join('')
  for (const hidden of ['hunter2', 'pmk_1', 'ey1', 's1"']) assert.ok(!text.includes(hidden), hidden)
  assert.ok(text.includes('seen'))
})

test('logs the first few occurrences of a reason, then the occurrences at powers of ten', () => {
  const sampler = new LogSampler(3)
  const written: number[] = []
  for (let count = 1; count <= 5_000; count += 1) {
    if (sampler.admit('html').isWritten) written.push(count)
  }
  assert.deepEqual(written, [1, 2, 3, 10, 100, 1_000])
})
