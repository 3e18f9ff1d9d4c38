import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { asyncapi } from '../../../http/documents/asyncapi.ts'
import { openDocumentedServer } from '../../support/rigs/documented-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'
import { pythonRecords } from './python-records.ts'

const FILE = 'http/client/python/twinbook/records.py'

test('the Python records have the fields of the OpenAPI and AsyncAPI documents', async () => {
  const server = await openDocumentedServer()
  await server.stop()
  const stream = asyncapi({ version: '0.0.0-test', names: NAMES })
  const text = pythonRecords(server.document, stream)
  if (process.env.GOLDEN === 'write') writeFileSync(FILE, text)
  const how = 'GOLDEN=write node --import tsx --test test/http/client/python-records.test.ts'
  assert.equal(readFileSync(FILE, 'utf8'), text, `the documents have changed; run ${how}`)
})
