// Names of what an answer says, and whether a request knows it already. All are weak (RFC 9110, 8.8.1): one
// names the content, whatever coding it is sent in, and requests are compared weakly (13.1.2).

import { createHash, type Hash } from 'node:crypto'

/** 96 bits. */
const CHARACTERS = 16

/** The name of finished text. */
export function etagOf(text: string): string {
  return etagFrom(newHash().update(text))
}

/** A hash to be fed the body, and then to be named by `etagFrom`. */
export function newHash(): Hash {
  return createHash('sha1')
}

/** `W/"…"`. */
export function etagFrom(hash: Hash): string {
  return `W/"${hash.digest('base64url').slice(0, CHARACTERS)}"`
}

const OPAQUE = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** Whether an `If-None-Match` header names this; '' names nothing, `*` everything. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
  if (ifNoneMatch.trim() === '*') return true
  const wanted = etag.slice('W/'.length)
  for (const [, opaque] of ifNoneMatch.matchAll(OPAQUE)) if (opaque === wanted) return true
  return false
}
