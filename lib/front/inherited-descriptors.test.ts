/** What a started server, and all that it starts, has of the descriptors that it was given. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';

const isRoot = process.getuid?.() === 0;

let folder: string;
let secret: string;
const running: ServerProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-inherited-'));
  chmodSync(folder, 0o755);
  secret = join(folder, 'secret');
  writeFileSync(secret, 'of root alone', { mode: 0o600 });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

/** Open at a high descriptor, and at a low one behind a gap. */
const GIVEN = ['/bin/bash', '-c', 'exec 9<"$0" 200<"$0"; exec "$@"'];

/** The programs that walls are made of, and a /usr/bin of these alone. */
const TOOLS = 'sh bash setpriv unshare nsenter mount umount mkdir ln rm true cat';
const WITHOUT_PERL = `bin="$0"; for tool in ${TOOLS}; do cp -L "/usr/bin/$tool" "$bin" || exit 1; done
  mount --bind "$bin" /usr/bin; exec "$@"`;

function opensOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}

/** Which descriptors of a process a child of it would inherit. */
const passedOnBy = (pid: number) =>
  readdirSync(`/proc/${pid}/fdinfo`).filter((descriptor) => {
    try {
      const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '';
      return Number(descriptor) > 2 && (Number.parseInt(flags, 8) & 0o2000000) === 0;
    } catch (error) {
      // It was closed meanwhile.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  });

test.runIf(process.platform === 'linux').each(['with', ...(isRoot ? ['without'] : [])] as const)(
  'a file that whoever starts the server has open, of root alone, is open in nothing that it starts, %s perl',
  async (perl) => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const hidden =
      perl === 'with' ? [] : ['unshare', '--mount', '--propagation', 'private', '/bin/bash', '-c', WITHOUT_PERL, bin];
    const server = await spawnServer({
      folder: join(folder, 'data'),
      settings: { WB_POOL: '1' },
      within: [...hidden, ...GIVEN, secret],
    });
    running.push(server);
    const { call } = server;
    await call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
    const said = await call<{ stdout: string }>('POST', '/api/instances/box/exec', { command: 'echo here' });
    expect(said.json.stdout).toBe('here\n');
    expect((await call('POST', '/api/instances/box/query', { sql: 'SELECT 1 AS one' })).status).toBe(200);
    expect((await call('POST', '/api/workbooks/plan', '#+title: Empty')).status).toBe(200);
    const pids = treeOf(server.child.pid ?? 0);
    const commands = pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    for (const kind of [/worker/, /reader/, /parse/])
      expect(commands.filter((command) => kind.test(command))).not.toEqual([]);
    expect(pids.slice(1).filter((pid) => opensOf(pid).includes(secret))).toEqual([]);
    expect(passedOnBy(server.child.pid ?? 0)).toEqual([]);
    if (perl === 'without') expect(server.output()).toMatch(/perl is not installed/);
  },
);
