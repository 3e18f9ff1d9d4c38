// The browser client of the stream: `import { connect } from '/client/connect.js'`. No key; counted by bytes. All texts
// are built once, with the routes.

import { Type } from '@sinclair/typebox'
import { EngineError } from '../../engine/errors.ts'
import { type ClientFile, readClientFiles } from '../assets/client-files.ts'
import { type Answer, file, fileRefusals, IMMUTABLE, REVALIDATED } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'

const SCRIPT = 'text/javascript; charset=utf-8'

/** `GET /client/{file}`. */
export function clientFileRoutes(): readonly Route[] {
  const answers = new Map(
    [...readClientFiles()].map(([name, file]) => [
      name,
      { hash: file.hash, fresh: answer(file, REVALIDATED), immutable: answer(file, IMMUTABLE) },
    ]),
  )
  return [
    route(
      'GET /client/{file}',
      {
        group: 'WebSocket',
        summary: 'A module of the client for browsers; `connect.js` is the door',
        description:
          'With `v`, the hash of its content, caches may keep it for ever. Modules ask for each other that way, so that those of two versions never meet.',
        answer: null,
        contentType: 'text/javascript',
        isNamed: true,
        refusals: { ...fileRefusals, 404: 'no such file, or another content than `v` names' },
        access: 'public',
        isCounted: false,
        query: Type.Object({
          v: Type.Optional(Type.String({ maxLength: 64, description: 'Hash of the content.' })),
        }),
      },
      ({ path }, query) => {
        const found = answers.get(path('file'))
        if (found === undefined) throw new EngineError('NOT_FOUND', 'no such file')
        if (query.v === undefined) return found.fresh
        if (query.v !== found.hash) throw new EngineError('NOT_FOUND', 'not of this version')
        return found.immutable
      },
    ),
  ]
}

function answer({ text }: ClientFile, caching: string): Answer {
  return file(text, SCRIPT, caching)
}
