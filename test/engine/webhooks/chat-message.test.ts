// Compares chat messages with the limits that Slack, Discord and Telegram document.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../../engine/random.ts'
import {
  CHAT_FORMATS,
  type ChatEvent,
  type ChatFormat,
  chatMessage,
  chatOf,
  DIGEST_EVENTS_MAX,
  messageIntervalMs,
  postUrlOf,
  requestedPauseMs,
} from '../../../engine/webhooks/chat-message.ts'

const CHAT = 'https://api.telegram.org/bot12:secret/sendMessage?chat_id=-100123'
const HOSTILE = [
  ...['@everyone', '<@123>', '<!channel>', '<script>alert(1)</script>', '**bold** _x_ `code`'],
  ...['[a](https://evil.example)', '</b><a href="https://evil.example">', '&lt;', '"\'\\', '||x||'],
  ...[
    '\ud83d\ude00',
    '\ud83d',
    '\u202egnp.exe',
    'x'.repeat(10_000),
    '<'.repeat(10_000),
    '\n\r\0\t',
  ],
]

const textOf = (random: Random): string =>
  Array.from({ length: 1 + random.below(4) }, () => random.pick(HOSTILE)).join(
    random.pick(['', ' ']),
  )

function eventOf(random: Random): ChatEvent {
  return {
    kind: random.pick(['trade', 'price change', 'match']),
    title: textOf(random),
    lines: Array.from({ length: random.below(12) }, () => textOf(random)),
    link:
      random.below(4) === 0
        ? null
        : `https://twinbook.example/#/market/${encodeURIComponent(textOf(random).replace(/\p{Cs}/gu, ''))}`,
    usd: random.below(1_000_000),
    timeMs: 1_763_700_000_000 + random.below(86_400_000),
  }
}

/** A surrogate without its partner. */
const LONE = /\p{Cs}|\\ud[89a-f]/u

type Json = { readonly [key: string]: Json } | readonly Json[] | string | number | boolean | null

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

function field(value: Json | undefined, name: string): Json | undefined {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value))
  return Object.entries(value).find(([key]) => key === name)?.[1]
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const lengthOf = (value: Json | undefined): number => String(value ?? '').length

