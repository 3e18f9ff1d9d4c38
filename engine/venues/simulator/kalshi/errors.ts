// Error answers of venue b: `{"error":{"code","message"}}`, and the bare 429.

import { json, type RestAnswer } from '../rest.ts'

/** 400, with the accepted values. */
export function badRequest(message: string): RestAnswer {
  return json({ error: { code: 'bad_request', message } }, 400)
}

/** 404 of an unknown ticker or path. */
export function notFound(): RestAnswer {
  return json({ error: { code: 'not_found', message: 'not found' } }, 404)
}

export function methodNotAllowed(): RestAnswer {
  return json({ error: { code: 'method_not_allowed', message: 'method not allowed' } }, 405)
}

/** 429: the venue sends no Retry-After. */
export function tooManyRequests(): RestAnswer {
  return json({ error: 'too many requests' }, 429)
}
