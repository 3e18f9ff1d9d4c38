// Constant texts and parts of both documents (constants.json).

import { readFileSync } from 'node:fs'
import { bodyBytesMax } from '../../engine/limits.ts'
import type { RouteGroup } from '../request/route.ts'
import type { Delivery } from '../ws/channels/channel.ts'
import type { JsonObject } from './schemas-of.ts'

type Texts = Readonly<Record<string, string>>

interface Constants {
  /** Description of each route group. `{a}` stands for the name of the venue with that letter. */
  readonly groups: Readonly<Record<RouteGroup, string>>
  /** Operation ids of routes where the rule of names.ts gives an awkward name. */
  readonly operations: Texts
  readonly rest: {
    readonly description: string
    /** Parameter of routes whose responses have an ETag. */
    readonly ifNoneMatch: JsonObject
    readonly securitySchemes: JsonObject
    /** Headers of responses, as shared components. */
    readonly headers: JsonObject
  }
  readonly stream: {
    readonly description: string
    readonly deliveries: Readonly<Record<Delivery, string>>
    readonly server: JsonObject
    readonly query: JsonObject
    readonly securitySchemes: JsonObject
  }
  readonly webhooks: {
    readonly description: string
    readonly headers: Texts
    /** Meaning of a receiver's answer by status. */
    readonly answers: Texts
  }
  readonly examples: {
    /** Bodies other than JSON, by content type, or by operation where the type is not enough. */
    readonly texts: Texts
    /** Error bodies by status. */
    readonly refusals: JsonObject
  }
}

export const constants: Constants = JSON.parse(
  readFileSync(new URL('constants.json', import.meta.url), 'utf8').replaceAll(
    '{bodyBytesMax}',
    String(bodyBytesMax),
  ),
)
