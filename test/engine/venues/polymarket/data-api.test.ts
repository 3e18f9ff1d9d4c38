import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Query } from '../../../../engine/fetch.ts'
import { SuspectAnswerError } from '../../../../engine/venues/answer-checks.ts'
import { DataApi } from '../../../../engine/venues/polymarket/data-api.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'

const ASKED = { path: '/v2/trades', query: { user: '0x1', limit: 2 }, kind: 'trades' } as const
const paging = (has_more: unknown, next_cursor: unknown = null) => ({
  ...{ limit: 2, offset: 0 },
  ...{ has_more, next_cursor },
})

function openApi(...answers: unknown[]) {
  const requested: Query[] = []
  const drift = quietDrift()
  const client = {
    async getJson(_path: string, query: Query = {}) {
      requested.push(query)
      return answers[Math.min(requested.length, answers.length) - 1]
    },
  }
  return { api: new DataApi({ client, drift }), requested, drift }
}

async function readAll(api: DataApi): Promise<unknown[]> {
  const rows: unknown[] = []
  for await (const page of api.pages(ASKED, 10)) rows.push(...page)
  return rows
}

test('follows cursors to the last page and sends the first page’s filters with every request', async () => {
  const { api, requested } = openApi(
    { data: [1, 2], pagination: paging(true, 'x') },
    { data: [3], pagination: paging(false, 'ignored') },
  )
  assert.deepEqual(await readAll(api), [1, 2, 3])
  assert.deepEqual(requested, [
    { user: '0x1', limit: 2, cursor: undefined },
    { user: '0x1', limit: 2, cursor: 'x' },
  ])
})

test('reads null as an empty list, and rejects any other unexpected shape as suspect', async () => {
  const { api: existing } = openApi({ data: null, pagination: paging(false) })
  assert.deepEqual(await readAll(existing), [])
  const shapes = [[], null, 'text', {}, { data: {} }, { data: [1] }, { data: [], pagination: {} }]
  for (const shape of shapes) {
    const { api, drift } = openApi(shape)
    await assert.rejects(readAll(api), (error) => error instanceof SuspectAnswerError)
    assert.equal(drift.entries()[0]?.kind, 'data.answer', JSON.stringify(shape))
  }
})

test('rejects a list as suspect when a cursor is missing or repeats, and reports the cause', async () => {
  const without = openApi({ data: [1], pagination: paging(true, null) })
  await assert.rejects(readAll(without.api), /more without a cursor/)
  const repeated = openApi({ data: [1], pagination: paging(true, 'x') })
  await assert.rejects(readAll(repeated.api), /was repeated/)
  assert.deepEqual(
    [...without.drift.entries(), ...repeated.drift.entries()]
      .filter(({ kind }) => kind !== 'data.trades.row')
      .map(({ name }) => name),
    ['/v2/trades more without a cursor', '/v2/trades cursor'],
  )
})
