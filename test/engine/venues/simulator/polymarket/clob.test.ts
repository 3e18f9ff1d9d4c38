import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, price } from '../../../../support/worlds/stub-world.ts'

let venue: StubVenue
let yes: string
let no: string

before(async () => {
  venue = await startStubVenue()
  venue.world.addEvent(3)
  const [first, second] = marketAt(venue.world, 0).listing.tokens
  yes = first
  no = second
})
after(() => venue.stop())

const get = async (path: string) => request(`${venue.clob}${path}`)

/** SHA-1 of the book with an empty hash, as a client computes it. */
function recipe(book: Readonly<Record<string, unknown>>): string {
  return createHash('sha1')
    .update(JSON.stringify({ ...book, hash: '' }))
    .digest('hex')
}

test('returns book levels from worst to best, mirrored books of the two tokens, and the venue’s book hashes', async () => {
  const book = record((await get(`/book?token_id=${yes}`)).body)
  const other = record((await get(`/book?token_id=${no}`)).body)
  assert.deepEqual(Object.keys(book), [
    'market',
    'asset_id',
    'timestamp',
    'hash',
    'bids',
    'asks',
    'min_order_size',
    'tick_size',
    'neg_risk',
    'last_trade_price',
  ])
  assert.deepEqual(book.bids, [
    { price: '0.39', size: '50.5' },
    { price: '0.4', size: '100' },
  ])
  assert.deepEqual(book.asks, [
    { price: '0.45', size: '10' },
    { price: '0.42', size: '80' },
  ])
  assert.deepEqual(other.bids, [
    { price: '0.55', size: '10' },
    { price: '0.58', size: '80' },
  ])
  assert.deepEqual(other.asks, [
    { price: '0.61', size: '50.5' },
    { price: '0.6', size: '100' },
  ])
  assert.equal(book.hash, recipe(book))
  assert.equal(other.hash, recipe(other))
  assert.match(String(book.timestamp), /^\d{13}$/)
  assert.deepEqual([book.tick_size, book.min_order_size, book.neg_risk], ['0.01', '5', false])
  assert.equal(book.last_trade_price, '')
})

test('returns 404 with the venue’s error message when a token has no book', async () => {
  marketAt(venue.world, 2).status = 'closed'
  for (const token of ['123', marketAt(venue.world, 2).listing.tokens[0]]) {
    const answer = await get(`/book?token_id=${token}`)
    assert.equal(answer.status, 404)
    assert.deepEqual(answer.body, { error: 'No orderbook exists for the requested token id' })
  }
  assert.equal((await get('/book')).status, 400)
  const closed = marketAt(venue.world, 2).listing.tokens[0]
  const books = await request(`${venue.clob}/books`, [{ token_id: yes }, { token_id: closed }])
  assert.deepEqual(
    records(books.body).map((book) => book.asset_id),
    [yes],
  )
})

test('returns the same prices for single tokens as for batches of tokens', async () => {
  assert.deepEqual((await get(`/midpoint?token_id=${yes}`)).body, { mid: '0.41' })
  assert.deepEqual((await get(`/price?token_id=${yes}&side=BUY`)).body, { price: '0.4' })
  assert.deepEqual((await get(`/price?token_id=${no}&side=SELL`)).body, { price: '0.6' })
  assert.deepEqual((await get(`/spread?token_id=${no}`)).body, { spread: '0.02' })
  assert.deepEqual((await get(`/last-trade-price?token_id=${yes}`)).body, {
    price: '0.5',
    side: '',
  })
  assert.deepEqual((await get(`/tick-size?token_id=${yes}`)).body, { minimum_tick_size: 0.01 })
  assert.deepEqual((await get(`/neg-risk?token_id=${yes}`)).body, { neg_risk: false })
  assert.deepEqual((await get(`/fee-rate?token_id=${yes}`)).body, { base_fee: '1000' })
  assert.equal((await get(`/price?token_id=${yes}&side=UP`)).status, 400)
  const both = [{ token_id: yes }, { token_id: no }]
  const mids = await request(`${venue.clob}/midpoints`, both)
  assert.deepEqual(mids.body, { [yes]: '0.41', [no]: '0.59' })
  const spreads = await request(`${venue.clob}/spreads`, both)
  assert.deepEqual(spreads.body, { [yes]: '0.02', [no]: '0.02' })
  const prices = await request(`${venue.clob}/prices`, [
    { token_id: yes, side: 'BUY' },
    { token_id: no },
  ])
  assert.deepEqual(prices.body, { [yes]: { BUY: '0.4' }, [no]: { BUY: '0.58', SELL: '0.6' } })
  assert.equal((await request(`${venue.clob}/books`, { token_id: yes })).status, 400)
})

