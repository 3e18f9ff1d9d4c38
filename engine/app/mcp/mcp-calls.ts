// Requests of the MCP server over HTTP. One thread handles them, so that the main thread only answers the REST requests
// of tool calls.

import type { McpAnswer, McpRequest, McpView } from '../../../http/routes/mcp.ts'
import { EngineError } from '../../errors.ts'
import type { AccountId } from '../../ids.ts'
import { isRecord } from '../../json-record.ts'
import { openPool, type Pool } from '../../pool.ts'
import { TapeReaders } from '../tape-readers.ts'
import type { McpResult, McpTask } from './mcp-task.ts'

const CALLS_MAX = 32
const CALLS_OF_ACCOUNT_MAX = 8
/** A task that takes longer ends the thread with all its tasks. The thread's own time limits are shorter. */
const HANG_MS = 30_000

const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export class McpCalls implements McpView {
  #url: string | null = null
  #pool: Pool<McpTask, McpResult> | null = null
  readonly #running = new TapeReaders({
    ...{ what: 'MCP requests', max: CALLS_MAX, ofOwnerMax: CALLS_OF_ACCOUNT_MAX },
  })

  /** Sets the address of the REST API. Before, requests are refused. */
  listen(host: string, port: number): void {
    const reachable = WILDCARDS[host] ?? host
    this.#url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
  }

  async handle(request: McpRequest, accountId: AccountId): Promise<McpAnswer> {
    if (this.#url === null) throw new EngineError('UNAVAILABLE', 'the service is starting')
    const id = this.#running.add(accountId)
    try {
      return await this.#thread().run({ url: this.#url, ...request })
    } finally {
      this.#running.remove(id)
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close()
  }

  /** Started at the first request. Ends when idle. */
  #thread(): Pool<McpTask, McpResult> {
    this.#pool ??= openPool<McpTask, McpResult>({
      ...{ threads: 1, tasksPerThread: CALLS_MAX, queueMax: CALLS_MAX },
      timeoutMs: HANG_MS,
      worker: new URL('./worker.ts', import.meta.url),
      isResult: (value): value is McpResult => isRecord(value) && 'status' in value,
    })
    return this.#pool
  }
}
