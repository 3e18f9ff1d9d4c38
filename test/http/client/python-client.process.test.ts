// Runs the checks of the Python client against an API server and a server with a tape.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { testFolder } from '../../support/rigs/data-folder.ts'
import {
  ACCOUNT,
  openDocumentedServer,
  POOR_ACCOUNT,
} from '../../support/rigs/documented-server.ts'
import { openTapedServer } from '../../support/rigs/taped-server.ts'
import { PACKAGE, PYTHON, run, skipWithout } from './python/run-python.ts'

const folder = testFolder('python-client')
mkdirSync(folder, { recursive: true })

test('the Python client returns what the REST API and the replay return', {
  skip: skipWithout('httpx', 'pandas'),
}, async (t) => {
  const rest = await openDocumentedServer()
  after(() => rest.stop())
  const tape = await openTapedServer(join(folder, 'tape'))
  after(() => tape.stop())
  const ended = await run(PYTHON, ['test/http/client/python/client_checks.py'], {
    env: {
      PYTHONPATH: [PACKAGE, process.env.PYTHONPATH ?? ''].join(delimiter),
      HOST: rest.origin,
      KEY: `${ACCOUNT}-key`,
      POOR_KEY: `${POOR_ACCOUNT}-key`,
      TAPE_HOST: tape.server.origin,
      TAPE_KEY: 'ann-key',
      TAPE_FROM: String(tape.startMs),
      TAPE_TO: String(tape.clock.nowMs()),
    },
  })
  assert.equal(ended.code, 0, ended.output)
  assert.match(ended.output, /Ran 18 tests/)
  assert.doesNotMatch(ended.output, /skipped '(?!pyarrow is missing)/)
  t.diagnostic(ended.output)
})
