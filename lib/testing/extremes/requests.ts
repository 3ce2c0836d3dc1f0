/**
 * For tests: the requests that the OpenAPI document allows at their extremes, and just beyond them: each parameter and
 * each member of a body on its own, all numbers of a query with each other. Pure: sends nothing.
 */

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  default?: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  example?: string | number;
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Probe {
  operation: string;
  method: string;
  path: string;
  body?: unknown;
  /** What is extreme about it. */
  what: string;
  /** All pages after it are asked for as well. */
  isPaged?: boolean;
}

/** Bytes of a header or an address that Node takes. */
const LONGEST_IN_ADDRESS = 8000;
const LONGEST_IN_BODY = 200_000;
const NUMBERS = [-1, 0, 1, 3600, 60_000_000_000, 253_402_300_799, Number.MAX_SAFE_INTEGER, 1e300];
/** Texts that are hard to match, to split or to compare, whatever they are taken for. */
const HARD = [
  '(a+)+$',
  '*',
  '**/**/**/**',
  '%_',
  "' OR 1=1 --",
  ':',
  '\u{1d11e}',
  '0 0 30 2 *',
  '0 0 29 2 1',
  '* * * * * *',
];
/** Probes of one operation, evenly of all that there are: the whole set of 3000 takes a quarter of an hour. */
const MOST_READS = 8;
const MOST_WRITES = 3;
/** Numbers of a query that are tried with each other. */
const MOST_TOGETHER = 27;

function resolved(document: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

function choices(document: OpenApi, given: Schema): Schema[] {
  const schema = resolved(document, given);
  const among = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return among === undefined ? [schema] : among.flatMap((one) => choices(document, one));
}

/** Extreme values of a schema. `longest`: characters of a text. */
function extremesOf(document: OpenApi, given: Schema, longest: number, depth = 0): unknown[] {
  return choices(document, given).flatMap((schema): unknown[] => {
    if (schema.const !== undefined) return [schema.const];
    if (schema.enum !== undefined) return [...schema.enum, 'x'];
    switch (schema.type) {
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
        return [...new Set([minimum, maximum, minimum - 1, maximum + 1, Math.floor(maximum / 2), ...NUMBERS])];
      }
      case 'boolean':
        return [true, false];
      case 'array': {
        const [item = 'x'] = extremesOf(document, schema.items ?? {}, 60, depth + 1);
        const most = Math.min(schema.maxItems ?? 10_000, 10_000);
        const distinct = Array.from({ length: most }, (_, n) => (typeof item === 'string' ? `sb-${n}` : item));
        return [[], distinct, Array.from({ length: most }, () => item), Array.from({ length: most + 1 }, () => item)];
      }
      case 'object': {
        if (depth > 2) return [{}];
        const members = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
          extremesOf(document, inner, longest, depth + 1).map((value) => ({ [name]: value })),
        );
        if (typeof schema.additionalProperties !== 'object') return members;
        return [...members, Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`K${n}`, 'v']))];
      }
      default: {
        // A name of letters and digits: nothing else passes.
        if (schema.pattern?.startsWith('^[a-z0-9]')) return ['a', 'a'.repeat(longest), '(a+)+$'];
        const most = Math.min(schema.maxLength ?? longest, longest);
        const long = ['a', 'a ', '%*', '(a+)+', '/', '\u00e4'].map((text) => text.repeat(most).slice(0, most));
        return ['', ...HARD, ...long, 'a'.repeat(Math.min(longest, most + 1))];
      }
    }
  });
}

/** A value of a schema that is taken, as far as its form tells. */
function plainOf(document: OpenApi, given: Schema): unknown {
  const [schema = {}] = choices(document, given);
  if (schema.default !== undefined || schema.const !== undefined) return schema.default ?? schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (schema.type === 'boolean') return false;
  if (schema.type === 'array') return [];
  if (schema.type !== 'object') return 'acme';
  return Object.fromEntries(
    (schema.required ?? []).map((name) => [name, plainOf(document, schema.properties?.[name] ?? {})]),
  );
}

