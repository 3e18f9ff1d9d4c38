// Compares signatures with the example and the reference library of Standard Webhooks.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { seededRandom } from '../../../engine/random.ts'
import { isSecret, makeSecret, signatureHeaders } from '../../../engine/webhooks/signature.ts'

const nowSeconds = Date.UTC(2026, 10, 20, 12) / 1_000

/** The reference library reads the system time, which is mocked during the call. */
function isVerified(secret: string, body: Uint8Array, headers: Record<string, string>): boolean {
  mock.timers.enable({ apis: ['Date'], now: nowSeconds * 1_000 })
  try {
    new Webhook(secret).verify(Buffer.from(body), headers)
    return true
  } catch {
    return false
  } finally {
    mock.timers.reset()
  }
}

test('signs like the known test vector of Standard Webhooks 1.0.0', () => {
  const headers = signatureHeaders({
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timeSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  })
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('creates signatures that the reference library accepts for every delivery and rejects for every modified delivery', () => {
  const random = seededRandom('signatures')
  const letters = ['a', 'Z', '"', '\\', 'é', '→', '🙂', '\n', '.', '0']
  for (let round = 0; round < 1_000; round += 1) {
    const note = Array.from({ length: random.below(300) }, () => random.pick(letters)).join('')
    const body = Buffer.from(JSON.stringify({ round, note, number: random.next() }))
    const secret = makeSecret()
    const eventId = `evt_${random.below(1e9).toString(36)}`
    const timeSeconds = nowSeconds + random.below(400) - 200
    const headers = signatureHeaders({ secrets: [secret], eventId, timeSeconds, body })
    assert.ok(isVerified(secret, body, { ...headers }), `round ${round}`)
    const changed = Buffer.from(body)
    const at = random.below(changed.length)
    changed[at] = (changed[at] ?? 0) ^ 1
    const wrong = [
      isVerified(secret, changed, { ...headers }),
      round % 10 === 0 && isVerified(secret, body, { ...headers, 'webhook-id': `${eventId}x` }),
      round % 10 === 0 && isVerified(makeSecret(), body, { ...headers }),
    ]
    assert.deepEqual(wrong, [false, false, false], `round ${round}`)
  }
})

test('verifies a signature with either of the two signing secrets, and with no other secret', () => {
  const [older, newer, other] = [makeSecret(), makeSecret(), makeSecret()]
  const body = Buffer.from('{"type":"webhook.test"}')
  const delivery = { eventId: 'evt_x', timeSeconds: nowSeconds, body }
  const headers = { ...signatureHeaders({ ...delivery, secrets: [newer, older] }) }
  assert.equal(headers['webhook-signature'].split(' ').length, 2)
  assert.ok(isVerified(older, body, headers))
  assert.ok(isVerified(newer, body, headers))
  assert.ok(!isVerified(other, body, headers))
  const after = { ...signatureHeaders({ ...delivery, secrets: [newer] }) }
  assert.ok(!isVerified(older, body, after), 'when its time is over')
})

test('signs the time of a delivery, and verification refuses old deliveries', () => {
  const secret = makeSecret()
  const body = Buffer.from('{}')
  const headersOf = (timeSeconds: number) => ({
    ...signatureHeaders({ secrets: [secret], eventId: 'evt_x', timeSeconds, body }),
  })
  assert.ok(isVerified(secret, body, headersOf(nowSeconds - 200)))
  assert.ok(!isVerified(secret, body, headersOf(nowSeconds - 400)))
  const later = { ...headersOf(nowSeconds), 'webhook-timestamp': String(nowSeconds + 1) }
  assert.ok(!isVerified(secret, body, later))
})

test('accepts secrets of whsec_ with canonical base64 of 24 to 64 bytes, and generates unique 32-byte secrets', () => {
  const made = Array.from({ length: 100 }, makeSecret)
  assert.equal(new Set(made).size, 100)
  for (const secret of made) {
    assert.ok(isSecret(secret))
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32)
  }
  const encoded = (bytes: number) => Buffer.alloc(bytes, 0xfb).toString('base64')
  for (const bytes of [24, 25, 26, 63, 64])
    assert.ok(isSecret(`whsec_${encoded(bytes)}`), `${bytes}`)
  const refused = [
    '',
    'whsec_',
    encoded(32),
    `WHSEC_${encoded(32)}`,
    `whsk_${encoded(32)}`,
    `whsec_${encoded(23)}`,
    `whsec_${encoded(65)}`,
    `whsec_${encoded(32).slice(0, -1)}`,
    `whsec_${encoded(32)}=`,
    `whsec_${encoded(32)}\n`,
    `whsec_ ${encoded(32)}`,
    `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`,
    // The last base64 character has bits that belong to no byte.
    `whsec_${'A'.repeat(42)}B=`,
  ]
  for (const text of refused) assert.ok(!isSecret(text), text)
})
