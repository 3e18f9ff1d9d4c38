import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailRefusal, emailSkeleton, normalizedEmail } from '../../../engine/accounts/email.ts'

test('converts equivalent spellings of one e-mail address to one form', () => {
  const spellings = [
    'ann@example.com',
    'Ann@Example.COM',
    'ａｎｎ@example.com',
    'a\u200bnn@\u202eexample.com',
  ]
  assert.deepEqual([...new Set(spellings.map(normalizedEmail))], ['ann@example.com'])
})

test('refuses e-mail addresses at localhost and at domains that are not ASCII', () => {
  assert.match(emailRefusal('ann@exämple.com') ?? '', /ASCII/)
  assert.match(emailRefusal('ann@еxample.com') ?? '', /ASCII/)
  assert.match(emailRefusal('Local@LOCALHOST') ?? '', /reserved/)
  assert.match(emailRefusal('local@local\u200bhost') ?? '', /reserved/)
  for (const email of ['ann@example.com', 'ann@xn--exmple-cua.com', 'аня@example.com']) {
    assert.equal(emailRefusal(email), null, email)
  }
})

test('maps e-mail addresses that look alike to the same skeleton, and leaves ASCII addresses unchanged', () => {
  for (const email of ['cоcо@example.com', 'сосо@example.com', 'cöcö@example.com']) {
    assert.equal(emailSkeleton(email), 'coco@example.com')
  }
  for (const email of ['c0c0@example.com', 'ann@example.com', 'anne@example.com']) {
    assert.equal(emailSkeleton(email), email)
  }
})
