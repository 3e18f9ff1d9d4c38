// User-facing messages for rejected forms, by field or for the whole form.

import { ApiError } from '../../api.ts'
import { describeError, problemText, sentence } from '../states.ts'

export interface Refusal {
  /** Message for the whole form; null: all messages belong to fields. */
  readonly form: string | null
  /** Messages by field name. */
  readonly fields: ReadonlyMap<string, string>
  /** Seconds until a retry is useful; 0: immediately. */
  readonly waitSeconds: number
}

export type Entry = 'log-in' | 'sign-up'

/** Messages of a rejected login or signup. */
export function entryRefusal(error: unknown, entry: Entry): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) return { ...NOTHING, form: 'The email or the password is wrong.' }
  if (error.status === 429) return waiting(error)
  if (error.status === 400 && entry === 'sign-up') {
    return { ...NOTHING, form: `${sentence(error.message)} Log in, or use another email.` }
  }
  return withLength(refusalOf(error, ['email', 'password']), error, 'password')
}

/** Messages of a form with the current password in field `current` and possibly a new one in `next`. */
export function passwordRefusal(error: unknown, current: string, next: string): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) {
    return { ...NOTHING, fields: new Map([[current, 'The password is wrong.']]) }
  }
  if (error.status === 429) return waiting(error)
  return withLength(refusalOf(error, [current, next]), error, next)
}

function waiting(error: ApiError): Refusal {
  const waitSeconds = error.retryAfterSeconds ?? 1
  return { ...NOTHING, form: `${sentence(error.message)} Wait ${waitSeconds} s.`, waitSeconds }
}

/** Replaces a message about the password's length. */
function withLength(refusal: Refusal, error: ApiError, name: string): Refusal {
  const message = error.fields.get(name)
  if (message === undefined) return refusal
  const text = /at most/.test(message)
    ? 'This password is too long: it may have 1024 bytes.'
    : 'This password is too short: it needs 8 characters or more.'
  return { ...refusal, fields: new Map([...refusal.fields, [name, text]]) }
}

/** Messages of a form with these fields. Errors of other fields are shown for the whole form. */
export function refusalOf(error: unknown, names: readonly string[]): Refusal {
  if (!(error instanceof ApiError) || error.fields.size === 0) {
    const { title, detail } = describeError(error)
    return { ...NOTHING, form: `${title} ${sentence(detail)}` }
  }
  const ofFields = [...error.fields].filter(([name]) => names.includes(name))
  const others = [...error.fields].filter(([name]) => !names.includes(name))
  return {
    ...NOTHING,
    form: others.length === 0 ? null : others.map(([, message]) => problemText(message)).join(' '),
    fields: new Map(ofFields.map(([name, message]) => [name, problemText(message)])),
  }
}

const NOTHING: Refusal = { form: null, fields: new Map(), waitSeconds: 0 }
