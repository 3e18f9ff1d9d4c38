// `npm run uws:official`: replaces the repack of uWebSockets.js by its authors' own build. That build
// parses requests more strictly and is not published on npm, so the dependency becomes their git
// repository. Everything is resolved in a copy first, so that nothing here changes if the repository is
// unreachable. Exit codes: 0 done, 1 not possible now.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { openProgress } from '../../process/command-line.ts'
import { runCommand } from './run-command.ts'

/** Their last release with binaries for both Node 20 and 22. */
const OFFICIAL = 'github:uNetworking/uWebSockets.js#v20.66.0'
const FILES = ['package.json', 'package-lock.json']
const NPM_MS_MAX = 300_000

const COMMAND = {
  name: 'npm run uws:official',
  about:
    'Replaces the repack of uWebSockets.js by its authors\u2019 own build, from their git repository.',
  usage: [''],
  positionals: {},
  positionalCounts: [0, 0],
  options: {},
  examples: [''],
  notes: ['Exit codes: 0 done, 1 not possible now (nothing has changed then), 2 a bad request.'],
} as const

async function main(): Promise<void> {
  process.stdout.write(
    `In package.json "uWebSockets.js" becomes "${OFFICIAL}", and \`npm install\` fetches it.\n` +
      'Back again: `git checkout package.json package-lock.json && npm ci`.\n',
  )
  const copy = mkdtempSync(join(tmpdir(), 'twinbook-uws-'))
  const originals = FILES.map((file) => readFileSync(file))
  try {
    stage(copy)
    const refusal = npm(copy, '--package-lock-only', '--ignore-scripts')
    if (refusal !== null) throw notPossible(refusal)
    for (const file of FILES) copyFileSync(join(copy, file), file)
    const failure = npm('.')
    if (failure === null) return void process.stdout.write('Done.\n')
    // npm itself reverts its changes in node_modules.
    for (const [index, file] of FILES.entries()) writeFileSync(file, originals[index] ?? '')
    throw notPossible(failure)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Copies the files that npm reads, with the other dependency. */
function stage(copy: string): void {
  const manifest: unknown = JSON.parse(readFileSync('package.json', 'utf8'))
  if (!isRecord(manifest) || !isRecord(manifest.dependencies)) {
    throw new EngineError('BAD_REQUEST', 'run it in the folder of twinbook: `npm run uws:official`')
  }
  const dependencies = { ...manifest.dependencies, 'uWebSockets.js': OFFICIAL }
  writeFileSync(
    join(copy, 'package.json'),
    `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`,
  )
  copyFileSync('package-lock.json', join(copy, 'package-lock.json'))
  const workspaces = Array.isArray(manifest.workspaces) ? manifest.workspaces.map(String) : []
  for (const workspace of workspaces) {
    const path = join(workspace, 'package.json')
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    copyFileSync(path, join(copy, path))
  }
}

/** Runs `npm install` in a folder. Null on success, else the reason in a few words. */
function npm(folder: string, ...flags: readonly string[]): string | null {
  const quiet = ['--no-audit', '--no-fund', '--fetch-retries=0']
  const progress = openProgress()
  progress.show(folder === '.' ? 'npm installs it' : 'npm resolves it in a copy', true)
  const { status, stderr, error } = spawnSync('npm', ['install', ...quiet, ...flags], {
    cwd: folder,
    encoding: 'utf8',
    timeout: NPM_MS_MAX,
  })
  progress.end()
  if (status === 0) return null
  if (error !== undefined) return error.message
  const lines = stderr.split('\n').map((line) => line.replace(/^npm error\s*/, '').trim())
  return (
    lines.find((line) => /^(fatal|request to|.*ENOTFOUND)/.test(line)) ?? lines[0] ?? 'no reason'
  )
}

function notPossible(reason: string): EngineError {
  const detail =
    `the authors' build could not be installed (${reason.slice(0, 200)}); package.json, ` +
    'package-lock.json and node_modules are as they were'
  return new EngineError('UNAVAILABLE', detail)
}

await runCommand(COMMAND, main)
