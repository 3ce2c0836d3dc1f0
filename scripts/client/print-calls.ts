/**
 * Prints the client's table of calls from the route table: one signature and one line per route, with plain types that
 * are made of the route's own schemas. Knows nothing of how the client sends.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { parametersOf } from '../../lib/client/address.ts';
import type { AnswerKind, CallLine } from '../../lib/client/call.ts';
import { problemSchema } from '../../lib/contract/schema.ts';
import type { AnswerDoc, OrUpload, Route } from '../../lib/http/route.ts';
import { ROUTES } from '../../lib/http/routes.ts';
import { ROOT } from '../build.ts';
import { ensurePeers } from '../peers.ts';
import { toolAt } from '../run.ts';
import { docComment } from './doc-comment.ts';
import type { Side } from './plain-type.ts';
import { TypeBook } from './print-types.ts';

const FOLDER = join(ROOT, 'lib', 'client');

/** What a route's answers are to the client, and the TypeScript type of it. */
interface Answered {
  kind: AnswerKind;
  type: string;
}

function nameOf(schema: z.ZodType, side: Side, route: Route, types: TypeBook): string {
  const name = types.name(schema, side);
  if (name !== null) return name;
  throw new Error(`${route.name}: a schema of its body, query or answers is not exported from lib/contract/schema.ts.`);
}

function outputOf(schema: z.ZodType, route: Route, types: TypeBook): string {
  if (schema instanceof z.ZodArray && types.name(schema, 'output') === null) {
    return `${outputOf(schema.element as z.ZodType, route, types)}[]`;
  }
  return nameOf(schema, 'output', route, types);
}

/** What a route's good answers are to the client. */
export function answeredBy(route: Route, types: TypeBook): Answered {
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
    return { kind: 'page', type: `Pages<${outputOf(first.element as z.ZodType, route, types)}>` };
  }
  const union = [...new Set(answers.map((schema) => outputOf(schema, route, types)))].join(' | ');
  return { kind: 'json', type: `Promise<${union}>` };
}

function input(name: string, schema: z.ZodType, route: Route, types: TypeBook, optional: boolean): string {
  return `${name}${optional ? '?' : ''}: ${nameOf(schema, 'input', route, types)}`;
}

const isJson = (body: Route['body']): body is z.ZodType => body instanceof z.ZodType;
const isEither = (body: Route['body']): body is OrUpload => body !== null && typeof body === 'object' && 'json' in body;

/** The argument of a body; it may be left out when nothing that follows is required. */
function bodyArgument(route: Route, types: TypeBook, mayBeLeftOut: boolean): string[] {
  const { body } = route;
  if (body === null) return [];
  if (isJson(body)) return [input('input', body, route, types, mayBeLeftOut && takesNothing(body))];
  return [isEither(body) ? `${input('input', body.json, route, types, false)} | Upload` : 'body: Upload'];
}

const takesNothing = (schema: z.ZodType) => schema.safeParse({}).success;

/** The arguments of a call: path, body, query, options. Only what nothing required follows may be left out. */
export function argumentsOf(route: Route, types: TypeBook): string[] {
  const { query } = route;
  const queryOptional = query === null || takesNothing(query);
  return [
    ...parametersOf(route.path).map((name) => `${name}: ${name === 'volume' ? 'Volume' : 'string'}`),
    ...bodyArgument(route, types, queryOptional),
    ...(query === null ? [] : [input('query', query, route, types, queryOptional)]),
    'options?: CallOptions',
  ];
}

function bodyKind(body: Route['body']): CallLine['body'] {
  if (body === null) return null;
  return isJson(body) ? 'json' : isEither(body) ? 'either' : 'bytes';
}

/** The lines of the route table as the client needs them, by name. */
export function callLinesOf(routes: readonly Route[]): Record<string, CallLine> {
  return Object.fromEntries(
    routes.map((route) => [
      route.name,
      {
        // In this order the table is a tenth smaller when it is packed.
        path: route.root ? route.path : `/api${route.path}`,
        body: bodyKind(route.body),
        method: route.method,
        query: route.query !== null,
        answer: answeredBy(route, new TypeBook()).kind,
      },
    ]),
  );
}

/** The printed files by their paths. Throws when a route uses a schema that lib/contract/schema.ts does not export. */
export async function printedFiles(
  routes: readonly Route[] = ROUTES,
): Promise<Record<'calls' | 'types' | 'test', Printed>> {
  const types = new TypeBook();
  const signatures = routes.map(
    (route) =>
      `${docComment(route.summary, 2)}  ${route.name}(${argumentsOf(route, types).join(', ')}): ${answeredBy(route, types).type};`,
  );
  const named = types.requestedNames();
  // No call answers with it: it is what each may fail with.
  types.name(problemSchema, 'output');
  const lines = Object.entries(callLinesOf(routes)).map(([name, line]) => `  ${name}: ${JSON.stringify(line)},`);
  return {
    calls: printed(
      'calls.ts',
      `/** The table of calls, printed from the route table by \`npm run client:calls\`. Not to be written by hand. */
import type { Volume } from '../vfs/volumes.ts';
import type { Download } from './bytes.ts';
import type { CallLine, CallOptions, Upload, Written } from './call.ts';
import type { Pages } from './pages.ts';
import type { ${named.join(', ')} } from './types.ts';

/** Every operation of the route table. */
export interface Calls {
${signatures.join('\n')}
}

/** How each is sent and read. */
export const CALLS = {
${lines.join('\n')}
} as const satisfies Record<keyof Calls, CallLine>;
`,
    ),
    types: printed('types.ts', types.typesText()),
    test: printed('types.test.ts', types.testText()),
  };
}

/** A file that is printed: where it lies, and its text as the house's formatter has it. */
interface Printed {
  path: string;
  text: string;
}

function printed(name: string, text: string): Printed {
  ensurePeers();
  const run = spawnSync(toolAt('biome'), ['check', '--write', `--stdin-file-path=lib/client/${name}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${name} could not be formatted:\n${run.stderr}`);
  return { path: join(FOLDER, name), text: run.stdout };
}
