// Compares validation with recorded answers of pydantic 2.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type TProperties, Type } from '@sinclair/typebox'
import { choice, parameters, SECONDS_MAX } from '../../../http/schemas.ts'
import { compileBody } from '../../../http/validation/body.ts'
import { echo } from '../../../http/validation/problems.ts'
import { compileQuery, parseQuery } from '../../../http/validation/query.ts'

const ORACLE = join(process.env.SHARED_REFERENCE ?? '../shared/reference', 'pydantic-oracle.json')

interface Case {
  readonly case: string
  readonly input: unknown
  readonly ok: boolean
  readonly value?: unknown
  readonly errors?: readonly Readonly<Record<string, unknown>>[]
}

const SPORTS = ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis'] as const

const PARAMETERS: Readonly<Record<string, TProperties[string]>> = {
  limit_1_200: parameters.limit(200, 20),
  limit_1_100: parameters.limit(100, 20),
  limit_1_500: parameters.limit(500, 100),
  min_score: Type.Number({ minimum: 0, maximum: 100 }),
  min_volume_finite: parameters.volume(),
  unix_seconds: parameters.seconds(),
  platform: choice(['venue_a', 'venue_b']),
  status: choice(['open', 'closed', 'resolved']),
  venue_b_status: choice(['unopened', 'open', 'closed', 'settled']),
  sport: choice(SPORTS),
  search: Type.String({ minLength: 2 }),
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  token_ids: Type.Array(Type.String(), { maxItems: 100 }),
}

function oracle(t: { skip(reason: string): void }): readonly Case[] {
  if (!existsSync(ORACLE)) {
    t.skip(`${ORACLE} is absent; set SHARED_REFERENCE`)
    return []
  }
  return JSON.parse(readFileSync(ORACLE, 'utf8')).cases
}

function queryOf(input: unknown): string {
  const values = Array.isArray(input) ? input : [input]
  return values.map((value) => `x=${encodeURIComponent(String(value))}`).join('&')
}

describe('validation of queries', () => {
  test('treats an empty query parameter as absent', () => {
    const parse = compileQuery(
      Type.Object({
        status: parameters.status(),
        tags: parameters.list(),
        limit: parameters.limit(200, 20),
        start_time: parameters.seconds(),
        search: Type.String({ minLength: 2 }),
      }),
    )
    const read = (query: string) => parse(parseQuery(query) ?? new Map())
    const given = read('status=&tags=&limit=&start_time=&from=&q=&search=ab&status')
    assert.deepEqual(given, { kind: 'valid', value: { limit: 20, search: 'ab' }, unknownNames: [] })
    const last = read('search=ab&status=open&status=')
    assert.deepEqual(last.kind === 'valid' && last.value.status, 'open')
    const missing = read('search=')
    assert.ok(missing.kind === 'invalid')
    assert.deepEqual(
      missing.problems.map(({ type }) => type),
      ['missing'],
    )
  })

  test('refuses a time before 1970', () => {
    const parse = compileQuery(Type.Object({ start_time: parameters.seconds() }))
    for (const query of ['start_time=-1', 'from=-5', 'start=-4102444800']) {
      const read = parse(parseQuery(query) ?? new Map())
      assert.ok(read.kind === 'invalid', query)
      assert.equal(read.problems[0]?.msg, 'Input should be greater than or equal to 0')
    }
  })

  test('returns the same messages as pydantic for every recorded query parameter', (t) => {
    let count = 0
    for (const { case: name, input, ok, value, errors } of oracle(t)) {
      const schema = PARAMETERS[name]
      if (schema === undefined) continue
      count += 1
      const raw = parseQuery(queryOf(input))
      assert.ok(raw !== null)
      const parsed = compileQuery(Type.Object({ x: schema }))(raw)
      const label = `${name} ${JSON.stringify(input)}`
      // The service treats an empty value as not given.
      if (input === '') {
        const missing = parsed.kind === 'invalid' ? parsed.problems.map(({ type }) => type) : []
        assert.ok(parsed.kind === 'valid' || missing.join() === 'missing', label)
        continue
      }
      // The server treats values above SECONDS_MAX as milliseconds. The recorded model had no limit.
      const isBeyond = Number(input) > SECONDS_MAX || Number(input) < 0
      if (name === 'unix_seconds' && isBeyond) {
        assert.equal(parsed.kind, 'invalid', label)
      } else if (ok) {
        assert.ok(parsed.kind === 'valid', label)
        // The recording writes floats as text, and JSON has no negative zero.
        const wanted =
          typeof value === 'string' && !Number.isNaN(Number(value)) ? Number(value) : value
        const got = Reflect.get(parsed.value, 'x')
        assert.ok(got === wanted || JSON.stringify(got) === JSON.stringify(wanted), label)
      } else {
        assert.ok(parsed.kind === 'invalid', label)
        const expected = errors?.map((error) => ({ ...error, loc: ['query', 'x'] }))
        assert.deepEqual(parsed.problems, expected, label)
      }
    }
    if (existsSync(ORACLE)) assert.ok(count >= 100, `${count} cases`)
  })

  const page = compileQuery(
    Type.Object({
      search: Type.String({ minLength: 2, aliases: ['query'] }),
      limit: parameters.limit(200, 20),
      tags: parameters.list(),
      status: parameters.status(),
    }),
  )
  const read = (text: string) => page(parseQuery(text) ?? new Map())

  test('lists all validation errors in parameter order', () => {
    const parsed = read('status=no&limit=x')
    assert.ok(parsed.kind === 'invalid')
    assert.deepEqual(
      parsed.problems.map(({ type, loc, input }) => ({ type, loc, input })),
      [
        { type: 'missing', loc: ['query', 'search'], input: null },
        { type: 'int_parsing', loc: ['query', 'limit'], input: 'x' },
        { type: 'enum', loc: ['query', 'status'], input: 'no' },
      ],
    )
  })

  test('uses the last value of a repeated single-value parameter, and collects list values from commas and repeats', () => {
    const parsed = read('search=ab&limit=3&limit=7&tags=a,b&tags=c,')
    assert.ok(parsed.kind === 'valid')
    assert.equal(parsed.value.limit, 7)
    assert.deepEqual(parsed.value.tags, ['a', 'b', 'c'])
    assert.deepEqual(parsed.unknownNames, [])
  })

  test('accepts an alias of a parameter, and refuses an alias whose value differs from the parameter', () => {
    assert.equal(read('q=ab').kind, 'valid')
    assert.equal(read('query=ab').kind, 'valid', 'the alias alone is accepted')
    assert.equal(read('q=ab&search=ab&keyword=ab').kind, 'valid')
    const parsed = read('q=ab&search=cd')
    assert.ok(parsed.kind === 'conflict')
    assert.match(parsed.detail, /search and q/)
    assert.equal(read('q=a&search=cd').kind, 'invalid', 'a failure comes before a conflict')
  })

  test('lists unknown parameters without refusing the request, and applies defaults', () => {
    const parsed = read('search=ab&page=2&__proto__=x')
    assert.ok(parsed.kind === 'valid')
    assert.deepEqual(parsed.unknownNames, ['page', '__proto__'])
    assert.deepEqual(parsed.value, { search: 'ab', limit: 20 })
  })

  test('truncates the input in an error message to 256 characters', () => {
    const parsed = read(`search=ab&limit=${'9'.repeat(5000)}`)
    assert.ok(parsed.kind === 'invalid')
    assert.equal(parsed.problems[0]?.type, 'int_parsing_size')
    assert.equal(parsed.problems[0]?.input, '9'.repeat(256))
  })
})

