import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { ApiError } from '../../../http/dashboard/api.ts'
import { curlLine, limitText } from '../../../http/dashboard/pages/account.ts'
import { countsText, stateOf } from '../../../http/dashboard/pages/webhooks.ts'
import {
  attemptText,
  deliverySentence,
  type Shown,
  withAttempt,
  withNewest,
  withOlder,
  withOne,
} from '../../../http/dashboard/parts/deliveries.ts'
import { entryRefusal, refusalOf } from '../../../http/dashboard/parts/forms.ts'
import { describeError, problemText } from '../../../http/dashboard/parts/states.ts'
import {
  bodyOf,
  type Draft,
  type DraftBody,
  draftIn,
  draftOf,
  EMPTY_DRAFT,
  EVENTS,
  entriesOf,
  neverSent,
  offered,
} from '../../../http/dashboard/parts/webhook-form.ts'
import type {
  Deliveries,
  Delivery,
  DeliveryDetail,
  Webhook,
} from '../../../http/dashboard/records.ts'
import { BodyProblems } from '../../../http/validation/body.ts'
import {
  boundRefusal,
  choiceRefusal,
  countRefusal,
  textRefusal,
} from '../../../http/validation/problems.ts'
import { createBody } from '../../../http/webhooks/schemas.ts'
import { openApiServer } from '../../support/rigs/api-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'

const refused = (status: number, detail: string, waitSeconds: number | null = null) =>
  new ApiError(status, detail, new Map(), waitSeconds)
const unprocessable = (fields: Readonly<Record<string, string>>) =>
  new ApiError(422, 'not accepted', new Map(Object.entries(fields)))

test('shows a specific message for each kind of log-in and sign-up failure', () => {
  const wrong = entryRefusal(refused(401, 'wrong email or password'), 'log-in')
  assert.equal(wrong.form, 'The email or the password is wrong.')
  const taken = entryRefusal(refused(400, 'this email has an account already'), 'sign-up')
  assert.equal(taken.form, 'This email has an account already. Log in, or use another email.')
  const many = entryRefusal(refused(429, 'too many wrong passwords, try again later', 4), 'log-in')
  assert.deepEqual(
    [many.form, many.waitSeconds],
    ['Too many wrong passwords, try again later. Wait 4 s.', 4],
  )
  const unreachable = entryRefusal(refused(0, 'The server does not answer.'), 'log-in')
  assert.equal(unreachable.form, 'No connection. The server does not answer.')
  const busy = entryRefusal(refused(503, 'too busy'), 'log-in')
  assert.equal(busy.form, 'The server could not answer. Too busy.')
  const weak = entryRefusal(
    unprocessable({
      email: 'value is not a valid email address: An email address must have an @-sign.',
      password: 'String should have at least 8 characters',
    }),
    'sign-up',
  )
  assert.equal(weak.form, null)
  assert.deepEqual(Object.fromEntries(weak.fields), {
    email: 'An email address must have an @-sign.',
    password: 'This password is too short: it needs 8 characters or more.',
  })
  const texts = [wrong, taken, many, unreachable, busy].map(({ form }) => form)
  assert.equal(new Set(texts).size, texts.length)
})

test('shows each validation error at its field, or above the form if the error belongs to no field', () => {
  const error = unprocessable({ label: 'value error, too long', other: 'no such thing', 0: 'odd' })
  const refusal = refusalOf(error, ['label'])
  assert.deepEqual([...refusal.fields], [['label', 'Too long.']])
  assert.equal(refusal.form, 'Odd. No such thing.')
  assert.equal(
    problemText('Value error, the URL must begin with https://'),
    'The URL must begin with https://.',
  )
  assert.match(refusalOf(refused(400, 'an account may have 20 keys'), []).form ?? '', /20 keys/)
})

