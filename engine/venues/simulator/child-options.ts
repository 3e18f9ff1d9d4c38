// Messages between the simulator's process and its parent, as JSON. The parent sends options, and the child sends
// addresses.

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CHANGE_NAMES, FAULT_NAMES } from '../../fault-names.ts'
import type { SimChange, SimFault } from './model.ts'

const Text = Type.String({ minLength: 1 })

const childOptions = Type.Object({
  seed: Type.Integer({ minimum: 0 }),
  marketsPerVenue: Type.Integer({ minimum: 1 }),
  v2Share: Type.Number({ minimum: 0, maximum: 1 }),
  messagesPerSecond: Type.Number({ exclusiveMinimum: 0 }),
  gapsPerMinute: Type.Integer({ minimum: 0 }),
  faults: Type.Array(Type.String()),
  activityEndsS: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  host: Text,
  logLevel: Text,
  worldFolder: Type.Union([Text, Type.Null()]),
})

const readyMessage = Type.Object({
  kind: Type.Literal('ready'),
  urls: Type.Object({
    gamma: Text,
    clob: Text,
    data: Text,
    marketWs: Text,
    rtdsWs: Text,
    kalshiRest: Text,
    kalshiWs: Text,
  }),
  kalshiKeyId: Type.Literal('sim'),
  kalshiPrivateKeyPem: Type.String(),
})

export type ReadyMessage = Static<typeof readyMessage>
export type ChildOptions = Static<typeof childOptions>

/** Throws if the argument is invalid, which is a bug of the parent. */
export function parseChildOptions(text: string | undefined) {
  const options: unknown = JSON.parse(text ?? 'null')
  if (!Value.Check(childOptions, options)) {
    throw new Error(`the simulator's options are not valid: ${text}`)
  }
  return { ...options, faults: parseFaults(options.faults) }
}

/** Null: the message is of another kind. */
export function parseReady(message: unknown): ReadyMessage | null {
  return Value.Check(readyMessage, message) ? message : null
}

/** Throws on an unknown name. */
export function parseFaults(names: readonly string[]): (SimFault | SimChange)[] {
  const accepted = [...FAULT_NAMES, ...CHANGE_NAMES]
  return names.map((name) => {
    const fault = accepted.find((candidate) => candidate === name)
    if (fault === undefined) throw new Error(`"${name}" is none of ${accepted.join(', ')}`)
    return fault
  })
}
