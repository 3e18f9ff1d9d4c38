import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { focusOn, sessionCookie } from '../../support/browser/chromium.ts'
import { openRealDashboard, type RealDashboard } from '../../support/browser/dashboard.ts'
import {
  type Credential,
  requestWithRetry,
  signUp as signUpAt,
} from '../../support/clients/rest-caller.ts'

const PASSWORD = 'correct horse battery'

let dashboard: RealDashboard
before(async () => {
  dashboard = await openRealDashboard({ SIM_RATE: '5', TRUSTED_PROXIES: '127.0.0.1' })
})
after(() => dashboard.close())

let visitorCount = 0
/** The server accepts only 20 log-ins and sign-ups a minute from each address. */
function ownAddress(): Credential {
  visitorCount += 1
  return { 'X-Forwarded-For': `203.0.113.${visitorCount}` }
}

const logIn = (email: string, password: string) =>
  requestWithRetry(dashboard.origin, 'POST', '/v1/auth/login', {
    credential: ownAddress(),
    body: { email, password },
  })

/** Returns the account's token. */
function signUp(email: string): Promise<string> {
  return signUpAt(dashboard.origin, { email, password: PASSWORD }, ownAddress())
}

/** Records each label and disabled state of the submit button, because the page shows some only briefly. */
const recordSubmitLabels = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const record = () => {
      const button = document.querySelector('[role=tabpanel] button[type=submit]')
      const label = `${button?.textContent?.trim()} ${button?.getAttribute('aria-disabled')}`
      const { dataset } = document.body
      if (dataset.labels?.includes(label) !== true)
        dataset.labels = `${dataset.labels ?? ''}\n${label}`
    }
    const watched = { subtree: true, childList: true, characterData: true, attributes: true }
    new MutationObserver(record).observe(document.body, watched)
  })

