// Webhook receivers on loopback. They record the deliveries of each event, and the reference library verifies each
// signature.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'

export type ReceiverBehaviour = 'accept' | 'refuse' | 'hang' | 'reset'

interface Received {
  readonly digest: string
  count: number
  accepted: number
}

/** `isSignedBy` uses the reference library. */
interface ReceivedDelivery {
  readonly body: string
  readonly isSignedBy: (secret: string) => boolean
}

/** The format that users may choose. */
export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** The test must call `close`. */
export class EventReceiver {
  manner: ReceiverBehaviour
  /** Each delivery must be signed by one of these secrets. If the list is empty, signatures are not checked. */
  readonly secrets: string[]
  readonly events = new Map<string, Received>()
  readonly faults: string[] = []
  readonly #server: Server
  readonly #verifiers = new Map<string, Webhook>()
  readonly #listeners: ((delivery: ReceivedDelivery) => void)[] = []

  private constructor(manner: ReceiverBehaviour, secrets: readonly string[]) {
    this.manner = manner
    this.secrets = [...secrets]
    this.#server = createServer((request, response) => this.#onRequest(request, response))
    this.#server.on('clientError', (_, socket) => socket.destroy())
  }

  static async open(manner: ReceiverBehaviour, secrets: readonly string[]): Promise<EventReceiver> {
    const receiver = new EventReceiver(manner, secrets)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return `http://127.0.0.1:${port}/hook`
  }

  /** Counts deliveries of events that had already been accepted with 2xx. */
  get duplicates(): number {
    let count = 0
    for (const { accepted } of this.events.values()) count += Math.max(0, accepted - 1)
    return count
  }

  get requests(): number {
    let requests = 0
    for (const { count } of this.events.values()) requests += count
    return requests
  }

  /** Calls `listener` with each delivery before the response is sent. */
  onDelivery(listener: (delivery: ReceivedDelivery) => void): void {
    this.#listeners.push(listener)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // Not emitted if the sender is killed before it has sent the complete body.
    request.on('end', () => {
      const received = this.#take(request, Buffer.concat(chunks))
      if (this.manner === 'reset') request.socket.resetAndDestroy()
      if (this.manner === 'refuse') response.writeHead(500).end()
      if (this.manner !== 'accept') return
      received.accepted += 1
      response.writeHead(204).end()
    })
  }

  #take({ headers }: IncomingMessage, body: Buffer): Received {
    const id = String(headers['webhook-id'])
    const digest = createHash('sha256').update(body).digest('hex')
    const received = this.events.get(id) ?? { digest, count: 0, accepted: 0 }
    this.events.set(id, received)
    received.count += 1
    if (received.digest !== digest) this.#fault(`${id}: another body than before`)
    const text = body.toString()
    const isSignedBy = (secret: string) => this.#isSignedBy(secret, text, headers)
    for (const listener of this.#listeners) listener({ body: text, isSignedBy })
    if (this.secrets.length > 0 && !this.secrets.some(isSignedBy)) {
      this.#fault(`${id}: a signature that no known secret made`)
    }
    return received
  }

  #isSignedBy(secret: string, body: string, headers: IncomingMessage['headers']): boolean {
    const named = {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    }
    const verifier = this.#verifiers.get(secret) ?? new Webhook(secret)
    this.#verifiers.set(secret, verifier)
    try {
      verifier.verify(body, named)
      return true
    } catch {
      return false
    }
  }

  #fault(what: string): void {
    if (this.faults.length < 100) this.faults.push(what)
  }
}
