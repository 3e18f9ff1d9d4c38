// ETags of answers and their comparison with `If-None-Match`. All are weak (RFC 9110, 8.8.1): an ETag identifies the
// content in any coding, and comparison is weak (13.1.2).

import { createHash, type Hash } from 'node:crypto'

/** 96 bits in base64url. */
const CHARACTERS = 16

/** `W/"…"`. */
export function etagOf(content: string | Uint8Array): string {
  return etagFrom(newHash().update(content))
}

/** A hash to update with the body and to pass to `etagFrom`. */
export function newHash(): Hash {
  return createHash('sha1')
}

export function etagFrom(hash: Hash): string {
  return `W/"${hash.digest('base64url').slice(0, CHARACTERS)}"`
}

const OPAQUE = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** Whether an `If-None-Match` header matches the ETag. '' matches nothing, `*` matches everything. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false
  if (ifNoneMatch.trim() === '*') return true
  const wanted = etag.slice('W/'.length)
  for (const [, opaque] of ifNoneMatch.matchAll(OPAQUE)) if (opaque === wanted) return true
  return false
}