function product(lists: [string, unknown[]][]): Record<string, unknown>[] {
  return lists.reduce<Record<string, unknown>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}

/** Every probe of a document, reads first and removals last. `made`: what stands for the placeholders of examples. */
export function probesOf(document: OpenApi, made: Record<string, string>): Probe[] {
  const probes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => ofOperation(document, made, { path, method, operation })),
  );
  const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return probes.sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method));
}

function ofOperation(
  document: OpenApi,
  made: Record<string, string>,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): Probe[] {
  const { parameters = [], requestBody, operationId } = operation;
  const known = (value: unknown) => made[String(value)] ?? value;
  const baseOf = (where: Parameter['in']) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === where && (where === 'path' || one.example !== undefined || one.name === 'limit'))
        .map(({ name, example, schema }) => [
          name,
          known(example ?? (name === 'limit' ? schema.maximum : plainOf(document, schema))),
        ]),
    );
  const [inPath, inQuery] = [baseOf('path'), baseOf('query')];
  const json = requestBody?.content['application/json'];
  const example = json?.example ?? (json?.schema === undefined ? undefined : plainOf(document, json.schema));
  const base = replaced(example, made);
  const probe = (
    what: string,
    { paths = {}, query = {}, body = base }: { paths?: object; query?: object; body?: unknown },
  ): Probe => {
    const filled = Object.entries({ ...inPath, ...paths }).reduce(
      (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
      path,
    );
    const search = new URLSearchParams(
      Object.entries({ ...inQuery, ...query })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, String(value)] as [string, string]),
    );
    const bytes = requestBody !== undefined && json === undefined;
    return {
      operation: operationId,
      method: method.toUpperCase(),
      path: search.size === 0 ? filled : `${filled}?${search}`,
      ...(bytes ? { body: 'hello' } : body === undefined ? {} : { body }),
      what,
    };
  };
  const shown = (name: string, value: unknown) => `${name}=${JSON.stringify(value)?.slice(0, 30)}`;
  const singles = parameters
    .filter((one) => one.in !== 'header')
    .flatMap(({ name, in: where, schema }) =>
      (where === 'path'
        ? ['(a+)+$', 'a', 'a'.repeat(LONGEST_IN_ADDRESS)]
        : extremesOf(document, schema, LONGEST_IN_ADDRESS / 3)
      ).map((value) =>
        probe(shown(name, value), where === 'path' ? { paths: { [name]: value } } : { query: { [name]: value } }),
      ),
    );
  const numbers = parameters
    .filter((one) => one.in === 'query' && choices(document, one.schema).some(({ type }) => type === 'integer'))
    .map(({ name, schema }): [string, unknown[]] => {
      const [{ minimum = 0, maximum = 60_000_000_000 } = {}] = choices(document, schema);
      return [name, [undefined, minimum, Math.min(maximum, 60_000_000_000)]];
    });
  const together = numbers.length < 2 ? [] : product(numbers).slice(0, MOST_TOGETHER);
  const members =
    json?.schema === undefined
      ? []
      : extremesOf(document, json.schema, LONGEST_IN_BODY).map((value) => {
          const isMember = typeof value === 'object' && value !== null && !Array.isArray(value);
          const [[name, inner] = ['body', value]] = isMember ? Object.entries(value) : [];
          return probe(shown(name, inner), { body: isMember ? { ...(base as object), ...value } : value });
        });
  const isPaged = parameters.some(({ name }) => name === 'cursor');
  return [
    { ...probe('as in its example', {}), isPaged },
    ...together.map((query) => probe(shown('all', query), { query })),
    ...sampled(singles, method === 'get' ? MOST_READS : MOST_WRITES),
    ...sampled(members, MOST_WRITES),
  ];
}

/** At most so many, evenly from all. */
function sampled<T>(all: readonly T[], most: number): T[] {
  const every = Math.max(1, all.length / most);
  return all.filter((_, n) => n % every < 1);
}

/** The same with what was made in place of the placeholders. */
function replaced(value: unknown, made: Record<string, string>): unknown {
  if (typeof value === 'string') return made[value] ?? value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, made));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaced(inner, made)]));
}
