// Entry point of the MCP thread. Handles one HTTP request of the protocol at a time, without sessions.

import { createMcpHandler } from '@modelcontextprotocol/server'
import { mcpServer } from '../../../http/mcp/server.ts'
import { systemClock } from '../../clock.ts'
import type { McpResult, McpTask } from './mcp-task.ts'
import { loadTools, serviceRequests } from './service-requests.ts'

/** Below the service's deadline for the request that waits for the result. */
const TIMEOUT_MS = 4_000

/** A response that the protocol leaves unanswered ends after this time. */
const TASK_MS = 9_000

const loaded = new Map<string, ReturnType<typeof loadTools>>()

export default async function work({
  url,
  headers,
  credential,
  body,
}: McpTask): Promise<McpResult> {
  const service = { url, headers: credential, timeoutMs: TIMEOUT_MS }
  const { tools, version } = await toolsAt(service)
  const send = serviceRequests(service)
  const handler = createMcpHandler(
    () => mcpServer({ version, tools, send, nowMs: systemClock.nowMs }),
    // There is nothing to subscribe to, and a stream would not end.
    { maxSubscriptions: 0, keepAliveMs: 0 },
  )
  const signal = AbortSignal.timeout(TASK_MS)
  const request = new Request(new URL('/mcp', url), { method: 'POST', headers, body, signal })
  try {
    const response = await handler.fetch(request)
    const text = await response.text()
    const contentType = response.headers.get('content-type') ?? ''
    return { status: response.status, contentType, body: text }
  } finally {
    await handler.close()
  }
}

/** The tools do not change while the service runs. */
function toolsAt(service: Parameters<typeof loadTools>[0]): ReturnType<typeof loadTools> {
  const known = loaded.get(service.url)
  if (known !== undefined) return known
  const loading = loadTools(service)
  loaded.set(service.url, loading)
  loading.catch(() => loaded.delete(service.url))
  return loading
}
