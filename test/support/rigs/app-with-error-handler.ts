// Only the wrapper of every HTTP handler, on a free loopback port, without routes, stream and engine (see
// api-server.ts).

import { openBareApp } from '../../../bench/bare-app.ts'
import type { RequestHandler } from '../../../http/request/handle.ts'

export async function openAppWithErrorHandler({
  handle,
}: RequestHandler): Promise<{ readonly port: number; readonly close: () => void }> {
  const { app, listen } = await openBareApp()
  app.any('/*', handle)
  return { port: await listen(), close: () => app.close() }
}
