// `npm run -s mcp`: MCP server on standard input and output, for an assistant on this machine. It sends the requests to
// a running service.

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { mcpServer } from '../../../http/mcp/server.ts'
import { readLocalKey } from '../../../storage/secrets.ts'
import { systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import { type Arguments, UsageError } from '../../process/command-line.ts'
import { loadTools, serviceRequests } from '../mcp/service-requests.ts'
import { runCommand } from './run-command.ts'

const COMMAND = {
  name: 'npm run -s mcp',
  about:
    'Serves market data to an assistant by the Model Context Protocol on standard input and output.',
  usage: ['[--url URL] [--key KEY]'],
  options: {
    url: { takes: 'URL', means: 'where the service listens (HOST and PORT of this environment)' },
    key: { takes: 'KEY', means: 'an API key (the local account\u2019s, from DATA_DIR/local-key)' },
  },
  examples: ['', '--url https://twinbook.example --key KEY'],
  notes: [
    'Without -s, npm prints lines to standard output that are not part of the protocol.',
    'Ends when standard input ends. Exit codes: 0 done, 1 no service answers, 2 a bad request.',
  ],
} as const

/** Above the deadline of the service, which answers 503 then. */
const TIMEOUT_MS = 10_000

async function serve(given: Arguments<keyof typeof COMMAND.options>): Promise<void> {
  const config = loadConfig(process.env)
  const text = given.text('url') ?? `http://${config.host}:${config.port}`
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--url is ${text}; it accepts a URL such as http://127.0.0.1:8080`)
  }
  const key = given.text('key') ?? readLocalKey(config.dataDir)
  if (key === null) {
    throw new UsageError(`no key in ${config.dataDir}/local-key; give one with --key KEY`)
  }
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('--key accepts printable ASCII characters')
  const service = {
    ...{ url: new URL(text).origin, headers: { 'x-api-key': key }, timeoutMs: TIMEOUT_MS },
  }
  const loaded = await loadTools(service)
  const send = serviceRequests(service)
  const { nowMs } = systemClock
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
  })
  serveStdio(() => mcpServer({ ...loaded, send, nowMs }))
  await ended
}

await runCommand(COMMAND, serve)
