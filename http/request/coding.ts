// Compresses answers as `Accept-Encoding` allows (RFC 9110, 12.5.3): files with brotli or gzip, long JSON with gzip.
// Account data is never compressed: its compressed length could reveal secrets next to text that an attacker chose (the
// BREACH attack).

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Clock } from '../../engine/clock.ts'
import { codedJsonBytesMin, codingsMax } from '../../engine/limits.ts'
import { type Answer, JSON_TYPE } from './reply.ts'

export type Coding = 'br' | 'gzip' | 'identity'

const FILE_CODINGS: readonly Coding[] = ['br', 'gzip']
const JSON_CODINGS: readonly Coding[] = ['gzip']
/** Compression does not reduce shorter files. */
const FILE_BYTES_MIN = 1_024
/** Maximum wait for a file's compression. After a longer wait, the file is sent uncompressed. */
const CODING_WAIT_MS = 1_000

const gzipped = promisify(gzip)
const brotlied = promisify(brotliCompress)

/**
 * Returns the acceptable coding with the highest weight. `offered` has the most preferred first. A coding without a
 * weight has weight 1. An unnamed coding has the weight of `*`, or 0.
 */
export function preferred(acceptEncoding: string, offered: readonly Coding[]): Coding {
  if (acceptEncoding === '') return 'identity'
  const weights = weightsOf(acceptEncoding)
  const any = weights.get('*')
  let best: Coding = 'identity'
  // If the header does not name `identity`, it ranks after every acceptable coding.
  let most = weights.get('identity') ?? any ?? 0
  for (const coding of offered) {
    const weight = weights.get(coding) ?? any ?? 0
    if (weight === 0 || weight < most || (weight === most && best !== 'identity')) continue
    best = coding
    most = weight
  }
  return best
}

const MEMBER = /^([!#$%&'*+.^`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/** Ignores invalid members. The last member of a coding counts. */
function weightsOf(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const member of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) continue
    const coding = name.toLowerCase()
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, Number(weight))
  }
  return weights
}

export class Codings {
  /** Compressed forms by the bytes of the file. A promise while compression runs. */
  readonly #files = new WeakMap<Uint8Array, Map<Coding, Uint8Array | Promise<Uint8Array>>>()
  readonly #clock: Clock
  readonly #runningMax: number
  #runningCount = 0

  constructor(clock: Clock, runningMax = codingsMax) {
    this.#clock = clock
    this.#runningMax = runningMax
  }

  /** Call it only if `isCodable` is true for the answer. */
  coded(answer: Answer, acceptEncoding: string): Answer | Promise<Answer> {
    const { body, isFile = false } = answer
    if (body === null) return answer
    const coding = preferred(acceptEncoding, isFile ? FILE_CODINGS : JSON_CODINGS)
    if (coding === 'identity') return answer
    return isFile && typeof body !== 'string'
      ? this.#codedFile(answer, body, coding)
      : this.#codedJson(answer, body)
  }

  #codedFile(answer: Answer, bytes: Uint8Array, coding: Coding): Answer | Promise<Answer> {
    const byCoding = this.#files.get(bytes) ?? new Map<Coding, Uint8Array | Promise<Uint8Array>>()
    this.#files.set(bytes, byCoding)
    let body = byCoding.get(coding)
    if (body === undefined) {
      const coded: Promise<Uint8Array> = coding === 'br' ? brotli(bytes) : gzipped(bytes)
      body = coded.then((done) => {
        byCoding.set(coding, done)
        return done
      })
      byCoding.set(coding, body)
    }
    if (!(body instanceof Promise)) return { ...answer, body, coding }
    const coded = body.then((done) => ({ ...answer, body: done, coding }))
    return new Promise((resolve, reject) => {
      const stop = this.#clock.after(CODING_WAIT_MS, () => resolve(answer))
      coded.finally(stop).then(resolve, reject)
    })
  }

  #codedJson(answer: Answer, body: string | Uint8Array): Answer | Promise<Answer> {
    if (this.#runningCount >= this.#runningMax) return answer
    this.#runningCount += 1
    return this.#zip(answer, body)
  }

  async #zip(answer: Answer, body: string | Uint8Array): Promise<Answer> {
    try {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      // Each chunk costs a round trip to the zlib thread. One chunk is usually enough.
      const chunkSize = Math.max(16_384, Math.ceil(bytes.length / 4))
      const coded = await gzipped(bytes, { level: 4, chunkSize })
      return { ...answer, body: coded, coding: 'gzip' }
    } finally {
      this.#runningCount -= 1
    }
  }
}

export function isCodable({ status, body, contentType, isFile = false }: Answer): boolean {
  if (status !== 200 || body === null) return false
  if (isFile) return body.length >= FILE_BYTES_MIN
  return body.length > codedJsonBytesMin && contentType === JSON_TYPE
}

/** Quality 9 is fast for the largest file. Quality 10 takes eight times as long and saves 3 %. */
function brotli(bytes: Uint8Array): Promise<Uint8Array> {
  return brotlied(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}
