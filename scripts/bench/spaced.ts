/**
 * Calls as people make them, with a pause before each, beside workerd in turn: processors are cold and timers have run
 * in between, which a loop without pauses never shows.
 */
import { setTimeout } from 'node:timers/promises';
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, NOTE, poolReady, SPARE_WORKERS } from './sandboxes.ts';
import { FLOOR, KEY, startAll, startBare, startWinterdock } from './server.ts';
import { ratioOf } from './statistics.ts';
import { EVICTED_AFTER_MS, readEvicted, startWorkerd } from './workerd.ts';

/** Calls in a round. */
const CALLS = 9;
/** A server that people use has been used before: as many of each call, for others, and wakes. */
const CALLS_BEFORE = 300;
const WAKES_BEFORE = 20;
const OTHER = 'other';
const CHILD = 'bare Node HTTP + a child that fsyncs';
const CHILD_READ = 'bare Node HTTP + a child that answers';
const EXCLUDES = {
  child: 'a server or a guest that does anything: two processes wake up instead of one, and nothing else.',
  floor: 'a server that does anything.',
  ours: 'the first hundreds of calls after a server’s start, people who come at the same time, commands that do work, or a network.',
  theirs: 'a shell: an object runs one SQL statement in the server’s own process, and no code of a guest.',
  first: 'bringing a file from a drawer on their side: an evicted object’s file stays where it is.',
  write: 'the same work: ours runs a shell in a process of its own and commits a file system’s tables.',
};

/** `rounds` calls of each contender, `pauseMs` before each; `before`: what servers have done by then, of the usual. */
export async function measureSpaced(rounds: number, pauseMs: number, before = 1): Promise<PartResult> {
  const [server, workerd, bare] = await startAll([
    startWinterdock({ WB_POOL: String(SPARE_WORKERS) }),
    startWorkerd(),
    startBare(),
  ]);
  const objectUrl = (id: string) => `${workerd.url}/${id}`;
  // As many that each one was evicted before its turn comes again.
  const evicted = Array.from({ length: Math.ceil(EVICTED_AFTER_MS / (CALLS * pauseMs)) + 1 }, (_, n) => `cold-${n}`);
  /** One call after a pause; what `prepare` does comes before it. */
  const spaced = (call: () => Promise<unknown>, prepare = async () => {}) =>
    once(async () => {
      await prepare();
      await setTimeout(pauseMs);
      return timed(call);
    });
  const cat = async (id: string) => {
    if ((await execIn(server, id, 'cat note')) !== NOTE) throw new Error(`${id} has another note.`);
  };
  /** What the servers have compiled and optimised by then is the same for all; the sandboxes and objects are others. */
  const use = async () => {
    await makeSandbox(server, OTHER);
    for (let n = 0; n < CALLS_BEFORE * before; n += 1) {
      for (const path of ['', '/child', '/child/read']) await must('POST', `${bare.url}${path}`, KEY, '{}');
      await cat(OTHER);
      await execIn(server, OTHER, 'echo again > file');
      await must('PUT', objectUrl(OTHER), '', Buffer.from(NOTE));
      await must('GET', objectUrl(OTHER), '');
    }
    for (let n = 0; n < WAKES_BEFORE * before; n += 1) {
      await freezeSandbox(server, OTHER);
      await cat(OTHER);
    }
    await freezeSandbox(server, OTHER);
  };
  let turn = 0;
  try {
    await use();
    for (const id of ['hot', 'frozen']) {
      await makeSandbox(server, id);
      await cat(id);
    }
    for (const id of ['hot', ...evicted]) await must('PUT', objectUrl(id), '', Buffer.from(NOTE));
    await setTimeout(EVICTED_AFTER_MS);
    const found = await roundRobin(rounds, {
      bare: spaced(() => must('POST', bare.url, KEY, '{"command":"true"}')),
      child: spaced(() => must('POST', `${bare.url}/child`, KEY, '{"command":"true"}')),
      childRead: spaced(() => must('POST', `${bare.url}/child/read`, KEY, '{"command":"true"}')),
      ourFirst: spaced(
        () => cat('frozen'),
        async () => {
          await freezeSandbox(server, 'frozen');
          await poolReady(server);
        },
      ),
      theirFirst: spaced(() => readEvicted(workerd, evicted[turn++ % evicted.length] ?? '')),
      ourCat: spaced(() => cat('hot')),
      theirCat: spaced(() => must('GET', objectUrl('hot'), '')),
      ourWrite: spaced(() => execIn(server, 'hot', 'echo again > file')),
      theirWrite: spaced(() => must('PUT', objectUrl('hot'), '', Buffer.from(NOTE))),
    });
    const ours = { floor: FLOOR, excludes: EXCLUDES.ours };
    const theirs = { floor: FLOOR, excludes: EXCLUDES.theirs };
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf(CHILD, found.child, { floor: FLOOR, excludes: EXCLUDES.child }),
        seriesOf(CHILD_READ, found.childRead, { floor: FLOOR, excludes: EXCLUDES.child }),
        seriesOf('first `cat` of a frozen sandbox', found.ourFirst, ours),
        seriesOf('workerd: first read of an evicted object', found.theirFirst, theirs),
        seriesOf('hot `cat`', found.ourCat, ours),
        seriesOf('workerd: hot read', found.theirCat, theirs),
        seriesOf('hot `echo > file`', found.ourWrite, ours),
        seriesOf('workerd: hot write', found.theirWrite, theirs),
      ],
      figures: [
        figureOf('first `cat` / workerd’s first read', ratioOf(found.ourFirst, found.theirFirst), {
          unit: '×',
          bar: 'spaced: first cat',
          excludes: EXCLUDES.first,
        }),
        figureOf('hot `cat` / workerd’s read', ratioOf(found.ourCat, found.theirCat), {
          unit: '×',
          bar: 'spaced: hot cat',
          excludes: EXCLUDES.theirs,
        }),
        figureOf('hot `echo > file` / workerd’s write', ratioOf(found.ourWrite, found.theirWrite), {
          unit: '×',
          bar: 'spaced: hot write',
          excludes: EXCLUDES.write,
        }),
        figureOf('a child that answers / workerd’s read', ratioOf(found.childRead, found.theirCat), {
          unit: '×',
          bar: null,
          excludes: EXCLUDES.child,
        }),
        figureOf('a child that fsyncs / workerd’s write', ratioOf(found.child, found.theirWrite), {
          unit: '×',
          bar: null,
          excludes: EXCLUDES.child,
        }),
      ],
    };
  } finally {
    await Promise.all([server.stop(), workerd.stop(), bare.stop()]);
  }
}
