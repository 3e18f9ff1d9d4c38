// The specification documents and the page built from them. They need no key and count against the byte quota.

import { Type } from '@sinclair/typebox'
import { EngineError } from '../../engine/errors.ts'
import { readClientFiles } from '../assets/client-files.ts'
import { asyncapiText, type StreamFacts } from '../documents/asyncapi.ts'
import { docsPage, PAGE_POLICY, type PageFiles, readPageFiles } from '../documents/docs-page.ts'
import { openapiText, type SpecificationFacts } from '../documents/openapi.ts'
import {
  type Answer,
  file,
  fileOf,
  fileRefusals,
  IMMUTABLE,
  immutableFiles,
  JSON_TYPE,
  page,
  REVALIDATED,
} from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'

const SCRIPT = 'text/javascript; charset=utf-8'
const OPEN = { access: 'public', isCounted: false } as const
const POLICY = { 'Content-Security-Policy': 'what the page may load: only our own files' }

interface Documents {
  readonly specification: Answer
  readonly stream: Answer
  readonly page: Answer
}

/**
 * `others`: all other routes, which the specification describes too. `isBuiltFirst`: builds the documents now instead
 * of at their first request.
 */
export function documentRoutes(
  others: readonly Route[],
  facts: SpecificationFacts & StreamFacts,
  isBuiltFirst: boolean,
): readonly Route[] {
  const pageFiles = readPageFiles()
  let built: Documents | null = null
  const documents = (): Documents => {
    built ??= buildDocuments([...others, ...own], facts, pageFiles)
    return built
  }
  const own = [
    clientFileRoute(),
    documentRoute('/openapi.json', 'This document', () => documents().specification),
    documentRoute('/asyncapi.json', 'The stream as an AsyncAPI document', () => documents().stream),
    ...pageRoutes(pageFiles, () => documents().page),
  ]
  if (isBuiltFirst) documents()
  return own
}

function buildDocuments(
  routes: readonly Route[],
  facts: SpecificationFacts & StreamFacts,
  pageFiles: PageFiles,
): Documents {
  const stream = asyncapiText(facts)
  const specification = openapiText(routes, facts)
  const { text, contentType } = docsPage(specification, stream, pageFiles)
  return {
    specification: file(specification, JSON_TYPE, REVALIDATED),
    stream: file(stream, JSON_TYPE, REVALIDATED),
    page: page(text, contentType, PAGE_POLICY),
  }
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
        contentTypes: ['text/html'],
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
        contentTypes: ['text/*'],
        refusals: { ...fileRefusals, 404: 'no such file' },
        isNamed: true,
        ...OPEN,
      },
      ({ path }) => fileOf(files, path('asset')),
    ),
  ]
}

function clientFileRoute(): Route {
  const files = readClientFiles()
  const answers = (caching: string) =>
    new Map([...files].map(([name, { text }]) => [name, file(text, SCRIPT, caching)]))
  const [fresh, immutable] = [answers(REVALIDATED), answers(IMMUTABLE)]
  return route(
    'GET /client/{file}',
    {
      group: 'WebSocket',
      summary: 'A module of the client for browsers; `connect.js` is the door',
      description:
        'With `v`, the hash of its content, caches may keep it for ever. Modules ask for each other that way, so that those of two versions never meet.',
      answer: null,
      contentTypes: ['text/javascript'],
      isNamed: true,
      refusals: { ...fileRefusals, 404: 'no such file, or another content than `v` names' },
      access: 'public',
      isCounted: false,
      query: Type.Object({
        v: Type.Optional(Type.String({ maxLength: 64, description: 'Hash of the content.' })),
      }),
    },
    ({ path }, { v }) => {
      const name = path('file')
      if (v === undefined) return fileOf(fresh, name)
      const answer = fileOf(immutable, name)
      if (v !== files.get(name)?.hash) throw new EngineError('NOT_FOUND', 'not of this version')
      return answer
    },
  )
}
