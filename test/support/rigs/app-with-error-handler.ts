// The wrapper of every HTTP handler alone on a free port of loopback: without the routes, the stream and the engine of a
// face (api-server.ts).

import { openBareApp } from '../../../bench/bare-app.ts'
import type { RequestHandler } from '../../../http/request/handle.ts'

export async function openAppWithErrorHandler({
  handle,
}: RequestHandler): Promise<{ readonly port: number; readonly close: () => void }> {
  const { app, listen } = await openBareApp()
  app.any('/*', handle)
  return { port: await listen(), close: () => app.close() }
}
