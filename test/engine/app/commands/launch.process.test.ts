import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { testFolder } from '../../../support/rigs/data-folder.ts'

/** A service in place of start.mjs. It prints its process, and then does what its first argument states. */
const SERVICE = `
const { execArgv, argv, env, pid } = process
process.on('SIGTERM', () => process.exit(7))
process.on('disconnect', () => process.exit(0))
setInterval(() => undefined, 1_000)
process.stdout.write(JSON.stringify({ execArgv, args: argv.slice(2), arenas: env.MALLOC_ARENA_MAX }) + '\\n')
if (argv[2] === 'fail') process.exit(2)
if (argv[2] === 'die') process.kill(pid, 'SIGKILL')
`
const folder = testFolder('launch')
mkdirSync(join(folder, 'commands'))
for (const path of ['commands/launch.mjs', 'node-options.json']) {
  copyFileSync(join('engine/app', path), join(folder, path))
}
writeFileSync(join(folder, 'start.mjs'), SERVICE)

type Launcher = ChildProcessByStdio<null, Readable, null>

function launch(...args: readonly string[]): Launcher {
  return spawn(process.execPath, [join(folder, 'commands/launch.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function firstLine({ stdout }: Launcher) {
  const [line] = await once(stdout.setEncoding('utf8'), 'data')
  return JSON.parse(String(line))
}

test('starts the service with its flags, allocator settings and arguments', async () => {
  const launcher = launch('one', '--two')
  const service = await firstLine(launcher)
  const { flags } = JSON.parse(readFileSync('engine/app/node-options.json', 'utf8'))
  assert.deepEqual(service.execArgv, flags)
  assert.deepEqual(service.args, ['one', '--two'])
  assert.equal(service.arenas, '2')
  launcher.kill('SIGTERM')
  assert.deepEqual(await once(launcher, 'exit'), [7, null], 'the exit code after a signal')
})

test('exits with the exit code or signal of the service', async () => {
  assert.deepEqual(await once(launch('fail'), 'exit'), [2, null])
  assert.deepEqual(await once(launch('die'), 'exit'), [null, 'SIGKILL'])
})

test('passes SIGTERM and the exit code through npm', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const start = scripts.start.replace('engine/app/', '')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { start } }))
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await firstLine(npm)
  npm.kill('SIGTERM')
  assert.deepEqual(await once(npm, 'exit'), [7, null])
})

test('stops the service when the launcher is killed', async () => {
  const launcher = launch()
  await firstLine(launcher)
  launcher.kill('SIGKILL')
  // The pipe remains open while the service runs.
  const [, [code, signal]] = await Promise.all([
    once(launcher.stdout, 'close'),
    once(launcher, 'exit'),
  ])
  assert.deepEqual([code, signal], [null, 'SIGKILL'])
})
