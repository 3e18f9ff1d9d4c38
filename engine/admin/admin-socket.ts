// Accepts commands over a Unix socket in the data folder. The socket has mode 600, so only users who may read the
// databases may send commands. Requests and responses are lines of JSON.

import { chmodSync, closeSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { EngineError } from '../errors.ts'
import { isRecord } from '../json-record.ts'
import type { Log } from '../process/log.ts'
import { readLines } from './read-lines.ts'

export type AdminRequest = Readonly<Record<string, unknown>>
type AdminHandler = (request: AdminRequest) => unknown
export type AdminHandlers = Readonly<Record<string, AdminHandler>>

/** Maximum length of a request or a response in bytes, including the newline. */
export const requestBytesMax = 65_536
export const answerBytesMax = 4_194_304
const IDLE_MS_MAX = 10_000
/** A slower command returns TIMED_OUT. It may still complete. */
const HANDLER_MS_MAX = 5_000
const CONNECTIONS_MAX = 16
const SOCKET_NAME = 'engine.sock'
/** Maximum length of a socket path in bytes. Node silently truncates longer paths. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103

/** The caller must call `close` when it no longer uses the path. */
interface SocketLocation {
  readonly path: string
  close(): void
}

/**
 * The path of a folder's socket. On Linux, a path that is too long is replaced by a path through an open file
 * descriptor of the folder. Throws EngineError UNAVAILABLE if no usable path exists.
 */
export function openSocketLocation(dataDir: string): SocketLocation {
  const folder = resolve(dataDir)
  const path = join(folder, SOCKET_NAME)
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, close: () => undefined }
  if (process.platform !== 'linux') {
    throw new EngineError(
      'UNAVAILABLE',
      `${path} is longer than the ${PATH_BYTES_MAX} bytes that a socket's path may have; set DATA_DIR to a shorter path`,
    )
  }
  const handle = openSync(folder, 'r')
  return { path: `/proc/self/fd/${handle}/${SOCKET_NAME}`, close: () => closeSync(handle) }
}

/** The process must hold the lock of the data folder. */
export class AdminSocket {
  readonly #dataDir: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #handlers = new Map<string, AdminHandler>()
  readonly #connections = new Set<Connection>()
  #listening: { readonly server: Server; readonly location: SocketLocation } | null = null
  #isStopping = false

