import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ACCOUNT_COMMAND,
  readAccountRequest,
} from '../../../../engine/app/commands/account-arguments.ts'
import { readArguments } from '../../../../engine/process/command-line.ts'

function read(line: string) {
  const terms = line.split(' ').filter((term) => term !== '')
  const given = readArguments(ACCOUNT_COMMAND, terms)
  return given === 'help' ? given : readAccountRequest(given)
}

test('parses the arguments of each account action into an engine command', () => {
  const cases = [
    ['list', 'account.list', {}],
    ['disable a@b', 'account.disable', { email: 'a@b' }],
    ['enable a@b', 'account.enable', { email: 'a@b' }],
    ['log-out a@b', 'account.log-out', { email: 'a@b' }],
    ['delete a@b', 'account.delete', { email: 'a@b' }],
    ['set-tier a@b pro', 'account.set-tier', { email: 'a@b', tier: 'pro' }],
    [
      'set-tier a@b enterprise --rpm 5 --sockets=7',
      'account.set-tier',
      { email: 'a@b', tier: 'enterprise', requests_per_minute: 5, sockets: 7 },
    ],
    [
      'set-tier a@b enterprise --deliveries 500',
      'account.set-tier',
      { email: 'a@b', tier: 'enterprise', deliveries_per_second: 500 },
    ],
    [
      '--sockets 100000 set-tier a@b enterprise',
      'account.set-tier',
      { email: 'a@b', tier: 'enterprise', sockets: 100_000 },
    ],
  ] as const
  for (const [line, command, request] of cases) {
    assert.deepEqual(read(line), { command, request }, line)
  }
  for (const line of ['--help', '-h', 'list --help']) assert.equal(read(line), 'help', line)
})

test('refuses invalid account arguments and lists the accepted arguments', () => {
  const cases = [
    ['', /ACTION is missing/],
    ['lists', /unknown action lists; use list, set-tier, disable, enable, log-out or delete/],
    ['list a@b', /list takes no further arguments/],
    ['list --rpm 5', /go with set-tier/],
    ['disable', /disable takes one EMAIL/],
    ['delete a@b c@d', /delete takes one EMAIL/],
    ['set-tier a@b', /takes an EMAIL and a TIER/],
    ['set-tier a@b pro more', /takes an EMAIL and a TIER/],
    ['set-tier a@b gold', /TIER is gold; it accepts free, pro, enterprise/],
    ['set-tier a@b pro --rpm 5', /go with enterprise/],
    ['set-tier a@b free --sockets 5', /go with enterprise/],
    ['set-tier a@b pro --deliveries 5', /go with enterprise/],
    ['set-tier a@b enterprise --deliveries 1000001', /from 1 to 1000000/],
    [
      'set-tier a@b enterprise --rpm 0',
      /--rpm is 0; it accepts a whole number from 1 to 2147483647/,
    ],
    ['set-tier a@b enterprise --rpm 2147483648', /accepts a whole number/],
    ['set-tier a@b enterprise --rpm 1e3', /accepts a whole number/],
    ['set-tier a@b enterprise --sockets 100001', /--sockets is 100001; .* from 1 to 100000/],
    ['set-tier a@b enterprise --rpm', /--rpm/],
    ['list --force', /--force/],
  ] as const
  for (const [line, states] of cases) {
    assert.throws(() => read(line), { message: states }, line)
  }
})