describe('secrets in validation errors', () => {
  const page = compileQuery(Type.Object({ limit: parameters.limit(200, 20) }))
  const inputOf = (text: string) => {
    const parsed = page(parseQuery(`limit=${encodeURIComponent(text)}`) ?? new Map())
    assert.ok(parsed.kind === 'invalid')
    return parsed.problems[0]?.input
  }

  test('replaces every text that looks like a secret, anywhere in the returned input', () => {
    const secrets = [
      `pmk_${'a'.repeat(38)}`,
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
      'Bearer abc',
      'email=a&pwd=hunter2',
      'passwd: hunter2',
    ]
    for (const secret of secrets) {
      for (const text of [secret, `x ${secret}`, `${secret}${'x'.repeat(400)}`]) {
        assert.equal(inputOf(text), '[redacted]', text)
      }
      const shown = JSON.stringify(echo({ list: [{ a: secret }], [secret]: 1 }))
      assert.ok(!shown.includes(secret.slice(-8)), shown)
    }
    for (const text of ['abc', 'monkey', 'pmk', '2.5', 'venue_a_0xabc']) {
      assert.equal(inputOf(text), text)
    }
  })

  test('truncates a returned list or object to 256 characters, however deeply nested', () => {
    const charactersOf = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return String(value).length
      if (Array.isArray(value)) return value.reduce((sum, item) => sum + charactersOf(item), 0)
      const parts = Object.entries(value)
      return parts.reduce((sum, [name, item]) => sum + name.length + charactersOf(item), 0)
    }
    const token = '7'.repeat(77)
    const ids = compileQuery(Type.Object({ ids: Type.Array(Type.String(), { maxItems: 100 }) }))
    const parsed = ids(parseQuery(`ids=${`${token},`.repeat(150)}`) ?? new Map())
    assert.ok(parsed.kind === 'invalid', parsed.kind)
    const [problem] = parsed.problems
    assert.deepEqual(problem?.ctx, { field_type: 'List', max_length: 100, actual_length: 150 })
    assert.deepEqual(problem?.input, [token, token, token, '7'.repeat(256 - 3 * 77)])
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`field${at}`, at]))
    const inputs: readonly unknown[] = [
      Array.from({ length: 5_000 }, () => 'x'),
      Array.from({ length: 5_000 }, () => []),
      Array.from({ length: 200 }, () => ({ a: ['y'.repeat(300), {}], b: -1.5e300 })),
      [['z'.repeat(200)], ['z'.repeat(200)], [['z'.repeat(200)]]],
      { ...wide, more: { ...wide } },
      { ['n'.repeat(5_000)]: 'v'.repeat(5_000) },
    ]
    for (const input of inputs) {
      const repeated = echo(input)
      assert.ok(charactersOf(repeated) <= 256, JSON.stringify(repeated))
      assert.ok(JSON.stringify(repeated).length <= 1_100, JSON.stringify(repeated))
    }
    const body = compileBody({ schema: Type.Object({ label: Type.String() }), className: 'Key' })
    const refused = body(Buffer.from(JSON.stringify({ other: inputs[0], more: wide })))
    assert.ok(refused.kind === 'invalid', refused.kind)
    const repeated = refused.problems[0]?.input
    assert.ok(charactersOf(repeated) <= 256, JSON.stringify(repeated))
    // A short value is repeated unchanged.
    const short = { list: [1, 'two', null, true, { three: 4 }], empty: [], none: {} }
    assert.deepEqual(echo(short), short)
  })

  test('searches a long text for secrets no further than the returned part', () => {
    const text = 'pass'.repeat(8_000)
    assert.equal(inputOf(`${text}=hunter2`), text.slice(0, 256))
  })
})

