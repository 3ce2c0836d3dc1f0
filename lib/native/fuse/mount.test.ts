import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { whyNotMountable } from '../testing/may-mount.ts';
import { endServedFiles, ServedFile } from '../testing/served-file.ts';
import { mountNativeFile } from './mounted-file.ts';

const MIB = 1024 * 1024;

const whyNot = await whyNotMountable();
if (whyNot !== null) process.stdout.write(`${whyNot}\n`);

/** A user of a namespace, without rights outside; root where nobody else can open the device. */
const PLAIN_USER = ['setpriv', '--reuid=61000', '--regid=61000', '--clear-groups'];
const opens = (user: string[]) => spawnSync('env', [...user, 'test', '-w', '/dev/fuse']).status === 0;
const IN_NAMESPACE = [...(opens(PLAIN_USER) ? PLAIN_USER : []), 'unshare', '-Urm'];
const MOUNTS_IN_NAMESPACE = whyNot === null && spawnSync('env', [...IN_NAMESPACE, 'true']).status === 0;
if (whyNot === null && !MOUNTS_IN_NAMESPACE)
  process.stdout.write('Not run: a mount in a user namespace, as this machine gives none.\n');

afterEach(endServedFiles);

const isMounted = (folder: string) => readFileSync('/proc/self/mounts', 'utf8').includes(` ${folder} `);

describe.runIf(whyNot === null)('a mounted file', () => {
  test('18. the root has the three volumes, whose sizes are the quota’s', async () => {
    const served = new ServedFile({ maxBytes: 64 * MIB });
    await served.start();
    expect(readdirSync(served.mount).sort()).toEqual(['memory', 'tmp', 'workspace']);
    expect(() => mkdirSync(join(served.mount, 'etc'))).toThrow('EPERM');
    const { blocks, bsize } = statfsSync(served.workspace);
    expect(blocks * bsize).toBe(64 * MIB);
    expect(() => writeFileSync(join(served.workspace, 'a'), Buffer.alloc(65 * MIB))).toThrow('ENOSPC');
    await served.close();
    expect(isMounted(served.mount)).toBe(false);
    expect(readdirSync(served.folder).sort()).toEqual(['mount', 'vfs.sqlite']);
  });

  test('18. names of 255 bytes of any kind, and ten thousand entries in one folder', async () => {
    const served = new ServedFile();
    await served.start();
    const names = [Buffer.alloc(255, 0xff), Buffer.from('line\nend'), Buffer.from([1, 2, 0x80])];
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${served.workspace}/`), name]), 'x');
    mkdirSync(join(served.workspace, 'many'));
    for (let count = 0; count < 10_000; count += 1) writeFileSync(join(served.workspace, 'many', `${count}`), '');
    await served.remount();
    const found = readdirSync(served.workspace, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
    expect(found.sort()).toEqual(['many', ...names.map((name) => name.toString('latin1'))].sort());
    expect(new Set(readdirSync(join(served.workspace, 'many'))).size).toBe(10_000);
  });

  test('21. what fsync has returned for is there after a kill, and the rest a second later', async () => {
    const served = new ServedFile();
    await served.start();
    const file = openSync(join(served.workspace, 'synced'), 'w');
    writeSync(file, 'one');
    fsyncSync(file);
    closeSync(file);
    await served.kill();
    await served.start();
    expect(readFileSync(join(served.workspace, 'synced'), 'utf8')).toBe('one');
    writeFileSync(join(served.workspace, 'later'), 'two');
    await pause(3000);
    await served.kill();
    await served.start();
    expect(readFileSync(join(served.workspace, 'later'), 'utf8')).toBe('two');
  });

  test('22. a server that is killed leaves errors and no waiting, and the mount can be taken away', async () => {
    const served = new ServedFile();
    await served.start();
    const guest = spawn('sh', ['-c', 'exec 3>held; echo ready; while echo x >&3; do :; done; echo over'], {
      cwd: served.workspace,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    guest.stdout.on('data', (text) => {
      printed += text;
    });
    await vi.waitFor(() => expect(printed).toContain('ready'), { timeout: 60_000 });
    process.kill(served.pid, 'SIGKILL');
    await once(guest, 'exit');
    expect(printed).toContain('over');
    await served.kill();
    expect(isMounted(served.mount)).toBe(false);
  });

  test('22. a server that is stopped while it holds a request leaves nobody who cannot be ended', async () => {
    const served = new ServedFile();
    await served.start();
    process.kill(served.pid, 'SIGSTOP');
    const guest = spawn('stat', [join(served.workspace, 'never-asked-for')], { stdio: 'ignore' });
    const ended = once(guest, 'exit');
    await pause(300);
    spawnSync('umount', ['-l', '-f', '-i', '-n', served.mount]);
    await ended;
    expect(guest.exitCode).not.toBe(0);
    process.kill(served.pid, 'SIGCONT');
    await served.kill();
  });

  test.runIf(MOUNTS_IN_NAMESPACE)(
    '18. a user mounts in a namespace of theirs, without rights outside, and has all files',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'winterdock-plain-'));
      chmodSync(folder, 0o777);
      mkdirSync(join(folder, 'mount'));
      chmodSync(join(folder, 'mount'), 0o777);
      const serve = [join(import.meta.dirname, '..', 'testing', 'serve.ts'), join(folder, 'vfs.sqlite')];
      const script = 'echo written > a; mkdir d; ln a d/b; stat -c "%u %h" a; cat d/b';
      const run = () =>
        spawnSync(
          'env',
          [
            ...[...IN_NAMESPACE, process.execPath, '--no-warnings'],
            ...[...serve, join(folder, 'mount'), `${64 * MIB}`, script],
          ],
          { encoding: 'utf8' },
        );
      expect(run()).toMatchObject({ stdout: '0 2\nwritten\n', stderr: '', status: 0 });
      expect(readdirSync(folder).sort()).toEqual(['mount', 'vfs.sqlite']);
      rmSync(folder, { recursive: true });
    },
  );

  test('22. a mount in use is not put to rest, and is when it is given up', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-mounted-'));
    mkdirSync(join(folder, 'mount'));
    const mounted = await mountNativeFile({
      file: join(folder, 'vfs.sqlite'),
      folder: join(folder, 'mount'),
      maxBytes: 64 * MIB,
      owner: { uid: 0, gid: 0 },
    }).catch((error) => error);
    // The file of a sandbox must exist before it is mounted.
    expect(mounted).toBeInstanceOf(Error);
    expect(isMounted(join(folder, 'mount'))).toBe(false);
    rmSync(folder, { recursive: true });
    const served = new ServedFile();
    await served.start();
    const guest = spawn('sleep', ['600'], { cwd: served.workspace, stdio: 'ignore' });
    await once(guest, 'spawn');
    await expect(served.close()).rejects.toThrow('busy');
    writeFileSync(join(served.workspace, 'still'), 'here');
    guest.kill('SIGKILL');
    await once(guest, 'exit');
    await served.remount();
    expect(lstatSync(join(served.workspace, 'still')).size).toBe(4);
    await served.close();
  });
});
