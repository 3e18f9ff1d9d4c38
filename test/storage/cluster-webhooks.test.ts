import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ClusterWebhooks } from '../../storage/cluster-webhooks.ts'
import type { WebhookTable } from '../../storage/contract/storage.ts'
import { FaultyLogServer } from '../support/fakes/faulty-log.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { webhook } from '../support/worlds/stored-webhooks.ts'

const own = (): WebhookTable => openMemoryStorage().webhooks
const opened = async () => new FaultyLogServer(new ManualClock()).connect().bucket('webhooks')
const failed = (error: unknown) => assert.fail(String(error))
const withoutNumbers = (table: WebhookTable) =>
  [...table.all()].map(({ number: _, ...rest }) => rest)

test('completes a webhook change after the local table and the cluster bucket stored it, and fails if either write fails', async () => {
  const [table, bucket] = [own(), await opened()]
  const webhooks = new ClusterWebhooks(table, bucket)
  const made = await webhooks.create(webhook('one'))
  assert.deepEqual([...table.all()], [made])
  assert.equal(webhooks.idOf(made.number), made.id)
  assert.notEqual(await bucket.get(`webhook.${made.id}`), null)
  await webhooks.remove(made)
  assert.equal(await bucket.get(`webhook.${made.id}`), null)
  assert.equal(await webhooks.numberOf(made.id), null)
  const refusing = { ...bucket, put: () => Promise.reject(new Error('no room')) }
  await assert.rejects(new ClusterWebhooks(table, refusing).create(webhook('two')), /no room/)
})

test('copies every webhook of the cluster bucket under a local number, and adds local webhooks to the bucket', async () => {
  const [first, second, bucket] = [own(), own(), await opened()]
  await first.create(webhook('alone'))
  await second.create(webhook('other'))
  const [one, two] = [new ClusterWebhooks(first, bucket), new ClusterWebhooks(second, bucket)]
  const following = await two.follow(failed)
  assert.equal(await one.share(new Set()), 1)
  assert.equal(await two.share(following.names), 1)
  const made = await one.create(webhook('later'))
  const number = await two.numberOf(made.id)
  assert.ok(number !== null && number !== made.number)
  assert.equal(two.idOf(number), made.id)
  await one.put({ ...made, description: 'changed' })
  await one.remove([...first.all()][0] ?? assert.fail())
  for (let tick = 0; tick < 20; tick += 1) await nextTurn()
  await following.stop()
  assert.deepEqual(
    withoutNumbers(second).map(({ id, description }) => [id, description]),
    [
      [webhook('other').id, webhook('other').description],
      [made.id, 'changed'],
    ],
  )
})

test('replaces the forged record of a known webhook in the cluster bucket, and removes that of an unknown webhook', async () => {
  const bucket = await opened()
  const webhooks = new ClusterWebhooks(own(), bucket)
  const made = await webhooks.create(webhook('one'))
  const name = `webhook.${made.id}`
  const written = (await bucket.get(name))?.value
  for (const each of [name, 'webhook.other']) {
    await bucket.put(each, Buffer.from('forged'))
    await webhooks.restore(each)
  }
  assert.deepEqual((await bucket.get(name))?.value, written)
  assert.equal(await bucket.get('webhook.other'), null)
})
