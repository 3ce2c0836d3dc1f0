/** Deployments that a server does not survive: the agent is the old one or the new one, and nothing is left. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filesIn } from '../testing/files-in.ts';
import { processesOf } from '../testing/leftovers.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { AGENT_STEPS } from './agents.ts';

const VICTIM = join(import.meta.dirname, '../testing/copies-victim.ts');
const SETTINGS = { WB_POOL: '0', WB_SESSION_API: 'on' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-agents-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function keyOf(server: TestServer): Promise<string> {
  const key = { name: 'deployer', role: 'tenant', tenant: 'acme' };
  return (await server.call<{ key: string }>('POST', '/api/keys', key)).json.key;
}

function kill(step: string): void {
  const args = ['--no-warnings', programOf(VICTIM), folder, 'deploy', step];
  const victim = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(victim.signal, `${victim.stdout}${victim.stderr}`).toBe('SIGKILL');
}

describe.each(['first', 'second'])('a server killed during the %s deployment of an agent', (which) => {
  test.each(AGENT_STEPS)('leaves the old one or the new one at the step "%s"', async (step) => {
    const before = await startServer({ folder, settings: SETTINGS });
    const body = { name: 'Talker', files: [{ path: 'a', content: base64('old') }], model: 'old' };
    // The folder is made, and perhaps an agent in it.
    const first =
      which === 'first' ? null : await before.call('POST', '/api/agents', body, { key: await keyOf(before) });
    expect(first?.status ?? 201).toBe(201);
    await before.stop();
    kill(step);
    await expect.poll(() => processesOf(folder)).toEqual([]);

    const server = await startServer({ folder, settings: SETTINGS });
    try {
      const key = await keyOf(server);
      const call = <T>(method: 'GET' | 'POST', path: string, sent?: object) =>
        server.call<T>(method, path, sent, { key });
      const isNamed = step === 'deploy.named' || step === 'deploy.cleared';
      const expected = isNamed ? 'new' : which === 'first' ? null : 'old';
      const shown = await call<{ agent: { model: string } }>('GET', '/api/agents/Talker');
      expect(shown.status === 404 ? null : shown.json.agent.model).toBe(expected);
      if (expected !== null) {
        const file = await call<{ content: string }>('GET', '/api/agents/Talker/files/a');
        expect(file.json.content).toBe(expected);
      }
      // The start has cleared up: one snapshot for the agent, no other copy, and nothing that was filled.
      const snapshots = (await server.call<{ id: string }[]>('GET', '/api/snapshots')).json;
      expect(snapshots.length).toBe(expected === null ? 0 : 1);
      expect(filesIn(folder).filter((path) => path.startsWith('snapshots/')).length).toBe(snapshots.length);
      expect((await server.call('GET', '/api/instances')).json).toEqual([]);
      expect((await call<{ sessions: unknown[] }>('GET', '/api/sessions?status=ended')).json.sessions).toEqual([]);
      expect(await server.host.registry.agents.unfinished()).toEqual([]);
      // And it can be deployed again.
      const again = { ...body, files: [{ path: 'a', content: base64('again') }] };
      expect((await call('POST', '/api/agents', again)).status).toBe(201);
      const begun = await call<{ session: { id: string } }>('POST', '/api/sessions', { agent: 'Talker' });
      const ran = await call('POST', `/api/sessions/${begun.json.session.id}/exec`, { command: 'cat a' });
      expect(ran.json).toMatchObject({ stdout: 'again' });
    } finally {
      await server.stop();
    }
  });
});
