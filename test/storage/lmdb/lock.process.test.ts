import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockHolder, takeLock } from '../../../storage/lmdb/lock.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'

const folder = testFolder('lock')

const path = join(folder, 'lock')

test('refuses to start a second engine on a data folder, and names the process id of the first engine', () => {
  const release = takeLock(folder)
  assert.equal(lockHolder(folder), process.pid)
  assert.throws(() => takeLock(folder), new RegExp(`in use by process ${process.pid}`))
  release()
  release()
  assert.equal(existsSync(path), false)
  assert.equal(lockHolder(folder), null)
  takeLock(folder)()
})

test('respects the folder lock of a running process, and takes over the folder lock of a dead process', async () => {
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  assert.ok(other.pid !== undefined)
  writeFileSync(path, JSON.stringify({ pid: other.pid, born: '' }))
  assert.throws(() => takeLock(folder), new RegExp(`in use by process ${other.pid}`))
  assert.equal(lockHolder(folder), other.pid)
  other.kill('SIGKILL')
  await once(other, 'exit')
  assert.equal(lockHolder(folder), null)
  const release = takeLock(folder)
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).pid, process.pid)
  release()
})

test('takes over a folder lock when the process id in the lock now belongs to an unrelated process', async (t) => {
  if (!existsSync('/proc/self/stat')) return t.skip('no /proc: the pid alone decides here')
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  writeFileSync(path, JSON.stringify({ pid: other.pid, born: 'another-boot 12345' }))
  takeLock(folder)()
  // A container may assign the same pid at each start, so the lock also stores the start time.
  writeFileSync(path, JSON.stringify({ pid: process.pid, born: 'another-boot 12345' }))
  takeLock(folder)()
  writeFileSync(path, 'not a lock')
  takeLock(folder)()
  other.kill('SIGKILL')
  await once(other, 'exit')
})

test('leaves a lock file in place when another process has taken over the lock', () => {
  const release = takeLock(folder)
  writeFileSync(path, 'another')
  release()
  assert.equal(readFileSync(path, 'utf8'), 'another')
})
