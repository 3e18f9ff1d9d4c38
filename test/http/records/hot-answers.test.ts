// Kept answers against answers written anew, on real market actors under random events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketActor } from '../../../actors/market/market.ts'
import type { MarketMessage } from '../../../actors/market/parts.ts'
import { Matches } from '../../../actors/matches/matches.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { cutBook, PLAIN_BOOK, pastedBook } from '../../../http/records/books.ts'
import { HotAnswers } from '../../../http/records/hot-answers.ts'
import { MarketRecords } from '../../../http/records/markets.ts'
import { cutPrice, pastedPrice } from '../../../http/records/prices.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/twins/memory.ts'
import {
  change,
  level,
  listing,
  marketParts,
  NAMES,
  recordingPublisher,
  snapshot,
  trade,
} from '../../support/worlds/builders.ts'

const NAMED = ['Rain', 'Snow', 'Wind', 'Fog']
const EPOCH = 'k3f9c2'

function openWorld(seed: number) {
  const random = seededRandom(seed)
  const clock = new ManualClock()
  const storage = openMemoryStorage()
  const { publisher } = recordingPublisher()
  const { parts } = marketParts({ publisher, storage, nowMs: () => clock.nowMs() })
  const markets = NAMED.map((name, index) => {
    const venue = index < 2 ? 'a' : 'b'
    const { description, native, ...summary } = listing(name, { venue })
    const number = storage.markets.put({ description, native, ...summary })
    const { nativeId } = summary
    const ref = {
      id: NAMES.marketId(venue, nativeId),
      number,
      venue,
      platform: NAMES.platform(venue),
      nativeId,
    } as const
    return new MarketActor(ref, summary, parts)
  })
  return { random, clock, markets, matches: new Matches() }
}

let tradeCount = 0

/** Some message for a market, any kind. */
function someMessage(random: Random, market: MarketActor, nowMs: number): MarketMessage {
  const name = String(market.ref.nativeId)
  const { venue } = market.ref
  const at = { venue, venueTimeMs: timeMs(nowMs - random.below(50)), receivedAtMs: timeMs(nowMs) }
  const some = (low: number) => level((low + random.below(40)) / 100, 1 + random.below(9))
  switch (random.below(9)) {
    case 0:
      return snapshot(name, [some(1), some(1)], [some(51), some(51)], at)
    case 1:
      return { kind: 'void', reason: 'test' }
    case 2: {
      const status = random.pick(['open', 'closed', 'closed', 'open', 'resolved'] as const)
      const native = nativeMarketId(name)
      const settlementPrice = random.pick([null, level(1, 1).price])
      const isRare = status === 'resolved' && random.below(20) > 0
      return {
        kind: 'marketStatus',
        market: native,
        settlementPrice,
        ...at,
        status: isRare ? 'open' : status,
      }
    }
    case 3: {
      const volume24h = usdMicros(random.below(1_000_000))
      return { kind: 'summary', summary: { ...market.summary, volume24h } }
    }
    case 4:
      tradeCount += 1
      return trade(name, `t${tradeCount}`, { ...at, price: some(30).price })
    case 5:
      return { kind: 'lastPrice', outcome: outcomeId(`${name}-no`), price: some(30).price, ...at }
    case 6:
      return {
        kind: 'tickSize',
        keepsBook: false,
        outcome: outcomeId(`${name}-yes`),
        tickMicros: level(0.01, 1).price,
        ...at,
      }
    default: {
      const side = random.pick(['bid', 'ask'] as const)
      const { price, size } = some(side === 'bid' ? 1 : 51)
      const changes = [{ side, price, size: random.below(3) === 0 ? level(0, 0).size : size }]
      return change(name, changes, { ...at, mode: random.pick(['absolute', 'difference']) })
    }
  }
}

for (const seed of [1, 2, 3]) {
  test(`[HOT1] kept answers are those written anew, whatever happens to the markets (seed ${seed})`, () => {
    const { random, clock, markets, matches } = openWorld(seed)
    const hot = new HotAnswers({ epoch: EPOCH })
    const records = new MarketRecords(matches)
    for (let step = 0; step < 3_000; step += 1) {
      const market = random.pick(markets)
      const what = random.below(30)
      if (what === 0) matches.put(random.pick(markets.slice(0, 2)), random.pick(markets.slice(2)))
      else if (what === 1) matches.remove(market.ref)
      else if (what === 2) market.restart()
      else if (what < 8) clock.advance(random.pick([1, 20, 999, 30_000, 400_000]))
      else if (what === 8) market.tick(clock.nowMs())
      else if (what < 25) market.receive(someMessage(random, market, clock.nowMs()))
      const nowMs = clock.nowMs()
      for (const view of markets) {
        const price = hot.price(view, nowMs)
        const book = hot.book(view, nowMs)
        const record = records.text(view, nowMs)
        assert.equal(price, pastedPrice(cutPrice(view), nowMs), `price, step ${step}`)
        const plain = pastedBook(cutBook(view, JSON.stringify(EPOCH), PLAIN_BOOK), nowMs)
        assert.equal(book, plain, `book, step ${step}`)
        assert.equal(record, new MarketRecords(matches).text(view, nowMs), `record, step ${step}`)
      }
    }
  })
}

test('[HOT1] while nothing changes, nothing is asked of the market', () => {
  const { clock, markets, matches } = openWorld(9)
  const [market] = markets
  assert.ok(market !== undefined)
  market.receive(
    snapshot('Rain', [level(0.4, 1)], [level(0.45, 1)], { receivedAtMs: clock.nowMs() }),
  )
  clock.advance(10)
  let lookCount = 0
  const view = new Proxy(market, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      lookCount += 1
      return value.bind(target)
    },
  })
  const hot = new HotAnswers({ epoch: EPOCH })
  const records = new MarketRecords(matches)
  const ask = () => {
    const nowMs = clock.nowMs()
    return [hot.price(view, nowMs), hot.book(view, nowMs), records.text(view, nowMs)]
  }
  const [, before] = ask()
  const asked = lookCount
  assert.ok(asked > 0)
  clock.advance(5_000)
  const [price, book] = ask()
  assert.equal(lookCount, asked)
  assert.match(price ?? '', new RegExp(`"at_time":${Math.ceil(clock.nowMs() / 1000)},`))
  assert.match(before ?? '', /"age_ms":10\}$/)
  assert.match(book ?? '', /"age_ms":5010\}$/)
})
