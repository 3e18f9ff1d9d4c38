import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CoverageSettings } from '../../../engine/app/coverage.ts'
import { ConfigError, loadConfig } from '../../../engine/config.ts'
import { readCoveragePolicy } from '../../../engine/coverage-policy.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'

const folder = testFolder('coverage')
const LIMITED = { booksWithinLimits: { count: 800, because: 'its limits' } }

function settingsOf(name: string, env: Readonly<Record<string, string>> = {}) {
  return new CoverageSettings(loadConfig({ DATA_DIR: join(folder, name), ...env }))
}

function policyOf(text: string) {
  const policy = readCoveragePolicy(text)
  assert.ok(!('problem' in policy))
  return policy
}

test('covers all simulated and replayed markets by default, and as many real markets as the venue allows', () => {
  assert.equal(settingsOf('new').choiceOf(LIMITED).policy.text, 'all')
  assert.equal(settingsOf('new', { VENUES: 'replay:x' }).choiceOf(LIMITED).policy.text, 'all')
  const live = settingsOf('new', { VENUES: 'live' })
  assert.deepEqual(live.choiceOf(LIMITED), {
    policy: { text: 'top:800', rules: [{ kind: 'top', count: 800 }] },
    because: 'default: its limits',
  })
  assert.equal(live.choiceOf({}).policy.text, 'all')
})

test('uses the stored coverage policy after a restart unless the variable COVERAGE is set', () => {
  settingsOf('stored').store(policyOf('top:5,category:Politics'))
  const live = { VENUES: 'live' }
  const { policy, because } = settingsOf('stored', live).choiceOf(LIMITED)
  assert.deepEqual([policy.text, because], ['top:5,category:Politics', 'npm run coverage'])
  const set = settingsOf('stored', { ...live, COVERAGE: 'min_volume:100' })
  assert.deepEqual(
    [set.choiceOf(LIMITED).policy.text, set.choiceOf(LIMITED).because, set.isSetByVariable],
    ['min_volume:100', 'COVERAGE', true],
  )
  settingsOf('stored').store(null)
  assert.equal(settingsOf('stored', live).choiceOf(LIMITED).policy.text, 'top:800')
})

test('does not start the engine when the stored coverage policy is unreadable', () => {
  settingsOf('damaged').store(policyOf('all'))
  writeFileSync(join(folder, 'damaged', 'coverage'), 'most of them\n')
  assert.throws(() => settingsOf('damaged'), ConfigError)
})
