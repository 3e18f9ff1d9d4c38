// Requests of the MCP server to the REST API of a service.

import type { SendRequest } from '../../../http/mcp/server.ts'
import { type Json, recordOf, type Tool, toolsOf } from '../../../http/mcp/tools.ts'
import { EngineError } from '../../errors.ts'

interface Service {
  /** Origin, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Credentials, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** Maximum bytes of a response. A longer one is an error, which asks for fewer rows. */
const BYTES_MAX = 1_048_576
/** Maximum bytes of the OpenAPI document, which has about 0.5 MB. */
const DOCUMENT_BYTES_MAX = 8_388_608
const TOO_LARGE = { detail: 'the answer is too large; ask for fewer rows' }

export function serviceRequests(service: Service): SendRequest {
  return async (method, path, body) => {
    const response = await request(service, path, { method, body })
    const text = await limitedText(response, BYTES_MAX)
    if (text === null) return { status: 413, body: TOO_LARGE }
    return { status: response.status, body: parsed(text) }
  }
}

/** The tools and the version of a service. Rejects with EngineError if it has no API document. */
export async function loadTools(
  service: Service,
): Promise<{ readonly tools: readonly Tool[]; readonly version: string }> {
  const response = await request(service, '/openapi.json', { method: 'GET', body: null })
  const text = response.status === 200 ? await limitedText(response, DOCUMENT_BYTES_MAX) : null
  if (text === null) {
    throw new EngineError('UNAVAILABLE', `${service.url} has no /openapi.json of this service`)
  }
  const document = parsed(text)
  const { 'x-service-version': version } = recordOf(recordOf(document).info)
  return { tools: toolsOf(document), version: String(version) }
}

async function request(
  { url, headers, timeoutMs }: Service,
  path: string,
  { method, body }: { readonly method: string; readonly body: string | null },
): Promise<Response> {
  const content = body === null ? {} : { body }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    return await fetch(new URL(path, url), {
      method,
      headers,
      ...content,
      redirect: 'error',
      signal,
    })
  } catch (cause) {
    throw new EngineError('UNAVAILABLE', `no service answers at ${url}`, { cause })
  }
}

/** Null: the text is longer. */
async function limitedText({ body }: Response, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const chunk of body ?? []) {
    count += chunk.length
    // Ends the request.
    if (count > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
