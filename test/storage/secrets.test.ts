import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadSecrets, readLocalKey, writeLocalKey } from '../../storage/secrets.ts'
import { testFolder } from '../support/rigs/data-folder.ts'

const folder = testFolder('secrets')

test('creates different secrets for each data folder at the first start, in a file that its owner alone can read', () => {
  const dataDir = join(folder, 'first')
  const made = loadSecrets(dataDir)
  assert.match(made.jwtSecret, /^[0-9a-f]{64}$/)
  assert.match(made.secretsKey, /^[0-9a-f]{64}$/)
  assert.notEqual(made.jwtSecret, made.secretsKey)
  assert.deepEqual(loadSecrets(dataDir), made)
  assert.notDeepEqual(loadSecrets(join(folder, 'second')), made)
  assert.equal(statSync(join(dataDir, 'secrets')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(dataDir), ['secrets'])
})

test('throws when the secrets file is damaged, and never replaces the file', () => {
  const dataDir = join(folder, 'damaged')
  loadSecrets(dataDir)
  for (const text of ['', '{', '{"jwtSecret":"short","secretsKey":"short"}']) {
    writeFileSync(join(dataDir, 'secrets'), text)
    assert.throws(() => loadSecrets(dataDir), /is damaged. Restore it/)
  }
})

test('reads the last written local key in a file that its owner alone can read', () => {
  const dataDir = join(folder, 'local')
  assert.equal(readLocalKey(dataDir), null)
  writeLocalKey(dataDir, 'pmk_one')
  writeLocalKey(dataDir, 'pmk_two')
  assert.equal(readLocalKey(dataDir), 'pmk_two')
  assert.equal(statSync(join(dataDir, 'local-key')).mode & 0o777, 0o600)
})
