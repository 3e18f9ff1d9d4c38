// What needs no key: health and metrics.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { HealthSchema } from '../../../http/schemas.ts'
import { type Face, openFace } from '../../support/face.ts'

let face: Face
before(async () => {
  face = await openFace()
})
after(() => face.stop())

test('[STATUS1] health needs no key, is not counted, and is degraded when any part is', async () => {
  const { engine } = face
  const used = engine.accounts.usedBy('127.0.0.1')
  const health = async () => {
    const got = await face.get('/health', { headers: {} })
    assert.equal(got.status, 200)
    assert.ok(Value.Check(HealthSchema, got.body), got.text)
    return got.body
  }
  assert.equal((await health()).status, 'ok')
  const [first] = engine.venueViews
  assert.ok(first !== undefined)
  for (const state of ['stale', 'down'] as const) {
    engine.venueViews[0] = { ...first, state }
    const { status, exchanges } = await health()
    assert.equal(status, 'degraded')
    assert.deepEqual(exchanges, { venue_a: false, venue_b: true })
  }
  engine.venueViews[0] = first
  engine.isHealthy = false
  assert.equal((await health()).database, false)
  engine.isHealthy = true
  engine.catalog.isLoaded = false
  const { status, cache } = await health()
  assert.deepEqual({ status, cache }, { status: 'degraded', cache: false })
  engine.catalog.isLoaded = true
  assert.equal(engine.accounts.usedBy('127.0.0.1'), used)
})

test('[STATUS2] metrics are the registry’s text, for this machine', async () => {
  const got = await face.get('/metrics', { headers: {} })
  assert.equal(got.status, 200)
  assert.match(got.text, /http_answers_total\{status="200"\} \d+/)
})
