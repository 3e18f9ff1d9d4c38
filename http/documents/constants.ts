import { readFileSync } from 'node:fs'
import { bodyBytesMax } from '../../engine/limits.ts'
import type { RouteGroup } from '../request/route.ts'
import type { Delivery } from '../ws/channels/channel.ts'
import type { JsonObject } from './schemas-of.ts'

type Texts = Readonly<Record<string, string>>

interface Constants {
  /** Descriptions of route groups. `{a}` is replaced by the configured name of venue a. */
  readonly groups: Readonly<Record<RouteGroup, string>>
  /** Operation ids of routes for which names.ts would build an awkward id. */
  readonly operations: Texts
  readonly rest: {
    readonly description: string
    /** Header parameter of routes whose responses have an ETag. */
    readonly ifNoneMatch: JsonObject
    readonly securitySchemes: JsonObject
    readonly headers: JsonObject
  }
  readonly stream: {
    readonly description: string
    readonly deliveries: Readonly<Record<Delivery, string>>
    readonly server: JsonObject
    readonly queryParameters: JsonObject
    readonly securitySchemes: JsonObject
  }
  readonly webhooks: {
    readonly description: string
    readonly headers: Texts
    /** Meaning of the receiver's response by status. */
    readonly answers: Texts
  }
  readonly examples: {
    readonly texts: Texts
    readonly refusals: JsonObject
  }
}

export const constants: Constants = JSON.parse(
  readFileSync(new URL('constants.json', import.meta.url), 'utf8').replaceAll(
    '{bodyBytesMax}',
    String(bodyBytesMax),
  ),
)
