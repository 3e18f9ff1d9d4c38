// Requests to a service that may be killed at any time.

import { beforeAgain } from '../rigs/full-service.ts'

export type Credential = Readonly<Record<string, string>>

export const keyHeader = (key: string): Credential => ({ 'x-api-key': key })
export const bearerHeader = (token: string): Credential => ({ authorization: `Bearer ${token}` })

/** `body` is an empty object if the response has none. */
export interface RestAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Returns null if the connection failed or the response was incomplete. */
export async function ask(
  api: string,
  method: string,
  path: string,
  { credential = {}, body }: { readonly credential?: Credential; readonly body?: unknown } = {},
): Promise<RestAnswer | null> {
  try {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { ...credential },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  } catch {
    return null
  }
}

/** Retries while the service is overloaded. */
export async function requestWithRetry(
  ...request: Parameters<typeof ask>
): Promise<RestAnswer | null> {
  for (;;) {
    const answer = await ask(...request)
    if (answer?.status !== 503) return answer
    await beforeAgain()
  }
}

/** Throws if the response has a different status. */
export async function expectAnswer(
  status: number,
  api: string,
  method: string,
  path: string,
  options: { readonly credential?: Credential; readonly body?: unknown } = {},
): Promise<RestAnswer['body']> {
  const answer = await requestWithRetry(api, method, path, options)
  if (answer?.status !== status) {
    const result = answer === null ? 'nothing' : `${answer.status} ${JSON.stringify(answer.body)}`
    throw new Error(`${method} ${path} answered ${result.slice(0, 300)}`)
  }
  return answer.body
}

/** Returns the account's token. Logs in if an earlier sign-up succeeded although it timed out. */
export async function signUp(
  api: string,
  body: { readonly email: string; readonly password: string },
  credential: Credential = {},
): Promise<string> {
  const first = await ask(api, 'POST', '/v1/auth/signup', { body, credential })
  if (first?.status === 201) return String(first.body.access_token)
  const again = await requestWithRetry(api, 'POST', '/v1/auth/signup', { body, credential })
  if (again?.status === 201) return String(again.body.access_token)
  if (first?.status !== 503) throw new Error(`sign-up: ${first?.status} ${again?.status}`)
  const session = await expectAnswer(200, api, 'POST', '/v1/auth/login', { body, credential })
  return String(session.access_token)
}
