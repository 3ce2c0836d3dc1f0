/** A thread that sends hostile workbooks again and again, one of each kind at a time, until it is ended. */
import { workerData } from 'node:worker_threads';
import { MAX_SOURCE_BYTES } from '../../lib/workbooks/outline.ts';
import { createAsk } from './measure.ts';

/** What each is refused for: its depth, the number of its components, its size, and the time that it takes to read. */
const HOSTILE: readonly Buffer[] = [
  Array.from({ length: 2000 }, (_, n) => `${'*'.repeat(n + 1)} deeper\n`).join(''),
  '* c :component:\n'.repeat(100_000),
  'x'.repeat(5 * MAX_SOURCE_BYTES),
  `* c :component:\n${'a line\n\n'.repeat(200_000)}`,
].map((text) => Buffer.from(text));

const { url, key } = workerData as { url: string; key: string };

async function attack(text: Buffer, tenant: string): Promise<never> {
  for (;;) {
    // A new connection for each: a body that is refused before it is read ends its own.
    const ask = createAsk();
    await ask('PUT', `${url}/api/workbooks/hostile?tenant=${tenant}`, key, text).catch(() => undefined);
  }
}

for (const [n, text] of HOSTILE.entries()) void attack(text, `t${n}`);
