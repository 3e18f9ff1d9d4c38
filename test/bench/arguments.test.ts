import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertKnown, readRequest } from '../../bench/arguments.ts'
import { UsageError } from '../../engine/process/command-line.ts'

const AIMED = ['--url', 'http://127.0.0.1:1/', '--api-key', 'KEY']

test('parses bench names, options, and the URL and API key of a deployment from the command line', () => {
  const none = { names: [], isSmall: false, isJson: false, seconds: null, markets: null }
  const local = { kind: 'local', ...none }
  assert.deepEqual(readRequest([]), local)
  assert.deepEqual(readRequest(['rest', 'storage', '--json', '--seconds', '2.5', '--small']), {
    ...{ ...local, names: ['rest', 'storage'] },
    ...{ isSmall: true, isJson: true, seconds: 2.5 },
  })
  assert.deepEqual(readRequest(['scale', '--markets', '500000']), {
    ...{ ...local, names: ['scale'], markets: 500_000 },
  })
  const target = { kind: 'target', isJson: false, seconds: 10, perSecond: 200, clientCount: 10 }
  const address = { origin: 'http://127.0.0.1:1', apiKey: 'KEY' }
  assert.deepEqual(readRequest(AIMED), {
    ...{ ...target, ...address, names: ['rest', 'fan-out', 'connect'] },
  })
  assert.deepEqual(readRequest([...AIMED, 'connect', '--clients', '7', '--rate', '0.5']), {
    ...{ ...target, ...address, names: ['connect'], clientCount: 7, perSecond: 0.5 },
  })
  assert.deepEqual(readRequest(['--help', 'anything']), { kind: 'help' })
})

test('rejects an invalid bench command line with one line that names the accepted values', () => {
  const refusals: readonly [readonly string[], RegExp][] = [
    [['--sconds', '3'], /--sconds/],
    [['--seconds'], /--seconds/],
    [['--seconds', '0'], /--seconds is 0; it accepts a number above 0 and up to 3600/],
    [['--seconds', 'many'], /--seconds is many/],
    [['--seconds', ''], /--seconds is ;/],
    [['--clients', '2'], /--clients needs --url/],
    [['--rate', '2'], /--rate needs --url/],
    [['--api-key', 'KEY'], /--api-key needs --url/],
    [['--url', 'http://127.0.0.1'], /--url needs --api-key/],
    [['--url', 'ftp://there', '--api-key', 'KEY'], /--url is ftp:\/\/there; it accepts a URL such/],
    [['--url', 'http://', '--api-key', 'KEY'], /it accepts a URL such as/],
    [['--url', 'http://there', '--api-key', 'two words'], /--api-key accepts/],
    [[...AIMED, '--clients', '1.5'], /--clients is 1.5; it accepts a whole number/],
    [['--markets', '0.5'], /--markets is 0.5; it accepts a whole number/],
    [[...AIMED, '--markets', '20'], /--markets is not for --url/],
    [[...AIMED, '--small'], /--small is not for --url/],
    [[...AIMED, 'storage'], /storage does not support --url; rest, fan-out, connect do/],
  ]
  for (const [args, reported] of refusals) {
    assert.throws(
      () => readRequest(args),
      (error: unknown) => {
        assert.ok(error instanceof UsageError, String(error))
        assert.match(error.message, reported)
        assert.ok(!error.message.includes('\n'), error.message)
        return true
      },
    )
  }
  assert.throws(() => assertKnown(['rest', 'mop'], ['rest', 'storage']), {
    message: 'no bench is called mop; there are rest, storage',
  })
})
