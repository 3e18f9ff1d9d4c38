import assert from 'node:assert/strict'
import { Webhook } from 'standardwebhooks'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { focusOn } from '../../support/browser/chromium.ts'
import { openRealDashboard, type RealDashboard } from '../../support/browser/dashboard.ts'
import { bearerHeader, expectAnswer } from '../../support/clients/rest-caller.ts'
import { Receiver } from '../../support/fakes/receivers.ts'

let dashboard: RealDashboard
before(async () => {
  dashboard = await openRealDashboard({ SIM_RATE: '5' })
})
after(() => dashboard.close())

/** No market has this id, so the webhook receives tests only. */
const NO_MARKET = 'venue_a_0x1f'

async function fetchWithToken(
  token: string,
  path: string,
): Promise<{ status: number; text: string }> {
  const init = { headers: { Authorization: `Bearer ${token}` } }
  const response = await fetch(`${dashboard.origin}${path}`, init)
  return { status: response.status, text: await response.text() }
}

function readPost(raw: string): { headers: Record<string, string>; body: string } {
  const [head = '', body = ''] = raw.split('\r\n\r\n', 2)
  const lines = head.split('\r\n').slice(1)
  const pairs = lines.map((line) => line.split(/:\s*/, 2))
  return { headers: Object.fromEntries(pairs), body }
}

const answer = (status: string) =>
  `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`

/** The page must not show the Set-Cookie header. */
const TAKEN =
  'HTTP/1.1 200 OK\r\nSet-Cookie: a=secret\r\nContent-Type: application/json\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{"taken":true}'

test('creates a webhook, and sends a test event that is signed with the shown secret', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) => socket.end(answer('204 No Content')),
  })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('hooked@example.com')
  const page = await dashboard.open('#/webhooks', { token })
  await page.getByText('No webhooks yet').waitFor()
  await page.getByLabel('Endpoint URL').fill(receiver.url)
  await page.getByLabel(/^whale\.alert/).check()
  await page.getByLabel('Minimum value (USD)').fill('750000')
  await page.getByLabel('Taker’s side of the first outcome').selectOption('buy')
  await page.locator('[data-filter=market_ids] summary').click()
  await page.getByLabel('Markets').fill('venue_a_0x1f\nvenue_b_KX-1')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await page.locator('[data-once=secret]').innerText()
  assert.match(secret, /^whsec_/)
  await page.locator('tr[data-webhook]').waitFor()
  const [made] = JSON.parse((await fetchWithToken(token, '/v1/webhooks')).text).webhooks
  assert.equal(made.url, receiver.url)
  assert.deepEqual(made.event_types, ['whale.alert'])
  assert.deepEqual(made.filters, {
    market_ids: ['venue_a_0x1f', 'venue_b_KX-1'],
    ...{ platform: null, wallets: null, taker_wallets: null, min_usd: 750_000, min_change: null },
    ...{ min_profit_usd: null, min_edge: null, min_age_ms: null },
    ...{ side: 'buy', taker_side: null, event_slugs: null, categories: null },
  })
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  const row = page.locator('tr[data-delivery]')
  await row.getByText('delivered').waitFor()
  assert.match(await row.innerText(), /webhook\.test/)
  await page.locator('[data-counts]', { hasText: '1 delivered' }).waitFor()
  assert.equal(receiver.requests.length, 1)
  const { headers, body } = readPost(receiver.requests[0] ?? '')
  assert.ok(new Webhook(secret).verify(body, headers))
})

test('previews and posts a Slack message, and never shows the address of the chat again', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) => socket.end(answer('200 OK')),
  })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('chat@example.com')
  const page = await dashboard.open('#/webhooks', { token })
  await page.getByLabel('Send to').selectOption('slack')
  await page.getByText('Large trade: $8,600, bought Yes at 43¢').waitFor()
  await page.getByLabel('Address of the chat').fill(`${receiver.url}services/secret`)
  await page.getByRole('button', { name: 'Create and send a test' }).click()
  await page.getByText('The webhook posts messages to').waitFor()
  await page.locator('tr[data-delivery]').getByText('delivered').first().waitFor()
  const { body } = readPost(receiver.requests[0] ?? '')
  assert.equal(JSON.parse(body).text, 'This is a test: the webhook works.')
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await page.getByRole('button', { name: 'Send a test' }).waitFor()
  assert.ok(!(await page.content()).includes('services/secret'))
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Description').fill('whales')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.locator('[data-counts]', { hasText: '2 delivered' }).waitFor()
})

test('explains a failed webhook delivery and its next attempt, and retries the delivery on a click', async (t) => {
  let status = '503 Service Unavailable'
  const receiver = await Receiver.open({ onRequest: (socket) => socket.end(answer(status)) })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('failing@example.com')
  const id = await makeWebhook(token, receiver.url)
  const page = await dashboard.open(`#/webhooks/${id}`, { token })
  await page.getByText('Nothing sent yet').waitFor()
  await page.getByRole('button', { name: 'Send a test' }).click()
  const row = page.locator('tr[data-delivery]')
  await row.getByText('503').waitFor()
  await row.getByText('pending').waitFor()
  await page.getByText('Every attempt has failed').waitFor()
  status = '204 No Content'
  await row.getByRole('button', { name: /^Send again/ }).click()
  await row.getByText('delivered').waitFor()
  await page.getByText('Events are posted as they happen.').waitFor()
  assert.equal(await row.count(), 1)
})

