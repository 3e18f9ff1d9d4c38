// `npm run watch -- CHANNEL [MARKET_ID …]`: prints a channel of a running engine, a line a message.
// The smallest possible client; the one that keeps books and resumes is http/client/.

import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { readLocalKey } from '../../storage/secrets.ts'
import { loadConfig } from '../config.ts'

const CHANNELS = ['orderbook', 'trades', 'prices']
const USAGE = `npm run watch -- CHANNEL [MARKET_ID ...] [--url http://127.0.0.1:8080] [--key KEY] [--count N]
  CHANNEL      ${CHANNELS.join(', ')}
  MARKET_ID    which markets; without any, all of them
  --url        where the engine listens (HOST and PORT of this environment)
  --key        an API key (the local account's, from DATA_DIR/local-key)
  --count      stop after that many data messages`

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

if (existsSync('.env')) process.loadEnvFile('.env')
const config = loadConfig(process.env)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: `http://${config.host}:${config.port}` },
    key: { type: 'string' },
    count: { type: 'string' },
  },
})
const [channel, ...marketIds] = positionals
if (channel === undefined || !CHANNELS.includes(channel)) fail(USAGE)
const key = values.key ?? readLocalKey(config.dataDir)
if (key === null) fail(`no key in ${config.dataDir}/local-key; give one with --key\n\n${USAGE}`)
const wanted = values.count === undefined ? Number.POSITIVE_INFINITY : Number(values.count)
if (!(wanted > 0)) fail(`--count is ${values.count}; it accepts a number above 0`)

const url = new URL('/v1/ws', values.url)
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
url.searchParams.set('api_key', key)
const socket = new WebSocket(url)
let count = 0

socket.on('open', () => {
  const market_ids = marketIds.length === 0 ? ['*'] : marketIds
  socket.send(JSON.stringify({ action: 'subscribe', id: 1, channel, market_ids }))
})
socket.on('message', (bytes) => {
  if (count >= wanted) return
  const text = String(bytes)
  process.stdout.write(`${text}\n`)
  if (text.includes(`"channel":"${channel}","market_id"`)) count += 1
  if (count >= wanted) socket.close(1000)
})
socket.on('unexpected-response', (_, response) => {
  fail(`the engine at ${values.url} refused the stream with status ${response.statusCode}`)
})
socket.on('error', (error) =>
  fail(`no stream at ${values.url}: ${error.message || 'connection refused'}`),
)
socket.on('close', (code) => process.exit(code === 1000 ? 0 : 1))
process.once('SIGINT', () => socket.close(1000))
