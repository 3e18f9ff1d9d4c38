// Against whose address a request counts, over the wire: X-RateLimit-Remaining tells.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../engine/config.ts'
import { type Face, openFace } from '../support/face.ts'

/** How many requests were counted before against whom this one counts. */
async function countedBefore(face: Face, forwardedFor: string | null): Promise<number> {
  const headers: Record<string, string> = {}
  if (forwardedFor !== null) headers['x-forwarded-for'] = forwardedFor
  const response = await fetch(`${face.origin}/v1/markets`, { headers })
  assert.equal(response.status, 401)
  await response.text()
  const limit = Number(response.headers.get('x-ratelimit-limit'))
  return limit - Number(response.headers.get('x-ratelimit-remaining')) - 1
}

test('[PEER1] behind a trusted proxy a request counts against the nearest hop that is none', async () => {
  const face = await openFace({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] })
  try {
    assert.equal(await countedBefore(face, '203.0.113.7'), 0)
    assert.equal(await countedBefore(face, '203.0.113.7'), 1, 'the same client again')
    assert.equal(await countedBefore(face, '203.0.113.8'), 0, 'another client')
    const chain = '198.51.100.1, 203.0.113.7, 10.1.2.3, fd00::1'
    assert.equal(
      await countedBefore(face, chain),
      2,
      'through proxies of ours; what stands left is claimed',
    )
    assert.equal(await countedBefore(face, '2001:db8::1'), 0)
    assert.equal(await countedBefore(face, null), 0, 'the proxy itself')
    assert.equal(await countedBefore(face, 'nonsense'), 1, 'no address: the proxy')
    assert.equal(
      await countedBefore(face, '203.0.113.9, nonsense, 10.0.0.1'),
      0,
      'the last one read',
    )
  } finally {
    await face.stop()
  }
})

test('[PEER2] without one nobody can choose the address that they count against', async () => {
  const face = await openFace()
  try {
    assert.equal(await countedBefore(face, '203.0.113.7'), 0)
    assert.equal(await countedBefore(face, '203.0.113.8'), 1)
  } finally {
    await face.stop()
  }
})

test('[CONFIG6] trusted proxies are addresses and subnets', () => {
  const { trustedProxies } = loadConfig({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1' })
  assert.deepEqual(trustedProxies, ['127.0.0.1', '10.0.0.0/8', '::1'])
  assert.deepEqual(loadConfig({}).trustedProxies, [])
  for (const text of ['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0/8', '::1/129']) {
    assert.throws(() => loadConfig({ TRUSTED_PROXIES: text }), ConfigError, text)
  }
})
