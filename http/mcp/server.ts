// MCP server of the tools, for any transport. It holds no state.

import { Server } from '@modelcontextprotocol/server'
import { formatTime, type TimeMs } from '../../engine/units.ts'
import {
  ArgumentError,
  type Json,
  recordOf,
  requestOf,
  type Tool,
  type ToolResult,
} from './tools.ts'

export interface ServiceResponse {
  readonly status: number
  /** Parsed JSON. Null: no JSON. */
  readonly body: Json
}

/** Sends a request to the service with the caller's credential. Rejects if the service does not answer. */
export type SendRequest = (
  method: 'GET' | 'POST',
  path: string,
  body: string | null,
) => Promise<ServiceResponse>

interface McpParts {
  readonly version: string
  readonly tools: readonly Tool[]
  readonly send: SendRequest
  readonly nowMs: () => TimeMs
}

const INSTRUCTIONS =
  'Read-only market data of two prediction-market venues. Begin with search_markets, which returns market ids. A price is the probability of the outcome, 0 to 1. Times that end in _ms are Unix milliseconds, other integer times Unix seconds. If `data` is `simulated`, the markets are not real. If `stale` is true, the data may be out of date.'

const READ_ONLY = { readOnlyHint: true, destructiveHint: false, openWorldHint: true }

export function mcpServer({ version, tools, send, nowMs }: McpParts): Server {
  const server = new Server(
    { name: 'twinbook', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, description, inputSchema, outputSchema }) => {
      return { name, description, inputSchema, outputSchema, annotations: READ_ONLY }
    }),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const names = tools.map(({ name }) => name).join(', ')
      return failed(`no tool has the name ${params.name.slice(0, 64)}; the tools are ${names}`)
    }
    try {
      const { method, path, body } = requestOf(tool, params.arguments ?? {})
      const [answer, health] = await Promise.all([
        send(method, path, body),
        send('GET', '/health', null),
      ])
      if (answer.status !== 200) return failed(reasonOf(answer))
      if (health.status !== 200) return failed(reasonOf(health))
      return succeeded(resultOf(answer.body, health.body, nowMs()))
    } catch (error) {
      if (error instanceof ArgumentError) return failed(error.message)
      return failed('the service did not answer in time; try again in a few seconds')
    }
  })
  return server
}

function resultOf(body: Json, health: Json, nowMs: TimeMs): ToolResult {
  const { data, feeds } = recordOf(health)
  const { stale } = recordOf(body)
  const isVenueStale = Object.values(recordOf(feeds)).some(
    (feed) => recordOf(feed).state !== 'live',
  )
  return {
    as_of: formatTime(nowMs),
    stale: typeof stale === 'boolean' ? stale : isVenueStale,
    data: String(data),
    result: body,
  }
}

function succeeded(result: ToolResult) {
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(result) }],
    structuredContent: { ...result },
  }
}

function failed(text: string) {
  return { content: [{ type: 'text' as const, text }], isError: true }
}

/** Maximum characters of an error. A response can list many problems. */
const REASON_CHARACTERS_MAX = 2_000

function reasonOf({ status, body }: ServiceResponse): string {
  const { detail } = recordOf(body)
  const problems = Array.isArray(detail) ? detail.map(recordOf) : null
  const text =
    problems === null
      ? String(detail ?? 'no reason')
      : problems
          .map(
            ({ loc, msg }) => `${Array.isArray(loc) ? loc.slice(1).join('.') : ''}: ${String(msg)}`,
          )
          .join('; ')
  return `the service answered ${status}: ${text}`.slice(0, REASON_CHARACTERS_MAX)
}
