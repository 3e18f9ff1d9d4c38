import { EngineError } from '../errors.ts'

const NEWLINE = 10

/**
 * Yields the lines of a byte stream without newlines. Ignores text after the last newline. Throws EngineError
 * BODY_TOO_LARGE if a line has more than `bytesMax` bytes. Throws errors of the stream. Does not close the stream.
 */
export async function* readLines(
  source: { iterator(options: { destroyOnReturn: boolean }): AsyncIterableIterator<unknown> },
  bytesMax: number,
): AsyncIterableIterator<string> {
  let parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('the stream was given an encoding')
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      assertFits(bytes + end - from, bytesMax)
      parts.push(chunk.subarray(from, end))
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      bytes = 0
      from = end + 1
    }
    bytes += chunk.length - from
    assertFits(bytes, bytesMax)
    parts.push(chunk.subarray(from))
  }
}

function assertFits(bytes: number, bytesMax: number): void {
  if (bytes < bytesMax) return
  throw new EngineError('BODY_TOO_LARGE', `a line has at most ${bytesMax} bytes`)
}
