// A minimal NATS server with JetStream for one client. It records names on the wire and stores no data.

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

const INFO = {
  ...{ server_id: 'scribe', server_name: 'scribe', version: '2.10.18', proto: 1, go: 'none' },
  ...{ host: '127.0.0.1', port: 0, headers: true, max_payload: 1_048_576, jetstream: true },
}
const API = '$JS.API.'

export class NatsRecorder {
  /** Subjects of publications and subscriptions, and stream configurations, without repeats. */
  readonly noted = new Set<string>()
  readonly #server: Server
  readonly #streams = new Map<string, object>()

  private constructor() {
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async open(): Promise<NatsRecorder> {
    const scribe = new NatsRecorder()
    scribe.#server.listen(0, '127.0.0.1')
    await once(scribe.#server, 'listening')
    return scribe
  }

  get url(): string {
    const address = this.#server.address()
    return `nats://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #accept(socket: Socket): void {
    const subscriptions: { readonly pattern: RegExp; readonly sid: string }[] = []
    const reply = (subject: string, body: string): void => {
      const found = subscriptions.find(({ pattern }) => pattern.test(subject))
      if (found === undefined) return
      socket.write(`MSG ${subject} ${found.sid} ${Buffer.byteLength(body)}\r\n${body}\r\n`)
    }
    let text = ''
    socket.on('error', () => undefined)
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (;;) {
        const end = text.indexOf('\r\n')
        if (end < 0) return
        const [verb = '', ...terms] = text.slice(0, end).split(' ')
        const size = /^H?PUB$/.test(verb) ? Number(terms.at(-1)) + 2 : 0
        if (text.length < end + 2 + size) return
        const payload = text.slice(end + 2, end + 2 + Math.max(0, size - 2))
        text = text.slice(end + 2 + size)
        if (verb === 'PING') socket.write('PONG\r\n')
        if (verb === 'SUB') {
          const [subject = ''] = terms
          subscriptions.push({ pattern: patternOf(subject), sid: terms.at(-1) ?? '' })
          this.#note('SUB', subject)
        }
        if (size === 0) continue
        const headBytes = verb === 'HPUB' ? Number(terms.at(-2)) : 0
        const to = terms.length > (verb === 'HPUB' ? 3 : 2) ? terms[1] : undefined
        this.#publish(terms[0] ?? '', payload.slice(headBytes), (body) => {
          if (to !== undefined) reply(to, body)
        })
      }
    })
  }

  #publish(subject: string, body: string, reply: (body: string) => void): void {
    if (!subject.startsWith(API)) {
      this.#note('PUB', subject)
      return reply(JSON.stringify({ stream: 'any', seq: 1 }))
    }
    const [kind = '', act = '', stream = ''] = subject.slice(API.length).split('.')
    if (kind !== 'STREAM') return reply('{}')
    if (act === 'CREATE') {
      const config: Readonly<Record<string, unknown>> = JSON.parse(body)
      this.#streams.set(stream, config)
      this.noted.add(`stream ${stream} of ${String(config.subjects)}`)
    }
    const config = this.#streams.get(stream)
    const error = { code: 404, err_code: 10_059, description: 'stream not found' }
    const state = { messages: 0, bytes: 0, first_seq: 0, last_seq: 0, consumer_count: 0 }
    const created = '2026-11-20T12:00:00Z'
    reply(JSON.stringify(config === undefined ? { error } : { config, state, created }))
  }

  #note(verb: string, subject: string): void {
    // The end of an inbox name is random for each client, so it is replaced.
    const plain = subject
      .replace(/^(_INBOX\.\w+)\..*/, '$1.…')
      .replace(/^(\$O\.\w+\.\w)\..*/, '$1.…')
    this.noted.add(`${verb} ${plain}`)
  }
}

function patternOf(subject: string): RegExp {
  const parts = subject.split('.').map((part) => {
    if (part === '>') return '.+'
    return part === '*' ? '[^.]+' : part.replace(/[$^()|?+\\[\]{}]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('\\.')}$`)
}
