import { connect, type Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { EngineError, type ErrorCode, errorCatalogue } from '../errors.ts'
import { type AdminRequest, answerBytesMax, openSocketLocation } from './admin-socket.ts'
import { readLines } from './read-lines.ts'

/** Longer than the engine's time limit of a command. */
const ANSWER_MS_MAX = 15_000

interface AdminClient {
  /**
   * Returns the result of a command. Rejects with the EngineError that the engine returns, or with UNAVAILABLE if the
   * connection ends.
   */
  send(command: string, request: AdminRequest): Promise<unknown>
  close(): void
}

/** Null if no engine listens in the data folder. */
export async function connectAdmin(dataDir: string, clock: Clock): Promise<AdminClient | null> {
  const location = openSocketLocation(dataDir)
  try {
    const socket = await connectSocket(location.path)
    return socket === null ? null : clientOf(socket, clock)
  } finally {
    location.close()
  }
}

function connectSocket(path: string): Promise<Socket | null> {
  return new Promise((done, fail) => {
    const socket = connect(path)
    const refused = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') done(null)
      else fail(new EngineError('UNAVAILABLE', `cannot connect to the engine: ${error.message}`))
    }
    socket.once('error', refused)
    socket.once('connect', () => {
      socket.off('error', refused)
      socket.on('error', () => undefined)
      done(socket)
    })
  })
}

function clientOf(socket: Socket, clock: Clock): AdminClient {
  const lines = readLines(socket, answerBytesMax)
  return {
    async send(command, request) {
      const stopTimeout = clock.after(ANSWER_MS_MAX, () => socket.destroy())
      try {
        socket.write(`${JSON.stringify({ command, request })}\n`)
        const next = await lines.next().catch(() => ({ done: true, value: undefined }))
        if (next.done !== true) return resultIn(next.value)
        const detail = `the engine closed the connection; whether ${command} took effect is unknown`
        throw new EngineError('UNAVAILABLE', detail)
      } finally {
        stopTimeout()
      }
    },
    close: () => void socket.destroy(),
  }
}

function resultIn(line: string | undefined): unknown {
  const answer: unknown = JSON.parse(line ?? '')
  if (typeof answer !== 'object' || answer === null)
    throw new Error('the engine sent an invalid response')
  if ('ok' in answer && answer.ok === true && 'result' in answer) return answer.result
  const code = 'code' in answer ? String(answer.code) : ''
  const detail =
    'detail' in answer ? String(answer.detail) : 'the engine rejected the command without a reason'
  throw new EngineError(isErrorCode(code) ? code : 'INTERNAL', detail)
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCatalogue, text)
}
