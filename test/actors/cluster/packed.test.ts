import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CachedBlocks, inBlocks, takeBlocks } from '../../../actors/cluster/packed.ts'
import { isItem, type RawItem, unpackAll } from '../../../engine/cluster/batch.ts'
import { encoded } from '../../../engine/msgpack-writer.ts'
import { type LogItem, writeItem } from '../../../storage/records/log-items.ts'
import { countTicks } from '../../support/fakes/loop-ticks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { marketRef } from '../../support/worlds/builders.ts'

/** Encodes and decodes items like a checkpoint. */
const raw = (items: Iterable<LogItem>) =>
  [...items].flatMap((item) =>
    (unpackAll(encoded((to) => writeItem(to, item))) ?? []).filter(isItem),
  )

async function taken(items: readonly RawItem[], onItem = () => {}): Promise<readonly RawItem[]> {
  const all: RawItem[] = []
  await takeBlocks(items, new ManualClock(), (item) => {
    all.push(item)
    onItem()
  })
  return all
}

const textOf = (market: number, text: string): LogItem => ({ kind: 'text', market, from: 0, text })

test('reads items and blocks of a checkpoint in order, and rejects the checkpoint when a block is damaged', async () => {
  const items = Array.from({ length: 1_000 }, (_, number) => textOf(number, `rules ${number}`))
  const last: LogItem = { kind: 'unmatched', market: 7 }
  const blocks = [...inBlocks(items)]
  assert.ok(blocks.length > 1 && blocks.length < 20)
  assert.deepEqual(await taken(raw([...blocks, last])), raw([...items, last]))
  for (const packed of [Buffer.from('no block'), Buffer.alloc(0)]) {
    await assert.rejects(taken(raw([...blocks, { kind: 'packed', packed, texts: null }])))
  }
})

test('rebuilds a checkpoint block after a change of a market in the block, and omits removed markets', async () => {
  const markets = new Map(
    Array.from({ length: 300 }, (_, number) => [number, { ref: marketRef(`m${number}`, number) }]),
  )
  const requested: number[] = []
  let text = 'first'
  const stored = new CachedBlocks(
    (number) => markets.get(number) ?? null,
    ({ ref }: { ref: ReturnType<typeof marketRef> }) => {
      requested.push(ref.number)
      return [textOf(ref.number, text)]
    },
  )
  const texts = async () =>
    (await taken(raw(stored.blocks(markets.values())))).map(([, number, , published]) => [
      number,
      published,
    ])
  const all = [...markets.keys()]
  assert.deepEqual(
    await texts(),
    all.map((number) => [number, 'first']),
  )
  assert.deepEqual(requested.splice(0), all)
  await texts()
  assert.equal(requested.length, 0, 'no text is requested without a change')
  text = 'second'
  const [touched, removed] = [markets.get(2), markets.get(299)]
  assert.ok(touched !== undefined && removed !== undefined)
  stored.touch(touched)
  stored.touch(removed)
  markets.delete(299)
  const now = new Map((await texts()).map(([number, published]) => [number, published]))
  assert.equal(now.get(2), 'second')
  assert.equal(now.get(200), 'first', 'an unchanged block returns its earlier text')
  assert.equal(now.size, 299)
  assert.ok(requested.includes(2) && !requested.includes(200) && requested.includes(298))
})

test('yields to the event loop while it builds the blocks of a large checkpoint', async () => {
  const clock = new ManualClock()
  const items = raw(inBlocks(Array.from({ length: 2_000 }, (_, number) => textOf(number, 'text'))))
  const loop = countTicks()
  await takeBlocks(items, clock, () => clock.advance(1))
  loop.stop()
  assert.ok(loop.count() >= items.length - 1, `${loop.count()} turns`)
})
