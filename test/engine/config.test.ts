import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ConfigError, loadConfig, VARIABLES } from '../../engine/config.ts'
import { CHANGE_NAMES, FAULT_NAMES } from '../../engine/fault-names.ts'
import { V2_SHARE } from '../../engine/venues/simulator/calendar.ts'
import { FAULT_CHANCES } from '../../engine/venues/simulator/faults.ts'

test('configures the simulated venues on loopback when the environment is empty', () => {
  const config = loadConfig({})
  assert.deepEqual([config.host, config.port, config.venues.kind], ['127.0.0.1', 8080, 'sim'])
  assert.equal(config.hasDemoKey, true)
  assert.deepEqual([config.role, config.nats.creds], ['all', null])
  const CLUSTER_KEY = 'k'.repeat(32)
  const servers = { NATS_URL: 'tls://a:1, nats://127.0.0.1:2', CLUSTER_KEY }
  assert.equal(loadConfig({ ROLE: 'gateway', ...servers }).role, 'gateway')
  assert.deepEqual([config.sim.v2Share, config.sim.activityEndsS], [V2_SHARE, null])
  assert.equal(loadConfig({ SIM_RTDS_END_S: '120' }).sim.activityEndsS, 120)
  assert.deepEqual(
    [config.sim.gapsPerMinute, loadConfig({ SIM_GAPS: '0' }).sim.gapsPerMinute],
    [6, 0],
  )
  assert.equal(loadConfig({ NODE_ENV: 'production' }).hasDemoKey, false)
})

test('reports all invalid variables at once with the accepted values, and reveals no secret', () => {
  const bad = {
    ROLE: 'queen',
    NATS_URL: 'http://localhost:4222',
    NATS_CREDS: '/no/such/file',
    PORT: '70000',
    VENUES: 'moon',
    SIM_MARKETS: '1e3',
    SIM_V2_SHARE: '1.5',
    SIM_RATE: '0',
    SIM_GAPS: '601',
    SIM_FAULTS: 'silence,earthquake',
    SIM_RTDS_END_S: '-1',
    VENUE_A_NAME: 'Poly',
    KALSHI_KEY_ID: 'abc',
    KALSHI_WS_URL: 'https://example.com',
    JWT_SECRET: 'short-secret',
    JWT_SECRET_PREVIOUS: 'short-secret-before',
    DATA_MAX_GB: '-1',
    CORS_ORIGINS: 'http://a/',
    COVERAGE: 'most',
    LOG_LEVEL: 'loud',
  }
  assert.throws(
    () => loadConfig(bad),
    (error) => {
      assert.ok(error instanceof ConfigError)
      const lines = error.message.split('\n')
      const named = Object.keys(bad).map((name) =>
        name === 'KALSHI_KEY_ID' ? 'KALSHI_PRIVATE_KEY_FILE' : name,
      )
      for (const name of named) {
        assert.ok(
          lines.some((line) => line.startsWith(`${name} is `) && line.includes('accepts')),
          name,
        )
      }
      assert.equal(lines.length, named.length)
      assert.ok(!error.message.includes('short-secret'))
      return true
    },
  )
})

test('accepts the fault names of the simulator and no other fault names', () => {
  assert.deepEqual([...FAULT_NAMES].sort(), Object.keys(FAULT_CHANCES).sort())
  assert.deepEqual(loadConfig({ SIM_FAULTS: 'on' }).sim.faults, FAULT_NAMES)
  assert.deepEqual(loadConfig({}).sim.faults, ['v1_retired', 'stale_cache'])
  assert.deepEqual(loadConfig({ SIM_FAULTS: 'html, silence' }).sim.faults, ['html', 'silence'])
  assert.deepEqual(loadConfig({ SIM_FAULTS: CHANGE_NAMES.join() }).sim.faults, CHANGE_NAMES)
})

test('accepts a new name for a venue, unless the other venue has the same name', () => {
  assert.equal(loadConfig({ VENUE_A_NAME: 'polymarket' }).venueNames.a, 'polymarket')
  assert.throws(() => loadConfig({ VENUE_A_NAME: 'venue_b' }), /VENUE_B_NAME/)
  assert.ok(Object.values(VARIABLES).every(({ means }) => means.length > 0))
})

