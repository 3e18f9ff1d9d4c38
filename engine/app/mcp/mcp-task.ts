import type { McpAnswer, McpRequest } from '../../../http/routes/mcp.ts'

/** `url`: origin of the service that the thread calls. */
export interface McpTask extends McpRequest {
  readonly url: string
}
export type McpResult = McpAnswer
