// The MCP server over HTTP (specification 2026-07-28). A thread handles the messages and sends a REST request for each
// tool call, with the caller's credential.

import type { AccountId } from '../../engine/ids.ts'
import { isAddressHost } from '../request/peer-address.ts'
import { type Answer, failure, plainText } from '../request/reply.ts'
import { accountOf, type RequestFacts, type Route, rawRoute } from '../request/route.ts'
import { textOf } from '../validation/body.ts'

export interface McpRequest {
  readonly body: string
  /** Headers of the protocol, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers with the caller's credential, by lower-case name. */
  readonly credential: Readonly<Record<string, string>>
}

export interface McpAnswer {
  readonly status: number
  readonly contentType: string
  /** '' without a body. */
  readonly body: string
}

export interface McpView {
  /** Rejects with EngineError RATE_LIMITED or UNAVAILABLE if too many requests of the account or of all run. */
  handle(request: McpRequest, accountId: AccountId): Promise<McpAnswer>
}

/** The protocol repeats fields of the body in these headers and compares them. */
const PROTOCOL = [
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
] as const
const CREDENTIALS = ['x-api-key', 'authorization'] as const

export function mcpRoutes(mcp: McpView | undefined): readonly Route[] {
  if (mcp === undefined) return []
  return [
    rawRoute(
      'POST /mcp',
      {
        ...{ group: 'System', summary: 'Model Context Protocol', answer: null, isListed: false },
        ...{ isPrivate: true, isCrossOrigin: false },
        bodyHeaders: [...PROTOCOL, ...CREDENTIALS, 'origin', 'host'],
      },
      (facts, bytes) => handle(mcp, facts, bytes),
    ),
  ]
}

async function handle(mcp: McpView, facts: RequestFacts, bytes: Uint8Array): Promise<Answer> {
  const { header, caller } = facts
  if (!isAllowedOrigin(header('origin'), header('host'))) {
    return failure(
      'FORBIDDEN',
      '`Origin` is another host; call from a program, or without `Origin`',
    )
  }
  const body = textOf(bytes)
  if (body === null) return failure('BAD_REQUEST', 'the body is not UTF-8')
  if (body.trimStart().startsWith('[')) {
    return failure('BAD_REQUEST', 'a body is one JSON-RPC message; batches are not accepted')
  }
  const request = {
    body,
    headers: present(PROTOCOL, header),
    credential: present(CREDENTIALS, header),
  }
  const { status, contentType, body: text } = await mcp.handle(request, accountOf(caller))
  return { ...plainText(text, contentType), status }
}

/**
 * A browser always sends `Origin` with a POST. A page of another site can make its own name resolve to this machine (DNS
 * rebinding), so only a page of a loopback or IP address may call, and only its own address.
 */
function isAllowedOrigin(origin: string, host: string): boolean {
  if (origin === '') return true
  return (
    isAddressHost(host) && origin.replace(/^https?:\/\//, '').toLowerCase() === host.toLowerCase()
  )
}

function present(
  names: readonly string[],
  header: (name: string) => string,
): Readonly<Record<string, string>> {
  const pairs = names.map((name) => [name, header(name)] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''))
}
