import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BookWaits } from '../../actors/book-waits.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const waits = new BookWaits(clock)
  const ended: string[] = []
  const wait = (name: string, market: number, owner: string) =>
    waits.add(market, 2_000, owner).then(() => ended.push(name))
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { clock, waits, ended, wait, settle }
}

test('ends all waits for a market’s book when the book is live, and every other wait at its time limit', async () => {
  const { clock, waits, ended, wait, settle } = open()
  void wait('one', 1, 'ann')
  void wait('two', 1, 'bob')
  void wait('other', 2, 'ann')
  waits.end(1)
  await settle()
  assert.deepEqual(ended, ['one', 'two'])
  clock.advance(1_999)
  await settle()
  assert.equal(ended.length, 2)
  clock.advance(1)
  await settle()
  assert.deepEqual(ended, ['one', 'two', 'other'])
  assert.equal(clock.timerCount, 0)
})

test('allows at most 50 requests of one client and 1,000 requests in total to wait for books', async () => {
  const { clock, waits, ended, wait, settle } = open()
  for (let count = 0; count < 60; count += 1) void wait('ann', count, 'ann')
  await settle()
  assert.equal(ended.length, 10)
  for (let count = 0; count < 1_000; count += 1) void wait('many', count, `owner ${count}`)
  await settle()
  assert.equal(ended.length, 10 + 50)
  waits.stop()
  await settle()
  assert.equal(ended.length, 1_060)
  assert.equal(clock.timerCount, 0)
  void wait('again', 1, 'ann')
  await settle()
  assert.equal(ended.length, 1_060, 'ended waits no longer count')
})
