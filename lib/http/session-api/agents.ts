/**
 * Blueprints as agents of Ash: made of files, listed, shown, read and deleted. A blueprint never changes, so what would
 * change an agent is refused.
 */
import { z } from 'zod';
import { type Blueprint, createSchema, slugSchema } from '../../contract/schema.ts';
import type { VfsPath } from '../../vfs/paths.ts';
import { json } from '../answer.ts';
import type { Route, RouteContext } from '../route.ts';
import { filesFrom, MAX_FILES, pathIn, relative } from './files.ts';
import { isoOf, refused } from './session.ts';
import { allOf, onlyTenantOf, restParam, sessionRoute, wholeText } from './session-route.ts';

const agentParams = z.strictObject({ name: slugSchema });
const agentFileParams = z.strictObject({ name: slugSchema, path: restParam });

/** Where an agent of Ash finds what it is told once and for all. */
const PROMPT_FILE = 'CLAUDE.md';
const TEXT_LENGTH = 10_000_000;

const MADE_OF = ['name', 'files', 'systemPrompt'];
const makeSchema = z.looseObject({
  name: slugSchema,
  files: z
    .array(z.object({ path: z.string().min(1).max(1_024), content: wholeText.max(TEXT_LENGTH) }))
    .max(MAX_FILES)
    .default([]),
  systemPrompt: wholeText.min(1).max(TEXT_LENGTH).optional(),
});
type Made = z.output<typeof makeSchema>;

/** A blueprint as `{agent}` shows it. It never changes, so its version is always the first. */
function agentFrom({ name, created }: Blueprint) {
  const createdAt = isoOf(created);
  return { id: name, name, version: 1, path: `/blueprints/${name}`, createdAt, updatedAt: createdAt };
}

/**
 * A blueprint of files: a sandbox is filled with them and deleted again, whatever happens. It is ephemeral, so that one
 * that a dying server leaves behind is deleted too.
 */
async function make({ services, caller, body }: RouteContext<unknown, unknown, Made>): Promise<Blueprint> {
  const { operations } = services;
  const files: [path: VfsPath, content: string][] = body.files.map(({ path, content }) => [pathIn('', path), content]);
  if (body.systemPrompt !== undefined) files.push([pathIn('', PROMPT_FILE), body.systemPrompt]);
  const { id } = await operations.createInstance(
    caller,
    createSchema.parse({ tenant: onlyTenantOf(caller), ephemeral: true }),
  );
  try {
    for (const [path, content] of files) {
      await operations.putFile(caller, id, 'workspace', path, Buffer.from(content, 'utf8'));
    }
    return await operations.createBlueprint(caller, { name: body.name, from_instance: id });
  } finally {
    // The blueprint is made or was refused, which is the answer; a sandbox that cannot be deleted stays listed.
    await operations.runPlan(caller, id, { to: 'deleted' }).catch(() => undefined);
  }
}

const unchanging = (method: Route['method'], path: string) =>
  sessionRoute({
    method,
    path,
    operation: 'createBlueprint',
    params: path.endsWith('*') ? agentFileParams : agentParams,
    body: z.unknown(),
    handle: () => refused(501, 'An agent is a blueprint here, which never changes: make another one.'),
  });

export const AGENT_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/agents',
    operation: 'listBlueprints',
    async handle({ services, caller }) {
      const agents = await allOf((page) => services.operations.listBlueprints(caller, page));
      return json(200, { agents: agents.map(agentFrom) });
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/agents',
    operation: 'createBlueprint',
    body: makeSchema,
    async handle(context) {
      const { body } = context;
      const unknown = Object.keys(body).find((key) => !MADE_OF.includes(key));
      if (unknown !== undefined) return refused(501, `${unknown.slice(0, 80)} has no meaning for an agent here.`);
      if (body.files.length === 0 && body.systemPrompt === undefined) {
        return refused(400, 'An agent is made of files, of a systemPrompt, or of both.');
      }
      return json(201, { agent: agentFrom(await make(context)) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name',
    operation: 'getBlueprint',
    params: agentParams,
    handle: async ({ services, caller, params }) =>
      json(200, { agent: agentFrom(await services.operations.getBlueprint(caller, params.name)) }),
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/agents/:name',
    operation: 'deleteBlueprint',
    params: agentParams,
    async handle({ services, caller, params }) {
      const agent = agentFrom(await services.operations.getBlueprint(caller, params.name));
      await services.operations.deleteBlueprint(caller, params.name);
      return json(200, { agent });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name/files',
    operation: 'blueprintFiles',
    params: agentParams,
    async handle({ services, caller, params }) {
      const files = await allOf((page) => services.operations.blueprintFiles(caller, params.name, page));
      return json(200, { files: filesFrom(files) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/agents/:name/files/*',
    operation: 'blueprintFile',
    params: agentFileParams,
    query: z.strictObject({ format: z.literal('json').optional() }),
    async handle({ services, caller, params }) {
      const content = await services.operations.blueprintFile(caller, params.name, params.path);
      const text = Buffer.from(content).toString('utf8');
      return json(200, { path: relative(params.path), content: text, size: content.length });
    },
  }),
  unchanging('PATCH', '/agents/:name'),
  unchanging('POST', '/agents/:name/files'),
  unchanging('DELETE', '/agents/:name/files/*'),
];
