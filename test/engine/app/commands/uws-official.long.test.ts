// `npm run uws:official` in a copy of this project's files: with the real npm, which finds no way to the repository, and
// with one that does as the test says.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
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

const COMMAND = fileURLToPath(
  new URL('../../../../engine/app/commands/uws-official.ts', import.meta.url),
)
const FILES = ['package.json', 'package-lock.json', 'test/generated-client/package.json']
const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A project with one installed file. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-official-'))
  folders.push(folder)
  for (const file of FILES) cpSync(file, join(folder, file))
  mkdirSync(join(folder, 'node_modules/uWebSockets.js'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/uWebSockets.js/index.js'), 'kept')
  return folder
}

/** Every file of a folder with its text. */
function contents(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = paths
    .filter((path) => path.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    files.sort().map((file) => [file.slice(folder.length), readFileSync(file, 'utf8')]),
  )
}

function run(folder: string, env: Readonly<Record<string, string>>) {
  const args = ['--import', import.meta.resolve('tsx'), COMMAND]
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: folder, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      },
    )
  })
}

/** A folder with an `npm` of these lines. */
function npmOf(...lines: readonly string[]): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-npm-'))
  folders.push(folder)
  writeFileSync(join(folder, 'npm'), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
  return { PATH: `${folder}:${process.env.PATH ?? ''}` }
}

test('reports an unreachable repository in one sentence and changes nothing', async () => {
  const folder = project()
  const before = contents(folder)
  const { code, stdout, stderr } = await run(folder, {
    // A proxy that is none, and no other protocol: nothing leaves this machine.
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
    /^the authors' build could not be installed \(.+\); package\.json, .* are as they were\n$/,
  )
  assert.deepEqual(contents(folder), before)
})

test('tests dependency resolution in a copy before installing the official dependency, and reverts a failed install', async () => {
  const marked =
    'grep -q "github:uNetworking" package.json && printf "{\\"marked\\":1}" > package-lock.json'
  const done = project()
  const good = await run(done, npmOf(marked))
  assert.deepEqual([good.code, good.stderr], [0, ''])
  const manifest = JSON.parse(readFileSync(join(done, 'package.json'), 'utf8'))
  assert.match(manifest.dependencies['uWebSockets.js'], /^github:uNetworking\/uWebSockets\.js#v20/)
  const { dependencies: _, ...others } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { dependencies: __, ...same } = manifest
  assert.deepEqual(same, others)
  assert.equal(readFileSync(join(done, 'package-lock.json'), 'utf8'), '{"marked":1}')

  const half = project()
  const before = contents(half)
  const isStaged =
    'case "$*" in *package-lock-only*) ;; *) echo "npm error disk full" >&2; exit 1;; esac'
  const bad = await run(half, npmOf(isStaged, marked))
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /^the authors' build could not be installed \(disk full\)/)
  assert.deepEqual(contents(half), before)
})
