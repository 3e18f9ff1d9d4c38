// The tools of the MCP server. Each tool is one request of the REST API. Its schemas are those of the service's OpenAPI
// document, so that tools and REST API cannot differ.

/** Mutable, as the protocol's package declares it. */
export type Json = null | boolean | number | string | Json[] | Fields
type Fields = { [name: string]: Json }

interface ObjectSchema {
  [keyword: string]: Json
  type: 'object'
  properties: { [name: string]: Fields }
  required: string[]
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  /** Schema of ToolResult. */
  readonly outputSchema: ObjectSchema
  readonly method: 'GET' | 'POST'
  /** Path with parameters, such as `/v1/markets/{market_id}`. */
  readonly pattern: string
  /** Values of omitted arguments. */
  readonly defaults: Fields
}

/** Structured content of every result. */
export type ToolResult = {
  /** ISO 8601. */
  readonly as_of: string
  readonly stale: boolean
  readonly data: string
  /** Body of the REST response. */
  readonly result: Json
}

interface ToolRequest {
  readonly method: 'GET' | 'POST'
  /** Percent-encoded, with the query. */
  readonly path: string
  readonly body: string | null
}

interface Bound {
  readonly default: number
  readonly maximum: number
  readonly description?: string
}

interface ToolSpec {
  readonly name: string
  readonly route: `${Tool['method']} ${string}`
  readonly description: string
  /** Default and maximum of parameters, smaller than those of the REST API, so that results fit a model's context. */
  readonly bounds?: Readonly<Record<string, Bound>>
}

const rows = (count: number, maximum: number) => ({ limit: { default: count, maximum } })

const TOOLS: readonly ToolSpec[] = [
  {
    name: 'search_markets',
    route: 'GET /v1/markets/search',
    description:
      'Finds prediction markets of both venues by words. Returns ids for the other tools, prices (0 to 1) and volumes.',
    bounds: rows(10, 50),
  },
  {
    name: 'get_market',
    route: 'GET /v1/markets/{market_id}',
    description: 'One market: question, rules, outcomes with prices, volumes, fees and status.',
  },
  {
    name: 'get_orderbook',
    route: 'GET /v1/markets/{market_id}/orderbook',
    description:
      'The live order book of a market: bids descending, asks ascending, prices 0 to 1, sizes in contracts.',
    bounds: { depth: { default: 10, maximum: 100, description: 'Levels a side.' } },
  },
  {
    name: 'get_trades',
    route: 'GET /v1/markets/{market_id}/trades',
    description: 'Trades of a market, newest first. `price` and `side` are of the first outcome.',
    bounds: rows(20, 100),
  },
  {
    name: 'get_candles',
    route: 'GET /v1/markets/{market_id}/candles',
    description: 'Open, high, low, close and volume of a market by interval, oldest first.',
    bounds: rows(50, 300),
  },
  {
    name: 'find_matches',
    route: 'GET /v1/matching-markets',
    description:
      'Pairs of markets of the two venues that ask the same question, with score and difference in price.',
    bounds: rows(10, 50),
  },
  {
    name: 'find_arbitrage',
    route: 'GET /v1/arbitrage',
    description:
      'Baskets of outcomes that are profitable now after depth and fees, the most profitable first.',
    bounds: rows(10, 50),
  },
  {
    name: 'quote_basket',
    route: 'POST /v1/arbitrage/quote',
    description:
      'Prices a basket of two or more outcomes: cost, fees and profit, or the reason why there is none. Places no order.',
  },
  {
    name: 'get_whales',
    route: 'GET /v1/whales',
    description: 'Large trades of both venues, newest first.',
    bounds: rows(20, 100),
  },
  {
    name: 'get_wallet',
    route: 'GET /v1/wallets/{address}',
    description: 'Profile of a wallet (40 hex digits): volume, profit and loss, number of markets.',
  },
  {
    name: 'get_health',
    route: 'GET /health',
    description: 'State of the service and of its connections to the venues.',
  },
]

const DEFINITIONS = '#/$defs/'
const COMPONENTS = '#/components/schemas/'

/** The tools in a fixed order. Throws if the OpenAPI document lacks a route of a tool. */
export function toolsOf(document: Json): readonly Tool[] {
  const paths = recordOf(recordOf(document).paths)
  const schemas = recordOf(recordOf(recordOf(document).components).schemas)
  return TOOLS.map(({ name, route, description, bounds = {} }) => {
    const [method, pattern = ''] = route.split(' ')
    const operation = recordOf(recordOf(paths[pattern])[method === 'GET' ? 'get' : 'post'])
    if (operation.responses === undefined) throw new Error(`the API document lacks ${route}`)
    const input = method === 'GET' ? ofParameters(operation, bounds) : ofBody(operation, schemas)
    const answer = jsonSchemaOf(recordOf(recordOf(operation.responses)['200']))
    return {
      ...{ name, description, pattern, method: method === 'GET' ? 'GET' : 'POST' },
      inputSchema: withDefinitions(input, schemas),
      outputSchema: withDefinitions(envelopeOf(answer), schemas),
      defaults: Object.fromEntries(
        Object.entries(bounds).map(([parameter, { default: value }]) => [parameter, value]),
      ),
    }
  })
}

