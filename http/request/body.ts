// Collects a request's body. uWebSockets.js has no limit of its own and neuters each chunk when the
// callback returns, so every chunk is copied and the sum is bounded here.

import type { HttpResponse } from 'uWebSockets.js'
import { bodyBytesMax } from '../../engine/limits.ts'

/**
 * Resolves to the whole body, or 'tooLarge' as soon as it is beyond `bodyBytesMax`; the rest is
 * dropped. Never resolves when the peer goes away. Must be called before anything is awaited.
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
