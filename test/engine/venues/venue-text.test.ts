import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanPage, cleanText, cleanUrl } from '../../../engine/venues/venue-text.ts'
import { eventListing, marketListing } from '../../support/worlds/stored.ts'

function notes() {
  const noted: string[] = []
  return { noted, note: (kind: string, name: unknown) => void noted.push(`${kind} ${name}`) }
}

test('truncates a long text from a venue at the limit of its kind, between two characters', () => {
  const drift = notes()
  assert.equal(cleanText('x'.repeat(300_000), 'title', drift).length, 500)
  assert.equal(cleanText(`${'x'.repeat(499)}😀`, 'title', drift), 'x'.repeat(499))
  assert.equal(cleanText('x'.repeat(500), 'title', drift), 'x'.repeat(500))
  assert.deepEqual(drift.noted, ['text title too long', 'text title too long'])
})

test('removes control characters and lone surrogates from text, and retains emoji and the line breaks of descriptions', () => {
  const drift = notes()
  assert.equal(cleanText('a\u0000b\u001b[31m\ud800c\u0085', 'title', drift), 'ab[31mc')
  assert.equal(cleanText('one\n two 😀', 'title', drift), 'one two 😀')
  assert.equal(cleanText('one\n\ttwo 😀', 'description', drift), 'one\n\ttwo 😀')
  assert.deepEqual(drift.noted, ['text title with control characters'])
})

test('removes URLs that are not https from a venue’s data', () => {
  const drift = notes()
  const bad = ['javascript:alert(1)', 'data:text/html,x', 'http://a.example/x', '//a', 'x']
  for (const url of bad) assert.equal(cleanUrl(url, drift), null)
  assert.equal(cleanUrl(`https://a.example/${'x'.repeat(2_000)}`, drift), null)
  assert.equal(drift.noted.length, bad.length + 1)
  assert.equal(cleanUrl('https://a.example/x.png', drift), 'https://a.example/x.png')
  assert.equal(cleanUrl(null, drift), null)
})

test('removes invalid characters from every text of a page from a venue, including the venue’s raw records', () => {
  const drift = notes()
  const long = 'y'.repeat(300_000)
  const native = { title: long, nested: [{ icon: long, note: `a\u0000${long}` }], count: 3 }
  const [yes, no] = marketListing('one').outcomes
  assert.ok(yes !== undefined && no !== undefined)
  const market = marketListing('one', {
    ...{ question: long, slug: long, image: 'javascript:x', tags: [long], category: '\u0000A' },
    ...{ native, description: long, outcomes: [{ ...yes, label: long }, no] },
  })
  const page = cleanPage({ markets: [market], events: [eventListing('two')] }, drift)
  const bytes = JSON.stringify(page.markets[0]).length
  assert.ok(bytes < 60_000, `${bytes} bytes`)
  assert.equal(page.markets[0]?.image, null)
  assert.equal(page.markets[0]?.category, 'A')
  assert.ok(drift.noted.length > 0)
})

test('returns the same object, not a copy, for a raw record without invalid text', () => {
  const market = marketListing('one')
  const { markets } = cleanPage({ markets: [market], events: [] }, notes())
  assert.equal(markets[0]?.native, market.native)
})
