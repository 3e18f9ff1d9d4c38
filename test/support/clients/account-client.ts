// Changes accounts, keys and webhooks at random gateways during failures. In the end every gateway must have all
// acknowledged changes. Unanswered requests are not checked.

import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../engine/random.ts'
import { read } from '../rigs/full-service.ts'

interface AccountRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}
interface Key {
  readonly token: string
  readonly id: string
  readonly key: string
  state: 'made' | 'asked' | 'revoked'
}

const ANSWER_MS_MAX = 8_000
const PAUSE_MS = 300

export class AccountClient {
  readonly #urls: readonly string[]
  readonly #random: Random
  readonly #tokens: string[] = []
  readonly #keys: Key[] = []
  readonly #webhooks: { readonly key: Key; readonly id: string }[] = []
  readonly #refused = new Map<string, number>()
  #tries = 0
  #isOver = false
  #work: Promise<void> = Promise.resolve()

  constructor(urls: readonly string[], random: Random) {
    this.#urls = urls
    this.#random = random
  }

  start(): void {
    this.#work = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  get acknowledged() {
    const revoked = this.#keys.filter(({ state }) => state === 'revoked').length
    const [accounts, keys] = [this.#tokens.length, this.#keys.length]
    const webhooks = this.#webhooks.length
    const refused = Object.fromEntries(this.#refused)
    return { tries: this.#tries, accounts, keys, revoked, webhooks, refused }
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#step()
      await pause(PAUSE_MS)
    }
  }

  /** Returns null unless the response has the expected status. */
  async #ask(path: string, { method = 'POST', headers = {}, body }: AccountRequest) {
    this.#tries += 1
    try {
      const response = await fetch(this.#random.pick(this.#urls) + path, {
        method,
        headers: {
          // Each account uses its own address.
          ...{ 'x-forwarded-for': `10.1.0.${this.#tries % 250}`, ...headers },
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      })
      const text = await response.text()
      return response.ok ? text : this.#refuse(`${path.slice(0, 12)} ${response.status}`)
    } catch (error) {
      return this.#refuse(error instanceof Error ? error.name : String(error))
    }
  }

  #refuse(why: string): null {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
    return null
  }

  async #step(): Promise<void> {
    const roll = this.#random.next()
    const token = this.#tokens.at(-1)
    if (token === undefined || roll < 0.2) {
      const body = { email: `clerk${this.#tries}@example.com`, password: 'correct horse' }
      const made = await this.#ask('/v1/auth/signup', { body })
      if (made !== null) this.#tokens.push(JSON.parse(made).access_token)
      return
    }
    const key = this.#keys.at(-1)
    if (key?.state !== 'made' || roll < 0.5) {
      const headers = { authorization: `Bearer ${token}` }
      const body = { label: `key ${this.#tries}`, scopes: ['read', 'webhooks'] }
      const made = await this.#ask('/v1/keys', { headers, body })
      if (made === null) return
      const { id, key: text } = JSON.parse(made)
      this.#keys.push({ token, id, key: text, state: 'made' })
      return
    }
    if (roll < 0.75) {
      const body = { url: 'http://127.0.0.1:4100/', event_types: ['whale.alert'] }
      const made = await this.#ask('/v1/webhooks', { headers: { 'x-api-key': key.key }, body })
      if (made !== null) this.#webhooks.push({ key, id: JSON.parse(made).id })
      return
    }
    key.state = 'asked'
    const headers = { authorization: `Bearer ${key.token}` }
    const ended = await this.#ask(`/v1/keys/${key.id}`, { method: 'DELETE', headers })
    if (ended !== null) key.state = 'revoked'
  }

  /** Returns the acknowledged changes that are missing. */
  async lost(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const url of this.#urls) {
      for (const key of this.#keys) {
        const wanted = { made: 404, revoked: 401, asked: null }[key.state]
        const status = await this.#statusOf(`${url}/v1/markets/venue_a_none/price`, key.key)
        if (wanted !== null && status !== wanted) lost.push(`key ${key.id} ${key.state}: ${status}`)
      }
    }
    const [url = ''] = this.#urls
    for (const token of this.#tokens) {
      const response = await fetch(`${url}/v1/auth/me`, {
        headers: { authorization: `Bearer ${token}` },
      })
      await response.arrayBuffer()
      if (response.status !== 200) lost.push(`account: ${response.status}`)
    }
    for (const { key, id } of this.#webhooks) {
      if (key.state !== 'made') continue
      const { webhooks } = await read<{ webhooks: { id: string }[] }>(`${url}/v1/webhooks`, key.key)
      if (!webhooks.some((webhook) => webhook.id === id)) lost.push(`webhook ${id}`)
    }
    return lost
  }

  /** Retries while the server is overloaded. */
  async #statusOf(url: string, key: string): Promise<number> {
    for (;;) {
      const response = await fetch(url, { headers: { 'x-api-key': key } })
      await response.arrayBuffer()
      if (response.status !== 429 && response.status !== 503) return response.status
      await pause(PAUSE_MS)
    }
  }
}
