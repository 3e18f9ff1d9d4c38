// Chat messages of webhook events for Slack, Discord and Telegram. Several events form one message (a digest). All
// texts of events are foreign: they are escaped, cut to the limits of the service, and cannot mention anyone.

import { RETRY_AFTER_MAX_MS } from './retry-schedule.ts'

export const CHAT_FORMATS = ['slack', 'discord', 'telegram'] as const
export type ChatFormat = (typeof CHAT_FORMATS)[number]
export const WEBHOOK_FORMATS = ['standard', ...CHAT_FORMATS] as const
/** `standard`: signed JSON by Standard Webhooks. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The texts of an event, unescaped and of any length. */
export interface ChatEvent {
  /** Names the kind of event, for example "large trade". */
  readonly kind: string
  readonly title: string
  /** Facts in order of importance. */
  readonly lines: readonly string[]
  /** Page of the dashboard. Null: none. */
  readonly link: string | null
  /** Amount by which the events of a digest are ordered, in US dollars. */
  readonly usd: number
  readonly timeMs: number
}

/** Maximum number of events that one message combines. */
export const DIGEST_EVENTS_MAX = 100

/** Events that a digest describes. It counts the remaining events. Discord allows ten embeds. */
const SHOWN_MAX = 10
const LINES_MAX = 8
/** Discord accepts 2,048 characters. A longer link is left out. */
const LINK_MAX = 2_000

/** Returns the JSON body of a POST. `events`: 1..DIGEST_EVENTS_MAX. `url`: the webhook's URL, which contains a Telegram chat. */
export function chatMessage(format: ChatFormat, events: readonly ChatEvent[], url: string) {
  const digest = digestOf(events)
  if (format === 'slack') return slackMessage(digest)
  return format === 'discord' ? discordMessage(digest) : telegramMessage(digest, chatOf(url) ?? '')
}

interface Digest {
  /** Null for a single event. */
  readonly heading: string | null
  readonly shown: readonly ChatEvent[]
  /** Null: all events are shown. */
  readonly rest: string | null
}

function digestOf(given: readonly ChatEvent[]): Digest {
  const events = given.map((event) =>
    (event.link ?? '').length > LINK_MAX ? { ...event, link: null } : event,
  )
  if (events.length === 1) return { heading: null, shown: events, rest: null }
  const counts = new Map<string, number>()
  for (const { kind } of events) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const kinds = [...counts].map(([kind, count]) => counted(count, kind)).join(', ')
  const largest = Math.max(...events.map(({ usd }) => usd))
  const times = events.map(({ timeMs }) => timeMs)
  const span = spanText(Math.max(...times) - Math.min(...times))
  const heading = `${kinds} within ${span}${largest > 0 ? `, largest ${dollars(largest)}` : ''}`
  const byAmount = [...events].sort((one, other) => other.usd - one.usd)
  const shown = byAmount.slice(0, SHOWN_MAX)
  const restCount = events.length - shown.length
  return { heading, shown, rest: restCount > 0 ? `and ${counted(restCount, 'more event')}` : null }
}

const counted = (count: number, noun: string): string => {
  const plural = noun.endsWith('y')
    ? `${noun.slice(0, -1)}ies`
    : noun.endsWith('ch')
      ? `${noun}es`
      : `${noun}s`
  return `${count} ${count === 1 ? noun : plural}`
}

function spanText(spanMs: number): string {
  const minutes = Math.ceil(spanMs / 60_000)
  return minutes <= 1
    ? 'a minute'
    : minutes < 120
      ? `${minutes} minutes`
      : `${Math.ceil(minutes / 60)} hours`
}

