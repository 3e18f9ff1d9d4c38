import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CachedBlocks, type PackedTexts, takeBlocks } from '../../../actors/cluster/packed.ts'
import { MirrorDescriptions } from '../../../actors/mirror/descriptions.ts'
import { isItem, unpackAll } from '../../../engine/cluster/batch.ts'
import { encoded } from '../../../engine/msgpack-writer.ts'
import { writeItem } from '../../../storage/records/log-items.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { marketRef } from '../../support/worlds/builders.ts'

const MARKETS = Array.from({ length: 300 }, (_, number) => ({
  ref: marketRef(`m${number}`, number),
}))

/** Encodes and decodes descriptions like a checkpoint. */
async function packedTexts(): Promise<readonly PackedTexts[]> {
  const stored = new CachedBlocks(
    (number) => MARKETS[number] ?? null,
    ({ ref: { number } }: (typeof MARKETS)[number]) => [
      { kind: 'text', market: number, from: 0, text: `rules ${number}` },
    ],
    true,
  )
  const items = [...stored.blocks(MARKETS)].flatMap((item) =>
    (unpackAll(encoded((to) => writeItem(to, item))) ?? []).filter(isItem),
  )
  const all: PackedTexts[] = []
  const refuse = () => assert.fail('every block has texts alone')
  await takeBlocks(items, new ManualClock(), refuse, (texts) => all.push(texts))
  return all
}

test('retains a checkpoint’s market descriptions compressed until the first request, and returns a later description instead', async () => {
  let damagedCount = 0
  const texts = new MirrorDescriptions(() => {
    damagedCount += 1
  })
  for (const block of await packedTexts()) texts.addBlock(block)
  texts.take({ kind: 'text', market: 7, from: 0, text: 'sent later' })
  texts.take({ kind: 'text', market: 7, from: 5, text: 'and in parts' })
  texts.remove(8)
  texts.take({ kind: 'text', market: 9, from: 0, text: '' })
  const expected = MARKETS.map(({ ref: { number } }) =>
    number === 7 ? 'sent and in parts' : number === 8 || number === 9 ? null : `rules ${number}`,
  )
  assert.deepEqual(
    MARKETS.map(({ ref }) => texts.of(ref.number)),
    expected,
  )
  assert.equal(texts.of(1_000), null)
  assert.equal(damagedCount, 0)
})

test('reports an unreadable block of descriptions once and reads the remaining blocks', async () => {
  let damagedCount = 0
  const texts = new MirrorDescriptions(() => {
    damagedCount += 1
  })
  const [first, second] = await packedTexts()
  assert.ok(first !== undefined && second !== undefined)
  texts.addBlock({ ...first, packed: Buffer.from('no block') })
  texts.addBlock(second)
  assert.equal(texts.of(second.from), `rules ${second.from}`)
  assert.equal(damagedCount, 0, 'the first block was not requested')
  assert.equal(texts.of(3), null)
  assert.equal(texts.of(3), null)
  assert.equal(damagedCount, 1)
})