test('omits markets without trades from a batch of last trade prices', async () => {
  const market = marketAt(venue.world, 0)
  const both = [{ token_id: yes }, { token_id: no }]
  assert.deepEqual((await request(`${venue.clob}/last-trades-prices`, both)).body, [])
  venue.world.trade(market)
  assert.deepEqual((await request(`${venue.clob}/last-trades-prices`, both)).body, [
    { token_id: yes, price: '0.42', side: 'BUY' },
    { token_id: no, price: '0.42', side: 'BUY' },
  ])
})

test('returns no midpoint, price or spread when one side of the book is empty', async () => {
  const market = marketAt(venue.world, 1)
  venue.world.setLevels(market, ['bid', 0.4, 0], ['bid', 0.39, 0])
  const token = market.listing.tokens[0]
  assert.equal((await get(`/midpoint?token_id=${token}`)).status, 404)
  assert.equal((await get(`/price?token_id=${token}&side=BUY`)).status, 404)
  assert.deepEqual((await get(`/price?token_id=${token}&side=SELL`)).body, { price: '0.42' })
  assert.deepEqual(record((await get(`/book?token_id=${token}`)).body).bids, [])
})

test('starts market lists at the cursor `MA==` and ends the lists with the cursor `LTE=`', async () => {
  venue.world.addEvent(2_005)
  for (const path of ['/markets', '/simplified-markets', '/sampling-markets']) {
    const seen = new Set<unknown>()
    let cursor = 'MA=='
    let pages = 0
    while (cursor !== 'LTE=' && pages < 10) {
      const body = record((await get(`${path}?next_cursor=${encodeURIComponent(cursor)}`)).body)
      for (const row of records(body.data)) seen.add(row.condition_id)
      assert.equal(body.count, records(body.data).length)
      cursor = String(body.next_cursor)
      pages += 1
    }
    assert.equal(pages, 3)
    assert.equal(seen.size, path === '/sampling-markets' ? 2_007 : 2_008)
  }
  assert.equal((await get('/markets?next_cursor=!!')).status, 400)
})

test('returns a market by condition id and by token id', async () => {
  const { nativeId } = marketAt(venue.world, 0).listing
  assert.equal(record((await get(`/markets/${nativeId}`)).body).condition_id, nativeId)
  assert.equal(record((await get(`/markets-by-token/${no}`)).body).condition_id, nativeId)
  assert.equal(record((await get(`/clob-markets/${nativeId}`)).body).mts, 0.01)
  assert.equal((await get('/markets/0x00')).status, 404)
  assert.equal((await get('/ok')).status, 200)
  assert.equal((await get('/time')).text, String(venue.clock.nowMs() / 1000))
})

test('returns one price per time step: the price of the last trade in the step, or the fair price', async () => {
  const nowS = venue.clock.nowMs() / 1000
  const trade = venue.world.trade(marketAt(venue.world, 0), { price: price(0.42) })
  const range = `startTs=${nowS - 7_200}&endTs=${nowS}&fidelity=60`
  const history = async (token: string) => {
    const body = record((await get(`/prices-history?market=${token}&${range}`)).body)
    return records(body.history).map((point) => [point.t, point.p])
  }
  assert.equal(trade.atMs, nowS * 1000)
  assert.deepEqual(await history(yes), [
    [nowS - 7_200, 0.4],
    [nowS - 3_600, 0.4],
    [nowS, 0.42],
  ])
  assert.deepEqual((await history(no)).at(-1), [nowS, 0.58])
})

test('refuses a price history range over 15 days, and accepts the named intervals of the venue', async () => {
  const nowS = venue.clock.nowMs() / 1000
  const long = await get(
    `/prices-history?market=${yes}&startTs=${nowS - 16 * 86_400}&endTs=${nowS}`,
  )
  assert.equal(long.status, 400)
  assert.match(String(record(long.body).error), /interval is too long/)
  const count = async (query: string) =>
    records(record((await get(`/prices-history?market=${yes}&${query}`)).body).history).length
  assert.equal(await count('interval=1h'), 61)
  assert.equal(await count('interval=1d&fidelity=60'), 25)
  assert.equal(await count('interval=max&fidelity=1440'), 9)
  assert.ok((await count('interval=max&fidelity=1')) <= 25_000)
  assert.equal((await get(`/prices-history?market=${yes}&interval=2y`)).status, 400)
  assert.equal((await get('/prices-history')).status, 400)
  assert.deepEqual((await get('/prices-history?market=1&interval=1h')).body, { history: [] })
})
