/**
 * Starts Ceph's S3 server (radosgw) with one monitor and one store in memory, all of them processes of this one, in a
 * folder of their own. A server that nobody here wrote. For tests; from Debian's packages.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TEST_KEYS } from './s3-server.ts';

const run = promisify(execFile);
const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'monmaptool'];
const START_MS = 120_000;
/** Ceph logs itself. What its programs say on the way is for a failed start only. */
const ENVIRONMENT = { NODE_ENV: 'test' as const, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' };

/** Whether its programs are here. */
export function hasRadosgw(): boolean {
  return PROGRAMS.every((name) => existsSync(`/usr/bin/${name}`));
}

export interface Radosgw {
  endpoint: string;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** `auth`, the messenger's mode and the store in memory are what lets it run alone, without keys and without a disk. */
function configuration(folder: string, id: string, monitor: number, port: number): string {
  return `[global]
fsid = ${id}
mon initial members = a
mon host = v2:127.0.0.1:${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms cluster mode = crc
ms service mode = crc
ms client mode = crc
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
mon max pg per osd = 1000
osd crush chooseleaf type = 0
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
run dir = ${folder}
log file = ${folder}/$name.log
pid file = ${folder}/$name.pid
admin socket = ${folder}/$name.asok
mon cluster log file = ${folder}/cluster.log
keyring = ${folder}/keyring
mon data avail crit = 0
mon data avail warn = 0
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw thread pool size = 16
rgw num rados handles = 1
`;
}

/** Starts it; a user with the test's keys is there, and no bucket. Takes some ten seconds. */
export async function startRadosgw(): Promise<Radosgw> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-radosgw-'));
  const [monitor, port] = [await freePort(), await freePort()];
  const [id, file] = [randomUUID(), join(folder, 'ceph.conf')];
  writeFileSync(file, configuration(folder, id, monitor, port));
  writeFileSync(join(folder, 'keyring'), '');
  for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  const started: ChildProcess[] = [];
  const command = (name: string, ...args: string[]) =>
    run(`/usr/bin/${name}`, ['-c', file, ...args], { env: ENVIRONMENT, timeout: START_MS });
  const start = (name: string, ...args: string[]) => {
    const process = spawn(`/usr/bin/${name}`, ['-c', file, ...args, '-f'], { stdio: 'ignore', env: ENVIRONMENT });
    started.push(process);
  };
  const stop = async () => {
    await Promise.all(
      started.map(async (process) => {
        if (hasEnded(process)) return;
        const ended = once(process, 'exit');
        process.kill('SIGKILL');
        await ended;
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const map = join(folder, 'monmap');
    const address = `[v2:127.0.0.1:${monitor}]`;
    await run('/usr/bin/monmaptool', ['--create', '--fsid', id, '--addv', 'a', address, map], { env: ENVIRONMENT });
    await command('ceph-mon', '-i', 'a', '--mkfs', '--monmap', map);
    start('ceph-mon', '-i', 'a');
    await command('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', randomUUID());
    await command('ceph', 'osd', 'new', readFileSync(join(folder, 'osd', 'fsid'), 'utf8').trim());
    start('ceph-osd', '-i', '0');
    const { accessKey, secretKey } = TEST_KEYS;
    const keys = [`--access-key=${accessKey}`, `--secret-key=${secretKey}`];
    await command('radosgw-admin', 'user', 'create', '--uid=winter', '--display-name=winter', ...keys);
    // It gives up where it starts before there is a store.
    start('radosgw', '-n', 'client.rgw');
    const endpoint = `http://127.0.0.1:${port}`;
    const until = Date.now() + START_MS;
    while (!(await answers(endpoint))) {
      if (Date.now() > until || started.some(hasEnded)) throw new Error('radosgw did not start');
      await setTimeout(100);
    }
    return { endpoint, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function answers(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(endpoint)).ok;
  } catch {
    return false;
  }
}
