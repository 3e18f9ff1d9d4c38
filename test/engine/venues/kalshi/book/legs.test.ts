import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Legs } from '../../../../../engine/venues/kalshi/book/legs.ts'
import type { LevelText, OrderbookSnapshot } from '../../../../../engine/venues/kalshi/messages.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'

const book = (yes: readonly LevelText[], no: readonly LevelText[]): OrderbookSnapshot => ({
  ...{ kind: 'orderbookSnapshot', sid: 1, seq: 1, ticker: 'A', yes, no },
})

function openLegs(restBook: OrderbookSnapshot | null) {
  const drift = quietDrift('b')
  const at = { nowMs: 0, requestCount: 0, flips: 0, restBook }
  const legs = new Legs({
    nowMs: () => at.nowMs,
    drift,
    fetchBook: async () => {
      at.requestCount += 1
      return at.restBook
    },
    onFlip: () => {
      at.flips += 1
    },
  })
  const note = async (snapshot: OrderbookSnapshot) => {
    const read = legs.read(snapshot)
    assert.ok(read.kind === 'orderbookSnapshot')
    legs.noteSnapshot(read)
    await nextTurn()
    at.nowMs += 60_000
    return read
  }
  const found = () => drift.entries().map(({ kind, name }) => `${kind}=${name}`)
  return { legs, at, note, found }
}

const YES: readonly LevelText[] = [['0.6000', '10.00']]
const OWN = book(YES, [['0.3800', '5.00']])
const OTHER = book(YES, [['0.6200', '5.00']])

test('converts No prices of a book snapshot when REST shows that the snapshot quotes them as Yes prices', async () => {
  const { legs, at, note, found } = openLegs(OWN)
  await note(OWN)
  assert.deepEqual([at.requestCount, at.flips], [0, 0])
  await note(OTHER)
  assert.deepEqual([at.requestCount, at.flips, found()], [1, 1, ['ws.use_yes_price=flipped']])
  const read = await note(OTHER)
  assert.deepEqual(read.no, [['0.3800', '5.00']])
  const delta = { kind: 'orderbookDelta', sid: 1, seq: 2, ticker: 'A', delta: '1.00' } as const
  const no = legs.read({ ...delta, side: 'no', price: '0.6200', timeMs: null })
  assert.equal(no.kind === 'orderbookDelta' && no.price, '0.3800')
  const yes = legs.read({ ...delta, side: 'yes', price: '0.6000', timeMs: null })
  assert.equal(yes.kind === 'orderbookDelta' && yes.price, '0.6000')
  await note(OWN)
  assert.equal(at.flips, 2, 'converted back')
  assert.deepEqual((await note(OWN)).no, OWN.no)
})

test('does not convert a crossed book that differs from REST in both forms, and compares the book a second time later', async () => {
  const crossed = book(YES, [['0.4500', '5.00']])
  const { at, note, found, legs } = openLegs(crossed)
  await note(crossed)
  legs.noteSnapshot(crossed)
  at.nowMs += 1_000
  legs.noteSnapshot(crossed)
  await nextTurn()
  assert.equal(at.requestCount, 2, 'half a minute between two checks')
  at.nowMs += 60_000
  at.restBook = OWN
  await note(crossed)
  at.restBook = null
  await note(crossed)
  assert.deepEqual([at.flips, at.requestCount], [0, 4])
  assert.deepEqual(found(), ['book.crossed=over REST too', 'book.crossed=on the stream alone'])
})
