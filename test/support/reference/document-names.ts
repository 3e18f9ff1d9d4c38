// Public names of an OpenAPI or AsyncAPI document, one per line. Prose is omitted, so that rewording changes nothing.

type Json = unknown
type Fields = Readonly<Record<string, Json>>

const isFields = (value: Json): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: Json, name: string): Fields => {
  const found = isFields(value) ? value[name] : undefined
  return isFields(found) ? found : {}
}
const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [])

export function documentNames(document: Json): readonly string[] {
  const components = fieldsOf(document, 'components')
  return [
    ...['paths', 'webhooks'].flatMap((kind) => pathLines(kind, fieldsOf(document, kind))),
    ...Object.entries(fieldsOf(document, 'operations')).flatMap(operationLines),
    ...Object.entries(fieldsOf(fieldsOf(document, 'channels'), 'stream')).flatMap(channelLines),
    ...Object.entries(fieldsOf(components, 'securitySchemes')).map(
      ([name, scheme]) => `security ${name}: ${plainText(scheme)}`,
    ),
    ...Object.keys(fieldsOf(components, 'headers')).map((name) => `header ${name}`),
    ...Object.entries(fieldsOf(components, 'messages')).map(([name, message]) => {
      const payload = isFields(message) ? message.payload : null
      return `message ${name}: ${typeText(payload)}`
    }),
    ...Object.entries(fieldsOf(components, 'schemas')).flatMap(([name, schema]) =>
      schemaLines(name, schema),
    ),
    ...listOf(isFields(document) ? document['x-close-codes'] : null).map(
      (close) => `close ${plainText(close)}`,
    ),
  ]
}

function pathLines(kind: string, paths: Fields): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isFields(methods) ? methods : {}).flatMap(([method, operation]) => {
      if (!isFields(operation)) return []
      const name = `${kind === 'webhooks' ? 'webhook ' : ''}${method.toUpperCase()} ${path}`
      const security = listOf(operation.security).flatMap((one) =>
        Object.keys(isFields(one) ? one : {}),
      )
      return [
        `${name} ${String(operation.operationId ?? '')} [${security.join(' ')}]`,
        ...listOf(operation.parameters).map((parameter) => {
          if (!isFields(parameter)) return name
          const need = parameter.required === true ? 'required' : 'optional'
          return `${name} ${String(parameter.in)} ${String(parameter.name)} ${need}: ${typeText(parameter.schema)}`
        }),
        ...contentLines(`${name} body`, operation.requestBody),
        `${name} answers ${Object.entries(fieldsOf(operation, 'responses')).map(answerText).join(', ')}`,
      ]
    }),
  )
}

/** Omits the headers that all responses have. */
function answerText([status, answer]: [string, Json]): string {
  const headers = Object.keys(fieldsOf(answer, 'headers')).filter((name) => !ON_ALL.test(name))
  const shapes = Object.entries(fieldsOf(answer, 'content')).map(([type, content]) => {
    const shape = typeText(isFields(content) ? content.schema : null)
    return type === 'application/json' ? shape : `${type} ${shape}`
  })
  return [status, ...shapes, ...headers].join(' ')
}

const ON_ALL = /^(?:X-RateLimit-.*|Cache-Control|X-Unknown-Parameters|Content-Encoding|Vary)$/

function contentLines(name: string, holder: Json): readonly string[] {
  return Object.entries(fieldsOf(holder, 'content')).map(([type, content]) => {
    const schema = isFields(content) ? content.schema : null
    return `${name} ${type} ${typeText(schema)}`
  })
}

function operationLines([name, operation]: [string, Json]): readonly string[] {
  if (!isFields(operation)) return []
  const messages = (holder: Json) =>
    listOf(isFields(holder) ? holder.messages : null).map((one) => refName(one) ?? '')
  const replies = messages(operation.reply)
  const answer = replies.length === 0 ? '' : ` → ${replies.join(' ')}`
  return [
    `operation ${name} ${String(operation.action)}: ${messages(operation).join(' ')}${answer}`,
  ]
}

function channelLines([name, value]: [string, Json]): readonly string[] {
  if (name === 'address') return [`address ${String(value)}`]
  if (name !== 'bindings') return []
  return schemaLines('query', fieldsOf(fieldsOf(value, 'ws'), 'query'))
}

/** The lines of a named shape and its fields. Nested fields have a path. */
function schemaLines(path: string, schema: Json): readonly string[] {
  if (!isFields(schema)) return [`${path}: ${typeText(schema)}`]
  const required = listOf(schema.required)
  const fields = Object.entries(fieldsOf(schema, 'properties')).flatMap(([name, field]) => {
    const mark = required.includes(name) ? '' : '?'
    return schemaLines(`${path}.${name}${mark}`, field)
  })
  const parts = [...listOf(schema.allOf), ...listOf(schema.anyOf), ...listOf(schema.oneOf)]
  const inner = parts.filter((part) => isFields(part) && isFields(part.properties))
  const items = isFields(schema.items) ? schemaLines(`${path}[]`, schema.items) : []
  return [
    `${path}: ${typeText(schema)}`,
    ...fields,
    ...inner.flatMap((part) => schemaLines(path, part)),
    ...items.slice(1),
  ]
}

/** Types, choices and bounds, without prose. */
function typeText(schema: Json): string {
  const name = refName(schema)
  if (name !== null) return name
  if (!isFields(schema)) return String(schema)
  for (const [keyword, sign] of [
    ['anyOf', ' | '],
    ['oneOf', ' | '],
    ['allOf', ' & '],
  ] as const) {
    const parts = listOf(schema[keyword])
    if (parts.length > 0) return parts.map(typeText).join(sign)
  }
  const { items, additionalProperties, properties: _, required: _required, ...rest } = schema
  const inside = isFields(items) ? [`of ${typeText(items)}`] : []
  const others =
    additionalProperties === undefined
      ? []
      : [
          `others ${isFields(additionalProperties) ? typeText(additionalProperties) : String(additionalProperties)}`,
        ]
  return [...inside, ...others, plainText(rest)].filter((text) => text !== '').join(' ')
}

const FOR_PEOPLE = ['description', 'title', 'summary', 'example', 'examples', 'reason', '$id']

function plainText(value: Json): string {
  if (!isFields(value)) return JSON.stringify(value)
  return Object.entries(value)
    .filter(([keyword]) => !FOR_PEOPLE.includes(keyword))
    .map(([keyword, one]) =>
      keyword === 'type' && typeof one === 'string' ? one : `${keyword}=${JSON.stringify(one)}`,
    )
    .join(' ')
}

function refName(value: Json): string | null {
  const reference = isFields(value) ? value.$ref : undefined
  return typeof reference === 'string' ? `→${reference.split('/').at(-1)}` : null
}
