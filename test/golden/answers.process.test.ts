// Replays ten minutes of both venues and compares all output with test/fixtures/golden/answers.json, which has a digest
// for each group. After a difference, the test writes the group's texts to a folder that the failure names.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Records } from '../support/clients/recording-client.ts'
import { assertGoldenLines, goldenFile, isRecordingGolden } from '../support/reference/golden.ts'
import { testFolder } from '../support/rigs/data-folder.ts'
import { GoldenRun } from '../support/rigs/golden-run.ts'
import { playGoldenStory } from '../support/rigs/golden-story.ts'
import { readRecording } from '../support/rigs/replayed-service.ts'

const REQUESTS_MIN = 500

/** Returns the folder: `GOLDEN_TEXT` or a temporary one. */
function writeTexts(records: Records): string {
  const folder = process.env.GOLDEN_TEXT ?? join(tmpdir(), `golden-answers-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  for (const [group, texts] of records.groups()) {
    const name = group.replace(/[^\w.-]+/g, '_')
    writeFileSync(join(folder, `${name}.txt`), `${texts.join('\n\n')}\n`)
  }
  return folder
}

function assertDigests(records: Records): void {
  const file = goldenFile('answers.json')
  const digests = records.digests()
  if (isRecordingGolden) return writeFileSync(file, `${JSON.stringify(digests, null, 1)}\n`)
  const recorded: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'))
  const groups = [...new Set([...Object.keys(recorded), ...Object.keys(digests)])]
  const different = groups.filter((group) => recorded[group] !== digests[group])
  if (different.length === 0 && process.env.GOLDEN_TEXT === undefined) return
  const folder = writeTexts(records)
  const how = 'run it on the commit before with GOLDEN_TEXT=FOLDER and compare both folders'
  assert.deepEqual(different, [], `answers differ; their texts are in ${folder}; ${how}`)
}

describe('recorded answers', () => {
  const dataDir = testFolder('golden-answers')

  test('sends REST responses, stream messages and webhook posts that equal the recorded bytes', async (t) => {
    const records = new Records()
    const recording = readRecording(goldenFile('recording.jsonl.gz'))
    const run = await GoldenRun.open({ dataDir, recording, records })
    try {
      await playGoldenStory(run, recording)
      const { requestCount } = run.caller
      const counts = [...records.groups()].map(([, texts]) => texts.length)
      const messages = counts.reduce((sum, count) => sum + count, 0) - requestCount
      t.diagnostic(
        `${requestCount} requests, ${messages} messages and posts, ${counts.length} groups`,
      )
      assert.ok(requestCount >= REQUESTS_MIN)
      assertDigests(records)
      assertGoldenLines('metrics.txt', await run.metricNames())
    } finally {
      await run.stop()
    }
  })
})
