import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import type { FileUser, HelperWalls } from '../../base/walls.ts';
import { buildHelperWalls } from './helper-walls.ts';
import { buildWalls } from './walls.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-helpers-'));
chmodSync(folder, 0o711);
const at = (...names: string[]) => join(folder, 'data', ...names);
mkdirSync(at('cold'), { recursive: true, mode: 0o700 });
mkdirSync(at('bundles'), { mode: 0o700 });
const workers = await buildWalls({ dataFolder: at(), cacheFolder: join(folder, 'cache'), maxStartMs: 240_000 });
const walls = await buildHelperWalls({ dataFolder: at(), cacheFolder: join(folder, 'cache'), states: workers.states });

afterAll(() => {
  walls?.close();
  workers.close();
  rmSync(folder, { recursive: true });
});

/** What code that has taken over a helper can do of these. */
async function tryAs(
  { command }: HelperWalls,
  user: FileUser | null,
  tries: { read: string[]; write: string[]; port: number },
): Promise<string[]> {
  const script = `
    const { readFileSync, writeFileSync } = require('node:fs');
    const [user, { read, write, port }] = JSON.parse(process.argv.at(-1));
    if (user) { process.setgroups([user.gid]); process.setgid(user.gid); process.setuid(user.uid); }
    const done = [];
    const attempt = (name, act) => { try { act(); done.push(name); } catch {} };
    for (const path of read) attempt('read ' + path, () => readFileSync(path));
    for (const path of write) attempt('write ' + path, () => writeFileSync(path, 'x', { flag: 'a' }));
    attempt('fork', () => { const { error } = require('node:child_process').spawnSync('/bin/true'); if (error) throw error; });
    attempt('signal another', () => process.kill(process.ppid || 2, 0));
    for (const id of [0, 1, user?.uid - 1]) attempt('become ' + id, () => process.setuid(id));
    const end = () => process.stdout.write(JSON.stringify(done), () => process.exit());
    require('node:net').connect(port, '127.0.0.1').on('connect', () => { done.push('connect'); end(); }).on('error', end);`;
  const [file = '', ...args] = command;
  const child = spawn(file, [...args, process.execPath, '-e', script, JSON.stringify([user, tries])], {
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout)) as string[];
}

test.runIf(walls !== null)(
  'a reader that was taken over reads its tenant’s files, and no key, no other tenant’s and no network',
  async () => {
    if (walls === null) return;
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const [own, sibling, other] = ['own', 'sibling', 'other'].map((name) => at('cold', `${name}.sqlite`)) as [
      string,
      string,
      string,
    ];
    for (const path of [own, sibling, other]) writeFileSync(path, path, { mode: 0o600 });
    for (const name of ['secrets.key', 'registry.sqlite']) writeFileSync(at(name), name, { mode: 0o644 });
    const users = walls.users;
    const user = users?.reading(own) ?? null;
    users?.reading(other);
    // Of one tenant, as a wake leaves them.
    if (user !== null) chownSync(sibling, user.uid + 1, user.gid);
    chmodSync(sibling, 0o640);
    const read = [own, sibling, other, at('secrets.key'), at('registry.sqlite'), '/etc/passwd', '/proc/self/maps'];
    const write = [own, other, at('cold', 'new'), at('live', 'new'), at('bundles', 'new')];
    const done = await tryAs(walls, user, { read, write, port });
    listener.close();
    if (users === null) {
      // Without users of its own it has the server's: its room and its network alone hold it.
      expect(done.filter((one) => /\.key|registry|connect|fork|signal/.test(one))).toEqual([]);
      return;
    }
    expect(done).toEqual([own, sibling].map((path) => `read ${path}`));
  },
);

test.runIf((walls?.users ?? null) !== null)(
  'what was lent comes back as files of the server, and nothing else with it',
  () => {
    const users = walls?.users;
    if (users == null) return;
    const lent = at('bundles', 'one');
    mkdirSync(lent, { mode: 0o700 });
    writeFileSync(join(lent, 'upload'), 'bytes', { mode: 0o600 });
    const user = users.lend(lent);
    expect([statSync(lent).uid, statSync(join(lent, 'upload')).uid]).toEqual([user.uid, user.uid]);
    // What the process that has it can put there.
    writeFileSync(join(lent, 'made'), 'made');
    writeFileSync(join(lent, 'linked'), 'made');
    for (const name of ['made', 'linked']) chownSync(join(lent, name), user.uid, user.gid);
    linkSync(join(lent, 'linked'), at('cold', 'second-name'));
    symlinkSync('/etc/shadow', join(lent, 'link'));
    users.takeBack(lent);
    expect(readdirSync(lent).sort()).toEqual(['made', 'upload']);
    for (const name of ['.', 'made', 'upload']) expect(statSync(join(lent, name)).uid).toBe(0);
    expect(statSync('/etc/shadow').uid).toBe(0);
    expect(users.reading(join(lent, 'made'))).toEqual({ uid: user.uid, gid: user.uid });
  },
);