test('rewords validation messages of the server for dashboard users', () => {
  const refusals = [
    boundRefusal(-1, Type.Number({ minimum: 0 })),
    boundRefusal(6, Type.Number({ maximum: 5 })),
    textRefusal('', Type.String({ minLength: 1 })),
    textRefusal('abc', Type.String({ maxLength: 2 })),
    textRefusal('x', Type.String({ pattern: '^y$' })),
    countRefusal(0, Type.Array(Type.String(), { minItems: 1 })),
    countRefusal(3, Type.Array(Type.String(), { maxItems: 2 })),
    choiceRefusal(['buy', 'sell']),
    { msg: 'Input should be a valid number, unable to parse string as a number' },
  ]
  assert.deepEqual(
    refusals.map((refusal) => problemText(refusal?.msg ?? '')),
    [
      ...['Enter 0 or more.', 'Enter 5 or less.', 'Enter 1 or more characters.'],
      'Enter at most 2 characters.',
      'This does not have the required form.',
      ...['Enter 1 or more.', 'Enter at most 2.', 'Choose buy or sell.', 'Enter a number.'],
    ],
  )
  const { detail } = describeError(
    unprocessable({ score: 'Input should be less than or equal to 100' }),
  )
  assert.equal(detail, 'Enter 100 or less.')
})

test('adds each attempt of a webhook delivery to the list with its request, response and time', () => {
  const attempt = (
    atMs: number | null,
    status: number | null,
    attempts: number,
  ): DeliveryDetail => ({
    ...{ id: 'dlv_1', event_id: 'evt_1', event_type: 'webhook.test', status: 'pending' },
    ...{ created_at: 1, created_at_ms: 1_000, next_attempt_at: 9, attempts, attempted_at_ms: atMs },
    last_attempt:
      atMs === null
        ? null
        : { at: Math.floor(atMs / 1_000), duration_ms: atMs % 100, status, error: null },
    request: { headers: { 'webhook-timestamp': String(atMs) }, body: '{}' },
    response: null,
  })
  const details = [
    attempt(null, null, 0),
    attempt(2_007, 503, 1),
    attempt(2_007, 503, 0),
    attempt(9_021, 200, 1),
  ]
  let attempts: ReadonlyMap<number | null, DeliveryDetail> = new Map()
  const shown: (readonly (number | null)[])[] = []
  for (const detail of details) {
    attempts = withAttempt(attempts, detail)
    shown.push([...attempts.keys()])
  }
  assert.deepEqual(shown, [[null], [2_007], [2_007], [2_007, 9_021]])
  assert.deepEqual(
    [...attempts.values()].map(({ last_attempt: last }) => [last?.status, last?.duration_ms]),
    [
      [503, 7],
      [200, 21],
    ],
  )
  for (let atMs = 20_000; atMs < 40_000; atMs += 1_000)
    attempts = withAttempt(attempts, attempt(atMs, 500, 2))
  assert.equal(attempts.size, 10)
  assert.equal([...attempts.keys()].at(-1), 39_000)
})

test('uses the base URL of the dashboard in the example command', () => {
  const line = curlLine('pmk_abc', 'https://example.com/twin/')
  assert.equal(line, "curl -H 'X-API-Key: pmk_abc' 'https://example.com/twin/v1/markets?limit=3'")
})

test('shows “no limit” for an account without a limit, and the number for a limited account', () => {
  assert.equal(limitText(2_147_483_647), 'no limit')
  assert.equal(limitText(60), '60')
})

const WALLET = `0x${'aB'.repeat(20)}`
const TEXTS = {
  market_ids: ['', 'venue_a_0x1f', 'VENUE_B_KX-1, venue_a_2\n\nvenue_a_3', 'other_1', 'venue_a_'],
  platform: ['', 'venue_a', 'venue_b'],
  wallets: ['', WALLET, ` ${WALLET}\n${WALLET.toLowerCase()} `, '0x12', 'me'],
  taker_wallets: ['', WALLET, '0x12'],
  min_usd: ['', '0', '5000', ' 12.5 ', 'many', '-1', '1e12'],
  min_change: ['', '0.05', '1', '2', '0', 'x'],
  min_profit_usd: ['', '0', '5', ' 2.5 ', '1e12', 'x'],
  min_edge: ['', '0.01', '2'],
  min_age_ms: ['', '2000', '1.5', '99999999'],
  side: ['', 'buy', 'sell'],
  taker_side: ['', 'buy', 'sell'],
  event_slugs: ['', 'a-slug', 'one\ntwo', 'x'.repeat(300)],
  categories: ['', 'Politics', 'US Politics, Sports'],
} as const

