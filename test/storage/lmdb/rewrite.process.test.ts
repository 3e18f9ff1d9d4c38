// LMDB leaves the bytes of deleted rows in its file until the file is rewritten.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { HOUR_MS, timeMs } from '../../../engine/units.ts'
import { openData, testFolder } from '../../support/rigs/data-folder.ts'
import { account, NOON_MS } from '../../support/worlds/stored.ts'

const folder = testFolder('rewrite')

/** Counts the text in the bytes of the account database. */
function occurrences(dataDir: string, text: string): number {
  const bytes = readFileSync(join(dataDir, 'accounts', 'data.mdb'))
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) count += 1
  return count
}

test('overwrites the bytes of a deleted account in the database file, and retains every other row', async () => {
  const dataDir = join(folder, 'deleted')
  const storage = await openData(dataDir)
  const stays = Array.from({ length: 200 }, (_, index) => `stays${index}`)
  for (const id of stays) await storage.accounts.putAccount(account(id))
  const removed = { ...account('gone'), email: 'person.to.forget@example.com' }
  await storage.accounts.putAccount(removed)
  await storage.accounts.putAccount({ ...removed, isDisabled: true })
  await storage.accounts.removeAccount(removed.id)
  assert.ok(occurrences(dataDir, removed.email) > 0)

  await storage.overwriteDeleted()
  assert.equal(occurrences(dataDir, removed.email), 0)
  const ids = () => [...storage.accounts.accounts()].map(({ id }) => id).sort()
  assert.deepEqual(ids(), stays.map((id) => account(id).id).sort())
  assert.deepEqual(readdirSync(join(dataDir, 'accounts')).sort(), ['data.mdb', 'lock.mdb'])
  assert.equal(statSync(join(dataDir, 'accounts', 'data.mdb')).mode & 0o777, 0o600)

  await storage.accounts.putAccount(account('later'))
  await storage.backupAccounts(timeMs(NOON_MS + HOUR_MS))
  await storage.accounts.putAccount(account('last'))
  await storage.close()
  const again = await openData(dataDir)
  const retained = [...again.accounts.accounts()].map(({ id }) => id).sort()
  assert.deepEqual(retained, [...stays, 'later', 'last'].map((id) => account(id).id).sort())
  await again.close()
})

test('retains rows that are written while the database file is rewritten', async () => {
  const dataDir = join(folder, 'stirred')
  const storage = await openData(dataDir)
  await storage.accounts.putAccount(account('first'))
  let isOver = false
  const written: string[] = ['first']
  const writing = (async () => {
    for (let number = 0; !isOver; number += 1) {
      await storage.accounts.putAccount(account(`written${number}`))
      written.push(`written${number}`)
      await turn()
    }
  })()
  for (let hour = 0; hour < 5; hour += 1) {
    await storage.backupAccounts(timeMs(NOON_MS + hour * HOUR_MS))
  }
  isOver = true
  await writing
  await storage.close()
  const again = await openData(dataDir)
  const ids = new Set([...again.accounts.accounts()].map(({ id }) => id))
  assert.deepEqual(
    written.filter((id) => !ids.has(account(id).id)),
    [],
  )
  await again.close()
})
