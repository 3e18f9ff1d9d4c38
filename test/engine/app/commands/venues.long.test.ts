import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../../support/rigs/processes.ts'

const COMMAND = fileURLToPath(new URL('../../../../engine/app/commands/venues.ts', import.meta.url))

function run(env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ['--import', import.meta.resolve('tsx'), COMMAND], {
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function readUntil(child: ChildProcess, terms: string): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (text.includes(terms)) return text
  }
  return text
}

test('starts the simulated venues on ports from SIM_PORT, reuses the key file, and ends on SIGTERM', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'venues-'))
  const keys: string[] = []
  const basePort = await freePorts(11)
  try {
    for (let start = 0; start < 2; start += 1) {
      const child = run({ SIM_MARKETS: '40', SIM_PORT: String(basePort), DATA_DIR: dataDir })
      const shown = await readUntil(child, 'sim-kalshi.pem')
      for (const step of [0, 1, 2, 3, 10]) {
        assert.ok(shown.includes(`127.0.0.1:${basePort + step}`), `port +${step} in ${shown}`)
      }
      assert.equal((await fetch(`http://127.0.0.1:${basePort}/sim/state`)).status, 200)
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      assert.deepEqual(await exit, [0, null])
      keys.push(readFileSync(join(dataDir, 'sim-kalshi.pem'), 'utf8'))
    }
    assert.equal(statSync(join(dataDir, 'sim-kalshi.pem')).mode & 0o777, 0o600)
    assert.equal(keys[1], keys[0])
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

test('reports the name of an invalid setting and starts no venue', async () => {
  const child = run({ SIM_RATE: 'fast' })
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += String(chunk)
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 2)
  assert.match(errors, /SIM_RATE/)
})
