// Requests of the running service whose outcome may stay unknown, because the service is killed while
// they are under way: an answer, or null when none came whole.

import { beforeAgain } from '../rigs/full-service.ts'

/** A credential, as headers. */
export type Credential = Readonly<Record<string, string>>

export const keyHeader = (key: string): Credential => ({ 'x-api-key': key })
export const bearerHeader = (token: string): Credential => ({ authorization: `Bearer ${token}` })

/** An answer that came whole. `body` is an empty object where there was none. */
export interface RestAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Asks once; null when the connection failed or no answer came whole. */
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

/** As `ask`, and again for as long as the service has no time: a busy machine sheds what can come again. */
export async function requestWithRetry(
  ...request: Parameters<typeof ask>
): Promise<RestAnswer | null> {
  for (;;) {
    const answer = await ask(...request)
    if (answer?.status !== 503) return answer
    await beforeAgain()
  }
}

/** As `askPatiently`, of a service that is known to run; throws when the status is not the one expected. */
export async function expectAnswer(
  status: number,
  api: string,
  method: string,
  path: string,
  options: { readonly credential?: Credential; readonly body?: unknown } = {},
): Promise<RestAnswer['body']> {
  const answer = await requestWithRetry(api, method, path, options)
  if (answer?.status !== status) {
    const reported = answer === null ? 'nothing' : `${answer.status} ${JSON.stringify(answer.body)}`
    throw new Error(`${method} ${path} answered ${reported.slice(0, 300)}`)
  }
  return answer.body
}

/** Makes an account; its token. A sign-up that a busy machine gave up may be there all the same: then it is logged in. */
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
