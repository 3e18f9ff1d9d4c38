import assert from 'node:assert/strict'
import { test } from 'node:test'
import { banner } from '../../../engine/process/banner.ts'

const FACTS = {
  host: '127.0.0.1',
  port: 8080,
  data: 'simulated',
  key: 'pmk_1',
  version: '0.1.0',
  startedInMs: 1_940,
  venues: [
    { platform: 'venue_a', state: 'live', markets: 400 },
    { platform: 'venue_b', state: 'live', markets: 398 },
  ],
} as const

test('states the addresses, the key, the kind of data and how to stop in 80 columns', () => {
  const text = banner(FACTS)
  assert.deepEqual(text.split('\n'), [
    '',
    '  Twinbook 0.1.0 listens at http://127.0.0.1:8080 after 1.9 s',
    '',
    '  Dashboard  http://127.0.0.1:8080/',
    '  API docs   http://127.0.0.1:8080/docs',
    '  API key    pmk_1',
    '  Data       simulated (venue_a live, 400 markets; venue_b live, 398 markets)',
    '  Stop       Ctrl-C',
    '',
    '',
  ])
  assert.ok(text.split('\n').every((line) => line.length <= 80))
})

test('prints a URL that this machine can open when the service listens on all addresses', () => {
  assert.match(banner({ ...FACTS, host: '0.0.0.0' }), /at http:\/\/127\.0\.0\.1:8080 /)
  assert.match(banner({ ...FACTS, host: '::' }), /at http:\/\/\[::1\]:8080 /)
})

test('names the sign-up when no key exists, and live data', () => {
  const text = banner({ ...FACTS, key: null, data: 'live' })
  assert.match(text, /API key {4}none \(DEMO_KEY is off\); sign up in the dashboard\n/)
  assert.match(text, /Data {7}live \(venue_a live/)
})
