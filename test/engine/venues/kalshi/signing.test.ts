import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { KalshiSigner } from '../../../../engine/venues/kalshi/signing.ts'
import { KalshiKeys } from '../../../../engine/venues/simulator/kalshi/auth.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { privateKey, publicKey } from '../../../support/fakes/rsa-pair.ts'

const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

describe('Kalshi request signing', () => {
  it('signs timestamp, method and path with an RSA-PSS signature that the public key verifies', () => {
    const clock = new ManualClock()
    const signer = new KalshiSigner({ keyId: 'id', privateKeyPem, clock })
    const headers = signer.headers('GET', '/trade-api/ws/v2')
    const signature = Buffer.from(headers['KALSHI-ACCESS-SIGNATURE'] ?? '', 'base64')
    const timestamp = headers['KALSHI-ACCESS-TIMESTAMP'] ?? ''
    assert.equal(timestamp, String(clock.nowMs()))
    assert.equal(headers['KALSHI-ACCESS-KEY'], 'id')
    const key = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
    const isGood = (text: string) => verify('sha256', Buffer.from(text), key, signature)
    assert.ok(isGood(`${timestamp}GET/trade-api/ws/v2`))
    assert.ok(!isGood(`${timestamp}POST/trade-api/ws/v2`))
    assert.ok(!isGood(`${timestamp}GET/trade-api/v2/markets`))
  })

  it('reports an unusable private key without including the key in the message', () => {
    const clock = new ManualClock()
    for (const text of ['', 'not a key', privateKeyPem.slice(0, 200)]) {
      assert.throws(
        () => new KalshiSigner({ keyId: 'id', privateKeyPem: text, clock }),
        (error: Error) => /PEM file/.test(error.message) && !error.message.includes('MII'),
      )
    }
    const { privateKey: other } = generateKeyPairSync('x25519')
    const pem = other.export({ type: 'pkcs8', format: 'pem' }).toString()
    assert.throws(
      () => new KalshiSigner({ keyId: 'id', privateKeyPem: pem, clock }),
      /of kind x25519: RSA or Ed25519 is needed/,
    )
  })

  it('creates signatures that the simulated venue accepts, with keys in both formats', () => {
    const clock = new ManualClock()
    const ed = generateKeyPairSync('ed25519')
    const path = '/trade-api/ws/v2'
    for (const pair of [{ privateKey, publicKey }, ed]) {
      const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      const shown = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const signed = new KalshiSigner({ keyId: 'id', privateKeyPem: pem, clock }).headers(
        'GET',
        path,
      )
      const headers = Object.fromEntries(
        Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
      )
      const callerOf = (pem: string, method: string) =>
        new KalshiKeys(new Map([['id', pem]])).caller({ method, path, headers }).kind
      assert.equal(callerOf(shown, 'GET'), 'key')
      assert.equal(callerOf(shown, 'POST'), 'refused')
      const other = pair === ed ? publicKey : ed.publicKey
      const otherPem = other.export({ type: 'spki', format: 'pem' }).toString()
      assert.equal(callerOf(otherPem, 'GET'), 'refused', 'a key of the other format')
    }
  })
})
