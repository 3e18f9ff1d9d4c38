// What the forms say of a refusal, in words for a person: beside the field that it is about, or beside the form.

import { ApiError } from '../../api.ts'
import { describeError, problemText, sentence } from '../states.ts'

/** What a form shows after it was refused. */
export interface Refusal {
  /** Beside the form; null: everything stands beside its field. */
  readonly form: string | null
  /** By the field's name. */
  readonly fields: ReadonlyMap<string, string>
  /** Until when there is no use in trying again; 0: at once. */
  readonly waitSeconds: number
}

export type Entry = 'log-in' | 'sign-up'

/** Of a log-in or a sign-up. */
export function entryRefusal(error: unknown, entry: Entry): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) return { ...NOTHING, form: 'The email or the password is wrong.' }
  if (error.status === 429) return waiting(error)
  if (error.status === 400 && entry === 'sign-up') {
    return { ...NOTHING, form: `${sentence(error.message)} Log in, or use another email.` }
  }
  return withLength(refusalOf(error, ['email', 'password']), error, 'password')
}

/** Of a form with the password that there is in the field `current`, and perhaps a new one in `next`. */
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

/** The same in words for a person, where it is about the length of a password. */
function withLength(refusal: Refusal, error: ApiError, name: string): Refusal {
  const message = error.fields.get(name)
  if (message === undefined) return refusal
  const text = /at most/.test(message)
    ? 'This password is too long: it may have 1024 bytes.'
    : 'This password is too short: it needs 8 characters or more.'
  return { ...refusal, fields: new Map([...refusal.fields, [name, text]]) }
}

/** Of any form with these fields: what is about none of them stands beside the form. */
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
