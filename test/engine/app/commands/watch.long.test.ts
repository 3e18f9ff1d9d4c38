import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { ask, bid, level } from '../../../support/worlds/builders.ts'

const ENTRY = 'engine/app/commands/watch.ts'
let server: ApiServer
let market: FakeMarket

before(async () => {
  server = await openApiServer()
  market = server.engine.add('rain')
  market.replace([level(0.4, 1)], [level(0.41, 1)])
})
after(() => server.stop())

interface Watching {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<number | null>
}

function watch(...args: readonly string[]): Watching {
  const child = spawn(process.execPath, ['--import', 'tsx', ENTRY, ...args], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr]: [string[], string[]] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
  const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null))
  return { child, stdout: () => stdout.join(''), stderr: () => stderr.join(''), ended }
}

async function moveUntil(watching: Watching): Promise<number | null> {
  let isOver = false
  watching.ended.then(() => {
    isOver = true
  })
  for (let size = 1; !isOver; size += 1) {
    market.change(bid(0.4, size), ask(0.41, size))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return watching.ended
}

describe('watch command', () => {
  const here = () => ['--url', server.origin, '--key', 'ann-key']

  test('prints a line per stream message with --json, and stops after --count data messages', async () => {
    const watching = watch('orderbook', 'venue_a_rain', '--json', '--count', '3', ...here())
    assert.equal(await moveUntil(watching), 0)
    const lines = watching.stdout().trim().split('\n')
    const types = lines.map((line) => String(JSON.parse(line).type))
    assert.equal(types[0], 'connected')
    const data = types.filter((type) => type === 'snapshot' || type === 'update')
    assert.deepEqual(data, ['snapshot', 'update', 'update'])
    assert.equal(watching.stderr(), '')
  })

  test('prints a table with a heading and one row per book without --json', async () => {
    const watching = watch('orderbook', 'venue_a_rain', '--count', '2', ...here())
    assert.equal(await moveUntil(watching), 0)
    const [heading = '', ...lines] = watching.stdout().trim().split('\n')
    assert.match(heading, /^time \(UTC\) +market +message +bids +asks +spread$/)
    const rows = lines.filter((line) => !line.startsWith('--'))
    assert.match(
      rows[0] ?? '',
      /^[\d:.-]+ +venue_a_rain +snapshot +[\d.]+ at 0\.4 +[\d.]+ at 0\.41 +0\.01$/,
    )
    assert.match(rows[1] ?? '', /venue_a_rain +update +\d+ at 0\.4 +\d+ at 0\.41 +-$/)
    assert.equal(rows.length, 2)
  })

  test('connects again after the stream was cut, and prints only messages to stdout', async () => {
    const engine = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(engine, 'listening')
    const messages = ['{"type":"subscribed"}', '{"channel":"trades","market_id":"m","data":{}}']
    let connectionCount = 0
    engine.on('connection', (socket) => {
      connectionCount += 1
      const isCut = connectionCount === 1
      socket.on('message', () => {
        const [subscribed = '', trade = ''] = messages
        socket.send(subscribed)
        socket.send(trade, () => (isCut ? socket.terminate() : undefined))
      })
    })
    const address = engine.address()
    assert.ok(address !== null && typeof address !== 'string')
    const url = `http://127.0.0.1:${address.port}`
    const watching = watch('trades', '--json', '--count', '2', '--url', url, '--key', 'k')
    assert.equal(await watching.ended, 0)
    assert.deepEqual(watching.stdout().trim().split('\n'), [...messages, ...messages])
    assert.equal(
      watching.stderr(),
      'The stream ended (code 1006). Reconnecting.\nReconnected. The messages between are missing.\n',
    )
    engine.close()
  })

  test('prints why a request is invalid and exits with 2', async () => {
    const cases: readonly (readonly [string[], RegExp])[] = [
      [[], /CHANNEL/],
      [['fills'], /CHANNEL/],
      [
        ['trades', '--bogus'],
        /--bogus is no option of npm run watch; it accepts --json, --count, --url, --key, --help/,
      ],
      [['trades', '--count', '0', '--key', 'k'], /--count is 0; it accepts/],
      [['trades', '--url', 'nonsense'], /--url is nonsense; it accepts/],
      [['trades'], /no key in/],
      [['trades', '--key', 'k', '--url', 'http://127.0.0.1:1'], /no stream at http:\/\/127/],
      [['trades', '--key', 'bad', '--url', server.origin], /refused the stream with status 401/],
      [['trades', 'nope', ...here()], /no such market/],
    ]
    await Promise.all(
      cases.map(async ([args, terms]) => {
        const watching = watch(...args)
        assert.equal(await watching.ended, 2, args.join(' '))
        assert.match(watching.stderr(), terms)
        assert.doesNotMatch(watching.stderr(), /^ {4}at /m, 'no stack')
      }),
    )
  })

  test('exits without an error when the reading process closes the pipe, as with `| head`', async () => {
    const watching = watch('orderbook', ...here())
    await once(watching.child.stdout, 'data')
    watching.child.stdout.destroy()
    assert.equal(await moveUntil(watching), 0)
    assert.equal(watching.stderr(), '')
  })
})
