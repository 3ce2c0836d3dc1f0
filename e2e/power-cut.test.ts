/**
 * Power cuts on a real filesystem: after an answer all processes stand still, the device is copied as it is, and a
 * second server starts on the copy. What was answered is there. A file that nobody made durable proves each time that
 * the copy has nothing that was only in memory.
 *
 * One day of two the same with a replica on another machine, for which every answer waits: what is there when the power
 * goes has what was answered, and so it has once the second server has shipped what it found.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { Call } from '../lib/testing/call.ts';
import { DAY, partOf } from '../lib/testing/draw.ts';
import { copyImage, imageSettings, makeImage, WITHIN_IMAGE, whyNoLoopDisk } from '../lib/testing/loop-disk.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { signalTree } from '../lib/testing/process-tree.ts';
import { lookReplica } from '../lib/testing/replica-whole.ts';
import { lookWhole } from '../lib/testing/whole.ts';
import { type Book, CUTS, type Fact, Life } from './power-life.ts';

const whyNot = whyNoLoopDisk();
if (whyNot !== null)
  process.stderr.write(`Power cuts were NOT tried: no loop device can be mounted here (${whyNot}).\n`);

const SETTINGS = {
  WB_POOL: '1',
  WB_LOG: 'error',
  // Only what asks for it is paused, and then soon.
  WB_TICK_MS: '200',
  WB_HOT_TO_WARM: '0',
  WB_RATE_KEY: '0',
  WB_RATE_ADDRESS: '0',
};
/** Copies that are started at the same time. */
const AT_ONCE = 3;
interface Cut {
  name: string;
  image: string;
  /** What was answered at that moment. */
  answered: Book;
  /** Absolute; a copy of the replica as it was then; null: there is none. */
  replica: string | null;
  book: Book;
  facts: [string, Fact][];
}

/** What a start leaves of it: what was active has no process any more. */
function afterBoot(book: Book): Book {
  return new Map(
    [...book].map(([id, { states, files }]) => [
      id,
      {
        states: new Set([...states].map((state) => (state === 'active' ? 'suspended' : state))),
        files: new Map(files),
      },
    ]),
  );
}

/** The settings of a server that ships to a folder (absolute), which outlives its power; null: none. */
const shipping = (replica: string | null): Record<string, string> =>
  replica === null ? {} : { WB_REPLICA_URL: pathToFileURL(replica).href, WB_REPLICATE: 'sync' };

const copied = (book: Book): Book =>
  new Map([...book].map(([id, { states, files }]) => [id, { states: new Set(states), files: new Map(files) }]));

/** Resolves once the replica of a server has everything, or after a minute. */
async function shipped(call: Call): Promise<void> {
  const until = performance.now() + 60_000;
  const isBehind = async () => {
    const { json } = await call<{ state: string; recovery_point: { behind_s: number | null } | null }[]>(
      'GET',
      '/api/instances?limit=500',
    );
    return json.some((one) => !['created', 'deleted'].includes(one.state) && one.recovery_point?.behind_s !== 0);
  };
  while (performance.now() < until && (await isBehind())) await new Promise((resolve) => setTimeout(resolve, 200));
}

/** Stops the world, proves that memory is not on the disk, and copies the disk. */
function cut(
  server: ServerProcess,
  folder: string,
  image: string,
  name: string,
  { to, replica }: { to: string; replica: { from: string; to: string } | null },
): void {
  const pid = server.child.pid ?? 0;
  signalTree(pid, 'SIGSTOP');
  writeFileSync(join('/proc', String(pid), 'root', folder, `only in memory at ${name}`), 'not made durable');
  copyImage(image, to);
  if (replica !== null) cpSync(replica.from, replica.to, { recursive: true, preserveTimestamps: true });
  signalTree(pid, 'SIGCONT');
}

/** Starts a server on a copy and says what is not as it was answered. */
async function boot({ name, image, answered, replica, book, facts }: Cut, folder: string): Promise<string[]> {
  mkdirSync(folder);
  const before = replica === null ? [] : await lookReplica(replica, answered);
  let server: ServerProcess;
  try {
    server = await spawnServer({
      folder,
      within: WITHIN_IMAGE,
      settings: { ...SETTINGS, WB_POOL: '0', ...imageSettings(image), ...shipping(replica) },
    });
  } catch (error) {
    return [`it does not start: ${error}`];
  }
  try {
    const inside = join('/proc', String(server.child.pid), 'root', folder);
    const control = statSync(join(inside, `only in memory at ${name}`), { throwIfNoEntry: false });
    if (control !== undefined && control.size > 0) return ['what was only in memory is on the disk: nothing is proved'];
    const look = async () => (await lookWhole({ call: server.call, folder: inside }, book)).findings;
    // What is swept in the background may take a moment.
    let findings = await look();
    for (let again = 0; findings.length > 0 && again < 3; again += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      findings = await look();
    }
    for (const [what, fact] of facts) {
      const wrong = await fact(server.call);
      if (wrong !== null) findings.push(`${what}: ${wrong}`);
    }
    if (replica !== null) {
      await shipped(server.call);
      for (const finding of await lookReplica(replica, book)) findings.push(`after a start: ${finding}`);
    }
    return [...before, ...findings];
  } finally {
    await server.end('SIGKILL');
  }
}

// Where nobody may mount a loop device there is no power to cut: the line above says so.
for (const kind of partOf(['alone', 'with a replica'] as const, 2, DAY)) {
  test.runIf(whyNot === null)(
    `a power cut after any answer loses nothing of what was answered, ${kind}`,

    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'winterdock-power-'));
      const image = join(folder, 'image');
      const data = join(folder, 'data');
      mkdirSync(data);
      makeImage(image);
      const place = kind === 'alone' ? null : join(folder, 'replica');
      const server = await spawnServer({
        folder: data,
        within: WITHIN_IMAGE,
        settings: { ...SETTINGS, ...imageSettings(image), ...shipping(place) },
      });
      const life = new Life(server.call);
      const wrong: Record<string, string[]> = {};
      try {
        const cuts: Cut[] = [];
        for (const [name, doing] of Object.entries(CUTS)) {
          await doing(life);
          const to = join(folder, `${cuts.length}.image`);
          const replica = place === null ? null : `${to}.replica`;
          cut(server, data, image, name, { to, replica: place && replica ? { from: place, to: replica } : null });
          const book = { answered: copied(life.book), book: afterBoot(life.book) };
          cuts.push({ name, image: to, replica, ...book, facts: [...life.facts] });
        }
        const turns = cuts.entries();
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            for (const [index, one] of turns) {
              const findings = await boot(one, join(folder, `data-${index}`));
              if (findings.length > 0) wrong[one.name] = findings;
              for (const path of [one.image, `${one.image}.replica`]) rmSync(path, { recursive: true, force: true });
            }
          }),
        );
      } finally {
        await server.end('SIGKILL');
        rmSync(folder, { recursive: true, force: true });
      }
      expect(wrong).toEqual({});
    },
  );
}
