import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeMs } from '../../../engine/units.ts'
import type { StoredMatch, StoredOverride } from '../../../storage/contract/matches.ts'
import { NOON_MS } from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

function match(a: number, set: Partial<StoredMatch> = {}): StoredMatch {
  return {
    ...{ a, b: a + 1, matchedAtMs: timeMs(NOON_MS), score: 97.5, relation: 'identical' },
    ...{ inverted: false, outcomeMap: [0, 1], vetoes: [], reasons: ['same game'] },
    explanation: 'The same question: “same game”.',
    ...set,
  }
}

export function matchContract({ open, settle }: StorageUnderTest): void {
  test('stores every field of a match, and replaces and removes the match by its market at venue a', async () => {
    let storage = await open()
    const rows = [
      match(1),
      match(3, { inverted: null, outcomeMap: null, vetoes: ['other_date', 'containment'] }),
      match(5, { inverted: true, outcomeMap: [1, 0], reasons: [], score: 0, explanation: '' }),
    ]
    for (const row of rows.toReversed()) storage.matches.put(row)
    storage = await settle(storage)
    assert.deepEqual([...storage.matches.all()], rows)
    storage.matches.put(match(1, { b: 9 }))
    storage.matches.remove(3)
    storage.matches.remove(77)
    storage = await settle(storage)
    assert.deepEqual([...storage.matches.all()], [match(1, { b: 9 }), rows[2]])
  })

  test('stores, replaces and removes an override of two market ids or two event families, even if the markets are unknown', async () => {
    let storage = await open()
    const term = (
      a: string,
      b: string,
      reported: StoredOverride['decision'] = 'confirmed',
      on: StoredOverride['on'] = 'pair',
    ): StoredOverride => ({
      ...{ on, a, b, decision: reported },
      atMs: timeMs(NOON_MS),
    })
    const long = term('0x1', 'K'.repeat(900))
    const family = term('0x1', 'KX-1', 'rejected', 'family')
    for (const result of [term('0x1', 'KX-1'), term('0x1', 'KX-2'), long, family]) {
      await storage.matchOverrides.put(result)
    }
    storage = await settle(storage)
    await storage.matchOverrides.put(term('0x1', 'KX-1', 'rejected'))
    await storage.matchOverrides.remove(term('0x1', 'KX-2'))
    await storage.matchOverrides.remove(term('0x9', 'KX-9'))
    await storage.matchOverrides.remove(term('0x1', 'KX-2', 'confirmed', 'family'))
    storage = await settle(storage)
    const retained = [...storage.matchOverrides.all()].sort(
      (one, other) =>
        Number(one.on === 'family') - Number(other.on === 'family') ||
        one.b.length - other.b.length,
    )
    assert.deepEqual(retained, [term('0x1', 'KX-1', 'rejected'), long, family])
  })
}
