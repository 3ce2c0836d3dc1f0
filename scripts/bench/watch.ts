/**
 * Watching the server while it works: its peak of memory, how long others wait; and sending and fetching what is large.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { timed } from './measure.ts';
import { KEY } from './server.ts';

/** Seldom enough that asking takes nothing from what is measured. */
const PING_MS = 20;

/** Resident memory of a process that can be asked for its peak since the last question, in bytes. */
export function peakOf(pid: number): { reset(): number; read(): number } {
  const status = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  return {
    reset() {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      return status('VmRSS');
    },
    read: () => status('VmHWM'),
  };
}

/** Sends a file as the body of a POST and waits for the answer. */
export async function upload(url: string, path: string, expected = 201): Promise<void> {
  const sending = request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-length': statSync(path).size },
  });
  createReadStream(path).pipe(sending);
  const [answer] = await once(sending, 'response');
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== expected) throw new Error(`POST ${url}: ${answer.statusCode}`);
}

/** Longest time that an answer of `/healthz` takes on a connection of its own while `work` runs, in milliseconds. */
export async function longestSilence(url: string, work: () => Promise<unknown>): Promise<number> {
  let done = false;
  let longest = 0;
  const asking = (async () => {
    while (!done) {
      longest = Math.max(longest, await timed(async () => (await fetch(`${url}/healthz`)).text()));
      await setTimeout(PING_MS);
    }
  })();
  await work().finally(() => {
    done = true;
  });
  await asking;
  return longest;
}

/** Sends a request without a body and writes the answer to a file as it comes. */
export async function download(method: string, url: string, path: string): Promise<void> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers: { authorization: `Bearer ${KEY}` } }, resolve)
      .once('error', reject)
      .end();
  });
  if (answer.statusCode !== 200) throw new Error(`${method} ${url}: ${answer.statusCode}`);
  await pipeline(answer, createWriteStream(path));
}
