import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runToEnd } from '../../../support/rigs/run-to-end.ts'

async function drift(settings: Readonly<Record<string, string>>) {
  const env = { SIM_MARKETS: '40', LOG_LEVEL: 'fatal', ...settings }
  const { code, stdout } = await runToEnd('engine/app/commands/drift.ts', [], { env })
  return { code, lines: stdout.trim().split('\n') }
}

test('exits with 0 without lost fields, with 1 when a venue lost fields, and with 2 when a venue does not answer', async () => {
  const healthy = await drift({ VENUE_A_NAME: 'poly' })
  assert.equal(healthy.code, 0)
  assert.deepEqual(
    healthy.lines.map((line) => line.replace(/\d+/, 'N')),
    ['drift poly: none; N markets read', 'drift venue_b: none; N markets read'],
  )
  const changed = await drift({ SIM_FAULTS: 'version_3,price_structure_new' })
  assert.equal(changed.code, 1)
  const text = changed.lines.join('\n')
  assert.match(text, /^drift venue_a gamma\.version=v3 first=/m)
  assert.match(text, /^drift venue_a unread unknown_version "\d+ [\w-]+"$/m)
  assert.match(text, /^drift venue_b market\.price_level_structure=spiral_cent notice first=/m)
  assert.equal((await drift({ SIM_FAULTS: 'price_structure_new' })).code, 0)

  const nowhere = 'http://127.0.0.1:1'
  const unreachable = await drift({
    ...{ VENUES: 'live', POLYMARKET_GAMMA_URL: nowhere, POLYMARKET_DATA_URL: nowhere },
    ...{ POLYMARKET_CLOB_URL: nowhere, KALSHI_REST_URL: `${nowhere}/trade-api/v2` },
  })
  assert.equal(unreachable.code, 2)
  assert.ok(unreachable.lines.every((line) => / failed | not answered; 0 markets read$/.test(line)))
})
