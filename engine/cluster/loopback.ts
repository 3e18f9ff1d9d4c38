// Asks the engine's own face on loopback what a gateway could not answer: keys, quotas and refusals are those of one place.

import { Agent, request } from 'node:http'
import { type AskedAnswer, type AskedRequest, decodeAsked, encodeAnswer } from './asked.ts'
import { answersMax, askMsMax } from './log.ts'

/** Bytes of an answer; a larger one is refused. */
const ANSWER_BYTES_MAX = 7 * 1_024 * 1_024
/** Of one connection, which a request through a gateway does not have to itself. */
const HOP_HEADERS = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer'],
  ...['proxy-authorization', 'proxy-authenticate', 'host', 'content-length', 'expect'],
])

export class Loopback {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: answersMax })
  readonly #port: number

  /** `port`: of the face on 127.0.0.1. */
  constructor(port: number) {
    this.#port = port
  }

  /** The answer to a request of a gateway's, as bytes of asked.ts; rejects with an Error when there is none in time. */
  async answer(bytes: Uint8Array): Promise<Uint8Array> {
    const asked = decodeAsked(bytes)
    if (asked === null) throw new Error('this is no request')
    return encodeAnswer(await this.#ask(asked))
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask({ method, path, headers, body }: AskedRequest): Promise<AskedAnswer> {
    return new Promise((resolve, reject) => {
      const kept = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name))
      const length = body.length === 0 ? [] : [['content-length', String(body.length)]]
      const asking = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers: Object.fromEntries([...kept, ...length]),
        agent: this.#agent,
        timeout: askMsMax,
      })
      asking.once('timeout', () => asking.destroy(new Error('the engine did not answer in time')))
      asking.once('error', reject)
      asking.once('response', (response) => {
        const chunks: Buffer[] = []
        let count = 0
        response.on('data', (chunk: Buffer) => {
          count += chunk.length
          if (count > ANSWER_BYTES_MAX) asking.destroy(new Error('the answer is too large'))
          else chunks.push(chunk)
        })
        response.once('error', reject)
        response.once('end', () => {
          const told: Record<string, string> = {}
          for (const [name, value] of Object.entries(response.headers)) {
            if (value === undefined || HOP_HEADERS.has(name)) continue
            told[name] = Array.isArray(value) ? value.join(', ') : value
          }
          resolve({
            status: response.statusCode ?? 500,
            headers: told,
            body: Buffer.concat(chunks),
          })
        })
      })
      asking.end(body)
    })
  }
}
