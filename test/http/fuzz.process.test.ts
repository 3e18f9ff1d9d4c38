// 1,000 mutated requests by default, 100,000 with TEST_LONG=1. FUZZ_SEED repeats a run.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RawConnection } from '../support/clients/raw-http.ts'
import { FuzzChecker } from '../support/reference/fuzz-checker.ts'
import { type DocumentedServer, openDocumentedServer } from '../support/rigs/documented-server.ts'
import { FuzzRequests } from '../support/worlds/fuzz-requests.ts'

const COUNT = process.env.TEST_LONG === '1' ? 100_000 : 1_000
const SEED = process.env.FUZZ_SEED ?? '3'
const SOCKETS = 8
const PROBLEMS_MAX = 20
/** The fake catalogue never deletes pinned lists, so the test deletes them after this many requests. */
const PINS_EVERY = 1_000

let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
})
after(() => server.stop())

describe('fuzzing of REST requests', () => {
  test('answers each randomly changed request with a documented status below 500', async (t) => {
    const requests = new FuzzRequests(server.routes, SEED)
    const validator = new FuzzChecker(server)
    const statuses = new Map<string, number>()
    const problems: string[] = []
    let next = 0
    const work = async (): Promise<void> => {
      const connection = new RawConnection(server.port)
      while (next < COUNT && problems.length < PROBLEMS_MAX) {
        const index = next++
        if (index % PINS_EVERY === 0) server.engine.catalog.pins.clear()
        const request = requests.at(index)
        const answer = await connection.exchange(request.bytes, request.isBroken).catch((error) => {
          throw new Error(`#${index} ${request.method} ${request.target.slice(0, 300)}: ${error}`)
        })
        // After a request that is not valid HTTP, the library may keep or close the connection.
        if (request.isBroken) connection.close()
        const status = answer === null ? 'closed' : String(answer.status)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        const problem = validator.problem(request, answer)
        if (problem !== null) {
          problems.push(`#${index} ${request.method} ${request.target.slice(0, 300)}: ${problem}`)
        }
      }
      connection.close()
    }
    await Promise.all(Array.from({ length: SOCKETS }, work))
    const counts = [...statuses].sort().map(([status, count]) => `${status}: ${count}`)
    t.diagnostic(`${next} requests, seed ${SEED}; ${counts.join(', ')}`)
    assert.deepEqual(problems, [])
    const health = await fetch(`${server.origin}/health`)
    assert.equal(health.status, 200, 'the process is healthy afterwards')
  })
})
