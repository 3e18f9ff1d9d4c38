// X-RateLimit-Remaining shows which address a request counts against.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '../../../engine/config.ts'
import { normalized } from '../../../http/request/peer-address.ts'
import { RawConnection } from '../../support/clients/raw-http.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

/** Number of earlier requests from the same address. Each of `lines` is a line of X-Forwarded-For. */
async function countedBefore(server: ApiServer, ...lines: readonly string[]): Promise<number> {
  const connection = new RawConnection(server.port)
  const headers = lines.map((line) => ['X-Forwarded-For', line] as const)
  const answer = await connection.exchange({ method: 'GET', target: '/v1/markets', headers })
  connection.close()
  assert.equal(answer?.status, 401)
  const limit = Number(answer.headers.get('x-ratelimit-limit'))
  return limit - Number(answer.headers.get('x-ratelimit-remaining')) - 1
}

test('counts a request that passes trusted proxies against the nearest address that is not a trusted proxy', async () => {
  const server = await openApiServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] })
  try {
    assert.equal(await countedBefore(server, '203.0.113.7'), 0)
    assert.equal(await countedBefore(server, '203.0.113.7'), 1, 'the same client again')
    assert.equal(await countedBefore(server, '203.0.113.8'), 0, 'another client')
    const chain = '198.51.100.1, 203.0.113.7, 10.1.2.3, fd00::1'
    assert.equal(
      await countedBefore(server, chain),
      2,
      'the nearest untrusted hop; earlier addresses are only claimed',
    )
    assert.equal(await countedBefore(server, '2001:db8::1'), 0)
    assert.equal(await countedBefore(server), 0, 'the proxy itself')
    assert.equal(await countedBefore(server, 'nonsense'), 1, 'no address: the proxy')
    assert.equal(
      await countedBefore(server, '203.0.113.9, nonsense, 10.0.0.1'),
      0,
      'the last hop that the server reads',
    )
  } finally {
    await server.stop()
  }
})

test('reads all X-Forwarded-For lines as one list from the right, and treats an invalid address as untrusted', async () => {
  const server = await openApiServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] })
  try {
    assert.equal(await countedBefore(server, '203.0.113.7'), 0)
    assert.equal(
      await countedBefore(server, '198.51.100.1', '203.0.113.7'),
      1,
      'the last line has the nearest hop',
    )
    assert.equal(await countedBefore(server, '203.0.113.7', '10.0.0.1, fd00::1', '10.9.9.9'), 2)
    assert.equal(
      await countedBefore(server, '198.51.100.2, 203.0.113.7, ,', '', ' '),
      3,
      'blank entries are skipped',
    )
    assert.equal(await countedBefore(server, '10.0.0.1'), 0, 'a proxy for itself')
    for (const odd of [
      'unknown',
      '_hidden',
      '203.0.113',
      '203.0.113.7.8',
      '1',
      '[203.0.113.7]',
      '::g',
      '203.0.113.7:x',
    ]) {
      const used = await countedBefore(server, '10.0.0.1')
      assert.equal(await countedBefore(server, '198.51.100.1', odd, '10.0.0.1'), used + 1, odd)
    }
    assert.equal(
      await countedBefore(server, '198.51.100.1'),
      0,
      'an invalid entry ends the list of trusted hops',
    )
    assert.equal(await countedBefore(server, '::ffff:203.0.113.7'), 4, 'mapped into IPv6')
    assert.equal(await countedBefore(server, '203.0.113.7:4711'), 5, 'with a port')
    assert.equal(
      await countedBefore(server, '203.0.113.7, [FD00:0::0:1%eth0]:443, ::ffff:a00:1'),
      6,
      'proxies in other notations',
    )
  } finally {
    await server.stop()
  }
})

test('counts a request against the last address of X-Forwarded-For when it has more addresses than the server reads', async () => {
  const server = await openApiServer({ trustedProxies: ['127.0.0.1'] })
  try {
    const forged = Array.from({ length: 40 }, (_, index) => `198.51.100.${index}`).join(', ')
    assert.equal(await countedBefore(server, forged, '203.0.113.7'), 0)
    assert.equal(await countedBefore(server, '203.0.113.7'), 1)
    assert.equal(await countedBefore(server, '198.51.100.31'), 0)
  } finally {
    await server.stop()
  }
})

test('counts all addresses of an IPv6 /64 network as one address, in any notation', async () => {
  const server = await openApiServer({ trustedProxies: ['127.0.0.1'] })
  try {
    const same = [
      '2001:db8::1',
      '2001:DB8:0:0:ffff::',
      '[2001:0db8::2]',
      '[2001:db8::3]:80',
      '2001:db8::4%en0',
      '2001:db8::5:192.0.2.1',
    ]
    for (const [index, text] of same.entries())
      assert.equal(await countedBefore(server, text), index, text)
    assert.equal(await countedBefore(server, '2001:db8:0:1::1'), 0, 'the next network')
    assert.equal(await countedBefore(server, '::1'), 0)
    assert.equal(await countedBefore(server, '::ffff:192.0.2.1'), 0, 'IPv4 is no network of IPv6')
    assert.equal(await countedBefore(server, '::ffff:192.0.2.2'), 0)
  } finally {
    await server.stop()
  }
})

test('converts every notation of an IP address to one normal form', () => {
  const forms: Readonly<Record<string, string | null>> = {
    '192.0.2.1': '192.0.2.1',
    '192.0.2.1:80': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:0201': '192.0.2.1',
    '0:0:0:0:0:ffff:192.0.2.1': '192.0.2.1',
    '[::ffff:192.0.2.1]:80': '192.0.2.1',
    '::': '0:0:0:0:0:0:0:0',
    '::1': '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001': '0:0:0:0:0:0:0:1',
    '2001:0DB8::00A0': '2001:db8:0:0:0:0:0:a0',
    '1::': '1:0:0:0:0:0:0:0',
    'fe80::1%eth0': 'fe80:0:0:0:0:0:0:1',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0:0:0:c000:201',
    '::192.0.2.1': '0:0:0:0:0:0:c000:201',
    '[192.0.2.1]': null,
    '192.0.2.1:': null,
    '192.0.2.1:port': null,
    '192.0.2.256': null,
    '0192.0.2.1': null,
    '[::1': null,
    '::1]': null,
    '1:2:3:4:5:6:7:8:9': null,
    ':::': null,
    localhost: null,
    '': null,
  }
  for (const [text, form] of Object.entries(forms)) assert.equal(normalized(text), form, text)
})

test('ignores X-Forwarded-For when no proxy is trusted', async () => {
  const server = await openApiServer()
  try {
    assert.equal(await countedBefore(server, '203.0.113.7'), 0)
    assert.equal(await countedBefore(server, '203.0.113.8'), 1)
  } finally {
    await server.stop()
  }
})

test('accepts addresses and subnets in the list of trusted proxies', () => {
  const { trustedProxies } = loadConfig({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1' })
  assert.deepEqual(trustedProxies, ['127.0.0.1', '10.0.0.0/8', '::1'])
  assert.deepEqual(loadConfig({}).trustedProxies, [])
  for (const text of ['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0/8', '::1/129']) {
    assert.throws(() => loadConfig({ TRUSTED_PROXIES: text }), ConfigError, text)
  }
})
