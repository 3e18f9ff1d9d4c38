// The library jose is the reference implementation.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign, jwtVerify } from 'jose'
import {
  AccessTokens,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
} from '../../../engine/accounts/access-token.ts'

import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const secret = 'thirty-two bytes of secret text, and more'
const key = new TextEncoder().encode(secret)
const ROUNDS = process.env.TEST_LONG === '1' ? 2_000 : 150
const startMs = timeMs(1_780_000_000_000)

const subjectIn = (tokens: AccessTokens, token: string): string | null =>
  tokens.claimsOf(token)?.subject ?? null

async function joseSubject(token: string, nowMs: number): Promise<string | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      typ: 'at+jwt',
      requiredClaims: ['iss', 'aud', 'sub', 'jti', 'iat', 'exp'],
      maxTokenAge: TOKEN_SECONDS,
      currentDate: new Date(nowMs),
    })
    return payload.sub ?? null
  } catch {
    return null
  }
}

test('verifies an access token synchronously, with the same result as the library jose', async (t) => {
  const random = seededRandom(11)
  const clock = new ManualClock(startMs)
  const tokens = new AccessTokens({ secret, clock })
  const now = startMs / 1_000
  const seen = { taken: 0, refused: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    // Most fields are valid, so that tokens with a single error are frequent.
    const odd = (right: unknown, ...wrong: readonly unknown[]) =>
      random.below(16) === 0 ? wrong[random.below(wrong.length)] : right
    const claims = {
      iss: odd(TOKEN_ISSUER, 'other', undefined, 7),
      aud: odd(TOKEN_AUDIENCE, 'other', undefined),
      sub: odd('acc_1', undefined),
      jti: odd('x', undefined),
      iat: odd(now, now - TOKEN_SECONDS, now - TOKEN_SECONDS - 1, now + 1, '1', undefined),
      exp: odd(now + 60, now + 1, now, now - 1, '9999999999', undefined),
      nbf: odd(undefined, now, now + 1, now - 1, 'soon'),
    }
    const header = {
      alg: String(odd('HS256', 'HS384', 'HS512')),
      typ: String(odd('at+jwt', 'JWT', '')),
    }
    const body = new TextEncoder().encode(JSON.stringify(claims))
    let token = await new CompactSign(body).setProtectedHeader(header).sign(key)
    if (random.below(6) === 0) token = damaged(token, random.below)
    const [ours, theirs] = [subjectIn(tokens, token), await joseSubject(token, startMs)]
    // The last base64url character has unused bits. jose accepts any value of the bits, and `claimsOf` only zeros.
    const isCanonical =
      Buffer.from(token.split('.')[2] ?? '', 'base64url').toString('base64url') ===
      token.split('.')[2]
    if (isCanonical || ours !== null) assert.equal(ours, theirs, `${round}: ${token}`)
    seen[ours === null ? 'refused' : 'taken'] += 1
  }
  t.diagnostic(`${seen.taken} tokens taken, ${seen.refused} refused`)
  assert.ok(seen.taken > ROUNDS / 10 && seen.refused > ROUNDS / 10)
})

/** Changes, removes or repeats a character. */
function damaged(token: string, below: (count: number) => number): string {
  const at = below(token.length)
  const change = ['', 'A', '.', token.charAt(at).repeat(2)][below(4)] ?? ''
  return token.slice(0, at) + change + token.slice(at + 1)
}

test('issues access tokens that are valid for a day, and requires token secrets of 32 bytes', async () => {
  const clock = new ManualClock(startMs)
  const tokens = new AccessTokens({ secret, clock })
  const token = await tokens.issue('acc_1')
  assert.equal(subjectIn(tokens, token), 'acc_1')
  assert.equal(await joseSubject(token, startMs), 'acc_1')
  clock.advance(TOKEN_SECONDS * 1_000 - 1)
  assert.equal(subjectIn(tokens, token), 'acc_1')
  clock.advance(1)
  assert.equal(subjectIn(tokens, token), null)
  assert.throws(() => new AccessTokens({ secret: 'x'.repeat(31), clock }), RangeError)
})

test('ignores keys and references to keys in the header of an access token', async () => {
  const tokens = new AccessTokens({ secret, clock: new ManualClock(startMs) })
  const now = startMs / 1_000
  const claims = { sub: 'acc_1', jti: 'x', iat: now, exp: now + 60 }
  const body = { ...claims, iss: TOKEN_ISSUER, aud: TOKEN_AUDIENCE }
  const sign = (more: Readonly<Record<string, unknown>>) => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${part({ alg: 'HS256', typ: 'at+jwt', ...more })}.${part(body)}`
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  }
  assert.equal(subjectIn(tokens, sign({})), 'acc_1')
  for (const header of [
    { kid: 'other' },
    { kid: '../../dev/null' },
    { kid: "x' or '1'='1" },
    { jku: 'https://example.com/keys' },
    { x5u: 'https://example.com/cert' },
    { jwk: { kty: 'oct', k: 'AAAA' } },
    { crit: ['exp'] },
    { b64: false, crit: ['b64'] },
    { alg: 'hs256' },
    { alg: 'none' },
    { typ: 'AT+JWT' },
  ]) {
    assert.equal(subjectIn(tokens, sign(header)), null, JSON.stringify(header))
  }
})

test('accepts access tokens signed with the previous secret until they expire, and signs none with that secret', async () => {
  const clock = new ManualClock(startMs)
  const next = 'the secret that replaces it, thirty-two bytes'
  const before = new AccessTokens({ secret, clock })
  const old = await before.issue('acc_old')
  const rotated = new AccessTokens({ secret: next, previous: secret, clock })
  const issued = await rotated.issue('acc_new')
  assert.deepEqual([subjectIn(rotated, old), subjectIn(rotated, issued)], ['acc_old', 'acc_new'])
  assert.equal(subjectIn(before, issued), null, 'signed with the present secret alone')
  const later = new AccessTokens({ secret: next, previous: null, clock })
  assert.deepEqual([subjectIn(later, old), subjectIn(later, issued)], [null, 'acc_new'])
  const third = 'a third secret, which never signed anything'
  const other = new AccessTokens({ secret: third, previous: next, clock })
  assert.deepEqual([subjectIn(other, old), subjectIn(other, issued)], [null, 'acc_new'])
  clock.advance(TOKEN_SECONDS * 1_000 - 1)
  assert.equal(subjectIn(rotated, old), 'acc_old')
  clock.advance(1)
  assert.equal(subjectIn(rotated, old), null, 'expired')
  assert.throws(() => new AccessTokens({ secret, previous: 'x'.repeat(31), clock }), RangeError)
})
