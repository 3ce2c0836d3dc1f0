/**
 * The test files of the second level: long rounds, loops of kills and attacks, places of the console by the browser.
 * They run on one day of three, and everything else on every day. Each names the test of the first level that holds the
 * same promise every day, in a shorter way. Knows nothing of how tests are run.
 */
import { DAY, DRAWS_ALL, FILE_DAYS } from '../lib/testing/draw.ts';

/** The variable that has a run leave out the files of other days. Without it every file that is named runs. */
export const TEST_FILES = 'WB_TEST_FILES';
/** Its value. */
export const OF_THE_DAY = 'of the day';

interface SecondLevel {
  file: string;
  /** Processor time of a run on its day, as WB_TEST_TIMES measured it on two processors. */
  seconds: number;
  /** A test file of the first level, and words of the title of its test. */
  daily: string;
  title: string;
}

/** By the day: the first is for days whose number can be divided by `FILE_DAYS`. */
export const TABLES: readonly (readonly SecondLevel[])[] = [
  [
    {
      file: 'e2e/looks.spec.ts',
      seconds: 73,
      daily: 'e2e/links.spec.ts',
      title: 'pixels, and axe finds nothing on it in',
    },
    {
      file: 'e2e/settings.spec.ts',
      seconds: 35,
      daily: 'lib/http/tests/people.test.ts',
      title: 'an invitation lets one person in, once, with the role and the tenants that it says',
    },
    {
      file: 'e2e/access.spec.ts',
      seconds: 31,
      daily: 'lib/http/tests/people.test.ts',
      title: 'a changed role applies at once: to the next request, and an open stream is reopened',
    },
    {
      file: 'e2e/palette.spec.ts',
      seconds: 23,
      daily: 'e2e/list.spec.ts',
      title: 'a filter is typed and followed, says what is wrong, is saved as a link, and rows are chosen by ranges',
    },
    {
      file: 'e2e/alone-api.test.ts',
      seconds: 49,
      daily: 'e2e/alone.test.ts',
      title: 'requests that Next itself decides get the answers of the list, and touch no data',
    },
    {
      file: 'e2e/faults-odd.test.ts',
      seconds: 35,
      daily: 'e2e/random-life.test.ts',
      title: 'a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered',
    },
    {
      file: 'lib/sandboxes/slow-registry.test.ts',
      seconds: 33,
      daily: 'lib/sandboxes/sandboxes.test.ts',
      title: 'twenty concurrent requests wake a sleeping sandbox once',
    },
    {
      file: 'e2e/doctor.test.ts',
      seconds: 29,
      daily: 'lib/doctor/repair.test.ts',
      title: 'without a registry and a head every file gets a row by its key, in the state of its drawer',
    },
    {
      file: 'lib/sandboxes/recovery/kill.test.ts',
      seconds: 27,
      daily: 'lib/sandboxes/recovery/settle.test.ts',
      title:
        'an interrupted freeze is rolled back whether or not it had moved the file, and the ledger names the actor',
    },
    {
      file: 'scripts/client/python.test.ts',
      seconds: 24,
      daily: 'lib/client/client.test.ts',
      title: 'a sandbox lives its whole life through the client',
    },
    {
      file: 'testing/frameworks/tests/ai-sdk.test.ts',
      seconds: 13,
      daily: 'lib/client/sandbox.test.ts',
      title: 'a sandbox is made by the key of the environment, lives, sleeps, wakes, and is deleted from any state',
    },
    {
      file: 'testing/frameworks/tests/deepagents.test.ts',
      seconds: 12,
      daily: 'lib/client/sandbox.test.ts',
      title: 'output is told as it comes, with no character cut, and is whole at the end',
    },
    {
      file: 'testing/frameworks/tests/openai-agents.test.ts',
      seconds: 9,
      daily: 'lib/client/sandbox.test.ts',
      title: 'making a sandbox of an id twice makes one, and never takes another for it',
    },
    {
      file: 'lib/schedules/kill.test.ts',
      seconds: 9,
      daily: 'lib/schedules/scheduler.test.ts',
      title: 'what was missed is skipped, made up for once, or for each time',
    },
  ],
  [
    {
      file: 'e2e/away.spec.ts',
      seconds: 45,
      daily: 'components/live/server-reach.test.ts',
      title: 'a server that is away is asked at growing, uneven pauses of at most five seconds, until it answers',
    },
    {
      file: 'e2e/desk.spec.ts',
      seconds: 36,
      daily: 'e2e/life.spec.ts',
      title: 'a revival at the desk takes its reason from the keyboard at once, and its form moves nothing',
    },
    {
      file: 'e2e/copies.spec.ts',
      seconds: 33,
      daily: 'lib/http/tests/snapshots.test.ts',
      title: 'a snapshot is taken in every state without waking anything, and equal content is one read-only file',
    },
    {
      file: 'e2e/workbooks.spec.ts',
      seconds: 25,
      daily: 'lib/http/tests/workbooks.test.ts',
      title: 'a sandbox is docked to the newest version and stays there; an upgrade tells first what breaks',
    },
    {
      file: 'e2e/thresholds.spec.ts',
      seconds: 14,
      daily: 'lib/http/tests/thresholds.test.ts',
      title: 'what other thresholds would do within a minute is counted, and setting them does that',
    },
    {
      file: 'e2e/environment.spec.ts',
      seconds: 10,
      daily: 'e2e/secrets.spec.ts',
      title: 'no secret is in a page, an answer, the log or the code that browsers get',
    },
    {
      file: 'e2e/power-cut.test.ts',
      seconds: 41,
      daily: 'e2e/durability.test.ts',
      title:
        'kill -9 with ten sandboxes being written to loses no answered write, leaves nothing stuck and no process behind',
    },
    {
      file: 'scripts/package.test.ts',
      seconds: 36,
      daily: 'e2e/readme.test.ts',
      title: 'its JavaScript is built, signed in for, and prints what it says, from a folder like this one',
    },
    {
      file: 'e2e/cheap-requests.test.ts',
      seconds: 34,
      daily: 'lib/copies/seeding.test.ts',
      title: 'a thousand sandboxes do not hold the thread for more than fifty milliseconds',
    },
    {
      file: 'scripts/bench/smoke.test.ts',
      seconds: 31,
      daily: 'scripts/bench/check.test.ts',
      title: 'a ratio above its bar and a rate below its own fail, each by name',
    },
    {
      file: 'e2e/hostile-requests.test.ts',
      seconds: 27,
      daily: 'lib/http/tests/hostile.test.ts',
      title: 'a request that is not HTTP gets an answer that tells nothing, and the server lives',
    },
    {
      file: 'lib/guest/shell/bash-truncation.test.ts',
      seconds: 26,
      daily: 'lib/guest/testing/conformance/conformance.test.ts',
      title:
        'a part of the table and of the trials is answered as bash answers it, the rest is listed, and nothing is empty success',
    },
    {
      file: 'e2e/failing-disk.test.ts',
      seconds: 15,
      daily: 'lib/http/tests/faulted.test.ts',
      title: 'a refusal for being %s names all ways out, in every verb and call',
    },
    {
      file: 'lib/http/tests/mcp-hostile.test.ts',
      seconds: 10,
      daily: 'lib/http/tests/mcp.test.ts',
      title: 'an error says what to do, in words and as a problem',
    },
    {
      file: 'e2e/bench-pages.test.ts',
      seconds: 10,
      daily: 'scripts/bench/check.test.ts',
      title: 'every bar belongs to a part, and no goal is easier than its limit',
    },
    {
      file: 'lib/runs/kill.test.ts',
      seconds: 6,
      daily: 'lib/http/tests/sandbox-runs.test.ts',
      title: 'a run outlives its request, is listed, and keeps its output and its end',
    },
  ],
  [
    {
      file: 'e2e/files.spec.ts',
      seconds: 38,
      daily: 'lib/http/tests/files.test.ts',
      title: 'a file is new, then replaced, then deleted, and each write has another ETag',
    },
    {
      file: 'e2e/terminal.spec.ts',
      seconds: 38,
      daily: 'lib/http/tests/terminals.test.ts',
      title: 'scrollback, directory and a running line stay when a browser leaves, and another one shows the same',
    },
    {
      file: 'e2e/bulk.spec.ts',
      seconds: 34,
      daily: 'lib/http/tests/jobs.test.ts',
      title: 'a dry run says how many, by which hops, at what cost, and why others are passed over',
    },
    {
      file: 'e2e/live.spec.ts',
      seconds: 30,
      daily: 'lib/http/tests/changes.test.ts',
      title: 'a client that follows with changes gets the present rows and counts',
    },
    {
      file: 'e2e/explorer.spec.ts',
      seconds: 13,
      daily: 'e2e/life.spec.ts',
      title: 'an empty server makes an example in one press, and shows the same in curl',
    },
    {
      file: 'lib/http/tests/fallen-worker.test.ts',
      seconds: 63,
      daily: 'lib/workers/walls/walls.test.ts',
      title: 'each sandbox has a user of its own, always the same, in all threads and processes',
    },
    {
      file: 'lib/http/tests/extremes.test.ts',
      seconds: 34,
      daily: 'lib/http/tests/hostile.test.ts',
      title: 'long and odd strings are refused, not cut',
    },
    {
      file: 'e2e/faults-even.test.ts',
      seconds: 31,
      daily: 'e2e/random-life.test.ts',
      title: 'a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered',
    },
    {
      file: 'lib/copies/copies.test.ts',
      seconds: 28,
      daily: 'lib/http/tests/snapshots.test.ts',
      title: 'a restored sandbox costs its row, is read from its snapshot, and is on its own from its first resume',
    },
    {
      file: 'lib/guest/shell/commands/sqlite.test.ts',
      seconds: 26,
      daily: 'lib/guest/shell/commands/own-commands.test.ts',
      title: 'what wants more than that of an output without an end is told on stderr',
    },
    {
      file: 'lib/http/tests/hostile-runs.test.ts',
      seconds: 22,
      daily: 'lib/http/tests/sandbox-runs.test.ts',
      title: 'endless output is bounded in memory, holds nobody up, and ends with a stop',
    },
    {
      file: 'e2e/registry-lost.test.ts',
      seconds: 17,
      daily: 'lib/doctor/repair.test.ts',
      title: 'taking back that fails at any effect may be run again, and until it is done a start is refused',
    },
    {
      file: 'e2e/drawers-elsewhere.test.ts',
      seconds: 10,
      daily: 'lib/storage/disk.test.ts',
      title: 'freezing and thawing on one filesystem keep the inode',
    },
    {
      file: 'lib/bundles/kill.test.ts',
      seconds: 9,
      daily: 'lib/http/tests/import.test.ts',
      title: '29. an upload that breaks off leaves no file',
    },
  ],
];

/** The files that a run leaves out, relative to the root of the repository. */
export function filesLeftOut(environment: Readonly<Record<string, string | undefined>>): string[] {
  if (environment[TEST_FILES] !== OF_THE_DAY || DRAWS_ALL) return [];
  return TABLES.filter((_, day) => day !== DAY % FILE_DAYS).flatMap((table) => table.map(({ file }) => file));
}
