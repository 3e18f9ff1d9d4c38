// Loads the client modules as a browser does: plain JavaScript at addresses with a content hash.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { linked, readClientFiles } from '../../../http/assets/client-files.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { bid, level } from '../../support/worlds/builders.ts'

const run = promisify(execFile)
let server: ApiServer
let market: FakeMarket
before(async () => {
  server = await openApiServer()
  market = server.engine.add('shipped')
  market.replace([level(0.4, 100)], [level(0.5, 50)])
})
after(() => server.stop())

const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*["']([^"']+)["']/g)].map(([, address]) => address ?? '')

test('serves every stream client module without a key and without counting the request, and imports only sibling modules', async () => {
  const names = readdirSync(new URL('../../../http/client/', import.meta.url))
  assert.deepEqual(
    [...readClientFiles().keys()].sort(),
    names
      .filter((name) => name.endsWith('.ts'))
      .map((name) => name.replace(/\.ts$/, '.js'))
      .sort(),
  )
  const remaining = new Set<string | null>()
  const seen = new Set<string>()
  const waiting = ['connect.js']
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (seen.has(address)) continue
    seen.add(address)
    const response = await fetch(new URL(address, `${server.origin}/client/`))
    assert.equal(response.status, 200, address)
    assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8')
    const isStored = address.includes('?v=')
    const caching = isStored ? 'public, max-age=31536000, immutable' : 'no-cache'
    assert.equal(response.headers.get('cache-control'), caching)
    remaining.add(response.headers.get('x-ratelimit-remaining'))
    for (const imported of importsOf(await response.text())) {
      assert.match(imported, /^\.\/[a-z0-9-]+\.js\?v=[0-9a-f]{12}$/)
      waiting.push(imported)
    }
  }
  assert.ok(seen.size > 10, `${seen.size} modules`)
  assert.equal(remaining.size, 1)
})

test('serves a module under its current hash and no other hash, and changes the hash when an imported file changes', async () => {
  const get = (path: string) => fetch(`${server.origin}/client/${path}`)
  const file = readClientFiles().get('crc32.js')
  assert.ok(file !== undefined)
  assert.equal((await get(`crc32.js?v=${file.hash}`)).status, 200)
  for (const path of ['crc32.js?v=000000000000', 'none.js', 'crc32.ts', '..%2fapi.js']) {
    assert.equal((await get(path)).status, 404, path)
  }
  const sources = (leaf: string) =>
    linked(
      new Map([
        ['top', "import { a } from './middle.ts'\n"],
        ['middle', 'export * from "./leaf.ts"\n'],
        ['other', 'export const b = 1\n'],
        ['leaf', leaf],
      ]),
    )
  const [one, two] = [sources('export const a = 1\n'), sources('export const a = 2\n')]
  for (const name of ['top.js', 'middle.js', 'leaf.js']) {
    assert.notEqual(one.get(name)?.hash, two.get(name)?.hash, name)
  }
  assert.equal(one.get('other.js')?.hash, two.get('other.js')?.hash)
  assert.equal(
    one.get('middle.js')?.text,
    `export * from "./leaf.js?v=${one.get('leaf.js')?.hash}"\n`,
  )
  const round = new Map([
    ['one', "import './two.ts'"],
    ['two', "import './one.ts'"],
  ])
  assert.throws(() => linked(round), /import each other/)
  assert.throws(
    () => linked(new Map([['one', "import './gone.ts'"]])),
    /gone\.ts, which is not there/,
  )
})

/** Runs the modules in a Node process without TypeScript. */
const LOADER = `
import vm from 'node:vm'
const [origin, ws, encoding, market] = process.argv.slice(1)
const { WebSocket } = await import(ws)
// A VM context has its own globals, so bytes of the socket are not instances of its Uint8Array.
const context = vm.createContext({ ArrayBuffer, Uint8Array, DataView, URL, TextDecoder, TextEncoder, performance, setTimeout, clearTimeout, WebSocket, queueMicrotask })
const modules = new Map()
const load = async (address) => {
  if (modules.has(address)) return modules.get(address)
  const response = await fetch(address)
  if (response.status !== 200) throw new Error(address + ' ' + response.status)
  const text = await response.text()
  const known = modules.get(address)
  if (known !== undefined) return known
  const module = new vm.SourceTextModule(text, { context, identifier: address })
  modules.set(address, module)
  return module
}
const link = (name, from) => load(new URL(name, from.identifier).href)
const door = await load(origin + '/client/connect.js')
await door.link(link)
await door.evaluate()
const { connect } = door.namespace
const types = []
const client = connect({
  url: origin,
  apiKey: 'ann-key',
  encoding,
  onEvent(event) {
    types.push(event.type)
    if (event.type === 'snapshot') process.stdout.write('ready\\n')
    if (event.type !== 'update') return
    process.stdout.write(JSON.stringify({ bids: event.data.bids, types, modules: modules.size }))
    client.close()
  },
})
client.subscribe({ channel: 'orderbook', marketIds: [market] })
`

for (const encoding of ['json', 'msgpack']) {
  test(`runs the served client modules as plain JavaScript, and rebuilds a book (${encoding})`, async () => {
    const ws = import.meta.resolve('ws')
    const flags = [
      '--experimental-vm-modules',
      '--no-warnings',
      '--input-type=module',
      '-e',
      LOADER,
    ]
    const running = run(
      process.execPath,
      [...flags, '--', server.origin, ws, encoding, market.ref.id],
      { env: { PATH: process.env.PATH }, timeout: 600_000 },
    )
    running.child.stdout?.once('data', () => market.change(bid(0.41, 7)))
    const { stdout } = await running
    const reported: { bids: unknown; types: string[]; modules: number } = JSON.parse(
      stdout.slice(stdout.indexOf('{')),
    )
    assert.deepEqual(reported.bids, [{ price: 0.41, size: 7, platform: 'venue_a' }])
    assert.ok(reported.types.includes('connected') && reported.types.includes('snapshot'))
    assert.ok(reported.modules > 10)
  })
}
