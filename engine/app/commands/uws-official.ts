// `npm run uws:official` replaces the repackaged uWebSockets.js by its authors' own build, which parses requests more
// strictly. The authors' build is not published on npm, so the dependency becomes their git repository.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { EngineError } from '../../errors.ts'
import { openProgress } from '../../process/command-line.ts'
import { runCommand } from './run-command.ts'

/** The last release with binaries for both Node 20 and 22. */
const OFFICIAL = 'github:uNetworking/uWebSockets.js#v20.66.0'
const DEPENDENCY = 'uWebSockets.js'
const NPM_MS_MAX = 300_000

const COMMAND = {
  name: 'npm run uws:official',
  about:
    'Replaces the repack of uWebSockets.js by its authors\u2019 own build, from their git repository.',
  notes: ['Exit codes: 0 done, 1 not possible now (nothing has changed then), 2 a bad request.'],
} as const

async function main(): Promise<void> {
  process.stdout.write(
    `In package.json "uWebSockets.js" becomes "${OFFICIAL}", and \`npm install\` fetches it.\n` +
      'Back again: `git checkout package.json package-lock.json && npm ci`.\n',
  )
  if (
    !existsSync('package.json') ||
    !readFileSync('package.json', 'utf8').includes(`"${DEPENDENCY}"`)
  ) {
    throw new EngineError('BAD_REQUEST', 'run it in the folder of twinbook: `npm run uws:official`')
  }
  const reason = install()
  if (reason === null) return void process.stdout.write('Done.\n')
  const detail =
    `the authors' build could not be installed (${reason.slice(0, 200)}); package.json, ` +
    'package-lock.json and node_modules are unchanged'
  throw new EngineError('UNAVAILABLE', detail)
}

function install(): string | null {
  const quiet = ['--no-audit', '--no-fund', '--fetch-retries=0', '--save-exact']
  const progress = openProgress()
  progress.show('npm installs it', true)
  const { status, stderr, error } = spawnSync(
    'npm',
    ['install', ...quiet, `${DEPENDENCY}@${OFFICIAL}`],
    { encoding: 'utf8', timeout: NPM_MS_MAX },
  )
  progress.end()
  if (status === 0) return null
  if (error !== undefined) return error.message
  const lines = stderr.split('\n').map((line) => line.replace(/^npm error\s*/, '').trim())
  return (
    lines.find((line) => /^(fatal|request to|.*ENOTFOUND)/.test(line)) ?? lines[0] ?? 'no reason'
  )
}

await runCommand(COMMAND, main)
