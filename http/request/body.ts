// Collects a request's body. uWebSockets.js has no limit of its own and detaches each chunk when the callback returns,
// so every chunk is copied and the total is bounded here.

import type { HttpResponse } from 'uWebSockets.js'
import { bodyBytesMax } from '../../engine/limits.ts'

/**
 * Resolves to the complete body, or to 'tooLarge' as soon as it exceeds `bodyBytesMax`; the rest is dropped. Never
 * resolves if the peer disconnects. Call it before the first await.
 */
export function collectBody(res: HttpResponse): Promise<Uint8Array | 'tooLarge'> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = []
    let bytes = 0
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength
      if (bytes > bodyBytesMax) {
        chunks = []
        resolve('tooLarge')
        return
      }
      chunks.push(Buffer.from(new Uint8Array(chunk)))
      if (isLast) resolve(Buffer.concat(chunks))
    })
  })
}
