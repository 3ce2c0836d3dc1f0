/** Folders in the data folder that belong to another user than the server's. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

/** Nobody, in every Linux. */
const USER = 65_534;
const AS_USER = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
const canChange = process.getuid?.() === 0 && spawnSync('setpriv', [...AS_USER.slice(1), 'true']).status === 0;

let folder: string;
let server: ServerProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-foreign-'));
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const settings = () => ({ WB_POOL: '0', WB_LOG: 'silent', WB_CACHE: join(folder, 'cache'), HOME: folder });
const start = () => spawnServer({ folder, within: AS_USER, settings: settings() });
const freeze = () => server?.call('POST', '/api/instances/a/freeze', {});

/** Takes a folder away from the server's user, and gives it back. */
function take(path: string): void {
  chownSync(path, 0, 0);
  chmodSync(path, 0o700);
}
const giveBack = (path: string) => chownSync(path, USER, USER);

// Only an administrator can give folders to other users.
test.runIf(canChange)(
  'a folder of another user among the drawers is named with its owner and the command that mends it',
  async () => {
    giveBack(folder);
    server = await start();
    expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    expect((await server.call('PUT', '/api/instances/a/volumes/workspace/kept', 'kept')).status).toBe(201);
    expect((await server.call('POST', '/api/instances/a/suspend', {})).status).toBe(200);
    expect(server.output()).not.toContain('belongs to');
    await server.end();

    // Nobody's work lies there: a disk that is made for the data folder has one.
    mkdirSync(join(folder, 'lost+found'));
    take(join(folder, 'lost+found'));
    const cold = join(folder, 'cold');
    take(cold);
    server = await start();
    const says = `${cold} belongs to root, and nobody can file nothing there. To mend it: chown -R nobody ${cold}`;
    await vi.waitFor(() => expect(server?.output()).toContain(says), 240_000);
    expect(server.output().match(/belongs to/g)).toHaveLength(1);
    const refused = await freeze();
    expect([refused?.status, refused?.json.code]).toEqual([503, 'storage_unavailable']);
    giveBack(cold);
    await vi.waitFor(async () => expect((await freeze())?.status).toBe(200), 240_000);
    expect((await server.call('GET', '/api/instances/a/volumes/workspace/kept')).text).toBe('kept');
    expect((await server.call('POST', '/api/instances/a/resume', {})).status).toBe(200);
    await server.end();

    const [live = ''] = readdirSync(join(folder, 'live')).filter((name) => name === 'a');
    take(join(folder, 'live', live));
    server = await start();
    await vi.waitFor(
      () => expect(server?.output()).toContain(`chown -R nobody ${join(folder, 'live', live)}`),
      240_000,
    );
    const { status, json } = await server.call('POST', '/api/instances/a/resume', {});
    expect([status, json.code]).toEqual([503, 'storage_unavailable']);
    giveBack(join(folder, 'live', live));
    await vi.waitFor(async () => {
      expect((await server?.call('POST', '/api/instances/a/resume', {}))?.status).toBe(200);
    }, 240_000);
    const shown = await server.call<{ fault: string | null }>('GET', '/api/instances/a');
    expect(shown.json.fault).toBeNull();
    expect((await server.call('GET', '/api/instances/a/volumes/workspace/kept')).text).toBe('kept');
  },
);
