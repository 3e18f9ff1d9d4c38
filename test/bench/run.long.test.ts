import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type ApiServer, openApiServer } from '../support/rigs/api-server.ts'
import { type Ended, runToEnd } from '../support/rigs/run-to-end.ts'

const runBench = (...args: readonly string[]): Promise<Ended> => runToEnd('bench/run.ts', args)

/** Asserts an exit code, an empty stdout, and one matching line on stderr after the progress lines. */
function refused({ code, stdout, stderr }: Ended, expected: number, line: RegExp): void {
  const lines = stderr.split('\n').filter((one) => one !== '')
  assert.equal(code, expected, stderr)
  assert.equal(stdout, '')
  assert.match(lines.at(-1) ?? '', line)
  // Progress lines are indented.
  assert.deepEqual(
    lines.filter((one) => !one.startsWith('  ')),
    lines.slice(-1),
  )
}

describe('bench command', () => {
  let apiServer: ApiServer
  before(async () => {
    apiServer = await openApiServer()
    apiServer.engine.add('one').replace([], [])
    apiServer.engine.accounts.make('small')
    const { accounts } = apiServer.engine
    accounts.make('narrow', { requestsPerMinute: 100_000, socketsMax: 1 })
    accounts.make('spent', { requestsPerMinute: 0 })
  })
  after(() => apiServer.stop())

  const at = (key: string, ...rest: readonly string[]) =>
    runBench('--url', apiServer.origin, '--api-key', key, ...rest)

  it('exits with code 2, one stderr line and empty stdout when the bench name is unknown', async () => {
    refused(await runBench('no-such-bench'), 2, /^no bench is called no-such-bench; there are .+/)
  })

  it('prints one JSON document on stdout and progress on stderr', async () => {
    const { code, stdout, stderr } = await runBench('storage', '--small', '--json')
    assert.equal(code, 0, stderr)
    const { benches } = JSON.parse(stdout)
    assert.equal(benches.length, 1)
    assert.equal(benches[0].name, 'storage')
    assert.ok(benches[0].times.length > 0)
    assert.match(stderr, /storage: begins\n[\s\S]*storage: ended after /)
  })

  it('exits with code 1 and prints the reason but no table when the deployment is unreachable', async () => {
    const port = await closedPort()
    const url = `http://127.0.0.1:${port}`
    const line = new RegExp(`^${url} cannot be reached: ECONNREFUSED$`)
    refused(await runBench('--url', url, '--api-key', 'KEY'), 1, line)
  })

  it('exits with code 1 and prints no table when the API key is invalid', async () => {
    refused(await at('wrong'), 1, /^http:\S+ refuses this API key \(401\)$/)
  })

  it('exits with code 1 before the load starts when the API key’s request quota is too small', async () => {
    const line = /^the key has 59 requests left of 60 a minute, the load needs 2030: /
    refused(await at('small-key'), 1, line)
    refused(await at('spent-key'), 1, /^the key's requests are used up \(429\): .* after \d+ s/)
  })

  it('exits with code 1 and prints no table when the API key allows fewer streams than the bench has clients', async () => {
    const line = /refuses a stream with 429, retry after \d+ s: .*at most 1 connections/
    refused(await at('narrow-key', 'connect', '--seconds', '1'), 1, line)
  })
})

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  await new Promise((resolve) => server.close(resolve))
  return address.port
}
