/**
 * The session API as clients of Ash call it: sessions are sandboxes, agents are blueprints. An adapter above the
 * operations: the key's tenant and role decide as everywhere else. Open only with `WB_SESSION_API=on`; not part of
 * the document, which describes this project's own contract.
 */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { parseInstanceId } from '../../base/ids.ts';
import { envPatchSchema, execSchema, type Instance, type ResumeAnswer } from '../../contract/schema.ts';
import { json } from '../answer.ts';
import type { Route, RouteContext } from '../route.ts';
import { AGENT_ROUTES, agentNameSchema, blueprintName, ownAgent } from './agents.ts';
import { EVENT_ROUTES } from './events.ts';
import { FILE_ROUTES } from './files.ts';
import { HEALTH_ROUTE } from './health.ts';
import { outputOf } from './output.ts';
import {
  AGENT_LABEL,
  agentOf,
  MODEL_LABEL,
  PAUSED_LABEL,
  refused,
  SESSION_STATUSES,
  sessionOf,
  sessionStatusOf,
} from './session.ts';
import {
  inUse,
  MAX_ROWS,
  modelSchema,
  ongoing,
  onlyTenantOf,
  refusedRoutes,
  resumed,
  sandboxesOf,
  sessionParams,
  sessionRoute,
} from './session-route.ts';
import { TALK_ROUTES } from './talk.ts';
import { WORKSPACE_ROUTES } from './workspace.ts';

const BEGUN_WITH = ['agent', 'extraEnv', 'model'];
const createSchema = z.looseObject({
  agent: agentNameSchema,
  extraEnv: envPatchSchema.shape.env.optional(),
  model: modelSchema.optional(),
});
const configSchema = z.looseObject({ model: modelSchema.nullable().optional() });
const { command, timeout_ms } = execSchema.shape;
const sessionExecSchema = z.object({ command: command.min(1), timeout: timeout_ms });
const listSchema = z.strictObject({
  agent: agentNameSchema.optional(),
  status: z.enum(SESSION_STATUSES).optional(),
  limit: z.coerce.number<string>().int().min(1).max(MAX_ROWS).default(MAX_ROWS),
  offset: z.coerce.number<string>().int().min(0).max(MAX_ROWS).default(0),
  includeTotal: z.enum(['true', 'false']).optional(),
});

/** As a sandbox has it, so that both names of a session are one. */
const newSessionId = () => parseInstanceId(randomUUID());

const shown = (instance: ResumeAnswer['instance']) => json(200, { session: sessionOf(instance) });

/** Sessions that match, newest first: at most `MAX_ROWS`. */
async function listed(context: RouteContext<unknown, z.output<typeof listSchema>>) {
  const { query } = context;
  const sessions: ReturnType<typeof sessionOf>[] = [];
  const enough = query.includeTotal === 'true' ? MAX_ROWS : query.offset + query.limit;
  for await (const instance of sandboxesOf(context, query.status === 'ended' ? 'deleted' : '')) {
    if (query.status !== undefined && sessionStatusOf(instance) !== query.status) continue;
    if (query.agent !== undefined && agentOf(instance) !== query.agent) continue;
    sessions.push(sessionOf(instance));
    if (sessions.length >= enough) break;
  }
  const page = sessions.slice(query.offset, query.offset + query.limit);
  return { sessions: page, ...(query.includeTotal === 'true' ? { total: sessions.length } : {}) };
}

/** A new session, running. One that finds no room is taken back, so that who tries again leaves none behind. */
async function begin(context: RouteContext<unknown, unknown, z.output<typeof createSchema>>) {
  const { services, caller, body } = context;
  const { operations } = services;
  const tenant = onlyTenantOf(caller);
  const agent = await ownAgent(context, body.agent);
  const model = body.model ?? agent?.model ?? null;
  const labels = {
    ...(model === null ? {} : { [MODEL_LABEL]: model }),
    ...(agent === null ? {} : { [AGENT_LABEL]: agent.name }),
  };
  const as = { id: newSessionId(), labels };
  const [made] =
    agent === null
      ? await operations.cloneBlueprint(caller, blueprintName(body.agent), { tenant, count: 1 }, as)
      : [await operations.seedFromAgent(caller, tenant, agent.name, as)];
  if (made === undefined) throw new WinterdockError('internal', 'A clone made nothing.');
  const env = { ...agent?.env, ...body.extraEnv };
  try {
    if (Object.keys(env).length > 0) await operations.patchInstanceEnv(caller, made.id, { env });
    return (await operations.resume(caller, made.id, {})).instance;
  } catch (error) {
    // What refused it is the answer; a sandbox that cannot be taken back stays listed as a session.
    await operations.runPlan(caller, made.id, { to: 'deleted' }).catch(() => undefined);
    throw error;
  }
}

