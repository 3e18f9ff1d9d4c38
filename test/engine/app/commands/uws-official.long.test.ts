// Runs `npm run uws:official` in a copy of this project, with npm and with a fake npm.

import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runToEnd } from '../../../support/rigs/run-to-end.ts'

const COMMAND = fileURLToPath(
  new URL('../../../../engine/app/commands/uws-official.ts', import.meta.url),
)
const FILES = ['package.json', 'package-lock.json', 'test/generated-client/package.json']
const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-official-'))
  folders.push(folder)
  for (const file of FILES) cpSync(file, join(folder, file))
  mkdirSync(join(folder, 'node_modules/uWebSockets.js'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/uWebSockets.js/index.js'), 'kept')
  return folder
}

function contents(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = paths
    .filter((path) => path.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    files.sort().map((file) => [file.slice(folder.length), readFileSync(file, 'utf8')]),
  )
}

const run = (cwd: string, env: NodeJS.ProcessEnv) =>
  runToEnd(COMMAND, [], { cwd, env: { ...process.env, ...env } })

/** Creates a folder with a shell script named `npm`. */
function npmOf(...lines: readonly string[]): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-npm-'))
  folders.push(folder)
  writeFileSync(join(folder, 'npm'), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
  return { PATH: `${folder}:${process.env.PATH ?? ''}` }
}

test('reports in one sentence that the repository is unreachable, and changes no file', async () => {
  const folder = project()
  const before = contents(folder)
  const { code, stdout, stderr } = await run(folder, {
    // The only allowed proxy does not exist, so no request leaves this machine.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    npm_config_https_proxy: 'http://127.0.0.1:9',
    npm_config_proxy: 'http://127.0.0.1:9',
    GIT_ALLOW_PROTOCOL: 'https',
    GIT_TERMINAL_PROMPT: '0',
  })
  assert.equal(code, 1, stderr)
  assert.match(stdout, /"uWebSockets.js" becomes "github:uNetworking\/uWebSockets\.js#v20\.\d+\.0"/)
  assert.match(
    stderr,
    /^the authors' build could not be installed \(.+\); package\.json, .* are unchanged\n$/,
  )
  assert.deepEqual(contents(folder), before)
})

test('installs the official uWebSockets.js dependency with npm, and reports the reason if npm fails', async () => {
  const folder = project()
  const done = await run(folder, npmOf('echo "$*" > asked'))
  assert.deepEqual([done.code, done.stderr], [0, ''])
  const asked = readFileSync(join(folder, 'asked'), 'utf8')
  assert.match(asked, /^install .*uWebSockets\.js@github:uNetworking\/uWebSockets\.js#v20/)
  const bad = await run(folder, npmOf('echo "npm error disk full" >&2; exit 1'))
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /^the authors' build could not be installed \(disk full\)/)
})
