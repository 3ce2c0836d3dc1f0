/**
 * Prints the client's table of calls from the route table: one signature and one line per route, with the types of the route's own
 * schemas by their names in lib/api/schema.ts. Knows nothing of how the client sends.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { parametersOf } from '../../lib/api/client/address.ts';
import type { AnswerKind, CallLine } from '../../lib/api/client/call.ts';
import type { AnswerDoc, OrUpload, Route } from '../../lib/api/route.ts';
import { ROUTES } from '../../lib/api/routes.ts';
import * as schemas from '../../lib/api/schema.ts';
import { ROOT } from '../build.ts';

export const CALLS_FILE = join(ROOT, 'lib', 'api', 'client', 'calls.ts');

/** What a route's answers are to the client, and the TypeScript type of it. */
interface Answered {
  kind: AnswerKind;
  type: string;
}

const names = new Map<unknown, string>(Object.entries(schemas).map(([name, value]) => [value, name]));

function nameOf(schema: z.ZodType, route: Route, used: Set<string>): string {
  const name = names.get(schema);
  if (name === undefined) {
    throw new Error(`${route.name}: a schema of its body, query or answers is not exported from lib/api/schema.ts.`);
  }
  used.add(name);
  return name;
}

function outputOf(schema: z.ZodType, route: Route, used: Set<string>): string {
  if (names.has(schema) || !(schema instanceof z.ZodArray)) return `z.output<typeof ${nameOf(schema, route, used)}>`;
  return `${outputOf(schema.element as z.ZodType, route, used)}[]`;
}

function answeredBy(route: Route, used: Set<string>): Answered {
  const good = Object.entries(route.answers).filter(([status]) => Number(status) < 300);
  const docs = good.map(([, doc]) => doc as AnswerDoc);
  const media = docs.map((doc) => doc.mediaType).find((type) => type !== undefined);
  const has = (header: string) => docs.some((doc) => doc.headers !== undefined && header in doc.headers);
  if (media === 'text/event-stream') return { kind: 'events', type: 'Promise<Download>' };
  if (media === 'text/plain') return { kind: 'text', type: 'Promise<string>' };
  if (media !== undefined && media !== 'application/json') return { kind: 'download', type: 'Promise<Download>' };
  const answers = docs.flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
  if (answers.length === 0) {
    if (media !== undefined) return { kind: 'json', type: 'Promise<unknown>' };
    return has('ETag') ? { kind: 'written', type: 'Promise<Written>' } : { kind: 'nothing', type: 'Promise<void>' };
  }
  const [first] = answers;
  if (answers.length === 1 && first instanceof z.ZodArray && (has('Link') || has('X-Truncated'))) {
    return { kind: 'page', type: `Pages<${outputOf(first.element as z.ZodType, route, used)}>` };
  }
  const union = [...new Set(answers.map((schema) => outputOf(schema, route, used)))].join(' | ');
  return { kind: 'json', type: `Promise<${union}>` };
}

function input(name: string, schema: z.ZodType, route: Route, used: Set<string>, optional: boolean): string {
  return `${name}${optional ? '?' : ''}: z.input<typeof ${nameOf(schema, route, used)}>`;
}

const isJson = (body: Route['body']): body is z.ZodType => body instanceof z.ZodType;
const isEither = (body: Route['body']): body is OrUpload => body !== null && typeof body === 'object' && 'json' in body;

/** The argument of a body; it may be left out when nothing that follows is required. */
function bodyArgument(route: Route, used: Set<string>, mayBeLeftOut: boolean): string[] {
  const { body } = route;
  if (body === null) return [];
  if (isJson(body)) return [input('input', body, route, used, mayBeLeftOut && takesNothing(body))];
  return [isEither(body) ? `${input('input', body.json, route, used, false)} | Upload` : 'body: Upload'];
}

const takesNothing = (schema: z.ZodType) => schema.safeParse({}).success;

/** The arguments of a call: path, body, query, options. Only what nothing required follows may be left out. */
function argumentsOf(route: Route, used: Set<string>): string[] {
  const { query } = route;
  const queryOptional = query === null || takesNothing(query);
  return [
    ...parametersOf(route.path).map((name) => `${name}: ${name === 'volume' ? 'Volume' : 'string'}`),
    ...bodyArgument(route, used, queryOptional),
    ...(query === null ? [] : [input('query', query, route, used, queryOptional)]),
    'options?: CallOptions',
  ];
}

function bodyKind(body: Route['body']): CallLine['body'] {
  if (body === null) return null;
  return isJson(body) ? 'json' : isEither(body) ? 'either' : 'bytes';
}

/** The lines of the route table as the client needs them, by name. */
export function linesOf(routes: readonly Route[]): Record<string, CallLine> {
  return Object.fromEntries(
    routes.map((route) => [
      route.name,
      {
        method: route.method,
        path: route.root ? route.path : `/api${route.path}`,
        body: bodyKind(route.body),
        query: route.query !== null,
        answer: answeredBy(route, new Set()).kind,
      },
    ]),
  );
}

/** The whole file. Throws when a route uses a schema that lib/api/schema.ts does not export. */
export async function callsText(routes: readonly Route[] = ROUTES): Promise<string> {
  const used = new Set<string>();
  const signatures = routes.map(
    (route) =>
      `  /** ${route.summary.replaceAll('*/', '* /')} */\n  ${route.name}(${argumentsOf(route, used).join(', ')}): ${answeredBy(route, used).type};`,
  );
  const lines = Object.entries(linesOf(routes)).map(([name, line]) => `  ${name}: ${JSON.stringify(line)},`);
  return formatted(`/** The table of calls, printed from the route table by \`npm run client:calls\`. Not to be written by hand. */
import type { z } from 'zod';
import type { Volume } from '../../vfs/volumes.ts';
import type { ${[...used].sort().join(', ')} } from '../schema.ts';
import type { Download } from './bytes.ts';
import type { CallLine, CallOptions, Upload, Written } from './call.ts';
import type { Pages } from './pages.ts';

/** Every operation of the route table. */
export interface Calls {
${signatures.join('\n')}
}

/** How each is sent and read. */
export const CALLS = {
${lines.join('\n')}
} as const satisfies Record<keyof Calls, CallLine>;
`);
}

/** The text as the house's formatter has it. */
function formatted(text: string): string {
  const run = spawnSync(
    join(ROOT, 'node_modules', '.bin', 'biome'),
    ['check', '--write', '--stdin-file-path=lib/api/client/calls.ts'],
    {
      cwd: ROOT,
      input: text,
      encoding: 'utf8',
    },
  );
  if (run.status !== 0) throw new Error(`The table could not be formatted:\n${run.stderr}`);
  return run.stdout;
}