async function fetchWithToken(
  token: string,
  path: string,
  headers: Readonly<Record<string, string>> = { Authorization: `Bearer ${token}` },
): Promise<{ status: number; headers: Headers; text: string }> {
  const init = { headers }
  const response = await fetch(`${dashboard.origin}${path}`, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Repeats `act` until `done` is visible, because the server may be too busy to check a password. */
async function retryWhileBusy(act: () => Promise<void>, done: Locator): Promise<void> {
  const busy = done.page().getByText(/too busy|too many passwords|not ready in time/i)
  while ((await done.count()) === 0) {
    await act()
    await done.or(busy).first().waitFor()
  }
}

interface Entry {
  readonly entry: 'Log in' | 'Sign up'
  readonly email: string
  readonly password?: string
}

async function sendEntry(page: Page, { entry, email, password = PASSWORD }: Entry): Promise<void> {
  await page.getByRole('tab', { name: entry }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('tabpanel').getByRole('button', { name: entry }).click()
}

const enter = (page: Page, entry: Entry, done: Locator): Promise<void> =>
  retryWhileBusy(() => sendEntry(page, entry), done)

/** The page sends the request. */
const fetchedWith = (page: Page, key: string): Promise<number> =>
  page.evaluate(async (header) => {
    const response = await fetch('v1/markets', { headers: { 'X-API-Key': header } })
    return response.status
  }, key)

const alertOf = (page: Page) => page.getByRole('alert')

test('opens the page that the user requested after sign-up, and shows a new key once', async () => {
  const page = await dashboard.open('#/account')
  const heading = page.getByRole('heading', { name: 'Account', level: 1 })
  await enter(page, { entry: 'Sign up', email: 'first@example.com' }, heading)
  await page.getByText('first@example.com').waitFor()
  await page.getByText('No keys yet').waitFor()
  await page.getByLabel('Key name').fill('my <b>first</b> key')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.locator('[data-once=key]').innerText()
  assert.match(key, /^pmk_[0-9A-Za-z]{38}$/)
  assert.equal(
    await page.locator('[data-once=command]').innerText(),
    `curl -H 'X-API-Key: ${key}' '${dashboard.origin}/v1/markets?limit=3'`,
  )
  const row = page.locator('tr[data-key]')
  await row.getByText('my <b>first</b> key').waitFor()
  assert.ok((await row.innerText()).includes('never'))
  assert.equal(await fetchedWith(page, key), 200)
  // A reload keeps the session, but the page no longer shows the key.
  await page.reload()
  await row.waitFor()
  assert.equal(await page.getByText(key).count(), 0)
  assert.ok(!(await row.innerText()).includes('never'), 'the key was used')
  await row.getByRole('button', { name: 'Revoke' }).click()
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No keys yet').waitFor()
  assert.equal(await fetchedWith(page, key), 401)
})

test('copies a new key with a button, and hides the key after a confirmation', async () => {
  const token = await signUp('copier@example.com')
  const page = await dashboard.open('#/account', { token })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByLabel('Key name').fill('copied')
  await page.getByLabel('Key name').press('Enter')
  const key = await page.locator('[data-once=key]').innerText()
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByText('It is in your clipboard.').waitFor()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.locator('[data-once=key]').waitFor({ state: 'detached' })
  assert.equal(await page.getByText(key).count(), 0)
})

test('revokes a key after confirmation, and restores the focus after Cancel and Escape', async () => {
  const token = await signUp('careful@example.com')
  const page = await dashboard.open('#/account', { token })
  await page.getByLabel('Key name').fill('kept')
  await page.getByRole('button', { name: 'Create key' }).click()
  const row = page.locator('tr[data-key]')
  const revoke = row.getByRole('button', { name: 'Revoke the key kept' })
  for (const leave of ['Enter', 'Escape']) {
    await revoke.focus()
    await revoke.press('Enter')
    await row.getByRole('group').waitFor()
    // The Cancel button has the focus, so the Enter key cancels too.
    await page.keyboard.press(leave)
    await row.getByRole('group').waitFor({ state: 'detached' })
    await focusOn(revoke)
  }
  assert.equal(JSON.parse((await fetchWithToken(token, '/v1/keys')).text).total, 1)
})

test('shows log-in and sign-up errors at the form, and leaves the user’s input in the form', async () => {
  const email = 'known@example.com'
  await signUp(email)
  const page = await dashboard.open('#/account', { expected: [/ERR_INTERNET_DISCONNECTED/] })
  const message = (text: string) => page.getByText(text)
  const logIn = { entry: 'Log in', email } as const
  const wrong = message('The email or the password is wrong.')
  await enter(page, { ...logIn, password: 'something else' }, alertOf(page).and(wrong))
  await enter(page, { entry: 'Sign up', email }, message('Log in, or use another email.'))
  const short = { entry: 'Sign up', email: 'other@example.com', password: 'short' } as const
  await enter(page, short, message('This password is too short'))
  const password = page.getByLabel('Password', { exact: true })
  assert.equal(await password.getAttribute('aria-invalid'), 'true')
  await focusOn(password)
  const described = (await password.getAttribute('aria-describedby')) ?? ''
  assert.match(described, /password-error/)
  assert.equal(await page.getByLabel('Email').inputValue(), 'other@example.com')
  const noAddress = { entry: 'Sign up', email: 'no address' } as const
  await enter(page, noAddress, message('must have exactly one @-sign'))
  await page.context().setOffline(true)
  await enter(page, logIn, message('No connection.'))
  await page.context().setOffline(false)
  await enter(page, logIn, page.getByRole('heading', { name: 'Account', level: 1 }))
})

test('shows the waiting time after too many log-in attempts, and accepts a log-in afterwards', async () => {
  const email = 'hasty@example.com'
  await signUp(email)
  for (let wrong = 0; wrong < 4; wrong += 1) {
    assert.equal((await logIn(email, 'wrong'))?.status, 401)
  }
  const page = await dashboard.open('#/account')
  const wrongly = { entry: 'Log in', email, password: 'wrong' } as const
  await sendEntry(page, wrongly)
  await alertOf(page).waitFor()
  await recordSubmitLabels(page)
  // Each wrong password doubles the wait, until it exceeds the delays of a slow machine.
  const alert = alertOf(page).getByText(/Wait \d+ s\./)
  for (let wrong = 0; wrong < 8 && (await alert.count()) === 0; wrong += 1) {
    await sendEntry(page, wrongly)
    await alertOf(page).waitFor()
  }
  await alert.waitFor()
  await page.waitForFunction(() =>
    /^Log in in \d+ s true$/m.test(document.body.dataset.labels ?? ''),
  )
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
})

test('sets the autocomplete attribute of log-in and sign-up fields for password managers', async () => {
  const page = await dashboard.open('')
  const roles = () =>
    page
      .locator('form input')
      .evaluateAll((inputs) => inputs.map((input) => input.getAttribute('autocomplete')))
  await page.getByRole('tab', { name: 'Log in' }).waitFor()
  assert.deepEqual(await roles(), ['username', 'current-password'])
  await page.getByRole('tab', { name: 'Log in' }).press('ArrowRight')
  await page.locator('input[autocomplete=new-password]').waitFor()
  assert.deepEqual(await roles(), ['username', 'new-password'])
})

test('shows the user, the account’s limits, and the number of requests left in the current minute', async () => {
  const token = await signUp('counted@example.com')
  const page = await dashboard.open('#/account', { token })
  await page.getByText('No keys yet').waitFor()
  await page.getByRole('region', { name: 'Profile' }).getByText('counted@example.com').waitFor()
  const makeKey = async (label: string) => {
    await page.getByLabel('Key name').fill(label)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.locator('tr[data-key]', { hasText: label }).waitFor()
  }
  // The first two responses may arrive in either order. The responses after a new key arrive in order.
  await makeKey('first')
  const left = Number(await page.locator('[data-left]').innerText())
  // The dashboard has a separate rate limit. The cookie and the header make this request count against it.
  const { name, value } = sessionCookie(dashboard.origin, token)
  const { headers, text } = await fetchWithToken(token, '/v1/auth/me', {
    Cookie: `${name}=${value}`,
    'X-Dashboard': '1',
  })
  const { user, limits } = JSON.parse(text)
  assert.equal(left, Number(headers.get('x-ratelimit-remaining')) + 1)
  const profileText = await page.getByRole('region', { name: 'Profile' }).innerText()
  for (const fact of [user.email, user.tier, String(limits.requests_per_minute)]) {
    assert.ok(profileText.includes(fact), `${fact} in ${profileText}`)
  }
  await makeKey('second')
  // The three requests are the one above, the new key, and the reload of the list.
  await page.locator('[data-left]', { hasText: String(left - 3) }).waitFor()
})

test('sends a form once when the user submits the form twice, and shows a server error at the form', async () => {
  const token = await signUp('twice@example.com')
  const page = await dashboard.open('#/account', { token, expected: [/status of 503/] })
  let requestCount = 0
  const holds: (() => void)[] = []
  await page.route('**/v1/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    requestCount += 1
    await new Promise<void>((resolve) => holds.push(resolve))
    const body = JSON.stringify({ detail: 'the disk takes no more' })
    await route.fulfill({ status: 503, contentType: 'application/json', body })
  })
  await page.getByLabel('Key name').fill('one')
  await page.locator('.key-form').evaluate((form: HTMLFormElement) => {
    form.requestSubmit()
    form.requestSubmit()
  })
  const button = page.getByRole('button', { name: 'Creating…' })
  await button.waitFor()
  assert.ok(await button.isDisabled())
  for (const release of holds) release()
  const form = page.locator('.key-form')
  await form.getByText('The server could not answer. The disk takes no more.').waitFor()
  assert.equal(requestCount, 1)
  assert.equal(await page.getByLabel('Key name').inputValue(), 'one')
})

test('changes the password after the user enters the current password, and ends all other sessions', async () => {
  const email = 'changer@example.com'
  const token = await signUp(email)
  const page = await dashboard.open('#/account', { token })
  const current = page.getByLabel('Current password')
  const next = page.getByLabel('New password')
  const change = page.getByRole('button', { name: 'Change password' })
  await current.fill('something else')
  await next.fill('battery staple')
  await retryWhileBusy(() => change.click(), page.getByText('The password is wrong.'))
  await focusOn(current)
  assert.equal(
    (await fetchWithToken(token, '/v1/auth/me')).status,
    200,
    'the session is still valid',
  )
  await current.fill(PASSWORD)
  await next.fill('short')
  await change.click()
  await page.getByText('This password is too short').waitFor()
  await next.fill('battery staple')
  await retryWhileBusy(() => change.click(), page.getByText('The password is changed.'))
  assert.deepEqual([await current.inputValue(), await next.inputValue()], ['', ''])
  assert.equal((await fetchWithToken(token, '/v1/auth/me')).status, 401)
  await page.reload()
  await page.getByRole('region', { name: 'Profile' }).getByText(email).waitFor()
  const [before, after] = [PASSWORD, 'battery staple'].map((one) => logIn(email, one))
  assert.deepEqual([(await before)?.status, (await after)?.status], [401, 200])
})

test('deletes the account after the user confirms with the password', async () => {
  const email = 'goer@example.com'
  const token = await signUp(email)
  const page = await dashboard.open('#/account', { token })
  const begin = page.getByRole('button', { name: 'Delete account' })
  const password = page.getByLabel('Your password')
  for (const leave of ['Escape', 'Cancel']) {
    await begin.click()
    await password.waitFor()
    if (leave === 'Escape') await page.keyboard.press(leave)
    else await page.getByRole('button', { name: leave }).click()
    await begin.waitFor()
    await focusOn(begin)
  }
  await begin.click()
  await password.fill('something else')
  const forGood = page.getByRole('button', { name: 'Delete permanently' })
  await retryWhileBusy(() => forGood.click(), page.getByText('The password is wrong.'))
  assert.equal((await fetchWithToken(token, '/v1/auth/me')).status, 200)
  await password.fill(PASSWORD)
  await retryWhileBusy(() => password.press('Enter'), page.getByText('Your account is deleted'))
  assert.deepEqual(await page.context().cookies(), [])
  assert.equal((await fetchWithToken(token, '/v1/auth/me')).status, 401)
  await enter(page, { entry: 'Sign up', email }, page.getByText('No keys yet'))
})

test('creates a key with read permission by default, and ends the session token on log-out', async () => {
  const token = await signUp('scoped@example.com')
  const page = await dashboard.open('#/account', { token })
  for (const label of ['reader', 'changer']) {
    await page.getByLabel('Key name').fill(label)
    if (label === 'changer') await page.getByLabel('Allow it to manage webhooks').check()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.locator('tr[data-key]', { hasText: label }).waitFor()
  }
  const { keys } = JSON.parse((await fetchWithToken(token, '/v1/keys')).text)
  const scopes = new Map(
    keys.map((key: { label: string; scopes: string[] }) => [key.label, key.scopes]),
  )
  assert.deepEqual([scopes.get('reader'), scopes.get('changer')], [['read'], ['read', 'webhooks']])
  await page
    .locator('tr[data-key]', { hasText: 'changer' })
    .getByText('Read, manage webhooks')
    .waitFor()
  assert.equal(
    await page.getByLabel('Allow it to manage webhooks').isChecked(),
    false,
    'the box is cleared after each key',
  )
  const ended = page.waitForResponse('**/v1/auth/logout')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByText('You have logged out.').waitFor()
  assert.equal((await ended).status(), 204)
  assert.equal((await fetchWithToken(token, '/v1/auth/me')).status, 401)
})

test('ends all sessions of the account, including the current session, and leaves API keys valid', async () => {
  const email = 'everywhere@example.com'
  const token = await signUp(email)
  const login = await logIn(email, PASSWORD)
  const other = String(login?.body.access_token)
  const page = await dashboard.open('#/account', { token })
  await page.getByLabel('Key name').fill('stays')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.locator('.copyable code').first().innerText()
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await fetchWithToken(other, '/v1/auth/me')).status, 200)
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByRole('group').getByRole('button', { name: 'End all sessions' }).click()
  await page.getByText('You have logged out.').waitFor()
  for (const ended of [token, other])
    assert.equal((await fetchWithToken(ended, '/v1/auth/me')).status, 401)
  assert.equal((await fetchWithToken('', '/v1/auth/me', { 'X-API-Key': key })).status, 200)
})