const VALIDATORS: Readonly<Record<ChatFormat, (body: Json) => void>> = {
  slack(body) {
    assert.ok(lengthOf(field(body, 'text')) <= 4_000)
    const blocks = listOf(field(body, 'blocks'))
    assert.ok(blocks.length >= 1 && blocks.length <= 50)
    for (const block of blocks) {
      const [text] = [field(block, 'text'), ...listOf(field(block, 'elements'))].filter(Boolean)
      const length = lengthOf(field(text, 'text'))
      assert.ok(length >= 1 && length <= 3_000)
    }
    for (const text of textsIn(body)) {
      const links = text.replace(/^<https:\/\/twinbook\.example[^<>|]*\|Open in Twinbook>$/, '')
      assert.doesNotMatch(links, /[<>]|&(?!amp;|lt;|gt;)/)
    }
  },
  discord(body) {
    assert.deepEqual(field(body, 'allowed_mentions'), { parse: [] })
    assert.ok(lengthOf(field(body, 'content')) <= 2_000)
    const embeds = listOf(field(body, 'embeds'))
    assert.ok(embeds.length >= 1 && embeds.length <= 10)
    let total = 0
    for (const embed of embeds) {
      const [title, description] = [
        lengthOf(field(embed, 'title')),
        lengthOf(field(embed, 'description')),
      ]
      assert.ok(title <= 256 && description <= 4_096)
      assert.ok(lengthOf(field(embed, 'url')) <= 2_048)
      total += title + description
    }
    assert.ok(total <= 6_000, `${total} characters`)
    for (const embed of embeds) {
      const text = `${field(embed, 'title')}${field(embed, 'description') ?? ''}`
      assert.doesNotMatch(text.replace(/\\[\\*_~`|>#()<@:[\]-]/g, ''), /[*_~`|<>@[\]]/)
    }
  },
  telegram(body) {
    assert.equal(field(body, 'chat_id'), '-100123')
    assert.equal(field(body, 'parse_mode'), 'HTML')
    const html = String(field(body, 'text'))
    const plain = html.replace(/<b>|<\/b>|<a href="https:\/\/twinbook\.example[^"<>]*">|<\/a>/g, '')
    assert.doesNotMatch(plain, /[<>]|&(?!amp;|lt;|gt;|quot;)/)
    const text = plain.replace(/&(?:amp|lt|gt|quot);/g, 'x')
    assert.ok(text.length >= 1 && text.length <= 4_096, `${text.length} characters`)
  },
}

for (const format of CHAT_FORMATS) {
  test(`keeps messages of 10,000 random hostile events within the limits of ${format}`, () => {
    const random = seededRandom('chat', 1)
    for (let made = 0; made < 10_000; ) {
      const count = random.below(3) === 0 ? 1 + random.below(DIGEST_EVENTS_MAX) : 1
      const events = Array.from({ length: count }, () => eventOf(random))
      made += count
      const body = JSON.stringify(chatMessage(format, events, CHAT))
      assert.doesNotMatch(body, LONE)
      VALIDATORS[format](JSON.parse(body))
      for (const text of textsIn(JSON.parse(body))) {
        assert.doesNotMatch(text, LONE)
        assert.doesNotMatch(text, /[\u202e\0\r]/)
      }
    }
  })
}

const event = (kind: string, usd: number, minute: number): ChatEvent => ({
  ...{ kind, title: `${kind} of ${usd}`, lines: ['Will it rain?'], link: null, usd },
  timeMs: minute * 60_000,
})

test('counts all events of a digest, and shows the ten with the largest amounts', () => {
  const events = Array.from({ length: 14 }, (_, index) =>
    event('large trade', 1_000 * (index + 1), index),
  )
  const { text } = JSON.parse(
    JSON.stringify(chatMessage('telegram', [...events, event('match', 0, 3)], CHAT)),
  )
  assert.match(text, /^<b>14 large trades, 1 match within 13 minutes, largest \$14,000<\/b>/)
  assert.match(text, /and 5 more events$/)
  assert.ok(text.includes('large trade of 5000') && !text.includes('large trade of 4000'))
})

test('shows the texts of one event without a heading', () => {
  const { text } = JSON.parse(JSON.stringify(chatMessage('telegram', [event('trade', 5, 0)], CHAT)))
  assert.equal(text, '<b>trade of 5</b>\nWill it rain?')
})

test('reads the chat of a Telegram URL, and posts to the URL without it', () => {
  assert.equal(chatOf(CHAT), '-100123')
  assert.equal(chatOf('https://api.telegram.org/bot1:x/sendMessage?chat_id=@whales'), '@whales')
  for (const url of [
    `${CHAT}&message_thread_id=7`,
    'https://api.telegram.org/bot1:x/sendMessage',
    'https://a.example/?chat_id=1',
  ]) {
    assert.equal(chatOf(url), null)
  }
  assert.equal(postUrlOf('telegram', CHAT), 'https://api.telegram.org/bot12:secret/sendMessage')
})

test('pauses for the time that a chat service requests', () => {
  const answered = (
    status: number,
    body: string,
    headers: readonly [string, string][] = [],
    retryAfterMs: number | null = null,
  ) =>
    requestedPauseMs({
      ...{ status, retryAfterMs },
      answer: { headers, body: Buffer.from(body) },
    })
  assert.equal(answered(429, '{"ok":false,"parameters":{"retry_after":7}}'), 7_000)
  assert.equal(answered(429, '{"message":"limited","retry_after":0.65,"global":false}'), 650)
  assert.equal(answered(429, 'busy'), 0)
  assert.equal(answered(429, 'rate_limited', [], 30_000), 30_000)
  assert.equal(answered(500, '', [], 30_000), 0)
  assert.equal(answered(429, '{"retry_after":999999999}'), 86_400_000)
  const used = [
    ['x-ratelimit-remaining', '0'],
    ['x-ratelimit-reset-after', '1.5'],
  ] as const
  assert.equal(
    answered(
      204,
      '',
      used.map(([name, value]) => [name, value]),
    ),
    1_500,
  )
  assert.equal(answered(204, '', [['x-ratelimit-remaining', '3']]), 0)
})

test('sends at most 20 messages a minute to a Telegram group, and one a second to a person', () => {
  assert.equal(messageIntervalMs('telegram', CHAT), 3_000)
  assert.equal(messageIntervalMs('telegram', CHAT.replace('-100123', '77')), 1_000)
  assert.equal(messageIntervalMs('standard', 'https://a.example'), 0)
})
