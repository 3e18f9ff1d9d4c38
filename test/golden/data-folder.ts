// Process entry: `write FOLDER` with the old code, then `compare FOLDER` with the new code. Checks that the new code
// opens an old data folder with the same answers. Requests that the old code did not know are skipped.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Records } from '../support/clients/recording-client.ts'
import { goldenFile } from '../support/reference/golden.ts'
import { GoldenRun } from '../support/rigs/golden-run.ts'
import { readRecording } from '../support/rigs/replayed-service.ts'

const recording = readRecording(goldenFile('recording.jsonl.gz'))

async function write(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const dataDir = join(folder, 'data')
  const run = await GoldenRun.open({ dataDir, recording, records: new Records() })
  await run.openAccount()
  await run.openWebhooks()
  await run.playTo(600)
  // Wallets and past prices are stored only after a request.
  await run.readAll()
  const keys = { 'read key': run.key('read key'), 'webhooks key': run.key('webhooks key') }
  await run.stop()
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(keys))
  const answers = Object.fromEntries(await answersOf(folder))
  writeFileSync(join(folder, 'answers.json'), JSON.stringify(answers, null, 1))
  process.stdout.write(`${Object.keys(answers).length} answers in ${folder}/answers.json\n`)
}

/** Opens a copy of the folder, so that the folder stays unchanged. */
async function answersOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const copy = mkdtempSync(join(tmpdir(), 'golden-folder-'))
  cpSync(join(folder, 'data'), copy, { recursive: true })
  const keys: Record<string, string> = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8'))
  const records = new Records()
  const run = await GoldenRun.reopen({ dataDir: copy, recording, records, keys })
  await run.readAll()
  await run.stop()
  rmSync(copy, { recursive: true })
  const texts = [...records.groups().values()].flat()
  return new Map(texts.map((text) => [text.split('\n', 1)[0] ?? '', text]))
}

async function compare(folder: string): Promise<number> {
  const before: Record<string, string> = JSON.parse(
    readFileSync(join(folder, 'answers.json'), 'utf8'),
  )
  const now = await answersOf(folder)
  let differing = 0
  for (const [request, text] of Object.entries(before)) {
    const found = now.get(request)
    if (found === text) continue
    differing += 1
    if (differing > 20) continue
    process.stdout.write(
      `--- before\n${text.slice(0, 2_000)}\n+++ now\n${(found ?? 'not asked').slice(0, 2_000)}\n`,
    )
  }
  process.stdout.write(`${differing} of ${Object.keys(before).length} answers differ\n`)
  return differing === 0 ? 0 : 1
}

const [act = '', folder = ''] = process.argv.slice(2)
if (folder === '' || (act !== 'write' && act !== 'compare')) {
  process.stderr.write('write FOLDER or compare FOLDER\n')
  process.exit(2)
}
if (act === 'write') await write(folder)
process.exit(act === 'write' ? 0 : await compare(folder))
