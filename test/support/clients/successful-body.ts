import assert from 'node:assert/strict'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ApiServer } from '../rigs/api-server.ts'

export async function successfulBodyOf<S extends TSchema>(
  server: Pick<ApiServer, 'get'>,
  schema: S,
  path: string,
  status = 200,
): Promise<Static<S>> {
  const answer = await server.get(path)
  assert.equal(answer.status, status, `${path} ${answer.text}`)
  const first = [...Value.Errors(schema, answer.body)][0]
  assert.ok(Value.Check(schema, answer.body), `${path}: ${first?.path} ${first?.message}`)
  return answer.body
}
