import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VARIABLES } from '../../../engine/config.ts'
import { variableProblems } from '../../../engine/process/variable-names.ts'

const known = Object.keys(VARIABLES)
const problems = (env: Readonly<Record<string, string>>, file = {}) =>
  variableProblems({ env, file }, known)

test('names the nearest variable when a name is misspelt', () => {
  for (const [name, nearest] of [
    ['VENUE', 'VENUES'],
    ['DATADIR', 'DATA_DIR'],
    ['SIM_MARKTES', 'SIM_MARKETS'],
    ['venues', 'VENUES'],
    ['KALSHI_KEYID', 'KALSHI_KEY_ID'],
  ] as const) {
    assert.deepEqual(problems({ [name]: 'x' }), [
      `${name} is not a variable of Twinbook: use ${nearest}, or set ${nearest} as well.`,
    ])
  }
  assert.deepEqual(problems({}, { PROT: '1', VENUE: 'live' }), [
    'PROT in .env is not a variable of Twinbook: `npm start -- --help` lists all.',
    'VENUE in .env is not a variable of Twinbook: use VENUES.',
  ])
})

test('accepts variables of other programs in the environment', () => {
  const others = ['HOME', 'HOSTNAME', 'PATH', 'PWD', 'LOGNAME', 'USER', 'TERM', 'KALSHI_API_KEY']
  const kubernetes = ['NATS_PORT', 'NATS_SERVICE_HOST', 'KUBERNETES_PORT', 'POD_IP']
  assert.deepEqual(
    problems(Object.fromEntries([...others, ...kubernetes].map((name) => [name, 'x']))),
    [],
  )
  assert.deepEqual(problems({ LOGLEVEL: '1', LOG_LEVEL: 'info' }), [])
  assert.deepEqual(problems(Object.fromEntries(known.map((name) => [name, 'x']))), [])
  assert.deepEqual(problems({}, { NODE_ENV: 'production', TZ: 'UTC', VENUES: 'live' }), [])
})
