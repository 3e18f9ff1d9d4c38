// Kept answers against answers written anew, on real market actors under random events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bookTemplate, fillBook, PLAIN_BOOK } from '../../../http/records/books.ts'
import { MarketAnswerCache } from '../../../http/records/market-answer-cache.ts'
import { MarketRecords } from '../../../http/records/markets.ts'
import { fillPrice, priceTemplate } from '../../../http/records/prices.ts'
import { level, snapshot } from '../../support/worlds/builders.ts'
import { openMarkets, someMessage } from '../../support/worlds/moved-markets.ts'

const EPOCH = 'k3f9c2'

for (const seed of [1, 2, 3]) {
  test(`returns cached answers equal to freshly written answers after random market changes (seed ${seed})`, () => {
    const { random, clock, markets, matches } = openMarkets(seed)
    const hot = new MarketAnswerCache({ epoch: EPOCH })
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
        assert.equal(price, fillPrice(priceTemplate(view), nowMs), `price, step ${step}`)
        const plain = fillBook(bookTemplate(view, JSON.stringify(EPOCH), PLAIN_BOOK), nowMs)
        assert.equal(book, plain, `book, step ${step}`)
        assert.equal(record, new MarketRecords(matches).text(view, nowMs), `record, step ${step}`)
        assert.equal(Buffer.from(records.encoded(view, nowMs)).toString(), record)
      }
    }
  })
}

test('does not read the market again while nothing changes', () => {
  const { clock, markets, matches } = openMarkets(9)
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
  const hot = new MarketAnswerCache({ epoch: EPOCH })
  const records = new MarketRecords(matches)
  const ask = () => {
    const nowMs = clock.nowMs()
    return [hot.price(view, nowMs), hot.book(view, nowMs), records.text(view, nowMs)]
  }
  const [, before] = ask()
  const requested = lookCount
  assert.ok(requested > 0)
  clock.advance(5_000)
  const [price, book] = ask()
  assert.equal(lookCount, requested)
  assert.match(price ?? '', new RegExp(`"at_time":${Math.ceil(clock.nowMs() / 1000)},`))
  assert.match(before ?? '', /"age_ms":10\}$/)
  assert.match(book ?? '', /"age_ms":5010\}$/)
})
