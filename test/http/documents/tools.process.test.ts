// Third-party linters and a client generator read both documents.

import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { asyncapi } from '../../../http/documents/asyncapi.ts'
import { CLIENT_FOLDER, runTool } from '../../support/rigs/dev-tools.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'

const WORK = mkdtempSync(join(tmpdir(), 'twinbook-client-'))
let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
  writeFileSync(join(WORK, 'package.json'), '{"type":"module"}')
  writeFileSync(join(WORK, 'openapi.json'), JSON.stringify(server.document))
})
after(async () => {
  rmSync(WORK, { recursive: true })
  await server.stop()
})

const STRICT = ['--extends', 'recommended-strict']

test('generates an AsyncAPI document that a strict linter accepts', async () => {
  const file = join(WORK, 'asyncapi.json')
  writeFileSync(file, JSON.stringify(asyncapi({ version: '0.0.0-test', names: NAMES })))
  const { exitCode, output } = await runTool('redocly', ['lint', file, ...STRICT])
  assert.equal(exitCode, 0, output)
  assert.match(output, /valid/)
  assert.doesNotMatch(output, /\d+ warnings?/)
})

test('generates an OpenAPI document that a strict linter accepts', async () => {
  const { exitCode, output } = await runTool('redocly', [
    'lint',
    join(WORK, 'openapi.json'),
    ...STRICT,
  ])
  assert.equal(exitCode, 0, output)
  assert.match(output, /valid/)
})

test('compiles a client that is generated from the OpenAPI document, and calls ten endpoints with the client', async (t) => {
  const types = join(WORK, 'specification.d.ts')
  const made = await runTool('openapi-typescript', [join(WORK, 'openapi.json'), '-o', types])
  assert.equal(made.exitCode, 0, made.output)
  const client = join(WORK, 'client.ts')
  copyFileSync(join(CLIENT_FOLDER, 'client.ts'), client)
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes']
  const modern = ['--noEmit', '--target', 'es2023', '--module', 'nodenext', '--lib', 'es2023,dom']
  const flags = [...strict, ...modern, '--allowImportingTsExtensions', '--types', '']
  const compiled = await runTool('tsc', [...flags, '--ignoreConfig', client])
  assert.equal(compiled.exitCode, 0, compiled.output)
  const { code } = await transform(readFileSync(client, 'utf8'), { loader: 'ts' })
  const module = join(WORK, 'client.mjs')
  writeFileSync(module, code)
  const { callTen } = await import(pathToFileURL(module).href)
  const results: readonly string[] = await callTen({
    origin: server.origin,
    key: `${ACCOUNT}-key`,
  })
  t.diagnostic(results.join(', '))
  assert.deepEqual(results, [
    'ok',
    '2 markets',
    '20 found',
    'venue_a_a0 open null',
    '0.41 midpoint',
    '1 bids',
    '5 trades buy',
    '1 events',
    'a11',
    'enterprise',
  ])
})
