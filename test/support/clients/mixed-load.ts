// Random concurrent user requests until the service is killed. Records acknowledged, unanswered and served data.

import { randomBytes } from 'node:crypto'
import type { Random } from '../../../engine/random.ts'
import { newSecret } from '../fakes/event-receivers.ts'
import { allMarketIds, beforeAgain, type ServiceLocations } from '../rigs/full-service.ts'
import { ask, bearerHeader, keyHeader, type RestAnswer } from './rest-caller.ts'

/** Requests until a kill. A free account may send 60 a minute, and the later checks need the remaining requests. */
const REQUESTS_A_LIFE = 36
/** Sign-ups until a kill. An address may send 20 a minute, and the later checks need the remaining attempts. */
const SIGN_UPS_A_LIFE = 6
const HOOKS_MAX = 8
const KEYS_MAX = 8

/** null: the deletion was requested but not answered. */
type Presence = boolean | null

export interface KeyEntry {
  readonly id: string
  readonly key: string
  isPresent: Presence
  isTouched: boolean
}

interface HookFields {
  readonly description: string | null
  readonly active: boolean
}

export interface HookEntry {
  readonly id: string
  isPresent: Presence
  isTouched: boolean
  /** Several values are possible after a change without an answer. */
  publicFields: readonly HookFields[]
  /** Several secrets are possible after a change without an answer. */
  secrets: readonly string[]
}

export interface Person {
  readonly email: string
  readonly password: string
  readonly token: string
  readonly keys: KeyEntry[]
  readonly hooks: HookEntry[]
  isNew: boolean
  requests: number
}

/** Omits the maker, which is known later and may be lost in a crash. */
export const tradeFacts = (row: object) => JSON.stringify({ ...row, maker: null })

/** False for no answer and for 503, because the service may have executed the request. */
const isKnown = (answer: RestAnswer | null): answer is RestAnswer =>
  answer !== null && answer.status !== 503

export class MixedLoad {
  readonly people: Person[] = []
  /** Served trades, by market and id. */
  readonly trades = new Map<string, string>()
  readonly problems: string[] = []
  acknowledged = 0
  unanswered = 0
  readonly #random: Random
  readonly #hookUrl: string
  #signUps = 0

  constructor(random: Random, hookUrl: string) {
    this.#random = random
    this.#hookUrl = hookUrl
  }

  /** Sends requests until the service stops responding. The quotas restart with each run. */
  async run(locations: ServiceLocations): Promise<void> {
    const markets = await allMarketIds(locations)
    this.#signUps = 0
    for (const person of this.people) person.requests = 0
    const workers = Array.from({ length: 4 }, (_, worker) =>
      this.#runWorker(locations, markets, worker),
    )
    await Promise.all(workers)
  }

  /** Without a time limit, because the test runner ends a hanging test. */
  async hasAcknowledged(count: number): Promise<void> {
    while (this.acknowledged < count) await beforeAgain()
  }

