/** Blueprints as agents of Ash: listed, shown and deleted. They are made by this project's own API. */
import { z } from 'zod';
import { type Blueprint, slugSchema } from '../../contract/schema.ts';
import { json } from '../answer.ts';
import type { Route } from '../route.ts';
import { MAX_ROWS, ROWS_A_READ, sessionRoute } from './door.ts';
import { refused } from './session.ts';

const agentParams = z.strictObject({ name: slugSchema });

/** A blueprint as `{agent}` shows it. It never changes, so its version is always the first. */
function agentFrom({ name, created }: Blueprint) {
  const createdAt = new Date(created * 1000).toISOString();
  return { id: name, name, version: 1, path: `/blueprints/${name}`, createdAt, updatedAt: createdAt };
}

export const AGENT_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/agents',
    operation: 'listBlueprints',
    async handle({ services, caller }) {
      const agents: ReturnType<typeof agentFrom>[] = [];
      let cursor: string | undefined;
      while (agents.length < MAX_ROWS) {
        const ask = { limit: ROWS_A_READ, ...(cursor === undefined ? {} : { cursor }) };
        const { items, next } = await services.operations.listBlueprints(caller, ask);
        agents.push(...items.map(agentFrom));
        if (next === null) break;
        cursor = next;
      }
      return json(200, { agents });
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/agents',
    operation: 'createBlueprint',
    handle: () => refused(501, 'An agent is a blueprint, which is made of a sandbox: POST /api/blueprints.'),
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
];
