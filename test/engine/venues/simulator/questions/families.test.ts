// Every family of questions by itself: variants do not repeat, and each trap shows in the words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeMs } from '../../../../../engine/units.ts'
import type { SimPairKind } from '../../../../../engine/venues/simulator/model.ts'
import { FAMILIES } from '../../../../../engine/venues/simulator/questions/families.ts'
import type {
  EventDraft,
  Variant,
  View,
} from '../../../../../engine/venues/simulator/questions/question.ts'

const SIZE = { seed: 1, marketsPerVenue: 2000 }
const NOW = Date.parse('2026-11-20T12:00:00Z')

test('defines family shares that sum to 1 and variants with distinct keys', () => {
  const shares = FAMILIES.reduce((sum, { share }) => sum + share, 0)
  assert.ok(Math.abs(shares - 1) < 1e-9, `${shares}`)
  const keys = new Set<string>()
  for (const family of FAMILIES) {
    for (let ordinal = 0; ordinal < 300; ordinal += 1) {
      const variant = family.variant(ordinal, SIZE)
      if (variant === null) break
      assert.ok(!keys.has(variant.key), variant.key)
      keys.add(variant.key)
    }
  }
  const last = FAMILIES[FAMILIES.length - 1]
  assert.deepEqual(last?.variant(90_000, SIZE)?.counts, { a: 1, b: 1 })
})

test('drafts the planned number and kind of markets for each variant', () => {
  for (const variant of variants()) {
    for (const venue of ['a', 'b'] as const) {
      const markets = ask(variant, 'same', venue).flatMap((event) => event.markets)
      assert.equal(markets.length, variant.counts[venue], variant.key)
      const questions = new Set(markets.map(({ questionKey }) => questionKey))
      assert.equal(questions.size, variant.questions[venue], variant.key)
    }
  }
})

test('changes the property that each decoy kind of a variant names', () => {
  let checked = 0
  for (const variant of variants()) {
    const plain = ask(variant, 'same', 'b')
    for (const trap of variant.traps) {
      const trapped = ask(variant, trap, 'b')
      const [left, right] = [plain.flatMap(marketsOf), trapped.flatMap(marketsOf)]
      assert.equal(left.length, right.length)
      checked += 1
      const what = `${variant.key} ${trap}`
      if (trap === 'other_rules') {
        assert.notDeepEqual(
          right.map(({ rules, rulesSecondary }) => rules + rulesSecondary),
          left.map(({ rules, rulesSecondary }) => rules + rulesSecondary),
          what,
        )
      }
      if (trap === 'other_threshold') {
        assert.notDeepEqual(
          right.map(({ strike }) => strike),
          left.map(({ strike }) => strike),
          what,
        )
      }
      if (trap === 'other_date') {
        assert.notEqual(trapped[0]?.nativeId, plain[0]?.nativeId, what)
      }
      if (trap === 'opposite_side') {
        const mine = right.find(({ isPairable }) => isPairable)
        const other = left.find(({ isPairable }) => isPairable)
        assert.notEqual(mine?.isInverted, other?.isInverted, what)
        assert.notEqual(mine?.shortTitle, other?.shortTitle, what)
        assert.ok(Math.abs((mine?.chance ?? 0) + (other?.chance ?? 0) - 1) < 1e-9, what)
      }
    }
  }
  assert.ok(checked > 60)
})

function variants(): readonly Variant[] {
  return FAMILIES.flatMap((family) =>
    [0, 1, 2].flatMap((ordinal) => family.variant(ordinal, SIZE) ?? []),
  )
}

function ask(variant: Variant, trap: SimPairKind, venue: 'a' | 'b'): readonly EventDraft[] {
  const cycle = variant.schedule.cycleNear(NOW) + 2
  const plainCloseMs = timeMs(variant.schedule.closeMs(cycle))
  const key = `${variant.key}:${cycle}`
  const isLater = trap === 'other_date'
  const view: View = {
    seed: SIZE.seed,
    venue,
    trap,
    cycle,
    key,
    resultKey: isLater ? `${key}:later` : key,
    closeMs: isLater ? timeMs(plainCloseMs + variant.otherDateMs) : plainCloseMs,
    plainCloseMs,
  }
  return variant.draftEvents(view)
}

const marketsOf = (event: EventDraft): EventDraft['markets'] => event.markets
