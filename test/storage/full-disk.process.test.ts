// `ulimit -f` limits the file size, so that LMDB fails in the middle of a commit.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openData, testFolder } from '../support/rigs/data-folder.ts'

const folder = testFolder('full')

test('reports a failed commit once without unhandled rejections, and returns all committed rows after storage is reopened', async () => {
  const dataDir = join(folder, 'data')
  const program = fileURLToPath(new URL('./full-disk-writer.ts', import.meta.url))
  const command = `ulimit -f 3000; exec "${process.execPath}" --import tsx "${program}" "${dataDir}"`
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  const report = JSON.parse(stdout)
  assert.match(report.refusal, /INTERNAL: writing to the disk failed|UNAVAILABLE: the disk is full/)
  assert.deepEqual(report.unhandled, [])
  assert.equal(report.isHealthy, false)
  assert.equal(report.isReadable, true)
  assert.match(report.closing, /INTERNAL|UNAVAILABLE|TIMED_OUT/)
  const storage = await openData(dataDir)
  assert.ok(report.committed > 0)
  assert.equal(storage.trades.count(), report.committed)
  assert.equal(storage.trades.has(1, `t${report.committed - 1}`), true)
  assert.equal([...storage.accounts.accounts()].length, 1)
  await storage.close()
})

test('names DATA_DIR in a one-sentence error when the data folder is not writable', async () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  for (const dataDir of [join(file, 'data'), '/dev/null/data']) {
    await assert.rejects(openData(dataDir), (error: Error) => {
      return /^cannot start: DATA_DIR=\S+ cannot be written \(ENOTDIR.*\); free disk space, fix its permissions, or set another folder/.test(
        error.message,
      )
    })
  }
})