describe('validation of bodies', () => {
  const signup = compileBody({
    schema: Type.Object({ email: Type.String(), password: Type.String() }),
    className: 'Signup',
  })
  const key = compileBody({
    schema: Type.Object({ label: Type.String({ minLength: 1, maxLength: 64 }) }),
    className: 'Key',
  })
  const bytes = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

  test('returns the same messages as pydantic for every recorded body, without the password', (t) => {
    for (const { case: name, input, errors } of oracle(t)) {
      const parse = name === 'body_signup' ? signup : name === 'body_key' ? key : null
      if (parse === null) continue
      const parsed = parse(Buffer.from(JSON.stringify(input)))
      assert.ok(parsed.kind === 'invalid')
      const text = JSON.stringify(errors).replaceAll('"secret"', '"[redacted]"')
      const expected: Readonly<Record<string, unknown>>[] = JSON.parse(text)
      assert.deepEqual(
        parsed.problems,
        expected.map((error) => ({ ...error, loc: ['body', ...[error.loc].flat()] })),
      )
    }
  })

  test('refuses invalid JSON with the position of the error, and without returning the JSON', () => {
    const parsed = signup(bytes('{"password":"hunter22", oops'))
    assert.ok(parsed.kind === 'invalid')
    assert.equal(parsed.problems[0]?.type, 'json_invalid')
    assert.deepEqual(parsed.problems[0]?.loc, ['body', 24])
    assert.ok(!JSON.stringify(parsed).includes('hunter22'))
  })

  test('reports an empty body as missing, and invalid UTF-8 as undecodable', () => {
    const empty = signup(bytes(''))
    assert.ok(empty.kind === 'invalid')
    assert.deepEqual(empty.problems[0], {
      type: 'missing',
      loc: ['body'],
      msg: 'Field required',
      input: null,
    })
    assert.equal(signup(Buffer.from([0xff, 0xfe])).kind, 'undecodable')
  })

  test('returns known fields of the input and no others when the body may contain secrets', () => {
    const mistakes = [
      { email: 'a@b.c', pwd: 'hunter22' },
      { email: 'a@b.c', pasword: 'hunter22' },
      { email: 'a@b.c', motDePasse: 'hunter22' },
      { email: { mail: 'a@b.c', mine: 'hunter22' }, password: 5 },
      { email: ['hunter22'], password: 'hunter22' },
      { hunter22: true, email: 7 },
      [{ email: 'a@b.c', mine: 'hunter22' }],
      [['hunter22']],
      '"email=a&pwd=hunter22"',
      '"hunter22"',
      '{"email":"pwd: hunter22"}',
    ]
    for (const mistake of mistakes) {
      const parsed = signup(bytes(mistake))
      assert.ok(parsed.kind === 'invalid')
      assert.ok(!JSON.stringify(parsed).includes('hunter'), JSON.stringify(parsed))
    }
    const parsed = signup(bytes({ email: 'a@b.c', pwd: 'hunter22' }))
    assert.ok(parsed.kind === 'invalid')
    assert.deepEqual(parsed.problems[0]?.input, { email: 'a@b.c' })
    const other = key(bytes({ lable: 'mine' }))
    assert.ok(other.kind === 'invalid')
    assert.deepEqual(other.problems[0]?.input, { lable: 'mine' }, 'a body without secrets')
  })

  test('counts text lengths in code points, and names the length limit in the error', () => {
    assert.equal(key(bytes({ label: '😀'.repeat(64) })).kind, 'valid')
    const parsed = key(bytes({ label: '😀'.repeat(65) }))
    assert.ok(parsed.kind === 'invalid')
    assert.equal(parsed.problems[0]?.type, 'string_too_long')
    assert.deepEqual(parsed.problems[0]?.ctx, { max_length: 64 })
  })

  test('refuses a deeply nested or malicious body without throwing', () => {
    assert.equal(signup(bytes('['.repeat(8000) + ']'.repeat(8000))).kind, 'invalid')
    assert.equal(signup(bytes('{"__proto__":{"email":"a@b","password":"x"}}')).kind, 'invalid')
  })
})
