// A TCP proxy that delays all data by a constant time in each direction, like a network.

import { connect, createServer, type Socket } from 'node:net'

const HOST = '127.0.0.1'

interface DelayProxy {
  readonly port: number
  stop(): void
}

export function openDelayProxy(targetPort: number, delayMs: number): Promise<DelayProxy> {
  const sockets = new Set<Socket>()
  const options = { noDelay: true, allowHalfOpen: true }
  const server = createServer(options, (client) => {
    const venue = connect({ ...options, host: HOST, port: targetPort })
    for (const socket of [client, venue]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    forward(client, venue, delayMs)
    forward(venue, client, delayMs)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, HOST, () => {
      const address = server.address()
      if (address === null || typeof address === 'string') return reject(new Error('no port'))
      resolve({
        port: address.port,
        stop() {
          server.close()
          for (const socket of sockets) socket.destroy()
        },
      })
    })
  })
}

/** A receiver that does not read pauses the sender, which bounds the undelivered data. */
function forward(from: Socket, to: Socket, delayMs: number): void {
  const later = (act: () => void) =>
    setTimeout(() => {
      if (to.writable) act()
    }, delayMs)
  from.on('data', (chunk) =>
    later(() => {
      if (!to.write(chunk)) from.pause()
    }),
  )
  to.on('drain', () => from.resume())
  from.on('end', () => later(() => to.end()))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), delayMs))
}
