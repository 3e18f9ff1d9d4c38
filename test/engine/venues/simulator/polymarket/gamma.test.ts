import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt } from '../../../../support/worlds/stub-world.ts'

let venue: StubVenue

// Seven events have 1 to 7 markets each, 28 in total. Market 3 is resolved, and market 5 is not open yet.
before(async () => {
  venue = await startStubVenue()
  for (let count = 1; count <= 7; count += 1) {
    const tags = count % 2 === 0 ? ['Politics'] : ['Crypto', 'Bitcoin']
    venue.world.addEvent(count, { tags })
  }
  marketAt(venue.world, 3).status = 'resolved'
  marketAt(venue.world, 5).status = 'unopened'
  venue.world.setLevels(marketAt(venue.world, 7), ['bid', 0.4, 9_000])
})
after(() => venue.stop())

async function rows(path: string) {
  const answer = await request(`${venue.gamma}${path}`)
  assert.equal(answer.status, 200, answer.text)
  return records(answer.body)
}

/** Throws if the list does not end. */
async function crawl(path: string, key: 'markets' | 'events') {
  const found: unknown[] = []
  let cursor = ''
  for (let page = 0; page < 100; page += 1) {
    const query = cursor === '' ? '' : `&after_cursor=${encodeURIComponent(cursor)}`
    const body = record((await request(`${venue.gamma}${path}${query}`)).body)
    found.push(...records(body[key]).map((row) => row.id))
    if (!('next_cursor' in body)) return found
    cursor = String(body.next_cursor)
  }
  throw new Error('the list does not end')
}

test('returns every row once over all keyset pages, and no cursor with the last page', async () => {
  const active = venue.world.markets('a').filter((market) => market.status !== 'unopened')
  const ids = active.map((market) => String(market.listing.number))
  for (const limit of [1, 9, 27, 100]) {
    assert.deepEqual(await crawl(`/markets/keyset?limit=${limit}`, 'markets'), ids)
  }
  const falling = await crawl(
    '/markets/keyset?limit=5&order=liquidityNum&ascending=false',
    'markets',
  )
  assert.equal(falling[0], String(marketAt(venue.world, 7).listing.number))
  assert.deepEqual(falling.toSorted(), ids.toSorted())
  const rising = await crawl('/markets/keyset?limit=4&order=liquidityNum&ascending=true', 'markets')
  assert.equal(rising.at(-1), falling[0])
  assert.equal((await crawl('/events/keyset?limit=2', 'events')).length, 7)
})

test('ignores the parameter `cursor`, refuses `offset` in keyset lists, and reduces limits that are too large', async () => {
  const plain = await request(`${venue.gamma}/markets/keyset?limit=3`)
  const next = String(record(plain.body).next_cursor)
  const same = await request(`${venue.gamma}/markets/keyset?limit=3&cursor=${next}`)
  assert.equal(same.text, plain.text)
  assert.equal((await request(`${venue.gamma}/markets/keyset?offset=3`)).status, 422)
  assert.equal((await request(`${venue.gamma}/markets/keyset?after_cursor=nonsense`)).status, 422)
  assert.equal((await request(`${venue.gamma}/markets?limit=-1`)).status, 422)
  assert.equal((await rows('/markets?limit=5000')).length, 28)
  assert.equal((await rows('/markets')).length, 20)
  const tail = await rows('/markets?limit=10&offset=25')
  assert.deepEqual(
    tail.map((row) => row.id),
    ['9025', '9026', '9027'],
  )
})

test('filters lists by ids and states, sorts lists by time, and refuses invalid parameters', async () => {
  const market = marketAt(venue.world, 7)
  const [yes, no] = market.listing.tokens
  const ids = async (query: string) => (await rows(`/markets?${query}`)).map((row) => row.id)
  for (const [query, expected] of [
    [`condition_ids=${market.listing.nativeId}`, ['9007']],
    [`clob_token_ids=${yes}&clob_token_ids=${no}`, ['9007']],
    ['closed=true', ['9003']],
    ['active=false', ['9005']],
  ] as const) {
    assert.deepEqual(await ids(query), expected, query)
  }
  assert.equal((await rows('/events?closed=true')).length, 0)
  const changed = await rows('/events?order=updatedAt&ascending=false')
  const times = changed.map(({ updatedAt }) => String(updatedAt))
  assert.ok(times.length > 5)
  assert.deepEqual(times, times.toSorted().toReversed())
  for (const query of ['order=nonsense', 'closed=perhaps']) {
    assert.equal((await request(`${venue.gamma}/markets?${query}`)).status, 422, query)
  }
})

test('returns a market or event by id and by slug, or 404 or 422 if there is none', async () => {
  const get = async (path: string) => request(`${venue.gamma}${path}`)
  assert.equal(record((await get('/markets/9007')).body).slug, 'market-7')
  const bySlug = record((await get('/markets/slug/market-7?include_tag=true')).body)
  assert.equal(records(bySlug.tags).length, 1)
  assert.equal(record((await get('/events/502')).body).slug, 'event-502')
  const event = record((await get('/events/slug/event-502')).body)
  assert.equal(records(event.markets).length, 3)
  assert.equal(records((await get('/events/502/tags')).body).length, 2)
  assert.equal(records((await get('/markets/9007/tags')).body).length, 1)
  for (const path of ['/markets/1', '/markets/slug/none', '/events/1', '/events/slug/none']) {
    const answer = await get(path)
    assert.equal(answer.status, 404)
    assert.equal(typeof record(answer.body).error, 'string')
  }
  assert.equal((await get('/markets/abc')).status, 422)
})

test('returns tags, sports, teams, search results, status and the simulator state', async () => {
  const tags = await rows('/tags')
  assert.ok(tags.some((tag) => tag.slug === 'bitcoin' && tag.id === '235'))
  const tag = record((await request(`${venue.gamma}/tags/slug/politics`)).body)
  assert.equal(tag.label, 'Politics')
  const [nfl] = await rows('/sports')
  assert.equal(nfl?.sport, 'nfl')
  assert.match(String(nfl?.tags), /^1,450,100639$/)
  assert.equal((await rows('/teams?league=nfl')).length, 2)
  assert.deepEqual(
    (await rows('/teams?offset=1')).map((team) => team.alias),
    ['Lions'],
  )
  const found = record((await request(`${venue.gamma}/public-search?q=event%20503`)).body)
  assert.deepEqual(
    records(found.events).map((row) => row.slug),
    ['event-503'],
  )
  assert.deepEqual(found.pagination, { hasMore: false, totalResults: 1 })
  const paged = record(
    (await request(`${venue.gamma}/public-search?q=event&limit_per_type=3&page=2`)).body,
  )
  assert.equal(records(paged.events).length, 3)
  assert.equal((await request(`${venue.gamma}/public-search`)).status, 422)
  assert.equal((await request(`${venue.gamma}/status`)).status, 200)
  assert.deepEqual((await request(`${venue.gamma}/sim/state?view=x`)).body, { asked: 'x' })
})