function draftAt(random: Random): Draft {
  const draft = {
    format: random.pick(['standard', 'slack', 'discord'] as const),
    isStored: false,
    url: random.pick(['', 'https://example.com/hooks', ' https://a.example/ ']),
    description: random.pick(['', 'mine']),
    types: EVENTS.map(({ type }) => type).filter(() => random.below(2) === 0),
  }
  const filters: Record<keyof typeof TEXTS, string> = {
    market_ids: random.pick(TEXTS.market_ids),
    platform: random.pick(TEXTS.platform),
    wallets: random.pick(TEXTS.wallets),
    taker_wallets: random.pick(TEXTS.wallets),
    min_usd: random.pick(TEXTS.min_usd),
    min_change: random.pick(TEXTS.min_change),
    min_profit_usd: random.pick(TEXTS.min_profit_usd),
    min_edge: random.pick(TEXTS.min_edge),
    min_age_ms: random.pick(TEXTS.min_age_ms),
    side: random.pick(TEXTS.side),
    taker_side: random.pick(TEXTS.taker_side),
    event_slugs: random.pick(TEXTS.event_slugs),
    categories: random.pick(TEXTS.categories),
  }
  return { ...draft, ...filters }
}

test('accepts the same values of the webhook form as the server, and shows violated bounds at their fields', () => {
  const validator = new BodyProblems(createBody(NAMES), 'Webhook')
  const random = seededRandom(29)
  let [sentCount, refusedCount] = [0, 0]
  for (let round = 0; round < 3_000; round += 1) {
    const draft = draftAt(random)
    const made = bodyOf(draft, NAMES.platforms)
    if ('problems' in made) {
      for (const name of made.problems.keys()) assert.ok(name in draft || name === 'event_types')
      refusedCount += 1
      continue
    }
    sentCount += 1
    const problems = validator.of(made.body)
    for (const { type, loc } of problems) {
      assert.match(type, /^(greater_than|less_than|string_too_long)/, JSON.stringify(loc))
      assert.ok(
        loc.some((part) => part in TEXTS),
        JSON.stringify(loc),
      )
    }
  }
  assert.ok(sentCount > 200 && refusedCount > 200, `${sentCount} sent, ${refusedCount} not`)
})

test('sends list fields of the webhook form as arrays and number fields as numbers, and omits empty filters', () => {
  const draft: Draft = {
    ...EMPTY_DRAFT,
    ...{ url: ' https://example.com/ ', types: ['trade.created'], min_usd: ' 12.5 ' },
    ...{ market_ids: 'venue_a_1,venue_a_2\n\n venue_b_3 ', categories: 'US Politics' },
  }
  assert.deepEqual(bodyOf(draft, ['venue_a', 'venue_b']), {
    body: {
      url: 'https://example.com/',
      format: 'standard',
      event_types: ['trade.created'],
      description: null,
      filters: {
        market_ids: ['venue_a_1', 'venue_a_2', 'venue_b_3'],
        min_usd: 12.5,
        categories: ['US Politics'],
      },
    },
  })
  assert.deepEqual(entriesOf('addresses', ' , \n'), [])
  assert.deepEqual(entriesOf('addresses', '0x1 0x2,0x3'), ['0x1', '0x2', '0x3'])
  assert.deepEqual(entriesOf('lines', 'Art, old\n new '), ['Art, old', 'new'])
})

test('leaves a webhook unchanged when the user saves its form without edits', async (t) => {
  const apiServer = await openApiServer()
  t.after(() => apiServer.stop())
  const random = seededRandom(30)
  const sendDraft = async (method: string, path: string, body: DraftBody) => {
    const init = { method, headers: { 'x-api-key': 'ann-key' }, body: JSON.stringify(body) }
    const response = await fetch(`${apiServer.origin}/v1/webhooks${path}`, init)
    return { status: response.status, text: await response.text() }
  }
  apiServer.engine.webhooks.countMax = 1_000
  let count = 0
  while (count < 30) {
    const made = bodyOf(draftAt(random), NAMES.platforms)
    if ('problems' in made) continue
    const created = await sendDraft('POST', '', made.body)
    if (created.status !== 201) continue
    count += 1
    const webhook: Webhook = JSON.parse(created.text)
    const again = bodyOf(draftOf(webhook), [])
    assert.ok('body' in again)
    const changed: Webhook = JSON.parse(
      (await sendDraft('PATCH', `/${webhook.id}`, again.body)).text,
    )
    const { filters, url, event_types: types, description } = webhook
    const after = {
      ...{ filters: changed.filters, url: changed.url },
      ...{ types: changed.event_types, description: changed.description },
    }
    assert.deepEqual(after, { filters, url, types, description })
  }
})

