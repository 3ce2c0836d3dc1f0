/** `workerd` with a Durable Object for each sandbox, its SQLite files on the disk, from testing/bench-peers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ROOT } from '../build.ts';
import { BENCH_PEERS } from '../peers.ts';
import { endsWithUs, WITHIN_US } from './lifetime.ts';
import { must } from './measure.ts';
import type { Running } from './server.ts';

/** Milliseconds without a request after which workerd evicts an object, with some to spare. */
export const EVICTED_AFTER_MS = 12_000;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "workerd-object.js", esModule = embed "workerd-object.js")],
      compatibilityDate = "2026-11-01",
      durableObjectNamespaces = [(className = "Sandbox", uniqueKey = "bench", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "SANDBOX", durableObjectNamespace = "Sandbox")],
    )),
    (name = "disk", disk = (path = "disk", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Starts it, on a new folder unless one is given. `stop({ keep: true })` leaves the folder for another start. */
export async function startWorkerd(folder = mkdtempSync(join(tmpdir(), 'workerd-bench-'))): Promise<Running> {
  const { default: binary } = createRequire(join(BENCH_PEERS, 'package.json'))('workerd') as { default: string };
  mkdirSync(join(folder, 'disk'), { recursive: true });
  copyFileSync(join(ROOT, 'scripts', 'bench', 'workerd-object.js'), join(folder, 'workerd-object.js'));
  writeFileSync(join(folder, 'config.capnp'), CONFIG);
  const [command = '', ...args] = [...WITHIN_US, binary, 'serve', 'config.capnp', '--control-fd=3'];
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  endsWithUs(child);
  const exited = once(child, 'exit');
  const listening = once(createInterface({ input: child.stdio[3] as Readable }), 'line');
  const [line] = (await Promise.race([
    listening,
    exited.then(([code]) => {
      throw new Error(`workerd ended before it listened: ${code}`);
    }),
  ])) as [string];
  const { port } = JSON.parse(line) as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    folder,
    async stop({ keep = false, killed = false } = {}) {
      child.kill(killed ? 'SIGKILL' : 'SIGTERM');
      await exited;
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Reads an object's note and throws unless this request started the object. */
export async function readEvicted(workerd: Running, id: string, ask = must): Promise<void> {
  const { headers } = await ask('GET', `${workerd.url}/${id}`, '');
  if (headers['x-first'] !== 'true') throw new Error(`The object ${id} of workerd was not evicted.`);
}
