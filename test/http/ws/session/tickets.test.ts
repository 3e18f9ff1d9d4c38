import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Caller } from '../../../../actors/views.ts'
import { ticketSeconds, ticketsMax, ticketsPerAccountMax } from '../../../../engine/limits.ts'
import { Tickets } from '../../../../http/ws/session/tickets.ts'
import { StreamClient } from '../../../support/clients/stream-client.ts'
import { FakeAccounts } from '../../../support/fakes/accounts.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { openQuickAccounts } from '../../../support/fakes/quick-accounts.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'

const { accounts, clock } = openQuickAccounts()
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock, accounts })
})
after(() => server.stop())

async function ticketOf(headers: Record<string, string>): Promise<string> {
  const {
    status,
    body,
    text,
    headers: answerHeaders,
  } = await server.get('/v1/ws/ticket', { method: 'POST', headers })
  assert.equal(status, 201, text)
  assert.equal(answerHeaders.get('cache-control'), 'no-store')
  assert.equal(body.expires_in, ticketSeconds)
  return String(body.ticket)
}

describe('stream tickets', () => {
  test('opens one stream per ticket, within a minute and while the key or token that requested the ticket is valid', async () => {
    const made = await accounts.signUp({
      email: 't@example.com',
      password: 'correct horse',
      address: 'x',
    })
    const { caller, accessToken } = made
    const { key, view } = await accounts.createKey(caller.accountId, 'one')
    const cookie = { 'x-dashboard': '1', cookie: `twinbook${server.port}=${accessToken}` }
    const bearer = { authorization: `Bearer ${accessToken}` }
    const open = (ticket: string) => StreamClient.open(server.port, `ticket=${ticket}`)
    for (const headers of [{ 'x-api-key': key }, bearer, cookie]) {
      const ticket = await ticketOf(headers)
      const client = await open(ticket)
      await client.close()
      await assert.rejects(open(ticket), 'a second time')
    }
    const late = await ticketOf(cookie)
    clock.advance(ticketSeconds * 1_000)
    await assert.rejects(open(late), 'after its minute')
    const [ofKey, ofToken] = [await ticketOf({ 'x-api-key': key }), await ticketOf(bearer)]
    await accounts.revokeKey(caller.accountId, view.id)
    await accounts.logOut(caller)
    await assert.rejects(open(ofKey), 'its key is revoked')
    await assert.rejects(open(ofToken), 'its token is logged out')
    await assert.rejects(open('nope'))
    const wrong = await StreamClient.open(
      server.port,
      `ticket=nope&access_token=${accessToken}`,
    ).catch(() => null)
    assert.equal(wrong, null)
  })

  test('counts a ticket request against the rate limit of the caller', async () => {
    const made = await accounts.signUp({
      email: 'u@example.com',
      password: 'correct horse',
      address: 'x',
    })
    const { caller, accessToken } = made
    const left = () => accounts.takeAccountRequest(caller.accountId).remaining
    const before = left()
    const ticket = await ticketOf({ authorization: `Bearer ${accessToken}` })
    assert.equal(left(), before - 2)
    const client = await StreamClient.open(server.port, `ticket=${ticket}`)
    await client.close()
    await ticketOf({ 'x-dashboard': '1', cookie: `twinbook${server.port}=${accessToken}` })
    assert.equal(left(), before - 3, 'the ticket opens neither the stream nor the dashboard')
  })

  test('limits tickets per account and in total, and evicts the oldest tickets of the account at its limit', () => {
    const clock = new ManualClock()
    const fakes = new FakeAccounts(clock)
    const callerOf = (name: string): Caller => {
      fakes.make(name)
      const caller = fakes.callerOfToken(`${name}-token`)
      assert.ok(caller !== null)
      return caller
    }
    const tickets = new Tickets(clock)
    const [ann, bob] = [callerOf('ann'), callerOf('bob')]
    const isGood = (ticket: string) => tickets.take(ticket, fakes) !== null
    const his = tickets.issue(bob)
    const hers = Array.from({ length: ticketsPerAccountMax + 2 }, () => tickets.issue(ann))
    assert.deepEqual(
      hers.map(isGood),
      hers.map((_, index) => index > 1),
    )
    assert.equal(isGood(his), true)
    const first = tickets.issue(bob)
    const second = tickets.issue(bob)
    const crowd = Math.ceil(ticketsMax / ticketsPerAccountMax)
    let left = ticketsMax - 1
    for (let account = 0; account < crowd; account += 1) {
      const caller = callerOf(`c${account}`)
      for (let count = 0; count < ticketsPerAccountMax && left > 0; count += 1) {
        tickets.issue(caller)
        left -= 1
      }
    }
    assert.deepEqual([isGood(first), isGood(second)], [false, true])
  })
})
