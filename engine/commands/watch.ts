// `npm run watch -- CHANNEL [MARKET_ID …]`: prints a channel of a running engine, a line a message.
// The wire as it is; the client that keeps books and resumes is http/client/.
// Exit codes: 0 when stopped or done, 1 when the stream ended by itself, 2 for a bad request.
// Upholds WATCH1 to WATCH3.

import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { CHANNEL_NAMES } from '../../http/ws/channels.ts'
import { readLocalKey } from '../../storage/secrets.ts'
import { ConfigError, loadConfig } from '../config.ts'

const USAGE = `npm run watch -- CHANNEL [MARKET_ID ...] [--url http://127.0.0.1:8080] [--key KEY] [--count N]
  CHANNEL      ${CHANNEL_NAMES.join(', ')}
  MARKET_ID    which markets, at most 100; without any, all of them
  --url        where the engine listens (HOST and PORT of this environment)
  --key        an API key (the local account's, from DATA_DIR/local-key)
  --count      stop after that many data messages`

interface Request {
  readonly url: URL
  readonly channel: string
  readonly marketIds: readonly string[]
  readonly count: number
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function readOptions(defaultUrl: string) {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: defaultUrl },
        key: { type: 'string' },
        count: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function readRequest(): Request {
  const config = loadConfig(process.env)
  const { values, positionals } = readOptions(`http://${config.host}:${config.port}`)
  const [channel, ...marketIds] = positionals
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    process.exit(0)
  }
  if (channel === undefined || !CHANNEL_NAMES.includes(channel)) fail(USAGE)
  if (!/^(https?|wss?):\/\//.test(values.url) || !URL.canParse('/v1/ws', values.url)) {
    fail(`--url is ${values.url}; it accepts a URL such as http://127.0.0.1:8080`)
  }
  const key = values.key ?? readLocalKey(config.dataDir)
  if (key === null) fail(`no key in ${config.dataDir}/local-key; give one with --key\n\n${USAGE}`)
  const count = values.count === undefined ? Number.POSITIVE_INFINITY : Number(values.count)
  if (!(count > 0)) fail(`--count is ${values.count}; it accepts a number above 0`)
  const url = new URL('/v1/ws', values.url)
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('api_key', key)
  return { url, channel, marketIds, count }
}

/** Why a command was refused or found nothing to watch; null for any other message. */
function refusalOf(text: string): string | null {
  if (text.startsWith('{"type":"error"')) return text
  const isNothing = text.startsWith('{"type":"subscribed"') && text.includes('"accepted":[]')
  return isNothing ? `no such market: ${text}` : null
}

function watch({ url, channel, marketIds, count }: Request): void {
  const place = `${url.protocol.replace('ws', 'http')}//${url.host}`
  const socket = new WebSocket(url)
  let seen = 0
  socket.on('open', () => {
    const market_ids = marketIds.length === 0 ? ['*'] : marketIds
    socket.send(JSON.stringify({ action: 'subscribe', id: 1, channel, market_ids }))
  })
  socket.on('message', (bytes) => {
    if (seen >= count) return
    const text = String(bytes)
    const refusal = refusalOf(text)
    if (refusal !== null) fail(refusal)
    // A slow reader of ours is made the engine's, which knows what to do with one.
    if (!process.stdout.write(`${text}\n`)) socket.pause()
    if (text.includes(`"channel":"${channel}","market_id"`)) seen += 1
    if (seen >= count) socket.close(1000)
  })
  process.stdout.on('drain', () => socket.resume())
  // `| head` has seen enough.
  process.stdout.on('error', () => process.exit(0))
  socket.on('unexpected-response', (_, response) => {
    fail(`the engine at ${place} refused the stream with status ${response.statusCode}`)
  })
  socket.on('error', (error) =>
    fail(`no stream at ${place}: ${error.message || 'connection refused'}`),
  )
  socket.on('close', (code, reason) => {
    if (code === 1000 || isStopped) process.exit(0)
    process.stderr.write(`the stream ended with ${code} ${String(reason)}\n`)
    process.exit(1)
  })
  let isStopped = false
  const stop = (): void => {
    // A second signal does not wait for the engine's good-bye.
    if (isStopped) process.exit(0)
    isStopped = true
    socket.close(1000)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

try {
  if (existsSync('.env')) process.loadEnvFile('.env')
  watch(readRequest())
} catch (error) {
  fail(error instanceof ConfigError ? error.message : String(error))
}
