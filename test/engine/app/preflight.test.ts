import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertPaths } from '../../../engine/app/preflight.ts'
import { loadConfig } from '../../../engine/config.ts'

test('refuses a data folder that is a file or below a file, and names the file', () => {
  for (const dataDir of ['package.json', 'package.json/data']) {
    assert.throws(
      () => assertPaths(loadConfig({ DATA_DIR: dataDir })),
      (error) =>
        error instanceof Error &&
        error.message.startsWith(`DATA_DIR is "${dataDir}", but `) &&
        error.message.endsWith('package.json is a file; it accepts a folder'),
    )
  }
})
