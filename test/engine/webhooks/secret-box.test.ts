import assert from 'node:assert/strict'
import { createDecipheriv, createHash } from 'node:crypto'
import { test } from 'node:test'
import { SecretBox } from '../../../engine/webhooks/secret-box.ts'
import { makeSecret } from '../../../engine/webhooks/signature.ts'

test('decrypts a webhook secret with the same key and owner, and encrypts equal secrets differently each time', () => {
  const box = new SecretBox('any text is a key')
  for (const secret of [makeSecret(), '', 'ünïcode 🙂', 'x'.repeat(5_000)]) {
    const sealed = box.seal(secret, 'wh_1')
    assert.notEqual(sealed, box.seal(secret, 'wh_1'))
    assert.equal(new SecretBox('any text is a key').open(sealed, 'wh_1'), secret)
    assert.ok(secret === '' || !Buffer.from(sealed, 'base64').includes(secret))
  }
})

test('refuses to decrypt a webhook secret with a changed bit, a missing byte, a different owner or a different key', () => {
  const box = new SecretBox('key')
  const secret = makeSecret()
  const sealed = box.seal(secret, 'wh_1')
  const bytes = Buffer.from(sealed, 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const damaged = Buffer.from(bytes)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.throws(() => box.open(damaged.toString('base64'), 'wh_1'), Error, `bit ${bit}`)
  }
  for (let length = 0; length < bytes.length; length += 1) {
    const cut = bytes.subarray(0, length).toString('base64')
    assert.throws(() => box.open(cut, 'wh_1'), Error, `${length} bytes`)
  }
  assert.throws(() => box.open(sealed, 'wh_2'), Error)
  const stranger = new SecretBox('other key')
  assert.throws(
    () => stranger.open(sealed, 'wh_1'),
    (error: unknown) => error instanceof Error && !error.message.includes(secret),
  )
})

test('uses 64 hexadecimal digits as the encryption key, and hashes any other text to a key', () => {
  const hex = '0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789'
  const openAs = (sealed: string, key: Buffer) => {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from('wh_1')).setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
  }
  assert.equal(openAs(new SecretBox(hex).seal('s', 'wh_1'), Buffer.from(hex, 'hex')), 's')
  for (const text of ['short', hex.slice(1), `${hex}0`, `g${hex.slice(1)}`]) {
    const hashed = createHash('sha256').update(text).digest()
    assert.equal(openAs(new SecretBox(text).seal('s', 'wh_1'), hashed), 's', text)
  }
  const box = new SecretBox(hex.toLowerCase())
  assert.equal(box.open(new SecretBox(hex.toUpperCase()).seal('s', 'wh_1'), 'wh_1'), 's')
})
