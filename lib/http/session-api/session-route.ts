/** What every route of the session API has in common: its errors, and the sandbox of a session that goes on. */
import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { type Instance, listQuerySchema } from '../../contract/schema.ts';
import { MAKING_LABEL } from '../../copies/agents.ts';
import type { ListPage } from '../../operations/list-page.ts';
import type { Operations } from '../../operations/operations.ts';
import type { VfsPath } from '../../vfs/paths.ts';
import type { Answer } from '../answer.ts';
import { customRoute, type ParsedInput, type Route, type RouteContext } from '../route.ts';
import { PAUSED_LABEL, refusalOf, refused } from './session.ts';
import { parseSessionId, sessionIdOf } from './session-id.ts';

/** The most rows that one list reads, `ROWS_A_READ` at a time. */
export const MAX_ROWS = 10_000;
export const ROWS_A_READ = 500;

/** The id of a session, or of the sandbox that it is. */
export const sessionIdSchema = z.string().transform((text, context): InstanceId => {
  const parsed = parseSessionId(text);
  if (parsed !== null) return parsed.id;
  context.addIssue({ code: 'custom', message: 'must be a UUID' });
  return z.NEVER;
});
export const sessionParams = z.strictObject({ id: sessionIdSchema });
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
  const route = customRoute({ ...spec, name, summary: name, tag: 'Sessions', answers: {} });
  const isResume = spec.path.endsWith('/resume');
  return {
    ...route,
    sandboxOf: /^\/sessions\/:id(?:\/|$)/.test(spec.path)
      ? (at) => found(at, (at.params as { id: InstanceId }).id)
      : null,
    refusal: (problem, thrown) => refusalOf(problem, thrown, { isResume }),
    async handle(context) {
      const { id, ...others } = context.params as { id?: InstanceId };
      if (id === undefined) return route.handle(context);
      return route.handle({ ...context, params: { ...others, id: await found(context, id) } });
    },
  };
}

/** The sandbox behind an id that is a hash: its own id is too long for a UUID, so it is looked for in the list. */
async function found(context: Pick<RouteContext, 'services' | 'caller'>, id: InstanceId): Promise<InstanceId> {
  if (!parseSessionId(id)?.isHashed) return id;
  for (const state of ['', 'deleted']) {
    for await (const instance of sandboxesOf(context, state)) if (sessionIdOf(instance.id) === id) return instance.id;
  }
  return id;
}

/** The caller's sandboxes, newest first, at most `MAX_ROWS`: those of one state, or all but the deleted. */
export async function* sandboxesOf(
  { services, caller }: Pick<RouteContext, 'services' | 'caller'>,
  state: string,
): AsyncGenerator<Instance> {
  let cursor: string | undefined;
  for (let read = 0; read < MAX_ROWS; read += ROWS_A_READ) {
    const of = { sort: 'created', limit: ROWS_A_READ, ...(state && { state }), ...(cursor && { cursor }) };
    const { items, next } = await services.operations.listInstances(caller, listQuerySchema.parse(of));
    // What an agent's files are put into is no session.
    yield* items.filter(({ labels }) => labels[MAKING_LABEL] === undefined);
    if (next === null) return;
    cursor = next;
  }
}

type Addressed = Pick<RouteContext<{ id: Instance['id'] }>, 'services' | 'caller' | 'params'>;

/** The sandbox of a session that goes on. Throws `gone` after its end. */
export async function ongoing({ services, caller, params }: Addressed): Promise<Instance> {
  const instance = await services.operations.getInstance(caller, params.id, { deleted: true });
  if (instance.state !== 'deleted') return instance;
  throw new WinterdockError('gone', `The session ${sessionIdOf(instance.id)} has ended.`);
}

/** The same, for what shows or changes its workspace. Throws `not_found` after its end. */
export async function withWorkspace(context: Addressed): Promise<Instance> {
  const { services, caller, params } = context;
  const instance = await services.operations.getInstance(caller, params.id, { deleted: true });
  if (instance.state !== 'deleted') return instance;
  throw new WinterdockError('not_found', `The session ${sessionIdOf(instance.id)} has ended: no workspace is kept.`);
}

/** A session as its use leaves it: what runs in a paused one resumes it. */
export async function inUse(context: Addressed, instance: Instance): Promise<Instance> {
  if (instance.labels[PAUSED_LABEL] === undefined) return instance;
  return resumed(context);
}

/** A session that is active, and no longer paused. */
export async function resumed({ services, caller, params }: Addressed): Promise<Instance> {
  const { instance } = await services.operations.resume(caller, params.id, {});
  if (instance.labels[PAUSED_LABEL] === undefined) return instance as Instance;
  return services.operations.relabelInstance(caller, params.id, { [PAUSED_LABEL]: null });
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

/** What clients of Ash can call, and this server does not do. */
const ABSENT: readonly string[] = [
  '/analytics',
  '/attachments',
  '/credentials',
  '/evals',
  '/files',
  '/queue',
  '/sessions/:id/attachments',
  ...['config', 'eval-cases', 'eval-results', 'eval-runs', 'versions'].map((part) => `/agents/:name/${part}`),
];

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
  return [
    ...wrongMethods(taken),
    ...everywhere(ABSENT.flatMap(withRest).concat('/usage/*'), refused(501, 'This server does not do this.'), taken),
    ...everywhere(['/sessions/*', '/agents/*'], refused(404, 'There is nothing at this address.'), taken),
  ];
}
