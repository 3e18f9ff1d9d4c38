import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { venueTable } from '../../../engine/venues/venues.ts'
import { asyncapi } from '../../../http/documents/asyncapi.ts'
import {
  fieldMeanings,
  MEANINGS,
  PARAMETER_MEANINGS,
} from '../../../http/documents/field-meanings.ts'
import { isObject, type Json, type JsonObject } from '../../../http/documents/schemas-of.ts'
import {
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'

let server: DocumentedServer
let documents: readonly (readonly [name: string, document: JsonObject])[] = []
before(async () => {
  server = await openDocumentedServer()
  documents = [
    ['openapi', server.document],
    ['asyncapi', asyncapi({ version: '0.0.0-test', names: NAMES })],
  ]
})
after(() => server.stop())

const NOT_SCHEMAS = ['example', 'examples', 'default']

/** Yields every object of a document with its path, except examples. */
function* objectsIn(value: Json | undefined, path = ''): Generator<[string, JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) yield* objectsIn(part, `${path}/${index}`)
  } else if (isObject(value)) {
    yield [path, value]
    for (const [name, part] of Object.entries(value))
      if (!NOT_SCHEMAS.includes(name)) yield* objectsIn(part, `${path}/${name}`)
  }
}

describe('OpenAPI and AsyncAPI documents', () => {
  test('contains no null in enums and, in AsyncAPI, no keywords next to a $ref', () => {
    for (const [name, document] of documents) {
      for (const [path, schema] of objectsIn(document)) {
        const { enum: choices, $ref } = schema
        if (Array.isArray(choices)) assert.ok(!choices.includes(null), `${name} ${path}`)
        if (name === 'asyncapi' && typeof $ref === 'string')
          assert.deepEqual(Object.keys(schema), ['$ref'], path)
      }
    }
  })

  test('defines a success response for every operation, and no path with a trailing slash', () => {
    const { paths } = server.document
    assert.ok(isObject(paths))
    for (const [pattern, path] of Object.entries(paths)) {
      assert.ok(!pattern.endsWith('/'), pattern)
      for (const operation of Object.values(isObject(path) ? path : {})) {
        const { responses } = isObject(operation) ? operation : {}
        const statuses = Object.keys(isObject(responses) ? responses : {})
        assert.ok(
          statuses.some((status) => /^2\d\d$|^default$/.test(status)),
          pattern,
        )
      }
    }
  })

  test('contains the configured venue names and no others', () => {
    const names = venueTable({ a: 'polymarket', b: 'kalshi' })
    const text = JSON.stringify(asyncapi({ version: '0.0.0-test', names }))
    assert.doesNotMatch(text, /venue_[ab]/)
    assert.match(text, /"market_id":"polymarket_0x/)
    assert.match(text, /"market_id":"kalshi_KX/)
    // With swapped venue names the documents must keep the terms of the protocol.
    const crossed = venueTable({ a: 'venue_b', b: 'venue_a' })
    const swapped = JSON.stringify(asyncapi({ version: '0.0.0-test', names: crossed }))
    assert.match(swapped, /"market_id":"venue_b_0x/)
    assert.match(swapped, /"reason":"venue_gap"/)
  })
})

describe('descriptions in the OpenAPI and AsyncAPI documents', () => {
  test('describes every property of both documents in full sentences', () => {
    for (const [name, document] of documents) {
      const wrong: string[] = []
      let count = 0
      for (const [path, { properties }] of objectsIn(document)) {
        if (!isObject(properties)) continue
        for (const [field, schema] of Object.entries(properties)) {
          count += 1
          const text = isObject(schema) ? schema.description : undefined
          if (typeof text !== 'string' || !/^[^a-z].*\.$/s.test(text))
            wrong.push(`${path}/properties/${field}: ${text}`)
        }
      }
      assert.deepEqual(wrong, [], name)
      assert.ok(count > 350, `${count} properties in ${name}`)
    }
  })

  test('describes every shared schema of both documents', () => {
    for (const [name, document] of documents) {
      const schemas = isObject(document.components) ? document.components.schemas : undefined
      assert.ok(isObject(schemas))
      const without = Object.entries(schemas).filter(([, schema]) => {
        return !isObject(schema) || typeof schema.description !== 'string'
      })
      assert.deepEqual(without, [], name)
    }
  })

  test('describes every parameter, under its name or in its schema', () => {
    for (const { pattern, querySchema, pathSchema } of server.routes) {
      for (const [name, schema] of [
        ...Object.entries(querySchema.properties),
        ...Object.entries(pathSchema.properties),
      ]) {
        const own: unknown = schema.description
        assert.ok(own !== undefined || name in PARAMETER_MEANINGS, `${pattern} ${name}`)
      }
    }
  })

  test('uses every description of meanings.json in a document', () => {
    const used = new Set<unknown>()
    for (const [, document] of documents)
      for (const [, { description }] of objectsIn(document)) used.add(description)
    const unused = Object.entries(MEANINGS).filter(([, text]) => !used.has(text))
    assert.deepEqual(unused, [])
  })

  test('uses the description of the innermost record or field when several descriptions apply', () => {
    const meaningOf = fieldMeanings(NAMES)
    assert.equal(meaningOf('price', ['tokens', 'VenueAMarket']), MEANINGS['tokens.price'])
    assert.equal(meaningOf('price', ['Trade']), MEANINGS.price)
    assert.equal(meaningOf('venue_b', ['coverage']), MEANINGS['coverage.{b}'])
    assert.equal(meaningOf('nothing', []), undefined)
  })
})
