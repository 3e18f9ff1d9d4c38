// Sends requests that a gateway cannot answer to the engine's own server on loopback. A single process therefore checks
// keys and quotas.

import { Agent, request } from 'node:http'
import { answersMax, requestMsMax } from './cluster-log.ts'
import {
  type GatewayRequest,
  type GatewayResponse,
  gatewayRequestMessage,
  gatewayResponseMessage,
} from './gateway-messages.ts'

const ANSWER_BYTES_MAX = 7 * 1_024 * 1_024
/** Headers that apply to a single connection are not forwarded. */
const HOP_HEADERS = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer'],
  ...['proxy-authorization', 'proxy-authenticate', 'host', 'content-length', 'expect'],
])

export class Loopback {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: answersMax })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** Takes an encoded request and returns the encoded response. Rejects with an Error on timeout. */
  async answer(bytes: Uint8Array): Promise<Uint8Array> {
    const forwarded = gatewayRequestMessage.decode(bytes)
    if (forwarded === null) throw new Error('the bytes are not a request')
    return gatewayResponseMessage.encode(await this.#send(forwarded))
  }

  close(): void {
    this.#agent.destroy()
  }

  #send({ method, path, headers, body }: GatewayRequest): Promise<GatewayResponse> {
    return new Promise((resolve, reject) => {
      const endToEndHeaders = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name))
      const length = body.length === 0 ? [] : [['content-length', String(body.length)]]
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers: Object.fromEntries([...endToEndHeaders, ...length]),
        agent: this.#agent,
        timeout: requestMsMax,
      })
      outgoing.once('timeout', () =>
        outgoing.destroy(new Error('the engine did not answer in time')),
      )
      outgoing.once('error', reject)
      outgoing.once('response', (response) => {
        const chunks: Buffer[] = []
        let count = 0
        response.on('data', (chunk: Buffer) => {
          count += chunk.length
          if (count > ANSWER_BYTES_MAX) outgoing.destroy(new Error('the answer is too large'))
          else chunks.push(chunk)
        })
        response.once('error', reject)
        response.once('end', () => {
          const responseHeaders: Record<string, string> = {}
          for (const [name, value] of Object.entries(response.headers)) {
            if (value === undefined || HOP_HEADERS.has(name)) continue
            responseHeaders[name] = Array.isArray(value) ? value.join(', ') : value
          }
          resolve({
            status: response.statusCode ?? 500,
            headers: responseHeaders,
            body: Buffer.concat(chunks),
          })
        })
      })
      outgoing.end(body)
    })
  }
}
