/** What every route of the session API has in common: its errors, and the sandbox of a session that goes on. */
import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { WinterdockError } from '../../base/errors.ts';
import { type Instance, instanceIdSchema } from '../../contract/schema.ts';
import type { ListPage } from '../../operations/list-page.ts';
import type { Operations } from '../../operations/operations.ts';
import type { VfsPath } from '../../vfs/paths.ts';
import type { Answer } from '../answer.ts';
import { customRoute, type ParsedInput, type Route, type RouteContext } from '../route.ts';
import { refusalOf, refused } from './session.ts';

/** The most rows that one list reads, `ROWS_A_READ` at a time. */
export const MAX_ROWS = 10_000;
export const ROWS_A_READ = 500;

export const sessionParams = z.strictObject({ id: instanceIdSchema });
/** The name of a model: what fits into a label, and is whole characters without control characters. */
export const modelSchema = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);
/** Half of a surrogate pair has no UTF-8: it would be kept as another character. */
export const wholeText = z.string().refine((text) => text.isWellFormed(), 'must be whole characters');
/** The rest of an address is parsed from its raw segments: see `filePathOf`. */
export const restParam = z.string() as z.ZodType as z.ZodType<VfsPath, string>;

/** All that a list has, at most `MAX_ROWS`. */
export async function allOf<T>(read: (page: { limit: number; cursor?: string }) => Promise<ListPage<T>>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  while (found.length < MAX_ROWS) {
    const { items, next } = await read({ limit: ROWS_A_READ, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...items);
    if (next === null) break;
    cursor = next;
  }
  return found;
}

/** The tenant that what is made belongs to. Throws `bad_request` for a key of several. */
export function onlyTenantOf({ tenants }: Caller): string {
  const [only] = tenants ?? [];
  if (only !== undefined && tenants?.length === 1) return only;
  throw new WinterdockError('bad_request', 'Sessions and agents are made with a key of one tenant.', {
    hint: 'Make a key for the tenant: POST /api/keys.',
  });
}

interface Spec<P extends z.ZodType | null, Q extends z.ZodType | null, B extends Route['body']> {
  method: Route['method'];
  path: string;
  /** At the root instead of below `/api`. */
  root?: boolean;
  access?: Route['access'];
  /** Who may enter; each further operation asks for itself. Null: any key, for what shows and changes nothing. */
  operation: keyof Operations | null;
  params?: P;
  query?: Q;
  body?: B;
  handle(context: RouteContext<ParsedInput<P>, ParsedInput<Q>, ParsedInput<B>>): Promise<Answer> | Answer;
}

/** A route of the session API: errors are `{error, statusCode}`. */
export function sessionRoute<
  P extends z.ZodType | null = null,
  Q extends z.ZodType | null = null,
  B extends Route['body'] = null,
>(spec: Spec<P, Q, B>): Route {
  const name = `${spec.method} ${spec.path}`;
  return { ...customRoute({ ...spec, name, summary: name, tag: 'Sessions', answers: {} }), refusal: refusalOf };
}

/** The sandbox of a session that goes on. Throws `gone` after its end. */
export async function ongoing({
  services,
  caller,
  params,
}: Pick<RouteContext<{ id: Instance['id'] }>, 'services' | 'caller' | 'params'>): Promise<Instance> {
  const instance = await services.operations.getInstance(caller, params.id);
  if (instance.state !== 'deleted') return instance;
  throw new WinterdockError('gone', `The session ${instance.id} has ended.`);
}

const METHODS: readonly Route['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Answers of one kind at addresses, for every method that has no route of its own there. */
function everywhere(paths: readonly string[], answer: Answer, taken: readonly Route[]): Route[] {
  const isTaken = (method: string, path: string) => taken.some((it) => it.method === method && it.path === path);
  const query = z.looseObject({});
  return paths.flatMap((path) =>
    METHODS.filter((method) => !isTaken(method, path)).map((method) =>
      sessionRoute({ method, path, operation: null, query, handle: () => answer }),
    ),
  );
}

const withRest = (path: string) => [path, `${path}/*`];

/** 405 for the methods that an address does not have, with those that it has. */
function wrongMethods(taken: readonly Route[]): Route[] {
  const paths = [...new Set(taken.filter(({ root }) => !root).map(({ path }) => path))];
  return paths.flatMap((path) => {
    const own = taken.filter((route) => route.path === path).map(({ method }) => method);
    const allow = [...own, ...(own.includes('GET') ? ['HEAD'] : [])].join(', ');
    const refusal = refused(405, `This address has ${allow} alone.`);
    return everywhere([path], { ...refusal, headers: { ...refusal.headers, allow } }, taken);
  });
}

/** What the session API does not do, and addresses where there is nothing: both answered in its clients' form. */
export function refusedRoutes(taken: readonly Route[]): Route[] {
  const absent = ['/credentials', '/evals', '/queue', '/attachments'].flatMap(withRest).concat('/usage/*');
  return [
    ...wrongMethods(taken),
    ...everywhere(absent, refused(501, 'This server does not do this.'), taken),
    ...everywhere(['/sessions/*', '/agents/*'], refused(404, 'There is nothing at this address.'), taken),
  ];
}
