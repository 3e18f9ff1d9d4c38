import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  ArbitrageRefresh,
  LifecycleUpdate,
  PriceUpdate,
  WhaleUpdate,
} from '../../../engine/events.ts'
import { type OpportunityPeak, peakOf } from '../../../engine/opportunity.ts'
import { type PriceMicros, priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { answered } from '../../support/fakes/caller.ts'
import { listing, marketRef } from '../../support/worlds/builders.ts'
import { opportunity, publishedOpportunity } from '../../support/worlds/opportunities.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'
import { ALICE, settle, tradeUpdate, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const MINUTE = 60_000
const M = marketRef('Mixed-Case', 1)
const OTHER = { ...marketRef('other', 2_500), venue: 'b' } as const

function priceUpdate(
  world: WebhookWorld,
  price: number,
  set: Partial<PriceUpdate['price']> & { market?: PriceUpdate['market'] } = {},
): PriceUpdate {
  const { market = M, ...rest } = set
  const atMs = world.clock.nowMs()
  return {
    ...{ kind: 'price', market, offset: 1, seq: 1, venueTimeMs: atMs, receivedAtMs: atMs },
    price: {
      ...{ price: priceMicros(price * 10_000), source: 'midpoint', bid: null, ask: null },
      observedAtMs: atMs,
      ...rest,
    },
  }
}

function whaleUpdate(world: WebhookWorld, usd: number, ageMs = 150): WhaleUpdate {
  const { trade, ...rest } = tradeUpdate({
    market: M,
    atMs: world.clock.nowMs() - ageMs,
    nativeId: `w${usd}`,
    usd: usdMicros(usd * 1e6),
  })
  const named = { outcome: 'Yes', question: 'Q', slug: 's', eventSlug: 'e', category: 'Politics' }
  return { ...rest, kind: 'whale', whale: { ...trade, ...named, wallet: trade.taker, fills: 1 } }
}

function lifeUpdate(
  world: WebhookWorld,
  event: LifecycleUpdate['event'],
  set: Partial<LifecycleUpdate> & { settlement?: PriceMicros | null } = {},
): LifecycleUpdate {
  const { settlement = null, ...rest } = set
  const atMs = world.clock.nowMs()
  return {
    ...{ kind: 'lifecycle', market: M, offset: 1, seq: 1, venueTimeMs: atMs, receivedAtMs: atMs },
    event,
    facts: listing('m', { status: 'resolved', settlementPrice: settlement }),
    matchedMarket: null,
    ...rest,
  }
}

test('writes an event body once for all matching webhooks, and writes no body when no webhook matches', async () => {
  const world = new WebhookWorld()
  world.trade()
  assert.equal(world.bodies.count, 0)
  const rich = { ...NO_FILTERS, minUsd: usdMicros(1e9) }
  await world.create({ filters: rich })
  world.trade()
  assert.equal(world.bodies.count, 0)
  for (let count = 0; count < 5; count += 1) await world.create()
  world.trade()
  await settle()
  assert.equal(world.bodies.count, 1)
  assert.equal(world.caller.posts.length, 5)
  assert.equal(new Set(world.caller.posts.map(({ headers }) => headers['webhook-id'])).size, 1)
})

test('filters trade events by fields of the trade, of its market and of the catalogue, ignoring the case of ids', async () => {
  const world = new WebhookWorld()
  world.summaries.set(1, { eventSlug: 'the-event', category: 'Sports' })
  const published = async (filters: Partial<typeof NO_FILTERS>) => {
    const view = await world.create({ filters: { ...NO_FILTERS, ...filters } })
    const atMs = world.clock.nowMs()
    const update = tradeUpdate({ market: M, atMs, nativeId: view.id, maker: '0xMaker' })
    world.webhooks.watcher.onUpdate(update)
    const { created } = world.counts(view.id)
    await world.webhooks.remove(ALICE, view.id)
    return created === 1
  }
  assert.equal(await published({ marketIds: ['venue_a_mixed-case'] }), true)
  assert.equal(await published({ marketIds: ['venue_a_other'] }), false)
  assert.equal(await published({ wallets: ['0xmaker'] }), true)
  assert.equal(await published({ wallets: ['0xtaker'] }), true)
  assert.equal(await published({ wallets: ['0xnobody'] }), false)
  assert.equal(await published({ eventSlugs: ['the-event'], categories: ['Sports'] }), true)
  assert.equal(await published({ eventSlugs: ['another'] }), false)
  assert.equal(await published({ venue: 'a', side: 'buy', minUsd: usdMicros(20_000_000) }), true)
  assert.equal(await published({ venue: 'b' }), false)
  assert.equal(await published({ side: 'sell' }), false)
})

test('creates no second event when the same update arrives twice, even after a restart', async () => {
  const world = new WebhookWorld()
  const eventTypes = ['trade.created', 'market.resolved'] as const
  const view = await world.create({ eventTypes })
  const atMs = world.clock.nowMs()
  const notify = () => {
    world.webhooks.watcher.onUpdate(tradeUpdate({ market: M, atMs, nativeId: 'same' }))
    world.webhooks.watcher.onUpdate(lifeUpdate(world, 'resolved', { settlement: priceMicros(1) }))
  }
  notify()
  notify()
  await settle()
  await world.crash()
  notify()
  await settle()
  assert.equal(world.caller.posts.length, 2)
  assert.equal(world.counts(view.id).created, 2)
})

test('counts trade events and whale events older than 15 minutes instead of delivering the events', async () => {
  const world = new WebhookWorld()
  const view = await world.create({ eventTypes: ['trade.created', 'whale.alert'] })
  world.trade({ ageMs: 15 * MINUTE })
  world.webhooks.watcher.onUpdate(whaleUpdate(world, 9_000, 15 * MINUTE))
  assert.equal(world.counts(view.id).created, 0)
  world.trade({ ageMs: 15 * MINUTE - 1 })
  world.webhooks.watcher.onUpdate(whaleUpdate(world, 9_000, 15 * MINUTE - 1))
  assert.equal(world.counts(view.id).created, 2)
  const old = world.metrics.counts('webhook_events_too_old_total')
  assert.deepEqual(
    [...old.values()].map(({ value }) => value),
    [1, 1],
  )
})

test('compares a new price with the price last sent to the webhook, and sends no event for the first price', async () => {
  const world = new WebhookWorld()
  const fine = { ...NO_FILTERS, minChange: priceMicros(10_000) }
  const usual = await world.create({ eventTypes: ['price.changed'], url: 'https://example.com/u' })
  await world.create({ eventTypes: ['price.changed'], url: 'https://example.com/f', filters: fine })
  const notify = async (price: number, set = {}) => {
    world.webhooks.watcher.onUpdate(priceUpdate(world, price, set))
    await world.pass(1)
  }
  for (const price of [40, 41, 44, 45, 45, 49, 40]) await notify(price)
  await world.crash()
  for (const price of [44, 45]) await notify(price)
  const changes = (url: string) =>
    world.caller.to(url).map(({ body }) => {
      const { data } = JSON.parse(body)
      return `${data.base / 10_000} ${data.price / 10_000}`
    })
  assert.deepEqual(changes('https://example.com/u'), ['40 45', '45 40', '40 45'])
  assert.deepEqual(changes('https://example.com/f'), [
    '40 41',
    '41 44',
    '44 45',
    '45 49',
    '49 40',
    '40 44',
    '44 45',
  ])
  // An update without a price is ignored.
  await notify(90, { market: OTHER })
  await notify(50, { source: 'none' })
  assert.equal(world.counts(usual.id).created, 3)
  await notify(80, { market: OTHER })
  assert.equal(world.counts(usual.id).created, 4)
})

test('sends an event for each of several price changes within a millisecond', async () => {
  const world = new WebhookWorld()
  const view = await world.create({ eventTypes: ['price.changed'] })
  for (const price of [40, 50, 40, 50, 40, 50])
    world.webhooks.watcher.onUpdate(priceUpdate(world, price))
  await settle()
  const moves = world.caller.posts.map(({ body }) => JSON.parse(body).data.price / 10_000)
  assert.deepEqual(moves, [50, 40, 50, 40, 50])
  assert.equal(world.counts(view.id).created, 5)
  assert.equal(new Set(world.caller.posts.map(({ headers }) => headers['webhook-id'])).size, 5)
})

test('sends a trade once to each webhook that filters by one of the trade’s wallets, even if a wallet becomes known later', async () => {
  const world = new WebhookWorld()
  const of = (filters: Partial<typeof NO_FILTERS>, name: string) =>
    world.create({ url: `https://example.com/${name}`, filters: { ...NO_FILTERS, ...filters } })
  await of({ wallets: ['0xtaker', '0xone'] }, 'both')
  await of({ wallets: ['0xone', '0xother'] }, 'makers')
  await of({ wallets: ['0xother'], marketIds: [M.id] }, 'other')
  await of({ wallets: ['0xother'], minUsd: usdMicros(1e9) }, 'rich')
  await of({ takerWallets: ['0xone'] }, 'taker')
  await of({}, 'all')
  const atMs = world.clock.nowMs()
  const update = tradeUpdate({ market: M, atMs, nativeId: 't1', maker: null, taker: '0xTaker' })
  const complete = (wallet: string, existing: readonly string[]) =>
    world.webhooks.watcher.onCompletedTrade?.(M, update.trade, {
      role: 'maker',
      wallet,
      previousWallets: existing,
    })
  world.webhooks.watcher.onUpdate(update)
  complete('0xOne', ['0xTaker'])
  complete('0xOther', ['0xTaker', '0xOne'])
  await settle()
  await world.crash()
  complete('0xOne', ['0xTaker'])
  await settle()
  const published = ['both', 'makers', 'other', 'rich', 'taker', 'all'].map(
    (name) => world.caller.to(`https://example.com/${name}`).length,
  )
  assert.deepEqual(published, [1, 1, 1, 0, 0, 1])
})

test('sends a trade to webhooks that filter by taker when the trade’s taker becomes known later', async () => {
  const world = new WebhookWorld()
  const of = (filters: Partial<typeof NO_FILTERS>, name: string) =>
    world.create({ url: `https://example.com/${name}`, filters: { ...NO_FILTERS, ...filters } })
  await of({ takerWallets: ['0xtaker'] }, 'taker')
  await of({ wallets: ['0xtaker'] }, 'any')
  await of({ wallets: ['0xmaker'] }, 'maker')
  const atMs = world.clock.nowMs()
  const update = tradeUpdate({ market: M, atMs, nativeId: 't1', maker: '0xmaker', taker: null })
  world.webhooks.watcher.onUpdate(update)
  const counts = () =>
    ['taker', 'any', 'maker'].map((name) => world.caller.to(`https://example.com/${name}`).length)
  await settle()
  assert.deepEqual(counts(), [0, 0, 1])
  const existing = { role: 'taker', wallet: '0xtaker', previousWallets: ['0xmaker'] } as const
  const full = { ...update.trade, taker: '0xtaker' }
  for (let time = 0; time < 2; time += 1)
    world.webhooks.watcher.onCompletedTrade?.(M, full, existing)
  const old = { ...full, nativeId: 'old', timeMs: timeMs(atMs - 15 * MINUTE) }
  world.webhooks.watcher.onCompletedTrade?.(M, old, existing)
  await settle()
  assert.deepEqual(counts(), [1, 1, 1])
})

test('shares an event body between webhooks with the same base price, and deletes the base price of a removed market', async () => {
  const world = new WebhookWorld()
  for (let count = 0; count < 3; count += 1) await world.create({ eventTypes: ['price.changed'] })
  const { watcher } = world.webhooks
  watcher.onUpdate(priceUpdate(world, 40))
  watcher.onUpdate(priceUpdate(world, 60))
  assert.equal(world.bodies.count, 1)
  watcher.onMarketRemoved?.(M.number)
  watcher.onUpdate(priceUpdate(world, 90))
  await settle()
  assert.equal(world.caller.posts.length, 3)
})

test('sends one webhook event for each settlement of a market', async () => {
  const world = new WebhookWorld()
  const view = await world.create({ eventTypes: ['market.resolved'] })
  const { watcher } = world.webhooks
  watcher.onUpdate(lifeUpdate(world, 'closed'))
  watcher.onUpdate(lifeUpdate(world, 'resolved'))
  watcher.onUpdate(lifeUpdate(world, 'resolved'))
  watcher.onUpdate(lifeUpdate(world, 'settled', { settlement: priceMicros(0) }))
  assert.equal(world.counts(view.id).created, 2)
  watcher.onUpdate(lifeUpdate(world, 'settled', { settlement: priceMicros(0) }))
  assert.equal(world.counts(view.id).created, 2)
})

test('sends one event for a matched pair to each webhook that filters by either market', async () => {
  const world = new WebhookWorld()
  const of = (id: string) =>
    world.create({
      eventTypes: ['match.created'],
      filters: { ...NO_FILTERS, marketIds: [id.toLowerCase()] },
    })
  const any = await world.create({ eventTypes: ['match.created'] })
  const views = [any, await of(M.id), await of(OTHER.id)]
  const none = await of('venue_a_third')
  const { watcher } = world.webhooks
  watcher.onUpdate(lifeUpdate(world, 'matched', { matchedMarket: OTHER }))
  watcher.onUpdate(lifeUpdate(world, 'matched', { market: OTHER, matchedMarket: M }))
  watcher.onUpdate(lifeUpdate(world, 'unmatched', { matchedMarket: OTHER }))
  await settle()
  for (const { id } of views) assert.equal(world.counts(id).created, 1)
  assert.equal(world.counts(none.id).created, 0)
  assert.equal(new Set(world.caller.posts.map(({ headers }) => headers['webhook-id'])).size, 1)
})

test('sends whale events from 5,000 dollars, or from the minimum that the webhook sets', async () => {
  const world = new WebhookWorld()
  const usual = await world.create({ eventTypes: ['whale.alert'] })
  const rich = { ...NO_FILTERS, minUsd: usdMicros(10_000_000_000), categories: ['Politics'] }
  const choosy = await world.create({ eventTypes: ['whale.alert'], filters: rich })
  for (const usd of [4_999, 5_000, 10_000]) {
    world.webhooks.watcher.onUpdate(whaleUpdate(world, usd))
  }
  assert.equal(world.counts(usual.id).created, 2)
  assert.equal(world.counts(choosy.id).created, 1)
})

test('sends a whale event when the whale reaches the webhook’s minimum, even below the minimum of the public stream', async () => {
  const world = new WebhookWorld()
  const of = (usd: number) =>
    world.create({
      eventTypes: ['whale.alert'],
      filters: { ...NO_FILTERS, minUsd: usdMicros(usd * 1e6) },
    })
  const views = [await of(1_000), await of(5_000), await of(10_000)]
  const counts = () => views.map(({ id }) => world.counts(id).created)
  const grown = (usd: number) => {
    const { whale, receivedAtMs } = whaleUpdate(world, usd)
    const row = { run: null, offset: null, seq: null, receivedAtMs, ordinal: 0 }
    world.webhooks.onWhaleRow(M, { ...whale, ...row, nativeId: 'first' })
  }
  grown(1_500)
  assert.deepEqual(counts(), [1, 0, 0])
  const { whale, ...update } = whaleUpdate(world, 6_000)
  world.webhooks.watcher.onUpdate({ ...update, whale: { ...whale, nativeId: 'first' } })
  assert.deepEqual(counts(), [1, 1, 0])
  grown(12_000)
  grown(13_000)
  assert.deepEqual(counts(), [1, 1, 1])
})

test('sends an opportunity when it reaches a webhook’s minimums, and later its end to the same webhooks', async () => {
  const world = new WebhookWorld()
  const eventTypes = ['arbitrage.opened', 'arbitrage.closed'] as const
  const of = (filters: Partial<typeof NO_FILTERS>) =>
    world.create({ eventTypes, filters: { ...NO_FILTERS, ...filters } })
  const views = {
    any: await of({}),
    first: await of({ marketIds: [M.id.toLowerCase()] }),
    second: await of({ marketIds: [OTHER.id.toLowerCase()], minAgeMs: 500 }),
    venue: await of({ venue: 'b', minProfit: usdMicros(10_000_000) }),
    edge: await of({ minEdge: priceMicros(60_000) }),
    lasting: await of({ minAgeMs: 1_000 }),
    other: await of({ marketIds: ['venue_a_third'] }),
  }
  const counts = () =>
    Object.entries(views)
      .map(([name, { id }]) => [name, world.counts(id).created] as const)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name} ${count}`)
      .join()
  const { watcher } = world.webhooks
  let before: ArbitrageRefresh['previousPeak'] = null
  /** `profit` is in dollars, and `ageMs` counts from the opening. */
  const notify = (ageMs: number, dollars: number, event: ArbitrageRefresh['event'] | 'lasting') => {
    const profit = usdMicros(dollars * 1_000_000)
    const one = opportunity([M, OTHER], { profit })
    const atMs = timeMs(one.openedAtMs + ageMs)
    const peak: OpportunityPeak =
      event === 'closed' && before !== null ? before : peakOf(one, before, atMs)
    const published = { receivedAtMs: atMs, venueTimeMs: atMs, peak, previousPeak: before }
    const reason = event === 'closed' ? 'prices' : null
    before = peak
    if (event === 'lasting') {
      watcher.onArbitrageRefresh?.(publishedOpportunity(one, { ...published, event: 'changed' }))
      return
    }
    const update = publishedOpportunity(one, { ...published, event, reason })
    watcher.onUpdate({ ...update, offset: 1, seq: 1 })
  }
  notify(0, 5, 'opened')
  assert.equal(counts(), 'any 1,first 1')
  notify(250, 5, 'lasting')
  notify(300, 12, 'changed')
  assert.equal(counts(), 'any 1,first 1,venue 1,edge 1')
  notify(500, 1, 'lasting')
  notify(750, 1, 'lasting')
  assert.equal(counts(), 'any 1,first 1,second 1,venue 1,edge 1')
  notify(999, 1, 'closed')
  assert.equal(counts(), 'any 2,first 2,second 2,venue 2,edge 2')
  await settle()
  // Both events have one id for all webhooks.
  const ids = () => new Set(world.caller.posts.map(({ headers }) => headers['webhook-id']))
  assert.equal(world.caller.posts.length, 10)
  assert.equal(ids().size, 2)
  before = null
  notify(0, 5, 'opened')
  await settle()
  assert.equal(world.caller.posts.length, 10)
})

test('measures the latency of a whale event from the time when the whale’s group of fills closed', async () => {
  const world = new WebhookWorld()
  await world.create({ eventTypes: ['whale.alert'] })
  world.caller.answer = () => answered(200)
  world.webhooks.watcher.onUpdate(whaleUpdate(world, 9_000, 170))
  await settle()
  const text = await world.metrics.registry.metrics()
  assert.match(text, /webhook_event_to_send_ms_sum 20\n/)
  assert.equal(world.caller.posts[0]?.atMs, timeMs(world.clock.nowMs()))
})
