import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, type StubMarket } from '../../../../support/worlds/stub-world.ts'

const POSITION = 0x01_4e5a_37c1_9b02_d86f_44aa_07be_9135_dc00_0000_0000_0000_0000_0000_0000_0000n
const POSITIONS = [String(POSITION), String(POSITION + 1n)] as const
const PADDED = `0x${POSITION.toString(16).padStart(64, '0')}`
const SHORT = PADDED.slice(0, -2)

let venue: StubVenue
let old: StubMarket
let fresh: StubMarket

before(async () => {
  venue = await startStubVenue()
  venue.world.addEvent(1)
  venue.world.addEvent(1, {}, { isV2: true, nativeId: PADDED, tokens: POSITIONS })
  old = marketAt(venue.world, 0)
  fresh = marketAt(venue.world, 1)
})
after(() => venue.stop())

const body = async (url: string) => record((await request(url)).body)
const listed = async (id: string) =>
  records((await request(`${venue.gamma}/markets?condition_ids=${id}`)).body)

test('lists each market of the Gamma API with the fields of the market’s protocol version', async () => {
  const [one] = await listed(old.listing.nativeId)
  assert.deepEqual([one?.version, one?.conditionId], ['v1', old.listing.nativeId])
  assert.deepEqual(JSON.parse(String(one?.clobTokenIds)), old.listing.tokens)
  assert.ok(one !== undefined && !('positionIds' in one) && !('resolutionStatus' in one))
  const [two] = await listed(SHORT)
  assert.deepEqual([two?.version, two?.conditionId], ['v2', SHORT])
  assert.deepEqual([two?.clobTokenIds, two?.positionIds], [null, POSITIONS])
  assert.deepEqual(await listed(PADDED), [])
  assert.ok(two !== undefined && !('umaResolutionStatuses' in two))
  const texts: unknown[] = []
  for (const status of ['unopened', 'open', 'closed', 'determined', 'resolved'] as const) {
    fresh.status = status
    const [row] = await listed(SHORT)
    texts.push(row?.resolutionStatus)
    assert.ok(row !== undefined && !('umaResolutionStatus' in row))
  }
  fresh.status = 'open'
  assert.deepEqual(texts, ['inactive', 'active', 'active', 'active', 'resolved'])
})

test('returns a protocol v2 market from the CLOB API by its padded id and by no other id', async () => {
  const terms = await body(`${venue.clob}/clob-markets/${PADDED}`)
  assert.deepEqual([terms.c, terms.v, terms.mts, terms.mos], [PADDED, 'v2', 0.01, 5])
  assert.deepEqual(terms.t, [
    { t: POSITIONS[0], o: 'Yes' },
    { t: POSITIONS[1], o: 'No' },
  ])
  assert.deepEqual(terms.fd, { r: 0.07, e: 1, to: true })
  assert.equal((await body(`${venue.clob}/clob-markets/${old.listing.nativeId}`)).v, 'v1')
  const refused = await request(`${venue.clob}/clob-markets/${SHORT}`)
  assert.deepEqual([refused.status, refused.body], [404, { error: 'market not found' }])
  const book = await body(`${venue.clob}/book?token_id=${POSITIONS[1]}`)
  assert.deepEqual([book.market, book.asset_id, book.version], [PADDED, POSITIONS[1], 'v2'])
  assert.ok(!('version' in (await body(`${venue.clob}/book?token_id=${old.listing.tokens[0]}`))))
  const requested = [{ token_id: POSITIONS[0] }, { token_id: old.listing.tokens[0] }]
  const books = records((await request(`${venue.clob}/books`, requested)).body)
  assert.deepEqual(
    books.map(({ version }) => version),
    ['v2', undefined],
  )
})

test('uses padded condition ids and position ids on the streams and in the Data API', async () => {
  const reader = await venue.market()
  const tokens = [POSITIONS[0], old.listing.tokens[0]]
  reader.send({ assets_ids: tokens, type: 'market', custom_feature_enabled: true })
  const books = records(await reader.nextJson())
  assert.deepEqual(
    books.map(({ market, asset_id, version }) => [market, asset_id, version]),
    [
      [PADDED, POSITIONS[0], 'v2'],
      [old.listing.nativeId, old.listing.tokens[0], undefined],
    ],
  )
  venue.world.setLevels(fresh, ['bid', 0.41, 7])
  const change = record(await reader.nextJson())
  assert.equal(change.market, PADDED)
  assert.deepEqual(
    records(change.price_changes).map(({ asset_id }) => asset_id),
    POSITIONS,
  )
  await reader.drain()
  venue.world.setStatus(fresh, 'open', 'opened')
  const frames = (await reader.drain()).map((frame) => record(JSON.parse(frame)))
  const announced = frames.find(({ event_type }) => event_type === 'new_market')
  assert.deepEqual([announced?.market, announced?.condition_id], [PADDED, PADDED])
  assert.deepEqual([announced?.clob_token_ids, announced?.assets_ids], [POSITIONS, POSITIONS])
  assert.ok(announced !== undefined && !('version' in announced))
  venue.world.trade(fresh)
  const rows = async (id: string) =>
    records((await body(`${venue.data}/v2/trades?condition=${id}`)).data)
  const [row] = await rows(PADDED)
  assert.deepEqual([row?.condition_id, row?.token_id], [PADDED, POSITIONS[0]])
  reader.close()
})
