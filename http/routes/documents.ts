// The specification documents of REST and of the stream, and the page built from both. No key; counted by bytes. All
// texts are built once, with the routes.

import { Type } from '@sinclair/typebox'
import { asyncapiText, type StreamFacts } from '../documents/asyncapi.ts'
import { docsPage, PAGE_POLICY, type PageFiles, readPageFiles } from '../documents/docs-page.ts'
import { openapiText, type SpecificationFacts } from '../documents/openapi.ts'
import {
  type Answer,
  file,
  fileOf,
  fileRefusals,
  immutableFiles,
  JSON_TYPE,
  page,
  REVALIDATED,
} from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { clientFileRoutes } from './client-files.ts'

const OPEN = { access: 'public', isCounted: false } as const
const POLICY = { 'Content-Security-Policy': 'what the page may load: only our own files' }

/**
 * `GET /openapi.json`, `/asyncapi.json`, `/docs` and its files, the client's modules. `others`: all other routes, for
 * the specification.
 */
export function documentRoutes(
  others: readonly Route[],
  facts: SpecificationFacts & StreamFacts,
): readonly Route[] {
  const stream = asyncapiText(facts)
  const streamFile = file(stream, JSON_TYPE, REVALIDATED)
  const pageFiles = readPageFiles()
  const own = [
    ...clientFileRoutes(),
    documentRoute('/openapi.json', 'This document', () => specificationFile),
    documentRoute('/asyncapi.json', 'The stream as an AsyncAPI document', () => streamFile),
    ...pageRoutes(pageFiles, () => docs),
  ]
  // After `own`, which it also describes. No request arrives before this function returns.
  const specification = openapiText([...others, ...own], facts)
  const specificationFile = file(specification, JSON_TYPE, REVALIDATED)
  const { text, contentType } = docsPage(specification, stream, pageFiles)
  const docs = page(text, contentType, PAGE_POLICY)
  return own
}

function documentRoute(pattern: string, summary: string, answer: () => Answer): Route {
  return route(
    `GET ${pattern}`,
    {
      group: 'System',
      summary,
      answer: Type.Record(Type.String(), Type.Unknown()),
      isNamed: true,
      refusals: fileRefusals,
      ...OPEN,
    },
    answer,
  )
}

function pageRoutes(pageFiles: PageFiles, docs: () => Answer): readonly Route[] {
  const files = immutableFiles(pageFiles.files)
  return [
    route(
      'GET /docs',
      {
        group: 'System',
        summary: 'This document and that of the stream as a page, from which requests can be sent',
        answer: null,
        contentType: 'text/html',
        headers: POLICY,
        isNamed: true,
        refusals: fileRefusals,
        ...OPEN,
      },
      docs,
    ),
    route(
      'GET /docs/{asset}',
      {
        group: 'System',
        summary: 'A file of the page',
        answer: null,
        contentType: 'text/*',
        refusals: { ...fileRefusals, 404: 'no such file' },
        isNamed: true,
        ...OPEN,
      },
      ({ path }) => fileOf(files, path('asset')),
    ),
  ]
}
