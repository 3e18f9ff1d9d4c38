// Compares every name that users, operators or older data folders depend on with the lists in test/fixtures/golden.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../engine/clock.ts'
import { idOfBatch, SHARDS } from '../../engine/cluster/cluster-log.ts'
import { openNats } from '../../engine/cluster/nats.ts'
import { VARIABLES } from '../../engine/config.ts'
import { errorCatalogue } from '../../engine/errors.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { api } from '../../http/api.ts'
import { closeCodes } from '../../http/ws/close-codes.ts'
import {
  ENVIRONMENT_NAMES,
  FORMAT_VERSION,
  fingerprint,
  SENTINEL_TABLE,
  TABLES,
} from '../../storage/tables.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { NatsRecorder } from '../support/fakes/nats-recorder.ts'
import { documentNames } from '../support/reference/document-names.ts'
import { assertGoldenLines } from '../support/reference/golden.ts'
import { sideOf, testFolder } from '../support/rigs/data-folder.ts'
import { NO_RECORDING, ReplayClock, ReplayedService } from '../support/rigs/replayed-service.ts'

describe('public names', () => {
  const folder = testFolder('golden-names')
  let service: ReplayedService
  before(async () => {
    service = await ReplayedService.open({
      ...{ dataDir: folder, recording: NO_RECORDING },
      clock: new ReplayClock(NO_RECORDING.startedAtMs),
    })
  })
  after(() => service.stop())
  const document = async (path: string): Promise<unknown> => {
    const response = await fetch(`${service.origin}${path}`)
    assert.equal(response.status, 200)
    return response.json()
  }

  test('serves paths, parameters, statuses and fields of REST and webhook bodies as recorded in the golden files', async () => {
    assertGoldenLines('rest.txt', documentNames(await document('/openapi.json')))
  })

  test('accepts the parameter aliases that are recorded in the golden files', () => {
    const { view } = service.engine
    const routes = api({
      ...{ engine: view, clock: new ManualClock(), metrics: new Metrics() },
      ...{ isMetricsPublic: false, opensLocalAccount: true },
      webhookPolicy: { allowsHttp: false, allowsPrivate: false },
    })
    const lines = routes.flatMap(({ method, pattern, querySchema }) =>
      Object.entries(querySchema.properties).flatMap(([name, { aliases }]) =>
        Array.isArray(aliases) ? [`${method} ${pattern} ${name}: ${aliases.join(' ')}`] : [],
      ),
    )
    assertGoldenLines('aliases.txt', lines)
  })

  test('has the stream commands, messages and fields that are recorded in the golden files', async () => {
    assertGoldenLines('stream.txt', documentNames(await document('/asyncapi.json')))
  })

  test('has the error codes and WebSocket close codes that are recorded in the golden files', () => {
    const errors = Object.entries(errorCatalogue).map(
      ([code, { status, retry }]) => `${code} ${status}${retry ? ' retry' : ''}`,
    )
    const closes = Object.values(closeCodes).map(
      ({ code, mayReturn }) => `${code}${mayReturn ? ' may return' : ''}`,
    )
    assertGoldenLines('codes.txt', [...errors, ...closes])
  })

  test('has the table names, table layouts and data folder metadata that are recorded in the golden files', () => {
    const tables = Object.values(TABLES).map(
      ({ environment, name, groupBytes, isCompressed, isChecked }) =>
        [
          `${environment}/${name}`,
          `group ${groupBytes}`,
          ...(isCompressed ? ['compressed'] : []),
          ...(isChecked ? ['checked'] : []),
        ].join(' '),
    )
    assertGoldenLines('tables.txt', [
      `format ${FORMAT_VERSION}`,
      `sentinel table ${SENTINEL_TABLE}`,
      ...ENVIRONMENT_NAMES.map((name) => `fingerprint of ${name}: ${fingerprint(name)}`),
      `database.json: ${Object.keys(sideOf(folder)).join(' ')}`,
      ...tables,
    ])
  })

  test('has the environment variables and default values that are recorded in the golden files', () => {
    const lines = Object.entries(VARIABLES).map(([name, { default: value }]) => `${name}=${value}`)
    assertGoldenLines('variables.txt', lines)
  })

  test('has the commands, arguments and options that are recorded in the golden files', () => {
    const script = join(import.meta.dirname, '../support/rigs/command-names.ts')
    const args = ['--import', import.meta.resolve('tsx'), script]
    const text = execFileSync(process.execPath, args, { encoding: 'utf8' })
    assertGoldenLines('commands.txt', text.trimEnd().split('\n'))
  })

  test('has the NATS streams, buckets and subjects of a cluster that are recorded in the golden files', async () => {
    assertGoldenLines('nats.txt', await namesOnTheWire())
  })
})

const SUBJECTS = ['http', 'checkpoint', 'quota', 'trades', 'bars', 'batch'] as const
const ANNOUNCED = ['revoked', 'member', 'places', 'tickets'] as const

/** Uses every part of the cluster log and returns the names that reach the server. */
async function namesOnTheWire(): Promise<readonly string[]> {
  const scribe = await NatsRecorder.open()
  const log = await openNats({
    ...{ url: scribe.url, creds: null, ca: null, login: null, side: 'engine', name: 'one' },
    ...{ clock: systemClock, log: silentLog },
  })
  const body = new Uint8Array([1])
  try {
    for (const shard of SHARDS) {
      await log.publish(shard, {
        bytes: body,
        id: idOfBatch('e1', shard, 1),
        after: 0,
        isAckedSeparately: true,
      })
    }
    for (const name of ['accounts', 'lease', 'webhooks'] as const) {
      await (await log.bucket(name)).put('key', body)
    }
    // The server stores nothing, so `putObject` fails when it reads the object back.
    await log.putObject('checkpoint', body).catch(() => undefined)
    for (const subject of SUBJECTS) {
      log.answer(subject, async () => body)
      await log.request(subject, body)
    }
    for (const subject of ANNOUNCED) {
      log.subscribe(subject, () => undefined)
      log.announce(subject, body)
    }
  } finally {
    await log.close()
    await scribe.close()
  }
  return [...scribe.noted].sort()
}