const isRoot = process.getuid?.() === 0;
const PLAIN_USER = ['setpriv', '--reuid=61000', '--regid=61000', '--clear-groups'];

test.runIf(walls !== null).for(isRoot ? ['root', 'another user'] : ['this user'])(
  'a worker that was taken over writes nothing that helpers or workers run, where the server is %s',
  (user, context) => {
    const parent = mkdtempSync(join(tmpdir(), 'winterdock-compiled-'));
    chmodSync(parent, user === 'another user' ? 0o777 : 0o755);
    const modules = ['walls.ts', 'helper-walls.ts', '../compile-cache.ts'].map((name) =>
      join(import.meta.dirname, name),
    );
    const script = `
      const [{ buildWalls }, { buildHelperWalls }, { compileCacheFolder }] =
        await Promise.all(${JSON.stringify(modules)}.map((path) => import(path)));
      const [fs, child] = ['fs', 'child_process'].map((name) => process.getBuiltinModule('node:' + name));
      process.umask(0o077);
      const dataFolder = ${JSON.stringify(join(parent, 'data'))};
      const options = { dataFolder, cacheFolder: dataFolder + '/cache', maxStartMs: 60_000 };
      const walls = await buildWalls(options);
      const helpers = await buildHelperWalls({ ...options, states: walls.states });
      const own = walls.ownUser?.('taken-over');
      const tried = [helpers.cacheFolder, compileCacheFolder(options.cacheFolder, walls.user?.uid)].map((folder) => {
        const compiled = folder + '/compiled';
        fs.writeFileSync(compiled, 'sound');
        const before = fs.readdirSync(folder);
        const attempt = (act) => 'try { ' + act + '; console.log("done") } catch (error) { console.log(error.code) }';
        const code = (own === undefined ? '' : 'process.setuid(' + own.uid + ');') +
          'const fs = require("node:fs"); const compiled = ' + JSON.stringify(compiled) + ';' +
          ['fs.writeFileSync(compiled, "other")', 'fs.unlinkSync(compiled)', 'fs.writeFileSync(compiled + "-new", "")'].map(attempt).join(';');
        const [file, ...args] = [...walls.command, process.execPath, '--no-warnings', '-e', code];
        const said = child.spawnSync(file, args, { encoding: 'utf8' }).stdout.trim().split('\\n');
        const isSound = fs.existsSync(compiled) && fs.readFileSync(compiled, 'utf8') === 'sound';
        return [said, isSound && before.length === fs.readdirSync(folder).length];
      });
      // What was compiled for workers is what they find.
      const cache = compileCacheFolder(options.cacheFolder, walls.user?.uid);
      const finds = 'const found = require("node:module").enableCompileCache(' + JSON.stringify(cache) + ');' +
        'console.log(require("node:fs").readdirSync(found.directory).length > 0)';
      const [file, ...args] = [...walls.command, process.execPath, '--no-warnings', '-e', finds];
      console.log(JSON.stringify([walls.states.files || walls.states.uid, ...tried, child.spawnSync(file, args, { encoding: 'utf8' }).stdout]));
      process.exit();`;
    const [file = '', ...args] = [...(user === 'another user' ? PLAIN_USER : []), process.execPath];
    const { stdout, stderr } = spawnSync(file, [...args, '--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { NODE_ENV: 'test', PATH: process.env.PATH },
    });
    rmSync(parent, { recursive: true });
    const refused = Array(3).fill(expect.stringMatching(/^(?:EACCES|EPERM|ENOENT|EROFS)$/));
    const [isApart, ...found] = JSON.parse(stdout || JSON.stringify([true, stderr])) as unknown[];
    if (isApart !== true) context.skip('Workers share folders and a user with the server here.');
    expect(found).toEqual([[refused, true], [refused, true], 'true\n']);
  },
);
