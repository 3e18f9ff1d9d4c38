import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallPolicy } from '../../../engine/webhooks/post.ts'
import { readTargetUrl } from '../../../engine/webhooks/target-url.ts'

const strict: CallPolicy = { allowsHttp: false, allowsPrivate: false }
const http: CallPolicy = { allowsHttp: true, allowsPrivate: false }
const trial: CallPolicy = { allowsHttp: true, allowsPrivate: true }

/** null if the URL is refused. */
function normalised(text: string, policy: CallPolicy = strict): string | null {
  const target = readTargetUrl(text, policy)
  return 'url' in target ? target.url : null
}

function problem(text: string, policy: CallPolicy = strict): string {
  const target = readTargetUrl(text, policy)
  return 'problem' in target ? target.problem : ''
}

test('normalises public https URLs of webhooks and removes the fragment', () => {
  const forms: readonly (readonly [given: string, normalised: string])[] = [
    ['https://example.com/hooks', 'https://example.com/hooks'],
    ['HTTPS://EXAMPLE.com:443', 'https://example.com/'],
    ['https://example.com/a/../b?c=d&e=%20f#fragment', 'https://example.com/b?c=d&e=%20f'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    ['https://sub.my_name.example.com/', 'https://sub.my_name.example.com/'],
    ['https://münchen.example/ü', 'https://xn--mnchen-3ya.example/%C3%BC'],
    ['https://example.com/a/…', 'https://example.com/a/%E2%80%A6'],
    ['https://8.8.8.8/x', 'https://8.8.8.8/x'],
    ['https://134744072/x', 'https://8.8.8.8/x'],
    ['https://[2606:4700:0::1111]:9443/', 'https://[2606:4700::1111]:9443/'],
  ]
  for (const [given, normal] of forms) assert.equal(normalised(given), normal)
  const longest = `https://example.com/${'x'.repeat(2_048 - 20)}`
  assert.equal(normalised(longest), longest)
})

test('refuses other URL schemes, user names, forms and lengths, and states what is accepted', () => {
  const refused: readonly (readonly [text: string, words: RegExp])[] = [
    ['', /such as https:/],
    ['example.com/hooks', /such as https:/],
    ['//example.com', /such as https:/],
    ['https://', /such as https:/],
    ['http://example.com/', /begin with https:/],
    ['ftp://example.com/', /begin with https:/],
    ['file:///etc/passwd', /begin with https:/],
    ['javascript:alert(1)', /begin with https:/],
    ['wss://example.com/', /begin with https:/],
    ['https://user@example.com/', /no user name/],
    ['https://user:word@example.com/', /no user name/],
    ['https://:word@example.com/', /no user name/],
    ['https://example.com/a b', /no spaces/],
    [' https://example.com/', /no spaces/],
    ['https://example.com/\n', /no spaces/],
    ['https://exam\tple.com/', /no spaces/],
    ['https://example.com\\@8.8.8.8/', /backslashes/],
    ['https://example.com/…', /leave `url` out of a change/],
    ['https://example.com/%E2%80%A6?a=1#b', /leave `url` out of a change/],
    ['https://example.com./', /dot at its end/],
    ['https://a..example.com/', /letters, digits/],
    ['https://-a.example.com/', /letters, digits/],
    [`https://${'a'.repeat(64)}.example.com/`, /letters, digits/],
    [`https://${'a.'.repeat(130)}com/`, /letters, digits/],
    [`https://example.com/${'x'.repeat(2_029)}`, /2048 characters/],
    [`https://example.com/${'ü'.repeat(400)}`, /2048 characters/],
  ]
  for (const [text, terms] of refused) assert.match(problem(text), terms, text)
})

test('refuses webhook URLs with a host that is not public, in any spelling', () => {
  const refused = [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127。0。0。1/',
    'https://１２７.0.0.1/',
    'https://127.0.0.1./',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://a.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://router.home.arpa/',
    'https://intranet/',
    'https://wiki/',
    'https://com:8443/hooks',
  ]
  for (const text of refused) {
    assert.match(problem(text), /public/, text)
    assert.notEqual(normalised(text, trial), null, `${text} in a trial`)
    assert.ok(!/\d+\.\d+\.\d+/.test(problem(text)), 'the problem names no address')
  }
  assert.notEqual(normalised('https://local.example/'), null)
  assert.notEqual(normalised('https://mylocalhost.example/'), null)
  assert.equal(normalised('https://[fe80::1%25eth0]/', trial), null)
})

test('allows ports 443 and 1024 upwards except ports of other protocols, and port 80 with http', () => {
  const ok = [443, 1_024, 3_000, 8_080, 8_443, 49_152, 65_535]
  const refused = [0, 1, 21, 22, 25, 80, 110, 444, 1_023]
  const existing = [1_433, 2_375, 3_306, 5_432, 6_000, 6_379, 6_667, 9_092, 11_211, 27_017]
  for (const port of ok)
    assert.notEqual(normalised(`https://example.com:${port}/`), null, `${port}`)
  for (const port of [...refused, ...existing]) {
    assert.match(problem(`https://example.com:${port}/`), /port must be 443 or/, `${port}`)
    assert.equal(normalised(`https://127.0.0.1:${port}/`, { ...trial, allowsHttp: false }), null)
  }
  assert.equal(normalised('http://example.com/', http), 'http://example.com/')
  assert.equal(normalised('http://example.com:443/', http), 'http://example.com:443/')
  assert.match(problem('http://example.com:81/', http), /443, 80 or/)
  assert.match(problem('ftp://example.com/', http), /https:\/\/ or http:/)
})
