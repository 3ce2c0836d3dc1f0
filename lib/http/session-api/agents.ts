/**
 * Agents as clients of Ash deploy them: a tenant's own files under a name, deployed again and again. Blueprints are
 * agents too, of every tenant, which never change; an agent of the same name goes before.
 */
import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { type Blueprint, envPatchSchema, slugSchema } from '../../contract/schema.ts';
import type { AgentChange } from '../../copies/agents.ts';
import type { AgentRow } from '../../registry/agents.ts';
import type { VfsPath } from '../../vfs/paths.ts';
import { type Answer, json } from '../answer.ts';
import type { Route, RouteContext } from '../route.ts';
import { filesFrom, MAX_FILES, pathIn, relative } from './files.ts';
import { isoOf, refused } from './session.ts';
import { uuidFor } from './session-id.ts';
import { allOf, modelSchema, onlyTenantOf, restParam, sessionRoute, wholeText } from './session-route.ts';

/** What their command line makes of any name of a folder. */
export const agentNameSchema = z
  .string()
  .max(255)
  .regex(/^[a-zA-Z0-9_-]+$/, 'must be letters, digits, _ and -');
const agentParams = z.strictObject({ name: agentNameSchema });
const agentFileParams = z.strictObject({ name: agentNameSchema, path: restParam });

/** Where an agent of Ash finds what it is told once and for all. */
const PROMPT_FILE = 'CLAUDE.md';
const TEXT_LENGTH = 1_000_000;

const filesSchema = z
  .array(z.object({ path: z.string().min(1).max(1_024), content: z.base64() }))
  .max(MAX_FILES)
  .optional();
const described = {
  systemPrompt: wholeText.max(TEXT_LENGTH).nullable().optional(),
  description: wholeText.max(10_000).nullable().optional(),
  model: modelSchema.nullable().optional(),
  env: envPatchSchema.shape.env.optional(),
};
const deploySchema = z.looseObject({ name: agentNameSchema, files: filesSchema, ...described });
const changeSchema = z.looseObject(described);
const uploadSchema = z.object({ files: filesSchema.unwrap().min(1) });
type Described = z.output<typeof changeSchema> & { files?: z.output<typeof filesSchema> };

/** What has a meaning here. A folder of the server's own machine has none: nobody may have it read. */
const KNOWN = ['name', 'files', ...Object.keys(described)];

function unknownIn(body: object): Answer | null {
  const unknown = Object.keys(body).find((key) => !KNOWN.includes(key));
  if (unknown === undefined) return null;
  const hint = unknown === 'path' ? ' Send its files.' : '';
  return refused(501, `${unknown.slice(0, 80)} has no meaning for an agent here.${hint}`);
}

/** What a body changes. A prompt among the files goes before `systemPrompt`. Throws `validation`. */
function changeOf({ files = [], systemPrompt, description, model, env }: Described): AgentChange {
  const put = files.map(({ path, content }): [VfsPath, Buffer] => [pathIn('', path), Buffer.from(content, 'base64')]);
  const prompt = pathIn('', PROMPT_FILE);
  if (systemPrompt && !put.some(([path]) => path === prompt)) put.push([prompt, Buffer.from(systemPrompt, 'utf8')]);
  const values = Object.entries(env ?? {}).filter((one): one is [string, string] => one[1] !== null);
  return {
    files: put,
    ...(description === undefined ? {} : { description }),
    ...(model === undefined ? {} : { model }),
    ...(env === undefined ? {} : { env: Object.fromEntries(values) }),
  };
}

/** An agent as `{agent}` shows it: the names of its variables, and no value. */
function agentOfRow(row: AgentRow) {
  const { id, name, tenant, version, description, model } = row;
  const env = Object.fromEntries(Object.keys(row.env).map((key) => [key, '***']));
  const times = { createdAt: isoOf(row.created), updatedAt: isoOf(row.updated) };
  return { id, name, tenantId: tenant, version, path: `/agents/${name}`, description, model, env, ...times };
}

/** A blueprint as one: it never changes, so its version is always the first. */
function agentOfBlueprint({ name, created }: Blueprint) {
  const createdAt = isoOf(created);
  const id = uuidFor(`blueprint ${name}`);
  return { id, name, version: 1, path: `/blueprints/${name}`, createdAt, updatedAt: createdAt };
}

type Asked = Pick<RouteContext, 'services' | 'caller'>;

/** The only tenant of a key, or null. */
const tenantOf = ({ tenants }: Caller): string | null => (tenants?.length === 1 ? (tenants[0] ?? null) : null);