  /** Each user belongs to one worker, so no two requests of a user are concurrent. */
  async #runWorker(
    locations: ServiceLocations,
    markets: readonly string[],
    worker: number,
  ): Promise<void> {
    for (let isAlive = true; isAlive; ) {
      const able = this.people.filter(
        ({ requests }, index) => index % 4 === worker && requests < REQUESTS_A_LIFE,
      )
      const isSigningUp = this.people.length % 4 === worker && this.#signUps < SIGN_UPS_A_LIFE
      if (isSigningUp && (able.length === 0 || this.#random.next() < 0.05)) {
        isAlive = await this.#signUp(locations)
      } else if (able.length === 0 || this.#random.next() < 0.3) {
        isAlive = await this.#read(locations, this.#random.pick(markets))
      } else {
        isAlive = await this.#change(locations, this.#random.pick(able))
      }
    }
  }

  async #signUp({ api }: ServiceLocations): Promise<boolean> {
    this.#signUps += 1
    const email = `user-${randomBytes(6).toString('hex')}@example.com`
    const password = randomBytes(12).toString('hex')
    const answer = await ask(api, 'POST', '/v1/auth/signup', { body: { email, password } })
    if (!this.#isDone(answer, 201, 'sign-up')) return answer !== null
    const token = String(answer.body.access_token)
    this.people.push({ email, password, token, keys: [], hooks: [], isNew: true, requests: 0 })
    return true
  }

  async #read({ api, key }: ServiceLocations, market: string): Promise<boolean> {
    const path = `/v1/markets/${encodeURIComponent(market)}`
    const credential = keyHeader(key)
    const other = this.#random.pick(['trades', 'trades', 'orderbook', 'candles?interval=1m', ''])
    if (other !== 'trades') {
      const answer = await ask(api, 'GET', other === '' ? path : `${path}/${other}`, { credential })
      if (isKnown(answer) && answer.status >= 500) this.#note('a read', answer)
      return answer !== null
    }
    const answer = await ask(api, 'GET', `${path}/trades?limit=50`, { credential })
    if (answer?.status !== 200) return answer !== null
    const rows: unknown = answer.body.trades
    for (const row of Array.isArray(rows) ? rows : []) {
      this.trades.set(`${market} ${row.native_trade_id}`, tradeFacts(row))
    }
    return true
  }

  #change(locations: ServiceLocations, person: Person): Promise<boolean> {
    person.requests += 1
    const keys = person.keys.filter(({ isPresent }) => isPresent === true)
    const hooks = person.hooks.filter(({ isPresent }) => isPresent === true)
    const roll = this.#random.next()
    if (keys.length < 2 || (roll < 0.2 && keys.length < KEYS_MAX)) {
      return this.#createKey(locations, person)
    }
    if (roll < 0.4) return this.#revokeKey(locations, person, this.#random.pick(keys))
    if (hooks.length < 2 || (roll < 0.55 && hooks.length < HOOKS_MAX)) {
      return this.#createHook(locations, person)
    }
    const hook = this.#random.pick(hooks)
    if (roll < 0.7) return this.#deleteHook(locations, person, hook)
    if (roll < 0.85) return this.#rotate(locations, person, hook)
    return this.#patchHook(locations, person, hook)
  }

  async #createKey({ api }: ServiceLocations, { token, keys }: Person): Promise<boolean> {
    const options = { credential: bearerHeader(token), body: { label: 'loaded' } }
    const answer = await ask(api, 'POST', '/v1/keys', options)
    if (this.#isDone(answer, 201, 'a key')) {
      const { id, key } = answer.body
      keys.push({ id: String(id), key: String(key), isPresent: true, isTouched: true })
    }
    return answer !== null
  }

  async #revokeKey(
    { api }: ServiceLocations,
    { token }: Person,
    entry: KeyEntry,
  ): Promise<boolean> {
    entry.isTouched = true
    entry.isPresent = null
    const credential = bearerHeader(token)
    const answer = await ask(api, 'DELETE', `/v1/keys/${entry.id}`, { credential })
    if (isKnown(answer)) entry.isPresent = !this.#isDone(answer, 204, 'a revocation')
    return answer !== null
  }

  async #createHook({ api }: ServiceLocations, { token, hooks }: Person): Promise<boolean> {
    const secret = newSecret()
    const description = randomBytes(4).toString('hex')
    const body = { url: this.#hookUrl, event_types: ['market.resolved'], secret, description }
    const answer = await ask(api, 'POST', '/v1/webhooks', { credential: bearerHeader(token), body })
    if (this.#isDone(answer, 201, 'a webhook')) {
      const publicFields = [{ description, active: true }]
      const id = String(answer.body.id)
      hooks.push({ id, isPresent: true, isTouched: true, publicFields, secrets: [secret] })
    }
    return answer !== null
  }

  async #deleteHook(
    { api }: ServiceLocations,
    { token }: Person,
    entry: HookEntry,
  ): Promise<boolean> {
    entry.isTouched = true
    entry.isPresent = null
    const credential = bearerHeader(token)
    const answer = await ask(api, 'DELETE', `/v1/webhooks/${entry.id}`, { credential })
    if (isKnown(answer)) entry.isPresent = !this.#isDone(answer, 204, 'a deletion')
    return answer !== null
  }

  async #patchHook(
    { api }: ServiceLocations,
    { token }: Person,
    entry: HookEntry,
  ): Promise<boolean> {
    entry.isTouched = true
    const before = entry.publicFields
    const description = this.#random.next() < 0.2 ? null : randomBytes(4).toString('hex')
    const fields = { description, active: this.#random.next() < 0.7 }
    entry.publicFields = [...before, fields]
    const options = { credential: bearerHeader(token), body: fields }
    const answer = await ask(api, 'PATCH', `/v1/webhooks/${entry.id}`, options)
    if (isKnown(answer))
      entry.publicFields = this.#isDone(answer, 200, 'a change') ? [fields] : before
    return answer !== null
  }

  async #rotate({ api }: ServiceLocations, { token }: Person, entry: HookEntry): Promise<boolean> {
    entry.isTouched = true
    const before = entry.secrets
    const secret = newSecret()
    entry.secrets = [...before, secret]
    const options = { credential: bearerHeader(token), body: { secret } }
    const answer = await ask(api, 'POST', `/v1/webhooks/${entry.id}/rotate-secret`, options)
    if (isKnown(answer)) entry.secrets = this.#isDone(answer, 200, 'a rotation') ? [secret] : before
    return answer !== null
  }

  #isDone(answer: RestAnswer | null, status: number, what: string): answer is RestAnswer {
    if (!isKnown(answer)) this.unanswered += 1
    else if (answer.status === status) this.acknowledged += 1
    // Only quotas may reject this request.
    else if (answer.status !== 429) this.#note(what, answer)
    return answer?.status === status
  }

  #note(what: string, { status, body }: RestAnswer): void {
    this.problems.push(`${what}: ${status} ${JSON.stringify(body)}`.slice(0, 300))
  }
}