/** A new session with what another holds now. It starts with its first resume or command. */
async function fork(context: RouteContext<{ id: Instance['id'] }>) {
  const { services, caller } = context;
  const { operations } = services;
  const parent = await ongoing(context);
  const snapshot = await operations.takeSnapshot(caller, parent.id, { tag: `fork of ${parent.id}` });
  let restored: Instance[];
  try {
    const agent = agentOf(parent);
    const model = parent.labels[MODEL_LABEL];
    const labels = {
      ...(agent === null ? {} : { [AGENT_LABEL]: agent }),
      ...(model === undefined ? {} : { [MODEL_LABEL]: model }),
    };
    restored = await operations.restoreSnapshot(
      caller,
      snapshot.id,
      { tenant: parent.tenant, count: 1 },
      { id: newSessionId(), labels },
    );
  } finally {
    // Its file stays for as long as the new sandbox needs it.
    await operations.deleteSnapshot(caller, snapshot.id);
  }
  const [made] = restored;
  if (made === undefined) throw new WinterdockError('internal', 'A restore made nothing.');
  return made;
}

const OWN_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/sessions',
    operation: 'listInstances',
    query: listSchema,
    handle: async (context) => json(200, await listed(context)),
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions',
    operation: 'cloneBlueprint',
    body: createSchema,
    async handle(context) {
      const unknown = Object.keys(context.body).find((key) => !BEGUN_WITH.includes(key));
      if (unknown !== undefined) return refused(501, `${unknown.slice(0, 80)} has no meaning for a session here.`);
      return json(201, { session: sessionOf(await begin(context)) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id',
    operation: 'getInstance',
    params: sessionParams,
    handle: async ({ services, caller, params }) =>
      shown(await services.operations.getInstance(caller, params.id, { deleted: true })),
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/pause',
    operation: 'pause',
    params: sessionParams,
    async handle(context) {
      const { services, caller, params } = context;
      const status = sessionStatusOf(await ongoing(context));
      if (status !== 'active') return refused(400, `Only an active session is paused: this one is ${status}.`);
      // First what is kept: a server that dies now has a paused session and no process.
      await services.operations.relabelInstance(caller, params.id, { [PAUSED_LABEL]: '1' });
      try {
        return shown(await services.operations.pause(caller, params.id));
      } catch (error) {
        // The ladder was quicker: it is paused all the same.
        if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
        return shown(await services.operations.getInstance(caller, params.id));
      }
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/resume',
    operation: 'resume',
    params: sessionParams,
    async handle(context) {
      const instance = await ongoing(context);
      // An active one stays as it is: nothing was resumed, and nothing is counted.
      return shown(sessionStatusOf(instance) === 'active' ? instance : await resumed(context));
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/stop',
    operation: 'runPlan',
    params: sessionParams,
    async handle(context) {
      const { services, caller, params } = context;
      const instance = await ongoing(context);
      if (instance.state === 'archived') return shown(instance);
      // What still runs after the drain time is stopped: the caller wants an end, not an answer about it.
      return shown(await services.operations.runPlan(caller, params.id, { to: 'archived', force: true }));
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/fork',
    operation: 'takeSnapshot',
    params: sessionParams,
    handle: async (context) => json(201, { session: sessionOf(await fork(context)) }),
  }),
  sessionRoute({
    method: 'PATCH',
    path: '/sessions/:id/config',
    operation: 'patchInstance',
    params: sessionParams,
    body: configSchema,
    async handle(context) {
      const { services, caller, params, body } = context;
      const { model, ...others } = body;
      const instance = await ongoing(context);
      const [unknown] = Object.keys(others);
      if (unknown !== undefined) return refused(501, `${unknown.slice(0, 80)} has no meaning for a session here.`);
      if (model === undefined) return shown(instance);
      return shown(await services.operations.relabelInstance(caller, params.id, { [MODEL_LABEL]: model }));
    },
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/sessions/:id',
    operation: 'runPlan',
    params: sessionParams,
    async handle({ services, caller, params }) {
      const ended = () => services.operations.getInstance(caller, params.id, { deleted: true });
      const instance = await ended();
      if (instance.state === 'deleted') return shown(instance);
      try {
        return shown(await services.operations.runPlan(caller, params.id, { to: 'deleted', force: true }));
      } catch (error) {
        // Two ends at once are one.
        if (!isWinterdockError(error) || error.code !== 'gone') throw error;
        return shown(await ended());
      }
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/exec',
    operation: 'exec',
    params: sessionParams,
    body: sessionExecSchema,
    async handle(context) {
      const { services, caller, params, body, signal } = context;
      await inUse(context, await ongoing(context));
      const input = { command: body.command, ...(body.timeout === undefined ? {} : { timeout_ms: body.timeout }) };
      const answer = await services.operations.exec(caller, params.id, input, { signal });
      return json(200, { exitCode: answer.exit_code, ...outputOf(answer) });
    },
  }),
];

const ANSWERED: readonly Route[] = [
  HEALTH_ROUTE,
  ...OWN_ROUTES,
  ...FILE_ROUTES,
  ...AGENT_ROUTES,
  ...TALK_ROUTES,
  ...EVENT_ROUTES,
  ...WORKSPACE_ROUTES,
];
export const SESSION_ROUTES: readonly Route[] = [...ANSWERED, ...refusedRoutes(ANSWERED)];