function ofParameters(operation: Fields, bounds: ToolSpec['bounds'] = {}): ObjectSchema {
  const parameters = listOf(operation.parameters)
    .map(recordOf)
    .filter((one) => one.in === 'path' || one.in === 'query')
  const properties = parameters.map(({ name, schema, description }) => {
    const bound = bounds[String(name)] ?? {}
    return [
      String(name),
      { ...recordOf(schema), description: String(description), ...bound },
    ] as const
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: parameters.flatMap(({ name, required }) => (required === true ? [String(name)] : [])),
    additionalProperties: false,
  }
}

function ofBody(operation: Fields, schemas: Fields): ObjectSchema {
  const reference = jsonSchemaOf(recordOf(operation.requestBody)).$ref
  const schema = recordOf(schemas[String(reference).slice(COMPONENTS.length)])
  const properties = Object.entries(recordOf(schema.properties)).map(
    ([name, property]) => [name, { ...recordOf(property) }] as const,
  )
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: listOf(schema.required).map(String),
    additionalProperties: false,
  }
}

const jsonSchemaOf = (message: Fields): Fields =>
  recordOf(recordOf(recordOf(message.content)['application/json']).schema)

function envelopeOf(answer: Fields): ObjectSchema {
  return {
    type: 'object',
    properties: {
      as_of: {
        ...{ type: 'string', format: 'date-time' },
        description: 'Time of the answer, ISO 8601, UTC.',
      },
      stale: {
        type: 'boolean',
        description:
          'True if the data may be out of date: the book is stale, or the connection to a venue is not live.',
      },
      data: {
        ...{ type: 'string', enum: ['simulated', 'live', 'replay'] },
        description: 'Source of the data. Simulated data is not of real markets.',
      },
      result: { ...answer },
    },
    required: ['as_of', 'stale', 'data', 'result'],
    additionalProperties: false,
  }
}

/** Adds the schemas that are referenced, directly or by another schema. */
function withDefinitions(schema: ObjectSchema, schemas: Fields): ObjectSchema {
  const names = new Set<string>()
  const collect = (value: Json): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    )) {
      if (names.has(name)) continue
      names.add(name)
      collect(recordOf(schemas[name]))
    }
  }
  collect(schema)
  if (names.size === 0) return schema
  const definitions = [...names].map((name) => [name, rewritten(recordOf(schemas[name]))] as const)
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, of]) => [name, recordOf(rewritten(of))]),
    ),
    $defs: Object.fromEntries(definitions),
  }
}

function rewritten(value: Json): Json {
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const isReference = key === '$ref' && typeof part === 'string'
      return [key, isReference ? part.replace(COMPONENTS, DEFINITIONS) : rewritten(part)]
    }),
  )
}

/** An invalid argument. The message says what is accepted. */
export class ArgumentError extends Error {}

/** Throws ArgumentError. The service validates the values of valid names. */
export function requestOf(tool: Tool, given: Readonly<Record<string, unknown>>): ToolRequest {
  const { method, pattern, inputSchema } = tool
  const accepted = Object.keys(inputSchema.properties)
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(inputSchema.properties, name)) {
      const names = accepted.length === 0 ? 'no arguments' : accepted.join(', ')
      throw new ArgumentError(
        `${tool.name} has no argument ${name.slice(0, 64)}; it accepts ${names}`,
      )
    }
  }
  for (const name of inputSchema.required) {
    if (given[name] === undefined) {
      throw new ArgumentError(`${tool.name} needs the argument ${name}. ${meaningOf(tool, name)}`)
    }
  }
  if (method === 'POST') return { method, path: pattern, body: JSON.stringify(given) }
  const rest = new Map<string, unknown>(Object.entries({ ...tool.defaults, ...given }))
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = textOf(tool, name, rest.get(name))
    rest.delete(name)
    // A URL parser removes such segments, so that the path would be another one.
    if (/^\.{0,2}$/.test(text)) throw unaccepted(tool, name)
    return encodeURIComponent(text)
  })
  const query = new URLSearchParams()
  for (const [name, value] of rest) {
    const { maximum } = recordOf(inputSchema.properties[name])
    const text = textOf(tool, name, value)
    if (typeof maximum === 'number' && Number(text) > maximum) throw unaccepted(tool, name)
    query.set(name, text)
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: null }
}

function textOf(tool: Tool, name: string, value: unknown): string {
  const parts = Array.isArray(value) ? value : [value]
  const isPlain = parts.every((part) => ['string', 'number', 'boolean'].includes(typeof part))
  if (!isPlain) throw unaccepted(tool, name)
  const text = parts.join(',')
  if (/\p{Surrogate}/u.test(text)) throw unaccepted(tool, name)
  return text
}

const unaccepted = (tool: Tool, name: string): ArgumentError =>
  new ArgumentError(`${name} has a value that is not accepted. ${meaningOf(tool, name)}`)

function meaningOf({ inputSchema }: Tool, name: string): string {
  const { description, ...schema } = recordOf(inputSchema.properties[name])
  return `${String(description ?? '')} It accepts ${JSON.stringify(schema)}`.trim()
}

export function recordOf(value: Json | undefined): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