test('shows the filters that apply to the selected event types, and lists event types that a filter excludes', () => {
  const isOffered = (name: string, ...types: Draft['types']) =>
    offered(types).some((filter) => filter.name === name)
  assert.ok(!isOffered('min_usd', 'price.changed', 'match.created'))
  assert.ok(isOffered('min_change', 'price.changed') && !isOffered('min_change', 'whale.alert'))
  assert.ok(isOffered('categories'))
  assert.ok(isOffered('min_age_ms', 'arbitrage.closed') && !isOffered('min_edge', 'whale.alert'))
  const gaps: Draft = {
    ...EMPTY_DRAFT,
    types: ['arbitrage.opened', 'trade.created'],
    min_edge: '1',
  }
  assert.deepEqual(neverSent(gaps), ['trade.created'])
  const draft: Draft = { ...EMPTY_DRAFT, url: 'https://example.com/', min_usd: '7' }
  const prices = bodyOf({ ...draft, types: ['price.changed'] }, [])
  assert.ok('body' in prices && !('min_usd' in prices.body.filters))
  const both: Draft = { ...draft, types: ['whale.alert', 'price.changed', 'webhook.test'] }
  assert.deepEqual(neverSent(both), ['price.changed'])
  assert.deepEqual(neverSent({ ...both, min_usd: ' ' }), [])
  assert.deepEqual(neverSent({ ...both, types: ['price.changed'] }), [])
})

const counts = { created: 3, delivered: 2, exhausted: 0, dropped: 0, pending: 1 }

test('explains why a webhook receives no events, and hides counts of zero', () => {
  const nowMs = 1_000_000_000
  const webhook = (set: Partial<Webhook>): Webhook => ({
    ...{
      id: 'wh_1',
      format: 'standard',
      url: 'https://example.com/',
      event_types: ['trade.created'],
    },
    ...{ description: null, active: true, disabled_reason: null, created_at: 1 },
    ...{ failing_since: null, previous_secret_until: null, counts, throttled: 0 },
    verified: true,
    filters: {
      ...{ market_ids: null, platform: null, wallets: null, min_usd: null },
      taker_wallets: null,
      ...{ min_change: null, side: null, event_slugs: null, categories: null },
      ...{ taker_side: null, min_profit_usd: null, min_edge: null, min_age_ms: null },
    },
    ...set,
  })
  const shown = (set: Partial<Webhook>) => stateOf(webhook(set), nowMs)
  assert.equal(shown({}).name, 'on')
  assert.match(shown({ failing_since: 999_940 }).text, /failed for 60 s/)
  const off = (reason: Webhook['disabled_reason']) =>
    shown({ active: false, disabled_reason: reason }).text
  assert.equal(new Set([off(null), off('gone'), off('failing')]).size, 3)
  assert.match(off('gone'), /410/)
  assert.equal(countsText(counts), '2 delivered, 1 pending')
  assert.equal(countsText({ ...counts, created: 0, delivered: 0, pending: 0 }), 'None yet')
})

function delivery(number: number, set: Partial<Delivery> = {}): Delivery {
  return {
    ...{ id: `dlv_${number}`, event_id: `evt_${number}`, event_type: 'trade.created' },
    ...{ status: 'pending', created_at: 1, next_attempt_at: 1, attempts: 0, last_attempt: null },
    ...set,
  }
}

/** Newest first, with numbers below `before`, as the server sends it. */
function pageOf(all: readonly Delivery[], before: number | null, limit: number): Deliveries {
  const older = all.filter((_, index) => before === null || index + 1 < before).toReversed()
  const deliveries = older.slice(0, limit)
  const hasMore = older.length > limit
  const last = deliveries.at(-1)?.id.replace('dlv_', '') ?? null
  return { deliveries, cursor: hasMore ? last : null, has_more: hasMore }
}

