// An HTTP client without a socket.

import { FetchError, type JsonReader, type Query } from '../../../engine/fetch.ts'

export interface StubHttp extends JsonReader {
  readonly requests: readonly { readonly path: string; readonly query: URLSearchParams }[]
}

/** If `answer` returns a number, the request fails with this status. null means status 404. */
export function stubHttp(answer: (path: string, query: URLSearchParams) => unknown): StubHttp {
  const requests: { path: string; query: URLSearchParams }[] = []
  return {
    requests,
    async getJson(path, given = {}) {
      const query = searchOf(given)
      requests.push({ path, query })
      const response = answer(path, query) ?? 404
      if (typeof response !== 'number') return response
      throw new FetchError('status', `status ${response}`, { status: response })
    },
  }
}

function searchOf(query: Query): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const item of value === undefined ? [] : [value].flat()) search.append(name, String(item))
  }
  return search
}
