/** What the benchmarks do with sandboxes over HTTP before and while they measure. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { must } from './measure.ts';
import { KEY, type Running } from './server.ts';

const MIB = 1024 * 1024;
const FILE_MIB = 50;
const POLL_MS = 20;
/** What a sandbox's note says, and any peer's. */
export const NOTE = 'what an agent left behind\n';

const at = (server: Running, path: string) => `${server.url}/api/instances${path}`;

/** Workers that a server keeps started ahead of need in the parts that wait for one. */
export const SPARE_WORKERS = 2;

/** Waits until there are so many started workers: what is measured is a wake, not the start of the worker after it. */
export async function poolReady(server: Running): Promise<void> {
  for (;;) {
    const { body } = await must('GET', `${server.url}/metrics`, KEY);
    if (Number(/^winterdock_pool_ready (\d+)/m.exec(body.toString())?.[1] ?? 0) >= SPARE_WORKERS) return;
    await setTimeout(POLL_MS);
  }
}

/** Runs a command and throws when it fails. Returns what it printed. */
export async function execIn(server: Running, id: string, command: string, ask = must): Promise<string> {
  const { body } = await ask('POST', at(server, `/${id}/exec`), KEY, JSON.stringify({ command }));
  const { exit_code, stdout, stderr } = JSON.parse(body.toString());
  if (exit_code !== 0) throw new Error(`${command} in ${id}: exit ${exit_code}, ${stderr}`);
  return stdout;
}

export const fileUrl = (server: Running, id: string, path: string) => at(server, `/${id}/volumes/workspace/${path}`);

/** A sandbox with a note and so many mebibytes of noise. It is active afterwards. */
export async function makeSandbox(
  server: Running,
  id: string,
  { mebibytes = 0, tenant = 'bench' }: { mebibytes?: number; tenant?: string } = {},
): Promise<void> {
  await must('POST', at(server, ''), KEY, JSON.stringify({ id, tenant }));
  await must('PUT', fileUrl(server, id, 'note'), KEY, Buffer.from(NOTE));
  for (let written = 0, n = 0; written < mebibytes; n += 1) {
    const size = Math.min(FILE_MIB, mebibytes - written);
    await must('PUT', fileUrl(server, id, `data-${n}`), KEY, randomBytes(size * MIB));
    written += size;
  }
}

export async function suspendSandbox(server: Running, id: string, ask = must): Promise<void> {
  await ask('POST', at(server, `/${id}/suspend`), KEY, '{}');
}

export async function resume(server: Running, id: string): Promise<void> {
  await must('POST', at(server, `/${id}/resume`), KEY, '{}');
}

export async function freezeSandbox(server: Running, id: string): Promise<void> {
  await suspendSandbox(server, id);
  await must('POST', at(server, `/${id}/freeze`), KEY, '{}');
}

export async function thermalOf(server: Running, id: string): Promise<string> {
  const { body } = await must('GET', at(server, `/${id}`), KEY);
  return JSON.parse(body.toString()).thermal;
}
