// Compares answers of every route with the specification document.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RawConnection } from '../support/clients/raw-http.ts'
import { RouteClient } from '../support/clients/route-client.ts'
import { OpenapiValidator } from '../support/reference/openapi-validator.ts'
import { conform } from '../support/rigs/conformance.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  openDocumentedServer,
} from '../support/rigs/documented-server.ts'

let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
})
after(() => server.stop())

/** No request of this test may cause a 500. handle.test.ts tests the answer to an internal error. */
const INTERNAL_ERROR = 500
const LATE = 503

describe('conformance with the OpenAPI document', () => {
  test('answers every parameter of every route as the OpenAPI document states, with each documented status at least once', async (t) => {
    const { clients, close } = RouteClient.all(server)
    const problems: string[] = []
    let requests = 0
    for (const client of clients) {
      await conform(client, server)
      const { method, pattern } = client.route
      const name = `${method} ${pattern}`
      const reached = [...client.reached].sort()
      const missed = client.documented.filter((status) => {
        const isInjected = status === LATE && client.route.document.refusals?.[LATE] === undefined
        return status !== INTERNAL_ERROR && !isInjected && !client.reached.has(status)
      })
      t.diagnostic(`${name}: ${client.requestCount} requests, reached ${reached.join(' ')}`)
      if (missed.length > 0) problems.push(`${name} was never answered ${missed.join(', ')}`)
      problems.push(...client.problems.slice(0, 12).map((problem) => `${name}: ${problem}`))
      requests += client.requestCount
    }
    close()
    t.diagnostic(`${requests} requests of ${clients.length} routes`)
    assert.deepEqual(problems, [])
  })

  test('detects every kind of deviation of a response from the OpenAPI document', async () => {
    const validator = new OpenapiValidator(server.document)
    const connection = new RawConnection(server.port)
    const headers = [['X-API-Key', `${ACCOUNT}-key`]] as const
    const target = '/v1/markets/venue_a_a0'
    const good = await connection.exchange({ method: 'GET', target, headers })
    connection.close()
    assert.ok(good !== null)
    const operation = { method: 'GET', pattern: '/v1/markets/{market_id}' }
    const problem = (changed: Partial<typeof good>) =>
      validator.problem({ ...operation, ...good, ...changed })
    const without = (name: string) => new Map([...good.headers].filter(([one]) => one !== name))
    const market: Record<string, unknown> = JSON.parse(good.body)
    const { slug: _, ...less } = market
    const body = (value: unknown) => ({ body: JSON.stringify(value) })
    assert.equal(problem({}), null)
    assert.match(problem(body({ ...market, more: 1 })) ?? '', /must NOT have additional properties/)
    assert.match(problem(body(less)) ?? '', /required property 'slug'/)
    assert.match(problem(body({ ...market, close_time: '1' })) ?? '', /close_time must be/)
    assert.match(
      problem(body({ ...market, status: 'gone' })) ?? '',
      /status must be equal to one of/,
    )
    assert.match(problem({ status: 418 }) ?? '', /418 is not documented/)
    assert.match(problem({ headers: without('x-ratelimit-reset') }) ?? '', /x-ratelimit-reset/)
    assert.match(problem({ headers: without('content-type') }) ?? '', /the type is/)
    const odd = new Map([...good.headers, ['x-odd', '1']])
    assert.match(problem({ headers: odd }) ?? '', /x-odd is not documented/)
    assert.match(problem({ ...body({ detail: 'a' }), status: 429 }) ?? '', /retry-after/)
    assert.match(problem({ ...body({ detail: 'a' }), status: 405 }) ?? '', /no Allow/)
  })
})