/** The agent of that name of the caller's own tenant, or null. */
export async function ownAgent({ services, caller }: Asked, name: string): Promise<AgentRow | null> {
  const tenant = tenantOf(caller);
  if (tenant === null) return null;
  try {
    return await services.operations.getAgent(caller, tenant, name);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** The name of a blueprint, if an agent's name can be one. Throws `not_found`. */
export function blueprintName(name: string): string {
  if (slugSchema.safeParse(name).success) return name;
  throw new WinterdockError('not_found', `There is no agent "${name}".`);
}

const UNCHANGING = 'This agent is a blueprint, which never changes: deploy one of your own by its name.';

/** A route that changes an agent of the caller's own tenant. */
const changing = <B extends z.ZodType>(spec: {
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: B;
  answer(
    context: RouteContext<{ name: string; path?: VfsPath }, unknown, z.output<B>>,
    tenant: string,
  ): Promise<Answer>;
}) =>
  sessionRoute({
    method: spec.method,
    path: spec.path,
    operation: 'deployAgent',
    params: spec.path.endsWith('*') ? agentFileParams : agentParams,
    ...(spec.body === undefined ? {} : { body: spec.body }),
    async handle(context) {
      const { services, caller, params } = context;
      if ((await ownAgent(context, params.name)) === null) {
        await services.operations.getBlueprint(caller, blueprintName(params.name));
        return refused(501, UNCHANGING);
      }
      return spec.answer(context as never, onlyTenantOf(caller));
    },
  });

export const AGENT_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/agents',
    operation: 'listAgents',
    async handle({ services, caller }) {
      const own = await allOf((page) => services.operations.listAgents(caller, page));
      const names = new Set(tenantOf(caller) === null ? [] : own.map(({ name }) => name));
      const blueprints = await allOf((page) => services.operations.listBlueprints(caller, page));
      const others = blueprints.filter(({ name }) => !names.has(name));
      return json(200, { agents: [...own.map(agentOfRow), ...others.map(agentOfBlueprint)] });
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/agents',
    operation: 'deployAgent',
    body: deploySchema,
    async handle({ services, caller, body }) {
      const unknown = unknownIn(body);
      if (unknown !== null) return unknown;
      const { name } = body;
      const change = changeOf(body);
      const placeholder = [pathIn('', PROMPT_FILE), Buffer.from(`# ${name}\n`)] as const;
      const row = await services.operations.deployAgent(caller, onlyTenantOf(caller), name, { ...change, placeholder });
      return json(201, { agent: agentOfRow(row) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name',
    operation: 'getAgent',
    params: agentParams,
    async handle(context) {
      const { services, caller, params } = context;
      const own = await ownAgent(context, params.name);
      if (own !== null) return json(200, { agent: agentOfRow(own) });
      const blueprint = await services.operations.getBlueprint(caller, blueprintName(params.name));
      return json(200, { agent: agentOfBlueprint(blueprint) });
    },
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/agents/:name',
    operation: 'deleteAgent',
    params: agentParams,
    async handle(context) {
      const { services, caller, params } = context;
      if ((await ownAgent(context, params.name)) !== null) {
        const row = await services.operations.deleteAgent(caller, onlyTenantOf(caller), params.name);
        return json(200, { ok: true, agent: agentOfRow(row) });
      }
      const blueprint = await services.operations.getBlueprint(caller, blueprintName(params.name));
      await services.operations.deleteBlueprint(caller, blueprint.name);
      return json(200, { ok: true, agent: agentOfBlueprint(blueprint) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name/files',
    operation: 'agentFiles',
    params: agentParams,
    async handle(context) {
      const { services, caller, params } = context;
      const own = await ownAgent(context, params.name);
      const files = await allOf((page) =>
        own === null
          ? services.operations.blueprintFiles(caller, blueprintName(params.name), page)
          : services.operations.agentFiles(caller, own.tenant, own.name, page),
      );
      return json(200, { files: filesFrom(files) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name/files/*',
    operation: 'agentFile',
    params: agentFileParams,
    query: z.strictObject({ format: z.literal('json').optional() }),
    async handle(context) {
      const { services, caller, params } = context;
      const own = await ownAgent(context, params.name);
      const content = await (own === null
        ? services.operations.blueprintFile(caller, blueprintName(params.name), params.path)
        : services.operations.agentFile(caller, own.tenant, own.name, params.path));
      const text = Buffer.from(content).toString('utf8');
      return json(200, { path: relative(params.path), content: text, size: content.length });
    },
  }),
  changing({
    method: 'PATCH',
    path: '/agents/:name',
    body: changeSchema,
    async answer({ services, caller, params, body }, tenant) {
      const unknown = unknownIn({ ...body });
      if (unknown !== null) return unknown;
      const change = changeOf(body);
      const row = await services.operations.deployAgent(caller, tenant, params.name, change, { mustExist: true });
      return json(200, { agent: agentOfRow(row) });
    },
  }),
  changing({
    method: 'POST',
    path: '/agents/:name/files',
    body: uploadSchema,
    async answer({ services, caller, params, body }, tenant) {
      await services.operations.deployAgent(caller, tenant, params.name, changeOf(body), { mustExist: true });
      return json(200, { written: body.files.length });
    },
  }),
  changing({
    method: 'DELETE',
    path: '/agents/:name/files/*',
    async answer({ services, caller, params }, tenant) {
      const change = params.path === undefined ? {} : { remove: params.path };
      await services.operations.deployAgent(caller, tenant, params.name, change, { mustExist: true });
      return json(200, { deleted: true });
    },
  }),
];
