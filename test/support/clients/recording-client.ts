// Records every response. Random texts of a run (ids, keys, cursors) are replaced by names.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { decodeWires, plain } from './stream-wire.ts'

/** Texts by group, in order of arrival. */
export class Records {
  readonly #raw = new Map<string, string[]>()
  readonly #names = new Map<string, string>()

  /** Replaces a random text by a name in all records. */
  name(text: string, name: string): void {
    if (text !== '') this.#names.set(text, `<${name}>`)
  }

  add(group: string, text: string): void {
    const texts = this.#raw.get(group) ?? []
    this.#raw.set(group, texts)
    texts.push(text)
  }

  /** All texts, with the names in place of random texts. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const names = [...this.#names].sort(([one], [other]) => other.length - one.length)
    const plain = (text: string) =>
      names
        .reduce((out, [random, name]) => out.replaceAll(random, name), text)
        .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
        .replace(/"cursor":"[\w-]{17,}"/g, '"cursor":"<cursor>"')
        .replace(/"(database_bytes|storage_bytes)":\d+/g, '"$1":<bytes>')
        .replace(/"ticket":"[^"]*"/g, '"ticket":"<ticket>"')
        .replace(/"event_id":"evt_\w+"(?=,"event_type":"webhook\.test")/g, '"event_id":"<event>"')
        .replace(/\bacc_[0-9a-f]{24}\b/g, '<account>')
        .replace(/"connection_id":"[^"]*"/g, '"connection_id":"<connection>"')
    return new Map([...this.#raw].map(([group, texts]) => [group, texts.map(plain)]))
  }

  /** Number and SHA-256 of each group's texts. */
  digests(): Record<string, string> {
    const sorted = [...this.groups()].sort(([one], [other]) => (one < other ? -1 : 1))
    return Object.fromEntries(
      sorted.map(([group, texts]) => {
        const digest = createHash('sha256').update(texts.join('\n')).digest('hex')
        return [group, `${texts.length} ${digest.slice(0, 32)}`]
      }),
    )
  }
}

export type Role = 'anonymous' | 'read key' | 'webhooks key' | 'token'

interface Asked {
  readonly method?: string
  readonly path: string
  readonly role?: Role
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Default: method and route pattern. */
  readonly group: string
}

/** These headers are recorded beside the body. */
const HEADERS = ['content-type', 'allow', 'retry-after', 'x-unknown-parameters', 'www-authenticate']

export class RecordingCaller {
  readonly #origin: string
  readonly #records: Records
  readonly credentials = new Map<Role, Readonly<Record<string, string>>>([['anonymous', {}]])
  requestCount = 0

  constructor(origin: string, records: Records) {
    this.#origin = origin
    this.#records = records
  }

  /** Returns the body, parsed if it is JSON. */
  async ask({ method = 'GET', path, role = 'read key', body, headers = {}, group }: Asked) {
    this.requestCount += 1
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${this.#origin}${path}`, {
      method,
      headers: { ...this.credentials.get(role), ...headers },
      ...(text === undefined ? {} : { body: text }),
    })
    const answer = Buffer.from(await response.arrayBuffer())
    const type = response.headers.get('content-type') ?? ''
    // The documents contain prose, so their names are recorded in separate lists.
    const isText = type.startsWith('application/json') && !/api\.json$/.test(path)
    const shown = HEADERS.flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [`${name}: ${value}`]
    })
    const kind = response.status < 400 ? group : `refusals of ${group}`
    const written = isText || response.status >= 400 ? answer.toString('utf8') : '<no JSON>'
    const asked = `${method} ${path} [${role}] ${text ?? ''}`
    this.#records.add(kind, `${asked}\n${response.status} ${shown.join('; ')}\n${written}`)
    const value: unknown = isText && answer.length > 0 ? JSON.parse(answer.toString('utf8')) : null
    return { status: response.status, value }
  }
}

type Command = Readonly<Record<string, unknown>>

/** Messages are recorded in groups by encoding and channel, or type. */
export class RecordingStream {
  readonly #socket: WebSocket
  readonly #records: Records
  readonly #name: string
  readonly offsets = new Map<string, number>()
  readonly #pongs: (() => void)[] = []
  #closing: string | null = null

  private constructor(socket: WebSocket, records: Records, name: string) {
    this.#socket = socket
    this.#records = records
    this.#name = name
    socket.on('message', (bytes, isBinary) => {
      assert.ok(Buffer.isBuffer(bytes))
      this.#take(bytes, isBinary)
    })
    socket.on('close', (code, reason) => {
      this.#closing = `${code} ${String(reason)}`
      for (const wake of this.#pongs.splice(0)) wake()
    })
  }

  /** `query`: encoding and batches. Resolves after the connection's greeting. */
  static async open(
    origin: string,
    { key, query, name, records }: { key: string; query: string; name: string; records: Records },
  ): Promise<RecordingStream> {
    const url = `${origin.replace('http', 'ws')}/v1/ws?api_key=${key}${query}`
    const socket = new WebSocket(url)
    const stream = new RecordingStream(socket, records, name)
    await once(socket, 'open')
    await stream.barrier()
    return stream
  }

  send(command: Command | string | Uint8Array): void {
    const isRaw = typeof command === 'string' || command instanceof Uint8Array
    this.#socket.send(isRaw ? command : JSON.stringify(command))
  }

  /** Resolves when all messages and commands so far are recorded. */
  async barrier(): Promise<void> {
    if (this.#closing !== null) return
    const pong = new Promise<void>((resolve) => this.#pongs.push(resolve))
    this.send({ action: 'ping', id: 'barrier' })
    await pong
  }

  async close(): Promise<void> {
    if (this.#closing === null) {
      const closed = once(this.#socket, 'close')
      this.#socket.close()
      await closed
    }
    if (this.#closing !== null) this.#records.add(`stream ${this.#name} close`, this.#closing)
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    const value: unknown = isBinary ? decodeWires(bytes).map(plain) : JSON.parse(String(bytes))
    const messages: unknown[] = Array.isArray(value) ? value : [value]
    const recorded = messages.filter((message) => !isBarrier(message))
    if (recorded.length > 0) {
      const text =
        recorded.length < messages.length || isBinary ? JSON.stringify(recorded) : String(bytes)
      // A binary frame is recorded as JSON, with a digest of its bytes unless they contain random text.
      const isHashed =
        isBinary && recorded.length === messages.length && !/"connection_id"/.test(text)
      const end = isHashed
        ? ` ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
        : ''
      this.#records.add(`stream ${this.#name} ${groupOf(recorded[0])}`, `${text}${end}`)
    }
    for (const message of recorded) this.#note(message)
    for (const message of messages) if (isBarrier(message)) this.#pongs.shift()?.()
  }

  #note(message: unknown): void {
    if (typeof message !== 'object' || message === null) return
    const [channel, offset] = [Reflect.get(message, 'channel'), Reflect.get(message, 'offset')]
    if (typeof channel === 'string' && typeof offset === 'number') this.offsets.set(channel, offset)
  }
}

const isBarrier = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && Reflect.get(message, 'id') === 'barrier'

function groupOf(message: unknown): string {
  if (typeof message !== 'object' || message === null) return 'other'
  const [channel, type] = [Reflect.get(message, 'channel'), Reflect.get(message, 'type')]
  return typeof channel === 'string' ? channel : String(type)
}
