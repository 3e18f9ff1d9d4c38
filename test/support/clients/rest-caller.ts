// Requests of the running service whose outcome may stay unknown, because the service is killed while
// they are under way: an answer, or null when none came whole. Not for: reading until it works (whole-service.ts).

/** A credential, as headers. */
export type Credential = Readonly<Record<string, string>>

export const keyHeader = (key: string): Credential => ({ 'x-api-key': key })
export const bearerHeader = (token: string): Credential => ({ authorization: `Bearer ${token}` })

/** An answer that came whole. `body` is an empty object where there was none. */
export interface RestAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Asks once; null when the connection failed or no answer came whole in 20 s. */
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
      signal: AbortSignal.timeout(600_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  } catch {
    return null
  }
}

/** As `ask`, of a service that is known to run; throws when the status is not the one expected. */
export async function expectAnswer(
  status: number,
  api: string,
  method: string,
  path: string,
  options: { readonly credential?: Credential; readonly body?: unknown } = {},
): Promise<RestAnswer['body']> {
  const answer = await ask(api, method, path, options)
  if (answer?.status !== status) {
    const said = answer === null ? 'nothing' : `${answer.status} ${JSON.stringify(answer.body)}`
    throw new Error(`${method} ${path} answered ${said.slice(0, 300)}`)
  }
  return answer.body
}