test('merges pages of deliveries, newest first and without duplicates or gaps', () => {
  const random = seededRandom(32)
  let longest = 0
  for (let round = 0; round < 300; round += 1) {
    const all: Delivery[] = Array.from({ length: random.below(12) }, (_, at) => delivery(at + 1))
    let shown: Shown = withNewest(null, pageOf(all, null, 5))
    for (let step = 0; step < 30; step += 1) {
      const kind = random.below(4)
      if (kind === 0) {
        const made = random.below(random.below(4) === 0 ? 9 : 3)
        for (let one = 0; one < made; one += 1) all.push(delivery(all.length + 1))
      } else if (kind === 1) {
        shown = withNewest(shown, pageOf(all, null, 5))
        assert.deepEqual(shown.rows.slice(0, 5), all.toReversed().slice(0, 5))
      } else if (kind === 2 && shown.cursor !== null) {
        shown = withOlder(shown, pageOf(all, Number(shown.cursor), 5))
      } else if (kind === 3 && all.length > 0) {
        const at = random.below(all.length)
        all[at] = delivery(at + 1, { status: 'delivered', attempts: 1 })
        const changed = all[at]
        const isShown = shown.rows.some(({ id }) => id === changed.id)
        if (isShown) shown = withOne(shown, changed)
      }
      const numbers = shown.rows.map(({ id }) => Number(id.replace('dlv_', '')))
      const first = numbers[0] ?? 0
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => first - index),
        'no missing and no repeated delivery',
      )
      const last = numbers.at(-1) ?? 1
      assert.equal(
        shown.cursor,
        last === 1 ? null : String(last),
        'the cursor continues after the last row',
      )
      longest = Math.max(longest, numbers.length)
    }
  }
  assert.ok(longest > 20, String(longest))
})

test('shows the status or the error of a delivery attempt, each once', () => {
  const last = (set: Partial<NonNullable<Delivery['last_attempt']>>) =>
    attemptText(
      delivery(1, { last_attempt: { at: 1, duration_ms: 12, status: null, error: null, ...set } }),
    )
  assert.equal(attemptText(delivery(1)), 'Not tried yet')
  assert.equal(last({ status: 204 }), '204 in 12 ms')
  assert.equal(last({ status: 500, error: 'answered 500' }), 'answered 500, in 12 ms')
  assert.equal(last({ status: 302, error: 'a redirect' }), '302: a redirect, in 12 ms')
  assert.equal(last({ error: 'refused' }), 'refused, in 12 ms')
})

test('describes each state of a delivery in a sentence', () => {
  const failed = { at: 1_000, duration_ms: 250, status: 500, error: 'the receiver answered 500' }
  const sentence = (set: Partial<Parameters<typeof deliverySentence>[0]>) =>
    deliverySentence(
      { status: 'pending', attempts: 0, last_attempt: null, next_attempt_at: null, ...set },
      1_000_000,
    )
  assert.equal(
    sentence({ next_attempt_at: 1_000 }),
    'The event waits for its first attempt. The next attempt is now.',
  )
  assert.equal(
    sentence({ attempts: 2, last_attempt: failed, next_attempt_at: 1_060 }),
    'The last of 2 attempts failed: the receiver answered 500. The next attempt is in 60 s.',
  )
  const taken = { ...failed, status: 204, error: null }
  assert.equal(
    sentence({ status: 'delivered', attempts: 1, last_attempt: taken }),
    'Your server answered 204 after 250 ms: the event is delivered.',
  )
  assert.equal(
    sentence({ status: 'delivered', attempts: 3, last_attempt: taken }),
    'Your server answered 204 after 250 ms: the event is delivered, with 3 attempts.',
  )
  assert.match(
    sentence({ status: 'exhausted', attempts: 9, last_attempt: failed }),
    /No further attempt/,
  )
  assert.match(sentence({ status: 'dropped' }), /^The event was dropped/)
})

test('reads the draft of an alert from the URL, and ignores unknown events', () => {
  const draft = draftIn(
    new URLSearchParams('events=trade.created,nothing&wallets=0x1,0x2&min_usd=50'),
  )
  assert.deepEqual(
    [draft?.types, draft?.wallets, draft?.min_usd, draft?.url],
    [['trade.created'], '0x1\n0x2', '50', ''],
  )
  assert.equal(draftIn(new URLSearchParams('events=nothing&wallets=0x1')), null)
  assert.equal(draftIn(new URLSearchParams()), null)
})
