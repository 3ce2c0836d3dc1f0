/** For tests: a server with the session API, keys of two tenants and an agent, called as a client of Ash calls it. */
import { afterAll, beforeAll } from 'vitest';
import type { Role } from '../auth/roles.ts';
import type { FakeClock } from '../base/clock.ts';
import { startServer, type TestServer } from './server.ts';

interface Session {
  id: string;
  tenantId: string;
  agentName: string;
  status: string;
  parentSessionId: string | null;
  model: string | null;
}

/** The role and the tenant of each key. */
const KEYS: Readonly<Record<string, readonly [Role, tenant: string]>> = {
  acme: ['tenant', 'acme'],
  globex: ['tenant', 'globex'],
  looking: ['viewer', 'acme'],
};

/** Starts the server before a file's tests and stops it after them. The agent is called `writer`. */
export function useSessionServer() {
  let server: TestServer & { clock: FakeClock };
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    server = await startServer({ settings: { WB_SESSION_API: 'on' } });
    for (const [name, [role, tenant]] of Object.entries(KEYS)) {
      keys[name] = (await server.call<{ key: string }>('POST', '/api/keys', { name, role, tenant })).json.key;
    }
    await server.call('POST', '/api/instances', { id: 'mould', tenant: 'acme' });
    await server.call('PUT', '/api/instances/mould/volumes/workspace/agent.md', 'be brief');
    await server.call('POST', '/api/blueprints', { name: 'writer', from_instance: 'mould' });
  });
  afterAll(() => server.stop());

  /** One request; the answer must be JSON. */
  async function ask(method: string, path: string, body?: unknown, key = keys.acme) {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }
  async function session(method: string, path: string, body?: unknown): Promise<Session & { code: number }> {
    const { status, json } = await ask(method, path, body);
    return { ...(json.session as Session), code: status };
  }
  return { keys, ask, session, running: () => server };
}
