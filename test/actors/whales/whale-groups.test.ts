import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type WhaleGroup, WhaleGroups } from '../../../actors/whales/whale-groups.ts'
import { whaleRetentionMs } from '../../../engine/limits.ts'
import { FillSum } from '../../../engine/whale.ts'
import { marketRef, NOON } from '../../support/worlds/builders.ts'
import { trade } from '../../support/worlds/stored.ts'

const SUM = new FillSum({
  trade: { ...trade('t'), ordinal: 0 },
  ...{ receivedAtMs: NOON, run: null, offset: null },
})

test('closes and evicts all groups of fills in order, however many groups existed before', () => {
  const groups = new WhaleGroups()
  const group = (number: number): WhaleGroup => ({
    ...{ market: marketRef('m'), key: `k${number}`, sum: SUM, dueAtMs: number, isOpen: true },
    ...{ isPartial: false, countedTo: 0, row: null },
  })
  for (let number = 0; number < 3_000; number += 1) {
    groups.add(group(number))
    assert.equal(groups.nextDueMs, number)
    assert.equal(groups.takeDue(number)?.key, `k${number}`)
    assert.equal(groups.takeDue(number), null)
    const forgotten = groups.evictOldest(number + whaleRetentionMs)
    assert.equal(forgotten?.key ?? null, number === 0 ? null : `k${number - 1}`)
    assert.equal(groups.count, 1)
  }
})
