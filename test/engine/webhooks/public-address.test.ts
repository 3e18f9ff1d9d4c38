import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { isPublicAddress } from '../../../engine/webhooks/public-address.ts'

/** Address before a range, first and last address of the range, address after it. null: no adjacent public address. */
const RANGES_V4: readonly (readonly [string | null, string, string, string | null])[] = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
]
const RANGES_V6: readonly (readonly [string | null, string, string, string | null])[] = [
  [null, '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['2000:ffff::', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff::', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3ffe:ffff::', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['3fff:ffff::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
]

test('classifies the special-purpose address ranges, and no other ranges, as not public', () => {
  for (const [before, first, last, after] of [...RANGES_V4, ...RANGES_V6]) {
    assert.equal(isPublicAddress(first), false, first)
    assert.equal(isPublicAddress(last), false, last)
    if (before !== null) assert.equal(isPublicAddress(before), true, before)
    if (after !== null) assert.equal(isPublicAddress(after), true, after)
  }
})

test('classifies IPv6 forms of IPv4, site-local, link-local and multicast addresses as not public', () => {
  const hidden = [
    '::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::ffff:0:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '100::1',
    '2001::7f00:1',
    '2002:7f00:1::',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%lo',
    'fec0::1',
    'ff02::1',
    '2606:4700::1111%eth0',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:ffff:127.0.0.1',
  ]
  for (const address of hidden) assert.equal(isPublicAddress(address), false, address)
})

test('accepts public addresses of IPv4 and IPv6, and rejects invalid addresses', () => {
  const open = ['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2A00:1450:4001::200E']
  for (const address of open) assert.equal(isPublicAddress(address), true, address)
  const none = [
    '',
    'localhost',
    '8.8.8',
    '0x08.8.8.8',
    '08.8.8.8',
    '134744072',
    '8.8.8.8 ',
    '[::1]',
  ]
  for (const address of none) assert.equal(isPublicAddress(address), false, address)
})

test('classifies 20,000 random IPv4 addresses like a numeric range check', () => {
  const random = seededRandom('addresses')
  const number = (text: string) =>
    text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const closed = RANGES_V4.map(([, first, last]) => [number(first), number(last)] as const)
  for (let round = 0; round < 20_000; round += 1) {
    const parts = [0, 0, 0, 0].map(() => random.below(256))
    if (random.below(2) === 0) parts[0] = random.pick([10, 100, 127, 169, 172, 192, 198, 203, 224])
    const address = parts.join('.')
    const value = number(address)
    const isClosed = closed.some(([first, last]) => value >= first && value <= last)
    assert.equal(isPublicAddress(address), !isClosed, address)
  }
})
