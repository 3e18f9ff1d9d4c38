// `npm run watch -- CHANNEL [MARKET_ID …]` prints a channel of a running engine as a table, or with `--json` as
// received messages. Exit codes: 0 when stopped or done, 1 when the stream ended and cannot be opened again, 2 for an
// invalid request.

import { WebSocket } from 'ws'
import { delayMs } from '../../../http/client/back-off.ts'
import { CHANNEL_NAMES } from '../../../http/ws/channels/channels.ts'
import { readLocalKey } from '../../../storage/secrets.ts'
import { systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import { type Arguments, UsageError } from '../../process/command-line.ts'
import { systemRandom } from '../../random.ts'
import { runCommand } from './run-command.ts'
import { headingOf, rowOf } from './watch-table.ts'

const COMMAND = {
  name: 'npm run watch',
  about: 'Shows a channel of a running engine as a table.',
  usage: ['CHANNEL [MARKET_ID ...] [--json] [--count N] [--url URL] [--key KEY]'],
  positionals: {
    CHANNEL: CHANNEL_NAMES.join(', '),
    MARKET_ID: 'which markets, at most 100; without any, all of them',
  },
  positionalCounts: [1, Number.POSITIVE_INFINITY],
  options: {
    json: { takes: null, means: 'prints each message as received, one JSON object a line' },
    count: { takes: 'N', means: 'stop after that many data messages' },
    url: { takes: 'URL', means: 'where the engine listens (HOST and PORT of this environment)' },
    key: { takes: 'KEY', means: 'an API key (the local account\u2019s, from DATA_DIR/local-key)' },
  },
  examples: ['trades', 'orderbook venue_a_0x12ab --count 20', 'prices --json', 'arbitrage'],
  notes: [
    'For JSON alone on stdout: npm run -s watch -- trades --json. Without -s, npm prints two lines before the command.',
    'After a restart of the engine the command connects again, and says so on stderr.',
    'With the simulated venues, arbitrage has a row within half a minute of npm start. With the real venues, opportunities are rare.',
    'Exit codes: 0 stopped or done, 1 the stream ended and cannot be opened again, 2 a bad request.',
  ],
} as const
type Given = Arguments<keyof typeof COMMAND.options>

interface Request {
  readonly url: URL
  readonly channel: string
  readonly marketIds: readonly string[]
  readonly count: number
  readonly isJson: boolean
}

function readRequest(given: Given): Request {
  const config = loadConfig(process.env)
  const [name = '', ...marketIds] = given.positionals
  const channel = CHANNEL_NAMES.find((candidate) => candidate === name)
  if (channel === undefined) {
    throw new UsageError(`${name} is no CHANNEL; it is ${CHANNEL_NAMES.join(', ')}`)
  }
  const text = given.text('url') ?? `http://${config.host}:${config.port}`
  if (!/^(https?|wss?):\/\//.test(text) || !URL.canParse('/v1/ws', text)) {
    throw new UsageError(`--url is ${text}; it accepts a URL such as http://127.0.0.1:8080`)
  }
  const anyCount = Number.POSITIVE_INFINITY
  const count = given.number('count', { above: 0, max: anyCount }) ?? anyCount
  const key = given.text('key') ?? readLocalKey(config.dataDir)
  if (key === null) {
    throw new UsageError(`no key in ${config.dataDir}/local-key; give one with --key KEY`)
  }
  const url = new URL('/v1/ws', text)
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('api_key', key)
  return { url, channel, marketIds, count, isJson: given.has('json') || isNpmJson }
}

/** Without a terminal, as in a pipe: 100. */
const terminalColumns = (): number => process.stdout.columns ?? 100
/** `npm run watch CHANNEL --json` without `--`: npm takes the option and prints its own lines to stderr. */
const isNpmJson = process.env.npm_config_json === 'true'

/** Why the server rejected the command. Null for other messages. */
function refusalOf(text: string): string | null {
  if (text.startsWith('{"type":"error"')) return text
  const isNothing = text.startsWith('{"type":"subscribed"') && text.includes('"accepted":[]')
  return isNothing ? `no such market: ${text}` : null
}

function watch({ url, channel, marketIds, count, isJson }: Request): Promise<number> {
  const address = `${url.protocol.replace('ws', 'http')}//${url.host}`
  const { next: random } = systemRandom()
  let socket: WebSocket | null = null
  let seen = 0
  /** Failed attempts since the last subscription. */
  let attempt = 0
  let hasSubscribed = false
  let isStopped = false
  return new Promise((resolve, reject) => {
    const refuse = (why: string) => reject(new UsageError(why))
    const note = (text: string) => process.stderr.write(`${text}\n`)
    const open = () => {
      const current = new WebSocket(url)
      let status: number | null = null
      socket = current
      current.on('open', () => {
        const market_ids = marketIds.length === 0 ? ['*'] : marketIds
        current.send(JSON.stringify({ action: 'subscribe', id: 1, channel, market_ids }))
        if (!hasSubscribed && !isJson) {
          process.stdout.write(`${headingOf(channel, terminalColumns())}\n`)
        }
      })
      current.on('message', (bytes) => {
        if (seen >= count) return
        const text = String(bytes)
        const refusal = refusalOf(text)
        if (refusal !== null && !hasSubscribed) return refuse(refusal)
        if (refusal !== null) return current.terminate()
        if (text.startsWith('{"type":"subscribed"')) {
          if (attempt > 0) note('Reconnected. The messages between are missing.')
          hasSubscribed = true
          attempt = 0
        }
        const line = isJson ? text : rowOf(channel, JSON.parse(text), terminalColumns())
        // The socket is paused while stdout is slow, so that the engine limits this reader.
        if (line !== null && !process.stdout.write(`${line}\n`)) current.pause()
        if (text.includes(`"channel":"${channel}","market_id"`)) seen += 1
        if (seen >= count) current.close(1000)
      })
      current.on('unexpected-response', (_, response) => {
        status = response.statusCode ?? null
        if (!hasSubscribed)
          refuse(`the engine at ${address} refused the stream with status ${status}`)
        current.terminate()
      })
      current.on('error', (error) => {
        if (hasSubscribed) return
        refuse(`no stream at ${address}: ${error.message || 'connection refused'}`)
      })
      current.on('close', (code, bytes) => {
        if (code === 1000 || isStopped) return resolve(0)
        const reason = String(bytes)
        const why = reason === '' ? `code ${code}` : `code ${code}, ${reason}`
        const waitMs = delayMs({ code, reason, status }, attempt, random)
        if (!hasSubscribed || waitMs === null) {
          note(`The stream ended (${why}).`)
          return resolve(1)
        }
        if (attempt === 0) note(`The stream ended (${why}). Reconnecting.`)
        attempt += 1
        systemClock.after(waitMs, () => (isStopped ? undefined : open()))
      })
    }
    process.stdout.on('drain', () => socket?.resume())
    // The reader of the pipe may close it at any time, as `head` does. This is no error.
    process.stdout.on('error', () => resolve(0))
    const stop = (): void => {
      // Between two connections, and at a second signal, there is no closing frame to wait for.
      if (isStopped || socket?.readyState !== WebSocket.OPEN) resolve(0)
      isStopped = true
      socket?.close(1000)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
    open()
  })
}

await runCommand(COMMAND, (given) => watch(readRequest(given)))
