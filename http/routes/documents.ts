// What describes the service: the specification documents of REST and of the stream, and the
// interactive page over the former. No key, counted by their bytes. All texts are made once, when the routes are.
// Upholds DOCS1 to DOCS3, OPENAPI1, ASYNC1.

import { Type } from '@sinclair/typebox'
import { EngineError } from '../../engine/errors.ts'
import { asyncapiText, type StreamFacts } from '../documents/asyncapi.ts'
import { PAGE_POLICY, type PageFile, readPage } from '../documents/docs-page.ts'
import { openapiText, type SpecificationFacts } from '../documents/openapi.ts'
import {
  type Answer,
  file,
  fileRefusals,
  JSON_TYPE,
  KEPT,
  REVALIDATED,
  withHeader,
} from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { clientFileRoutes } from './client-files.ts'

const OPEN = { access: 'public', isCounted: false } as const
const POLICY = { 'Content-Security-Policy': 'what the page may load: only our own files' }
const NoQuery = Type.Object({})

/** `GET /openapi.json`, `/asyncapi.json`, `/docs` and its files, the client's modules. `others`: every other route, to be described too. */
export function documentRoutes(
  others: readonly Route[],
  facts: SpecificationFacts & StreamFacts,
): readonly Route[] {
  const stream = file(asyncapiText(facts), JSON_TYPE, REVALIDATED)
  const own = [
    ...clientFileRoutes(),
    documentRoute('/openapi.json', 'This document', () => specification),
    documentRoute('/asyncapi.json', 'The stream as an AsyncAPI document', () => stream),
    ...pageRoutes(),
  ]
  // After `own`, which it describes too; no request comes before this function returns.
  const specification = file(openapiText([...others, ...own], facts), JSON_TYPE, REVALIDATED)
  return own
}

/** A document that describes this interface, as JSON. */
function documentRoute(pattern: string, summary: string, answer: () => Answer): Route {
  return route(
    {
      method: 'GET',
      pattern,
      document: {
        group: 'System',
        summary,
        answer: Type.Record(Type.String(), Type.Unknown()),
        isNamed: true,
        refusals: fileRefusals,
      },
      ...OPEN,
    },
    NoQuery,
    answer,
  )
}

/** The interactive page and its files. */
function pageRoutes(): readonly Route[] {
  const page = readPage()
  const html = protectedPage(page.html)
  const files = new Map(
    [...page.files].map(([name, { text, contentType }]) => [name, file(text, contentType, KEPT)]),
  )
  return [
    route(
      {
        method: 'GET',
        pattern: '/docs',
        document: {
          group: 'System',
          summary: 'This document as an interactive page',
          answer: null,
          contentType: 'text/html',
          headers: POLICY,
          isNamed: true,
          refusals: fileRefusals,
        },
        ...OPEN,
      },
      NoQuery,
      () => html,
    ),
    route(
      {
        method: 'GET',
        pattern: '/docs/{asset}',
        document: {
          group: 'System',
          summary: 'A file of the interactive page',
          answer: null,
          contentType: 'text/*',
          refusals: { ...fileRefusals, 404: 'no such file' },
          isNamed: true,
        },
        ...OPEN,
      },
      NoQuery,
      ({ path }) => {
        const answer = files.get(path('asset'))
        if (answer === undefined) throw new EngineError('NOT_FOUND', 'no such file')
        return answer
      },
    ),
  ]
}

function protectedPage({ text, contentType }: PageFile): Answer {
  const policed = withHeader(
    file(text, contentType, REVALIDATED),
    'Content-Security-Policy',
    PAGE_POLICY,
  )
  return withHeader(policed, 'Referrer-Policy', 'no-referrer')
}