test('accepts a previous token secret in addition to the current token secret', () => {
  const [secret, before] = ['x'.repeat(32), 'é'.repeat(16)]
  const config = loadConfig({ JWT_SECRET: secret, JWT_SECRET_PREVIOUS: before })
  assert.deepEqual([config.jwtSecret, config.jwtSecretPrevious], [secret, before])
  const stored = loadConfig({ JWT_SECRET_PREVIOUS: before })
  assert.deepEqual([stored.jwtSecret, stored.jwtSecretPrevious], [null, before])
  assert.equal(loadConfig({}).jwtSecretPrevious, null)
})

test('requires the verification of webhook hosts by default for live venues, and not for simulated venues', () => {
  const verifies = (env: Record<string, string>) => loadConfig(env).mustVerifyWebhooks
  assert.equal(verifies({}), false)
  assert.equal(verifies({ VENUES: 'live' }), true)
  assert.equal(verifies({ VENUES: 'live', WEBHOOK_VERIFY: 'off' }), false)
  assert.equal(verifies({ WEBHOOK_VERIFY: 'on' }), true)
  assert.throws(() => verifies({ WEBHOOK_VERIFY: 'maybe' }), /WEBHOOK_VERIFY.*"on", "off"/)
})

test('parses metrics hosts as a comma-separated list of host names without ports', () => {
  const hosts = (METRICS_HOSTS: string) => loadConfig({ METRICS_HOSTS }).metricsHosts
  assert.deepEqual(hosts(''), [])
  assert.deepEqual(hosts('Metrics.Internal, 10.0.0.5'), ['metrics.internal', '10.0.0.5'])
  for (const wrong of ['metrics:8080', 'https://metrics', 'a b', '.example', '*']) {
    assert.throws(() => hosts(wrong), /METRICS_HOSTS .*host names without ports/, wrong)
  }
})

test('refuses a cluster configuration without a key, and remote NATS without credentials or TLS', () => {
  const open = { ROLE: 'engine', NATS_URL: 'nats://nats.internal:4222' }
  const key = { CLUSTER_KEY: 'k'.repeat(32) }
  assert.throws(() => loadConfig({ ROLE: 'gateway' }), /^ConfigError: CLUSTER_KEY is not set/)
  assert.throws(
    () => loadConfig({ ROLE: 'engine', CLUSTER_KEY: 'short' }),
    /CLUSTER_KEY .*32 bytes/,
  )
  assert.throws(() => loadConfig({ ...open, ...key }), /NATS_URL .*NATS_INSECURE=on/)
  assert.throws(() => loadConfig({ ...open, ...key, NATS_USER: 'engine' }), /NATS_PASSWORD/)
  const login = { NATS_USER: 'engine', NATS_PASSWORD: 'p' }
  assert.deepEqual(loadConfig({ ...open, ...key, ...login }).nats.login, {
    ...{ user: 'engine', password: 'p' },
  })
  const accepted = [
    { NATS_INSECURE: 'on' },
    { NATS_URL: 'tls://nats.internal:4222' },
    { NATS_URL: 'nats://127.0.0.1:4222, nats://localhost:4223, nats://[::1]:4224' },
    { NATS_CA: 'package.json' },
    { NATS_CREDS: 'package.json' },
    { ROLE: 'all' },
  ]
  for (const set of accepted) loadConfig({ ...open, ...key, ...set })
  const withPassword = { ...key, ROLE: 'engine', NATS_URL: 'nats://engine:my-own@127.0.0.1' }
  assert.throws(
    () => loadConfig(withPassword),
    (error) => /NATS_USER/.test(String(error)) && !String(error).includes('my-own'),
  )
})

test('documents every environment variable with its default in engine/app/OPERATING.md', () => {
  const rows = readFileSync('engine/app/OPERATING.md', 'utf8').split('\n')
  const missing = Object.entries(VARIABLES).filter(([name, { default: value }]) => {
    const row = rows.find((line) => line.startsWith(`| \`${name}\` |`))
    return row === undefined || (value !== '' && !row.includes(`\`${value}\``))
  })
  assert.deepEqual(
    missing.map(([name]) => name),
    [],
  )
})
