// uWebSockets.js apps without further code, on a free loopback port. Benches compare the service with them.

import type { TemplatedApp } from 'uWebSockets.js'

const SOCKET = { idleTimeout: 60, maxBackpressure: 16_777_216, sendPingsAutomatically: true }

interface BareApp {
  readonly app: TemplatedApp
  listen(): Promise<number>
}

export async function openBareApp(): Promise<BareApp> {
  const uws = await import('uWebSockets.js')
  const app = uws.App()
  const listen = () =>
    new Promise<number>((resolve, reject) => {
      app.listen('127.0.0.1', 0, (socket) => {
        if (socket === false) reject(new Error('cannot listen'))
        else resolve(uws.us_socket_local_port(socket))
      })
    })
  return { app, listen }
}

/** Sends each message that is published to `all` to all WebSockets of the app. */
export async function openBroadcast(): Promise<BareApp> {
  const bare = await openBareApp()
  bare.app.ws('/*', { ...SOCKET, open: (ws) => void ws.subscribe('all') })
  return bare
}