  constructor(parts: { dataDir: string; clock: Clock; log: Log }) {
    this.#dataDir = parts.dataDir
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** Throws if a command name is already registered. */
  register(handlers: AdminHandlers): void {
    for (const [name, handler] of Object.entries(handlers)) {
      if (this.#handlers.has(name)) throw new Error(`the admin command ${name} is registered twice`)
      this.#handlers.set(name, handler)
    }
  }

  /** Listens. On failure, logs the reason, and the engine continues without the socket. */
  async start(): Promise<void> {
    let location: SocketLocation | null = null
    try {
      location = openSocketLocation(this.#dataDir)
      removeStale(location.path)
      this.#listening = { server: await this.#listen(location.path), location }
    } catch (error) {
      location?.close()
      this.#log.warn({ err: error }, 'no admin socket: commands work while the engine is stopped')
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const listening = this.#listening
    this.#listening = null
    if (listening === null) return
    // Closing the server also removes the socket file, which needs the path.
    const closed = new Promise<void>((done) => listening.server.close(() => done()))
    for (const connection of this.#connections) connection.finish()
    await closed
    listening.location.close()
  }

  #listen(path: string): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
    return new Promise((done, fail) => {
      server.once('error', fail)
      server.once('listening', () => {
        chmodSync(path, 0o600)
        server.on('error', (error) => this.#log.error({ err: error }, 'the admin socket failed'))
        done(server)
      })
      // The umask is set before the socket file is created, so that no other user can connect at any moment.
      const umask = process.umask(0o177)
      try {
        server.listen(path)
      } finally {
        process.umask(umask)
      }
    })
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined)
    if (this.#isStopping || this.#connections.size >= CONNECTIONS_MAX) {
      socket.destroy()
      return
    }
    const answer = (line: string) => this.#answer(line)
    const connection = new Connection({ socket, clock: this.#clock, answer })
    this.#connections.add(connection)
    connection.run().finally(() => this.#connections.delete(connection))
  }

  /** Returns the response line to a request line. Never rejects. */
  async #answer(line: string): Promise<string> {
    try {
      const { command, request } = parseRequest(line)
      const handler = this.#handlers.get(command)
      if (handler === undefined) {
        const commands = [...this.#handlers.keys()].sort().join(', ')
        throw new EngineError('NOT_FOUND', `no command ${command}; use one of: ${commands}`)
      }
      // The arguments may contain a secret and are not logged.
      this.#log.info({ command }, 'admin command')
      return this.#encode(await this.#withTimeout(async () => handler(request)))
    } catch (error) {
      if (error instanceof EngineError) return refusal(error)
      this.#log.error({ err: error }, 'an admin command failed')
      return refusal(new EngineError('INTERNAL', 'internal error; see the log'))
    }
  }

  #encode(result: unknown): string {
    const text = JSON.stringify({ ok: true, result: result ?? null })
    if (Buffer.byteLength(text) < answerBytesMax) return text
    return refusal(new EngineError('INTERNAL', `the answer exceeds ${answerBytesMax} bytes`))
  }

  async #withTimeout(action: () => Promise<unknown>): Promise<unknown> {
    const finished = new AbortController()
    const timeout = pause(this.#clock, HANDLER_MS_MAX, finished.signal).then(() => {
      const detail = `no result in ${HANDLER_MS_MAX / 1_000} s; check whether it took effect`
      throw new EngineError('TIMED_OUT', detail)
    })
    // If the command ends before the timeout, nothing else handles the timeout's rejection.
    timeout.catch(() => undefined)
    try {
      return await Promise.race([action(), timeout])
    } finally {
      finished.abort()
    }
  }
}

class Connection {
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #answer: (line: string) => Promise<string>
  #isBusy = false
  #isEnding = false

  constructor(parts: { socket: Socket; clock: Clock; answer: (line: string) => Promise<string> }) {
    this.#socket = parts.socket
    this.#clock = parts.clock
    this.#answer = parts.answer
  }

  /** Resolves when the connection is closed. Never rejects. */
  async run(): Promise<void> {
    const disconnect = () => this.#socket.destroy()
    let stopIdleTimer = this.#clock.after(IDLE_MS_MAX, disconnect)
    try {
      for await (const line of readLines(this.#socket, requestBytesMax)) {
        stopIdleTimer()
        this.#isBusy = true
        const answer = await this.#answer(line)
        this.#isBusy = false
        this.#socket.write(`${answer}\n`)
        stopIdleTimer = this.#clock.after(IDLE_MS_MAX, disconnect)
        if (this.#isEnding) break
      }
    } catch (error) {
      if (error instanceof EngineError) this.#socket.write(`${refusal(error)}\n`)
    }
    stopIdleTimer()
    this.#end()
  }

  finish(): void {
    this.#isEnding = true
    if (!this.#isBusy) this.#socket.destroy()
  }

  #end(): void {
    if (this.#socket.destroyed) return
    const stopTimeout = this.#clock.after(IDLE_MS_MAX, () => this.#socket.destroy())
    this.#socket.once('close', stopTimeout)
    this.#socket.end(() => this.#socket.destroy())
  }
}

function parseRequest(line: string): { command: string; request: AdminRequest } {
  let value: unknown = null
  try {
    value = JSON.parse(line)
  } catch {
    // Text that is not JSON gets the same response as any other invalid request.
  }
  if (isRecord(value)) {
    const { command, request = {} } = value
    if (typeof command === 'string' && isRecord(request)) return { command, request }
  }
  const form = '{"command":"…","request":{…}}'
  throw new EngineError('BAD_REQUEST', `a request is a line of JSON: ${form}`)
}

function refusal({ code, detail }: EngineError): string {
  return JSON.stringify({ ok: false, code, detail })
}

/** Removes the socket that a crash left behind. Does not remove other files. */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new Error(`${path} is in the way: it is no socket`)
  unlinkSync(path)
}
