// The table of shared resources in engine/OPERATING.md: each row has a test with an attacker and a bystander, or with the
// bound of one account or address.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** By resource: the file of its test, and the test's name. */
const TESTS: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'webhook attempts': [
    'actors/webhooks/shares.process.test.ts',
    'leaves attempts to a bystander while accounts hold a slow host for each webhook',
  ],
  'webhook deliveries': [
    'actors/webhooks/shares.process.test.ts',
    'bounds twelve free accounts of 25 webhooks at 50 trades a second, and delivers to a bystander at once',
  ],
  'password hashing': [
    'engine/passwords/passwords.test.ts',
    'checks a password of a bystander after at most one of each other network, whatever one network sends',
  ],
  accounts: [
    'actors/accounts/login-throttle.test.ts',
    'makes 5 accounts an hour for an IPv4 address or a /64, and 20 for a /48',
  ],
  'venue requests: wallets': [
    'actors/wallets/asking.test.ts',
    'reads known wallets at once while one requester has ten times its share of unknown ones',
  ],
  'venue requests: past prices, candle history': [
    'actors/past-prices/past-prices.test.ts',
    'asks the venue for the price of a bystander at once while one requester has ten times its share',
  ],
  'page scans': [
    'http/pages/scan.test.ts',
    'reads the page of a bystander while one account has ten times as many scans',
  ],
  'replays of streams': [
    'http/ws/session/slow-neighbour.long.test.ts',
    'a slow or a dead reader changes the others’ p99 by less than a fifth',
  ],
  search: [
    'actors/catalog/search.test.ts',
    'serves the searches of a bystander in turn with those of a flood, and refuses only the flood',
  ],
  matching: [
    'http/request/handle.test.ts',
    'the address’s 429 comes before 404, 405 and 401, and every answer has the headers',
  ],
  'WebSocket commands': [
    'http/ws/session/session.process.test.ts',
    'closes with 4000 after 100 commands beyond the limit within a minute',
  ],
  memory: [
    'http/request/unsent.process.test.ts',
    'all together hold so many bytes; beyond it the largest is cut, and files weigh nothing',
  ],
  disk: ['storage/full-disk.process.test.ts', 'a commit that fails on disk is refused once'],
  'file descriptors': [
    'http/request/connections.test.ts',
    'answers a new client while one address opens ten times as many connections as there may be',
  ],
}

test('has a test for each row of the table of shared resources', () => {
  const text = readFileSync(new URL('../../engine/OPERATING.md', import.meta.url), 'utf8')
  const [, section = ''] = text.split('\n## Shared resources\n')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| ([^|]+?) \|/gm)].map(([, resource]) => resource)
  const resources = rows.filter((resource) => resource !== 'resource')
  assert.deepEqual(resources, Object.keys(TESTS))
  for (const [file, name] of Object.values(TESTS)) {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    assert.ok(source.includes(name), `${file}: ${name}`)
  }
})
