// Tests @polymarket/client 0.2.0 with six simulated hours of the market stream, because openings, results and tick
// changes are rare.

import assert from 'node:assert/strict'
import { register } from 'tsx/esm/api'
import { check, finish, sleep } from './harness.mjs'
import { clientOf, frames, refused } from './polymarket-sdk.mjs'

register()
const { startSimulator } = await import('../../../engine/venues/simulator/simulator.ts')
const { silentLog } = await import('../../../engine/process/log.ts')

const HOURS = 6
const STEP_MS = 2_000
const EVENTS_MIN = 20
const KINDS = [
  'best_bid_ask',
  'book',
  'last_trade_price',
  'market_resolved',
  'new_market',
  'price_change',
  'tick_size_change',
]

let nowMs = Date.now()
const never = () => () => {}
const simulator = await startSimulator({
  seed: 1,
  marketsPerVenue: 2_000,
  messagesPerSecond: 20,
  faults: ['tick_size', 'one_sided', 'empty_book'],
  clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: never, every: never },
  log: silentLog,
  basePort: 0,
  kalshiPublicKeyPem: null,
})
const { world, urls } = simulator
const seen = new Map()
/** The first event of each token must be a book. */
const firstOf = new Map()
const soon = new Set()

await check('six hours of the market stream', async () => {
  const markets = world.markets('a').filter(({ status }) => status !== 'resolved')
  const tokenIds = markets.flatMap(({ listing }) => listing.tokens)
  for (const { status, listing } of markets) if (status === 'unopened') soon.add(listing.tokens[0])
  // The simulator changes ticks only in books that a client has read.
  for (const { book } of markets) assert.ok(book.bids)
  const handle = await clientOf(urls).subscribe([
    { topic: 'market', tokenIds, customFeatureEnabled: true },
  ])
  void (async () => {
    for await (const { type, payload } of handle) {
      seen.set(type, (seen.get(type) ?? 0) + 1)
      const { tokenId } = payload
      if (tokenId !== undefined && !firstOf.has(tokenId)) firstOf.set(tokenId, type)
    }
  })()
  await sleep(500)
  for (let step = 0; step < (HOURS * 3_600_000) / STEP_MS; step += 1) {
    nowMs += STEP_MS
    world.step()
    if (step % 20 === 0) await sleep(1)
  }
  await sleep(1_000)
  for (const kind of KINDS) assert.ok((frames.get(kind) ?? 0) >= EVENTS_MIN, kind)
  return [...frames]
    .sort()
    .map(([type, count]) => `${type} ${count}`)
    .join(', ')
})
await check('the SDK takes every message', async () => {
  assert.deepEqual([...seen].sort(), [...frames].sort())
  assert.deepEqual(refused, [], 'nor do @polymarket/bindings 0.10.0 refuse one')
  return `${[...seen.values()].reduce((sum, count) => sum + count, 0)} messages`
})
await check('markets subscribed before they open begin with their book', async () => {
  const opened = [...soon].filter((token) => firstOf.has(token))
  assert.ok(opened.length >= EVENTS_MIN)
  for (const token of opened) assert.equal(firstOf.get(token), 'book')
  return `${opened.length} of ${soon.size} opened`
})

finish('@polymarket/client 0.2.0, lifecycle')
