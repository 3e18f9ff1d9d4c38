// `GOLDEN=write` replaces the recorded lists, for intended changes.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../fixtures/golden')

export const goldenFile = (name: string): string => join(FOLDER, name)

export const isRecordingGolden = process.env.GOLDEN === 'write'

/** Reports added and missing lines. */
export function assertGoldenLines(name: string, lines: readonly string[]): void {
  const file = goldenFile(name)
  if (isRecordingGolden) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${lines.join('\n')}\n`)
    return
  }
  const recorded = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  const [before, now] = [new Set(recorded), new Set(lines)]
  const missing = recorded.filter((line) => !now.has(line))
  const added = lines.filter((line) => !before.has(line))
  assert.deepEqual(
    { missing, added },
    { missing: [], added: [] },
    `${name} (GOLDEN=write replaces it)`,
  )
  assert.deepEqual(lines, recorded, `${name}: the order has changed`)
}
