import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  COVERAGE_ACCEPTS,
  type CoverageRule,
  readCoveragePolicy,
} from '../../engine/coverage-policy.ts'

const ACCEPTED: readonly (readonly [string, readonly unknown[]])[] = [
  ['all', [{ kind: 'all' }]],
  [' ALL ', [{ kind: 'all' }]],
  ['top:20000', [{ kind: 'top', count: 20_000 }]],
  ['top:0', [{ kind: 'top', count: 0 }]],
  ['min_volume:1000.5', [{ kind: 'minVolume', volume: 1_000_500_000 }]],
  ['category:Climate and Weather', [{ kind: 'category', value: 'climate and weather' }]],
  ['event:us-election', [{ kind: 'event', value: 'us-election' }]],
  ['market:venue_a_0xAB:no', [{ kind: 'market', value: 'venue_a_0xab:no' }]],
  [
    ' top:10 , category:Politics ',
    [
      { kind: 'top', count: 10 },
      { kind: 'category', value: 'politics' },
    ],
  ],
]

for (const [text, rules] of ACCEPTED) {
  test(`parses the coverage policy ${JSON.stringify(text)}`, () => {
    const policy = readCoveragePolicy(text)
    assert.ok(!('problem' in policy))
    assert.deepEqual(policy.rules satisfies readonly CoverageRule[], rules)
  })
}

test('returns the same rules when the text of a parsed coverage policy is parsed a second time', () => {
  for (const [text] of ACCEPTED) {
    const policy = readCoveragePolicy(text)
    assert.ok(!('problem' in policy))
    assert.deepEqual(readCoveragePolicy(policy.text), policy)
  }
})

const REFUSED = [
  ...['', 'most', 'top', 'top:', 'top:-1', 'top:1.5', 'top:1000001', 'min_volume:x'],
  ...[
    'min_volume:-1',
    'category:',
    'tag:x',
    'all,top:5',
    'top:5,',
    ',',
    `event:${'x'.repeat(5_000)}`,
  ],
  'top:1,'.repeat(300),
]

test('reports the problem and the accepted forms when a text is no coverage policy', () => {
  for (const text of REFUSED) {
    const answer = readCoveragePolicy(text)
    assert.ok('problem' in answer, text.slice(0, 80))
    assert.ok(answer.problem.includes(COVERAGE_ACCEPTS), answer.problem)
    assert.ok(answer.problem.length < 400)
  }
})