/** An amount such as "$1,234.50", without cents from 1,000 dollars on. */
export function dollars(usd: number): string {
  const digits = Math.abs(usd) >= 1_000 ? 0 : 2
  return `${usd < 0 ? '−' : ''}$${Math.abs(usd).toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/**
 * Replaces line breaks, control characters, characters that change the text direction, and lone surrogates, then cuts the
 * text so that its escaped form has at most `most` UTF-16 code units.
 */
function fitted(text: string, most: number, escaped: (character: string) => string): string {
  let result = ''
  for (const character of text.replace(UNSAFE, ' ')) {
    const next = escaped(character)
    if (result.length + next.length > most - 1) return `${result}…`
    result += next
  }
  return result
}

const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** Slack: https://docs.slack.dev/messaging/formatting-message-text and /reference/block-kit/blocks. */
const SLACK_TEXT_MAX = 300
const SLACK_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const slackText = (text: string, most = SLACK_TEXT_MAX) =>
  fitted(text, most, (character) => SLACK_ENTITIES[character] ?? character)

function slackMessage({ heading, shown, rest }: Digest) {
  // Type plain_text shows characters such as `*` and `_` as they are. Only the link needs mrkdwn.
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })
  const blocks: object[] = []
  if (heading !== null) blocks.push({ type: 'section', text: plain(slackText(heading)) })
  for (const { title, lines, link } of shown) {
    const texts = [title, ...lines.slice(0, LINES_MAX)].map((line) => slackText(line))
    blocks.push({ type: 'section', text: plain(texts.join('\n')) })
    if (link === null) continue
    const text = `<${slackText(link, LINK_MAX)}|Open in Twinbook>`
    blocks.push({ type: 'context', elements: [{ type: 'mrkdwn', text }] })
  }
  if (rest !== null) blocks.push({ type: 'section', text: plain(rest) })
  // Notifications show `text`. `mrkdwn` false shows it as it is.
  return { text: slackText(heading ?? shown[0]?.title ?? ''), mrkdwn: false, blocks }
}

/** Discord: https://discord.com/developers/docs/resources/message#embed-object-embed-limits. */
const DISCORD_TITLE_MAX = 200
const DISCORD_LINE_MAX = 250
/** Characters of all embeds together. */
const DISCORD_TOTAL_MAX = 6_000
const DISCORD_MARKDOWN = /[\\*_~`|>#()<@:[\]-]/
const discordText = (text: string, most: number) =>
  fitted(text, most, (character) =>
    DISCORD_MARKDOWN.test(character) ? `\\${character}` : character,
  )

function discordMessage({ heading, shown, rest }: Digest) {
  let left = DISCORD_TOTAL_MAX
  const share = Math.floor(DISCORD_TOTAL_MAX / shown.length)
  const embeds = shown.map(({ title, lines, link, timeMs }) => {
    const name = discordText(title, DISCORD_TITLE_MAX)
    const texts: string[] = []
    let most = Math.min(share, left) - name.length
    for (const line of lines.slice(0, LINES_MAX)) {
      const text = discordText(line, DISCORD_LINE_MAX)
      if (text.length + 1 > most) break
      texts.push(text)
      most -= text.length + 1
    }
    const description = texts.join('\n')
    left -= name.length + description.length
    return {
      title: name,
      ...(description === '' ? {} : { description }),
      ...(link === null ? {} : { url: link }),
      timestamp: new Date(timeMs).toISOString(),
    }
  })
  const content = [heading, rest].flatMap((line) =>
    line === null ? [] : [discordText(line, DISCORD_LINE_MAX)],
  )
  return {
    ...(content.length === 0 ? {} : { content: content.join('\n') }),
    embeds,
    allowed_mentions: { parse: [] },
  }
}

/** Telegram: https://core.telegram.org/bots/api#sendmessage and #html-style. The limit applies to the text without tags. */
const TELEGRAM_TEXT_MAX = 4_096
const TELEGRAM_LINE_MAX = 300
const HTML_ENTITIES: Readonly<Record<string, string>> = { ...SLACK_ENTITIES, '"': '&quot;' }
const htmlText = (text: string, most = TELEGRAM_LINE_MAX) =>
  [...fitted(text, most, (character) => character)]
    .map((character) => HTML_ENTITIES[character] ?? character)
    .join('')

function telegramMessage({ heading, shown, rest }: Digest, chat: string) {
  const share = Math.floor((TELEGRAM_TEXT_MAX - 2 * TELEGRAM_LINE_MAX) / shown.length)
  const parts = shown.map(({ title, lines, link }) => {
    const name = htmlText(title, Math.min(TELEGRAM_LINE_MAX, share))
    const linked =
      link === null
        ? `<b>${name}</b>`
        : `<a href="${link.replace(/[&<>"]/g, (c) => HTML_ENTITIES[c] ?? c)}">${name}</a>`
    const texts = [linked]
    let most = share - name.length - 2
    for (const line of lines.slice(0, LINES_MAX)) {
      const text = htmlText(line)
      if (text.length + 1 > most) break
      texts.push(text)
      most -= text.length + 1
    }
    return texts.join('\n')
  })
  const whole = [heading === null ? null : `<b>${htmlText(heading)}</b>`, ...parts, rest]
  return {
    chat_id: chat,
    text: whole.filter((part) => part !== null).join('\n\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }
}

/** Form of a Telegram webhook's URL, to which the chat is appended. */
export const TELEGRAM_URL = 'https://api.telegram.org/bot<token>/sendMessage?chat_id='

/** The parameter `chat_id` of a URL of Telegram's `sendMessage`. Null: the URL has another form or other parameters. */
export function chatOf(url: string): string | null {
  const { pathname, searchParams } = new URL(url)
  if (!/^\/bot[^/]+\/sendMessage$/.test(pathname) || searchParams.size !== 1) return null
  const chat = searchParams.get('chat_id') ?? ''
  return /^(?:-?\d{1,20}|@\w{1,64})$/.test(chat) ? chat : null
}

/** The URL that is called. The chat of Telegram is in the body. */
export function postUrlOf(format: WebhookFormat, url: string): string {
  if (format !== 'telegram') return url
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/**
 * Minimum time between two messages, in ms. Slack: one a second. Discord: 30 a minute. Telegram: one a second for a
 * chat, 20 a minute for a group or channel.
 */
export function messageIntervalMs(format: WebhookFormat, url: string): number {
  if (format === 'standard') return 0
  if (format === 'discord') return 2_000
  if (format === 'slack') return 1_000
  return /^\d/.test(chatOf(url) ?? '') ? 1_000 : 3_000
}

/** Delay until the next message that a chat service requests, in ms. 0: none. */
export function requestedPauseMs({ status, retryAfterMs, answer }: AnsweredPost): number {
  if (status === 429 || status === 503) {
    // Slack states it in Retry-After, Discord and Telegram in the body, with a fraction.
    const body = Buffer.from(answer?.body ?? []).toString('utf8')
    const inBodyMs = pauseMs(Number(/"retry_after"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)/.exec(body)?.[1]))
    return inBodyMs > 0 ? inBodyMs : (retryAfterMs ?? 0)
  }
  if (answer === undefined) return 0
  // https://discord.com/developers/docs/topics/rate-limits#header-format
  const headers = new Map(answer.headers)
  const isUsedUp = headers.get('x-ratelimit-remaining') === '0'
  return isUsedUp ? pauseMs(Number(headers.get('x-ratelimit-reset-after'))) : 0
}

interface AnsweredPost {
  readonly status: number
  readonly retryAfterMs: number | null
  readonly answer?: {
    readonly headers: readonly (readonly [name: string, value: string])[]
    readonly body: Uint8Array
  }
}

const pauseMs = (seconds: number): number =>
  seconds > 0 ? Math.min(1_000 * seconds, RETRY_AFTER_MAX_MS) : 0