test('creates and tests a webhook in one step, and shows request, response and duration of the delivery', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) => socket.end(TAKEN),
  })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('tester@example.com')
  const page = await dashboard.open('#/nowhere', { token })
  await page.clock.install()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByLabel('Endpoint URL').fill(receiver.url)
  await page.getByLabel(/^trade\.created/).check()
  await page.locator('[data-filter=market_ids] summary').click()
  await page.getByLabel('Markets').fill(NO_MARKET)
  await page.getByRole('button', { name: 'Create and send a test' }).click()
  const row = page.locator('tr[data-delivery]')
  await row.getByText('delivered').waitFor()
  assert.equal(receiver.requests.length, 1)
  await page.getByRole('button', { name: 'webhook.test', exact: true }).click()
  const part = (name: string) => page.locator(`.detail [data-part=${name}]`)
  await part('response').getByText('{"taken":true}').waitFor()
  assert.equal(
    await part('response').innerText(),
    'HTTP 200\ncontent-type: application/json\ncontent-length: 14\n\n{"taken":true}',
  )
  const took = page.locator('.detail [data-figure="Took"] dd')
  assert.match(await took.innerText(), /^\d+ m?s$/)
  // The page shows the request that the receiver got, without the signature.
  const { headers, body } = readPost(receiver.requests[0] ?? '')
  const request = await part('request').innerText()
  const [head = '', shown = ''] = request.split('\n\n', 2)
  assert.deepEqual(JSON.parse(shown), JSON.parse(body))
  assert.equal(head.split('\n')[0], `POST ${receiver.url}`)
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  for (const name of ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp']) {
    assert.ok(head.includes(`\n${name}: ${lower.get(name)}`), head)
  }
  assert.ok(!request.includes(lower.get('webhook-signature') ?? ''))
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await row.getByText('delivered').waitFor()
  // A test that the page did not send appears with the next poll.
  const [{ id }] = JSON.parse((await fetchWithToken(token, '/v1/webhooks')).text).webhooks
  const credential = bearerHeader(token)
  await expectAnswer(202, dashboard.origin, 'POST', `/v1/webhooks/${id}/test`, { credential })
  await page.clock.fastForward(11_000)
  await row.nth(1).waitFor()
  await page.getByRole('link', { name: 'All webhooks' }).click()
  await page.locator('tr[data-webhook]').nth(0).waitFor()
  await makeWebhook(token, receiver.url)
  await page.clock.fastForward(11_000)
  await page.locator('tr[data-webhook]').nth(1).waitFor()
})

async function makeWebhook(token: string, url: string): Promise<string> {
  const { id } = await expectAnswer(201, dashboard.origin, 'POST', '/v1/webhooks', {
    credential: bearerHeader(token),
    body: { url, event_types: ['match.created'], filters: { market_ids: [NO_MARKET] } },
  })
  return String(id)
}

test('creates an alert from a market’s page, with a second market and a wallet that are chosen by search', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) => socket.end(answer('204 No Content')),
  })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('alerted@example.com')
  const { markets } = JSON.parse(
    (await fetchWithToken(token, '/v1/markets?status=open&platform=venue_a&limit=2')).text,
  )
  const [first, second] = markets
  const page = await dashboard.open(`#/market/${encodeURIComponent(first.id)}`, { token })
  await page.getByRole('link', { name: 'Alert me' }).click()
  const chosen = page.locator('[data-filter=market_ids] .chosen')
  await chosen.getByText(first.question).waitFor()
  assert.ok(await page.getByLabel(/^price\.changed/).isChecked())
  await page.getByLabel('Find a market').fill(second.question)
  const option = page.locator(`[role=option][data-value="${second.id}"]`)
  await option.waitFor()
  await page.locator('.picker [role=status]', { hasText: /^\d+ results?\.$/ }).waitFor()
  await page.getByLabel('Find a market').blur()
  await option.waitFor({ state: 'hidden' })
  await page.getByLabel('Find a market').focus()
  await option.click()
  await chosen.getByText(second.question).waitFor()
  await page.getByLabel(/^whale\.alert/).check()
  const wallet = `0x${'a1'.repeat(20)}`
  await page.getByLabel('Find a wallet').fill(wallet)
  await page.getByRole('option', { name: wallet }).waitFor()
  await page.getByLabel('Find a wallet').press('Enter')
  await page.getByRole('button', { name: `Remove ${wallet}` }).waitFor()
  await page
    .getByLabel(/^(price\.changed|market\.resolved)/)
    .first()
    .uncheck()
  await page.getByLabel('Endpoint URL').fill(receiver.url)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.locator('[data-once=secret]').waitFor()
  const [made] = JSON.parse((await fetchWithToken(token, '/v1/webhooks')).text).webhooks
  assert.deepEqual(made.event_types, ['market.resolved', 'whale.alert'].toSorted())
  assert.deepEqual(made.filters.market_ids, [first.id, second.id])
  assert.deepEqual(made.filters.wallets, [wallet])
  await page.getByRole('link', { name: 'Open the webhook' }).click()
  await page.locator('.account-facts').getByText(second.question).waitFor()
})

