import assert from 'node:assert/strict'
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { ClusterSeal, nameOf } from '../../../engine/cluster/seal.ts'

const KEY = 'of a cluster under test, 32 bytes or more'
const BODY = Buffer.from('{"password":"correct horse"}')
const rest = async () => undefined

function damaged(bytes: Uint8Array): readonly Uint8Array[] {
  const flipped = Array.from(bytes, (_, position) => {
    const copy = Buffer.from(bytes)
    copy[position] = (copy[position] ?? 0) ^ 1
    return copy
  })
  const cut = Array.from(bytes, (_, length) => bytes.subarray(0, length))
  return [...flipped, ...cut, Buffer.concat([bytes, Buffer.of(0)])]
}

test('decrypts a message of a second process if both use the same context, and otherwise not', () => {
  const [one, other] = [new ClusterSeal(KEY), new ClusterSeal(KEY)]
  const first = one.seal('ask.http', 1_795_000_000_000, BODY)
  const second = one.seal('ask.http', 7, BODY)
  const opened = other.open('ask.http', first.bytes)
  assert.ok(opened !== null)
  assert.deepEqual([opened.number, opened.stamp], [1, 1_795_000_000_000])
  assert.deepEqual(opened.body, BODY)
  assert.equal(nameOf(opened), first.name)
  assert.equal(other.open('ask.http', second.bytes)?.number, 2)
  assert.notEqual(first.name, second.name)
  assert.equal(other.open('ask.quota', first.bytes), null)
  assert.equal(new ClusterSeal(`${KEY}!`).open('ask.http', first.bytes), null)
  assert.equal(first.bytes.includes('correct horse'), false)
  const empty = one.seal('tell.member', 0, Buffer.of())
  assert.equal(other.open('tell.member', empty.bytes)?.body.length, 0)
})

test('rejects an encrypted message with any byte changed, removed or added', () => {
  const { bytes } = new ClusterSeal(KEY).seal('record.accounts.account.1', 1, BODY)
  for (const other of damaged(bytes)) {
    assert.equal(new ClusterSeal(KEY).open('record.accounts.account.1', other), null)
  }
})

test('encrypts messages with AES-256-GCM and a key derived by HKDF-SHA-256', () => {
  const { bytes } = new ClusterSeal(KEY).seal('ask.http', 9, BODY)
  const [header, text, tag] = [bytes.subarray(0, 29), bytes.subarray(29, -16), bytes.subarray(-16)]
  const key = hkdfSync('sha256', KEY, header.subarray(1, 17), 'twinbook message', 32)
  const nonce = Buffer.concat([Buffer.alloc(6), header.subarray(17, 23)])
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), nonce)
  decipher.setAAD(Buffer.concat([header, Buffer.from('ask.http')])).setAuthTag(tag)
  assert.deepEqual(Buffer.concat([decipher.update(text), decipher.final()]), BODY)
})

test('accepts an authentication code if key and context are the same, and otherwise rejects the code', async () => {
  const [one, other] = [new ClusterSeal(KEY), new ClusterSeal(KEY)]
  const signed = one.signed('batch.books', BODY)
  const key = hkdfSync('sha256', KEY, new Uint8Array(), 'twinbook code', 32)
  const code = createHmac('sha256', Buffer.from(key)).update('batch.books\0').update(BODY)
  assert.deepEqual(signed, Buffer.concat([BODY, code.digest().subarray(0, 16)]))
  assert.deepEqual(other.checked('batch.books', signed), BODY)
  assert.equal(other.checked('batch.trades', signed), null)
  for (const bytes of damaged(signed)) assert.equal(other.checked('batch.books', bytes), null)
  const large = Buffer.alloc(1_500_000, 7)
  const inParts = await one.signedInParts('object.checkpoint', large, rest)
  assert.deepEqual(inParts, one.signed('object.checkpoint', large))
  assert.deepEqual(await other.checkedInParts('object.checkpoint', inParts, rest), large)
  inParts[700_000] = 8
  assert.equal(await other.checkedInParts('object.checkpoint', inParts, rest), null)
  assert.equal(await other.checkedInParts('object.checkpoint', Buffer.of(1), rest), null)
})
