// Mounts only the wrapper of all HTTP handlers on a free loopback port.

import { openBareApp } from '../../../bench/bare-app.ts'
import type { RequestHandler } from '../../../http/request/handle.ts'

export async function openAppWithErrorHandler({
  handle,
}: RequestHandler): Promise<{ readonly port: number; readonly close: () => void }> {
  const { app, listen } = await openBareApp()
  app.any('/*', handle)
  return { port: await listen(), close: () => app.close() }
}