test('disables, enables, edits and deletes a webhook, and replaces its secret', async (t) => {
  const receiver = await Receiver.open({
    onRequest: (socket) => socket.end(answer('204 No Content')),
  })
  t.after(() => receiver.close())
  const token = await dashboard.signUp('owner@example.com')
  const id = await makeWebhook(token, receiver.url)
  const stored = async () => JSON.parse((await fetchWithToken(token, `/v1/webhooks/${id}`)).text)
  const page = await dashboard.open(`#/webhooks/${id}`, { token })
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('You switched it off').waitFor()
  assert.equal((await stored()).active, false)
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Events are posted as they happen.').waitFor()
  assert.equal((await stored()).active, true)
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Description').fill('<i>mine</i>')
  await page.getByLabel(/^price\.changed/).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('definition').getByText('<i>mine</i>').waitFor()
  assert.deepEqual((await stored()).event_types, ['match.created', 'price.changed'])
  await page.getByRole('button', { name: 'New secret' }).click()
  await page.getByRole('group').getByRole('button', { name: 'New secret' }).click()
  const secret = await page.locator('[data-once=secret]').innerText()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.locator('tr[data-delivery]').getByText('delivered').waitFor()
  const { headers, body } = readPost(receiver.requests[0] ?? '')
  assert.ok(new Webhook(secret).verify(body, headers))
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('group').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('status').getByText('Deleted.').waitFor()
  assert.equal((await fetchWithToken(token, `/v1/webhooks/${id}`)).status, 404)
  await page.reload()
  await page.getByText(`No webhook of yours has the id ${id}.`).waitFor()
})

test('scrolls a focused field of the webhook form into view below the header', async () => {
  const token = await dashboard.signUp('focused@example.com')
  for (const width of [1_280, 390]) {
    const page = await dashboard.open('#/webhooks', { token, width, height: 500 })
    await page.getByLabel('Endpoint URL').waitFor()
    // Moves backwards, so that fields enter the view at the top.
    await page.getByRole('button', { name: 'Create and send a test' }).focus()
    const focusedNames: string[] = []
    for (let steps = 0; steps < 30 && !focusedNames.includes('url'); steps += 1) {
      await page.keyboard.press('Shift+Tab')
      const { name, isHidden } = await page.evaluate(() => {
        const field = document.activeElement
        const head = document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0
        const top = field?.getBoundingClientRect().top ?? 0
        return { name: field?.getAttribute('name') ?? '', isHidden: top < head }
      })
      focusedNames.push(name)
      assert.equal(isHidden, false, `${name} at ${width}`)
    }
    assert.ok(focusedNames.includes('url') && focusedNames.length > 8, focusedNames.join())
    await page.context().close()
  }
})

test('shows validation errors at the fields of the webhook form, and focuses the first invalid field', async () => {
  const token = await dashboard.signUp('refused@example.com')
  const page = await dashboard.open('#/webhooks', { token })
  const make = page.getByRole('button', { name: 'Create webhook' })
  const problemOf = (name: string) => page.locator(`#webhook-${name}-error`)
  await page.getByLabel(/^whale\.alert/).uncheck()
  await make.click()
  await problemOf('url').waitFor()
  await problemOf('event_types').waitFor()
  const url = page.getByLabel('Endpoint URL')
  await focusOn(url)
  // The message of a field disappears when the field is corrected.
  await url.fill('ftp://example.com/')
  await problemOf('url').waitFor({ state: 'detached' })
  await problemOf('event_types').waitFor()
  await page.getByLabel(/^trade\.created/).check()
  await problemOf('event_types').waitFor({ state: 'detached' })
  // Only the server detects these errors.
  await page.getByLabel('Minimum value (USD)').fill('-5')
  await make.click()
  await problemOf('min_usd').getByText('Enter 0 or more.').waitFor()
  await page.getByLabel('Minimum value (USD)').fill('5')
  await problemOf('min_usd').waitFor({ state: 'detached' })
  await make.click()
  await problemOf('url').getByText('The URL must begin with https://').waitFor()
  for (const name of ['wallets', 'market_ids']) {
    await page.locator(`[data-filter=${name}] summary`).click()
  }
  await page.getByLabel('Wallets').fill('0x12')
  await page.getByLabel('Markets').fill('nonsense')
  await make.click()
  await problemOf('wallets').getByText('0x12 is no address').waitFor()
  await problemOf('market_ids').getByText('begin with venue_a_ or venue_b_').waitFor()
  assert.equal(JSON.parse((await fetchWithToken(token, '/v1/webhooks')).text).total, 0)
})
