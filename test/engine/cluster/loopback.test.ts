import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import {
  gatewayRequestMessage,
  gatewayResponseMessage,
} from '../../../engine/cluster/gateway-messages.ts'
import { Loopback } from '../../../engine/cluster/loopback.ts'

test('forwards a gateway’s request and the engine’s complete answer, and rejects invalid bytes', async (t) => {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
    const { method, url, headers } = request
    response.writeHead(201, { 'x-seen': String(headers['x-forwarded-for']), 'x-te': '1' })
    response.end(JSON.stringify({ method, url, key: headers['x-api-key'], body }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const loopback = new Loopback(address.port)
  t.after(() => loopback.close())
  const request = {
    method: 'POST',
    path: '/v1/webhooks?x=1',
    headers: { 'x-api-key': 'k', 'x-forwarded-for': '10.1.2.3', connection: 'close', host: 'tb' },
    body: Buffer.from('{"a":1}'),
  }
  const answer = gatewayResponseMessage.decode(
    await loopback.answer(gatewayRequestMessage.encode(request)),
  )
  assert.equal(answer?.status, 201)
  assert.equal(answer.headers['x-seen'], '10.1.2.3')
  assert.equal(answer.headers.connection, undefined, 'headers of one connection are not forwarded')
  assert.deepEqual(JSON.parse(Buffer.from(answer.body).toString()), {
    ...{ method: 'POST', url: '/v1/webhooks?x=1', key: 'k', body: '{"a":1}' },
  })
  await assert.rejects(loopback.answer(Uint8Array.of(1, 2, 3)), /not a request/)
  loopback.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await assert.rejects(new Loopback(address.port).answer(gatewayRequestMessage.encode(request)))
})
