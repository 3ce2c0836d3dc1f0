/** Sandboxes with real programs over the API: from their creation to their deletion, and what is refused by name. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { descriptionFor } from '../../client/adapters/commands.ts';
import { JailGroups } from '../../native/jail/jail-groups.ts';
import { ROOT_RECIPES } from '../../native/roots/recipes.ts';
import { machineRoot } from '../../native/testing/machine-root.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { HAS_NATIVES, saysWhyNot } from '../../workers/native/testing/native-stage.ts';

saysWhyNot('lib/http/tests/native.test.ts');

test('what a model is told that there is to run is in the packages of a root', () => {
  const told = /real programs on Linux \(([^)]+?) and whatever/.exec(descriptionFor('native'))?.[1] ?? '';
  const packages: Readonly<Record<string, string>> = { node: 'nodejs' };
  const names = told.split(', ').map((name) => packages[name] ?? name);
  expect(names).toContain('git');
  expect(names.filter((name) => !ROOT_RECIPES.base?.includes(name))).toEqual([]);
});

describe('without real programs', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test('a creation and a change name what is missing, and what to do', async () => {
    const refused = { status: 501, json: { code: 'unsupported', hint: expect.stringContaining('WB_NATIVE=on') } };
    expect(await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme', policy: 'native' })).toMatchObject(
      refused,
    );
    expect((await server.call('GET', '/api/instances/a')).status).toBe(404);
    await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme' });
    expect(await server.call('PATCH', '/api/instances/b', { policy: 'native' })).toMatchObject(refused);
    expect((await server.call('GET', '/api/instances/b')).json.policy).toBe('posix');
    expect(await server.call('POST', '/api/instances/b/resume', { policy: 'native' })).toMatchObject(refused);
  });
});

describe.runIf(HAS_NATIVES)('a sandbox with real programs', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      clock: systemClock,
      ownReaders: true,
      settings: { WB_NATIVE: 'on', WB_NATIVE_CPU: '2' },
    });
    machineRoot(join(server.folder, 'roots'));
  });
  afterAll(() => server.stop());

  const make = (id: string) => server.call('POST', '/api/instances', { id, tenant: 'acme', policy: 'native' });
  const run = async (id: string, command: string, more: object = {}) =>
    (await server.call('POST', `/api/instances/${id}/exec`, { command, timeout_ms: 60_000, ...more })).json;
  const move = (id: string, verb: string) => server.call('POST', `/api/instances/${id}/${verb}`, {});
  /** What is on this machine of a sandbox of this server. */
  const left = (id: string) => ({
    groups: (JailGroups.open().groups?.names() ?? []).filter((name) => name.endsWith(`-${id}`) && isOurs(name)),
    mounts: readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(server.folder)),
    folders: readdirSync(join(server.folder, 'mounts')),
  });
  const NOTHING = { groups: [], mounts: [], folders: [] };
  /** Processes of other servers have other parents. */
  const isOurs = (name: string) => {
    const pid = /-(\d+)\./.exec(name)?.[1] ?? '';
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(server.folder);
    } catch {
      return false;
    }
  };

  test('runs bash, git and Python, sleeps, and finds everything again', async () => {
    expect((await make('real')).status).toBe(201);
    const first = await run(
      'real',
      'uname -s; python3 -c "print(6 * 7)"; git init -q repo; cd repo; echo a > a; ln a b',
    );
    expect(first).toMatchObject({ exit_code: 0, stdout: 'Linux\n42\n', woke: 'cold' });
    const commit = 'cd repo && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git status --short';
    expect(await run('real', commit)).toMatchObject({ exit_code: 0, stdout: '', woke: 'hot' });
    expect((await move('real', 'suspend')).json.state).toBe('suspended');
    await expect.poll(() => left('real')).toEqual(NOTHING);
    expect(await run('real', 'git -C repo log --format=%s; stat -c %h repo/a; git -C repo fsck')).toMatchObject({
      exit_code: 0,
      stdout: 'one\n2\n',
      woke: 'cold',
    });
    expect((await move('real', 'suspend')).status).toBe(200);
    expect((await move('real', 'freeze')).json.state).toBe('frozen');
    expect(await run('real', 'cat repo/a; ls /tmp')).toMatchObject({
      stdout: 'a\n',
      woke: 'cold',
    });
  });

  test('a command has its folder, its variables and its input, and says how it ended', async () => {
    await make('ways');
    const given = { cwd: '/memory', env: { NAME: 'value' }, stdin: 'input' };
    expect(await run('ways', 'pwd; echo $NAME $HOME; cat; exit 3', given)).toMatchObject({
      exit_code: 3,
      stdout: '/memory\nvalue /workspace\ninput',
    });
    expect(await run('ways', 'kill -SEGV $$')).toMatchObject({ exit_code: 139 });
    expect(await run('ways', 'no-such-program')).toMatchObject({ exit_code: 127 });
    expect(await run('ways', 'true', { cwd: '/workspace/none' })).toMatchObject({ exit_code: 127 });
    expect(await run('ways', 'echo on; sleep 100', { timeout_ms: 500 })).toMatchObject({
      exit_code: 124,
      timed_out: true,
      stdout: 'on\n',
    });
    expect(await run('ways', 'printf "\\xff\\x00end"')).toMatchObject({ exit_code: 0 });
  });

  test('files are written and read by the API while programs run, and never outside of the sandbox', async () => {
    await make('files');
    await run(
      'files',
      'ln -s /etc evil; ln -s /etc/passwd link; ln -s w inside; echo w > w; mkfifo pipe; mkdir -p d/e',
    );
    const at = (path: string) => `/api/instances/files/volumes/workspace/${path}`;
    const put = (path: string, bytes: string) => server.call('PUT', at(path), Buffer.from(bytes));
    expect((await put('new/deep/file', 'from the API')).status).toBe(201);
    expect(await run('files', 'cat new/deep/file; stat -c %U new/deep')).toMatchObject({
      stdout: 'from the APIuser\n',
    });
    expect((await server.call('GET', at('inside'))).text).toBe('w\n');
    for (const path of ['evil/passwd', 'link', 'pipe'])
      expect((await server.call('GET', at(path))).status, path).toBe(404);
    const before = readFileSync('/etc/passwd', 'utf8');
    for (const path of ['evil/winterdock-test', 'link', 'pipe', 'd'])
      expect((await put(path, 'x')).status, path).toBeGreaterThanOrEqual(400);
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(before);
    expect(readdirSync('/etc')).not.toContain('winterdock-test');
    expect((await server.call('DELETE', at('new/deep/file'))).status).toBe(204);
    expect(await run('files', 'ls new/deep | wc -l')).toMatchObject({ stdout: '0\n' });
    await move('files', 'suspend');
    expect((await server.call('GET', at('w'))).text).toBe('w\n');
  });

  test('its process is killed, and what was answered is there', async () => {
    await make('killed');
    for (let round = 0; round < 3; round += 1) {
      await run('killed', `echo ${round} >> kept; sleep 100 & echo`);
      const pids = execFileSync('pgrep', ['-f', `native(-worker\\.ts|\\.cjs) WINTERDOCK_DATA=${server.folder}`], {
        encoding: 'utf8',
      });
      for (const pid of pids.split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
      await expect.poll(async () => (await server.call('GET', '/api/instances/killed')).json.state).toBe('suspended');
      await expect.poll(() => left('killed')).toEqual(NOTHING);
    }
    expect(await run('killed', 'cat kept; jobs; ps -e | wc -l')).toMatchObject({
      stdout: expect.stringContaining('0\n1\n2\n'),
    });
  });

  test('moves to another policy and back with its files', async () => {
    await make('mover');
    await run('mover', 'mkdir d; echo one > d/f; chmod 750 d/f; ln -s d/f l');
    await move('mover', 'suspend');
    await server.call('PATCH', '/api/instances/mover', { policy: 'posix' });
    expect(await run('mover', 'cat l; echo two >> d/f')).toMatchObject({ stdout: 'one\n' });
    await move('mover', 'suspend');
    await server.call('PATCH', '/api/instances/mover', { policy: 'native' });
    expect(await run('mover', 'cat d/f; stat -c %a d/f')).toMatchObject({ stdout: 'one\ntwo\n750\n' });
  });

  test('programs in the background live between calls, keep it awake, and end with a suspension', async () => {
    await make('behind');
    await run('behind', '(while :; do date +%s%N > beat; sleep 0.1; done) & echo');
    const one = (await run('behind', 'cat beat')).stdout;
    await expect.poll(async () => (await run('behind', 'cat beat')).stdout).not.toBe(one);
    expect((await move('behind', 'suspend')).json.state).toBe('suspended');
    await expect.poll(() => left('behind')).toEqual(NOTHING);
  });

  test('what it has not is refused by name', async () => {
    await make('none');
    const evaluated = await server.call('POST', '/api/instances/none/eval', { language: 'python', code: '1' });
    expect(evaluated).toMatchObject({ status: 403, json: { code: 'capability' } });
    await run('none', 'true');
    expect(
      await server.call('POST', '/api/instances', { tenant: 'acme', policy: 'native', vfs_path: ':memory:' }),
    ).toMatchObject({ status: 501 });
  });

  test('a snapshot of an awake one has what was answered, for any policy', async () => {
    await make('source');
    await run('source', 'mkdir d && echo kept > d/f && ln d/f d/g');
    const taken = await server.call('POST', '/api/instances/source/snapshots', {});
    expect(taken.status, taken.text).toBe(201);
    await run('source', 'echo later > d/f');
    const path = `/api/snapshots/${taken.json.id}/restore`;
    const made = await server.call('POST', path, { tenant: 'acme', policy: 'posix' });
    expect(made.status, made.text).toBe(201);
    const [copy = ''] = /"id":"([^"]+)"/.exec(made.text)?.slice(1) ?? [];
    expect(await run(copy, 'cat d/f d/g')).toMatchObject({ stdout: 'kept\nkept\n' });
  });

  test('deleted, nothing of it is left', async () => {
    await make('gone');
    await run('gone', 'sleep 1000 & echo > f');
    for (const verb of ['suspend', 'freeze', 'archive']) expect((await move('gone', verb)).status, verb).toBe(200);
    expect((await server.call('DELETE', '/api/instances/gone')).status).toBe(204);
    await expect.poll(() => left('gone')).toEqual(NOTHING);
  });

  test('when the server comes back without real programs it does not wake, and runs nothing in another profile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-native-off-'));
    machineRoot(join(folder, 'roots'));
    const before = await startServer({ folder, clock: systemClock, settings: { WB_NATIVE: 'on' } });
    await before.call('POST', '/api/instances', { id: 'later', tenant: 'acme', policy: 'native' });
    await before.call('POST', '/api/instances/later/exec', { command: 'echo kept > kept' });
    await before.stop();
    const after = await startServer({ folder, clock: systemClock });
    const answer = await after.call('POST', '/api/instances/later/exec', { command: 'echo ran' });
    expect(answer).toMatchObject({ status: 501, json: { code: 'unsupported' } });
    expect((await after.call('GET', '/api/instances/later')).json).toMatchObject({ state: 'suspended', fault: null });
    expect((await after.call('GET', '/api/instances/later/volumes/workspace/kept')).text).toBe('kept\n');
    await after.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
