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

/**
 * By the day: the first is for days whose number can be divided by `FILE_DAYS`. Seconds and file, and below them the
 * test of the first level.
 */
const LISTED: readonly string[] = [
  `
 95  e2e/looks.spec.ts
     e2e/links.spec.ts > pixels, and axe finds nothing on it in
 33  e2e/copies.spec.ts
     lib/http/tests/snapshots.test.ts > a snapshot is taken in every state without waking anything, and equal content is one read-only file
 25  e2e/workbooks.spec.ts
     lib/http/tests/workbooks.test.ts > a sandbox is docked to the newest version and stays there; an upgrade tells first what breaks
 13  e2e/explorer.spec.ts
     e2e/life.spec.ts > an empty server makes an example in one press, and shows the same in curl
  6  e2e/network.spec.ts
     lib/http/tests/network.test.ts > each change is a line of the ledger, and a deleted sandbox takes its list along
 48  e2e/cheap-requests.test.ts
     lib/copies/seeding.test.ts > a thousand sandboxes do not hold the thread for more than fifty milliseconds
 42  lib/http/tests/extremes.test.ts
     lib/http/tests/hostile.test.ts > long and odd strings are refused, not cut
 35  e2e/faults-odd.test.ts
     e2e/random-life.test.ts > a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered
 31  scripts/bench/smoke.test.ts
     scripts/bench/check.test.ts > a ratio above its bar and a rate below its own fail, each by name
 26  lib/guest/shell/commands/sqlite.test.ts
     lib/guest/shell/commands/own-commands.test.ts > what wants more than that of an output without an end is told on stderr
 24  scripts/client/python.test.ts
     lib/client/client.test.ts > a sandbox lives its whole life through the client
 20  lib/backup/restore.test.ts
     lib/backup/backup.test.ts > a backup made beside a running server is restored to an empty folder with every sandbox in its state
 15  e2e/failing-disk.test.ts
     lib/http/tests/faulted.test.ts > a refusal for being %s names all ways out, in every verb and call
 13  testing/frameworks/tests/ai-sdk.test.ts
     lib/client/sandbox.test.ts > a sandbox is made by the key of the environment, lives, sleeps, wakes, and is deleted from any state
 11  lib/guest/shell/pipes.test.ts
     lib/guest/shell/shell.test.ts > a stream is cut at 4 MiB, says so, and an endless one takes no more memory and stops at its time
 10  lib/guest/shell/tees.test.ts
     lib/guest/shell/shell.test.ts > output arrives command by command, in order, and is the same as the whole
  9  lib/schedules/kill.test.ts
     lib/schedules/scheduler.test.ts > what was missed is skipped, made up for once, or for each time
  8  lib/guest/javascript/hostile-programs.test.ts
     lib/guest/javascript/javascript.test.ts > the clock ends a script that awaits, before its first await and after
  8  lib/sandboxes/recovery/stray-files.test.ts
     lib/sandboxes/moves/rest.test.ts > a file that was replaced by another is refused as corrupt and kept
  6  lib/network/npm.test.ts
     lib/network/broker.test.ts > gets what an allowed host answers, with its status, headers and bytes
  6  lib/registry/sqlite/scale.test.ts
     lib/http/tests/list.test.ts > pages follow each other by their Link until the last, at the requested address
 42  lib/guest/testing/conformance/edges.test.ts
     lib/guest/testing/conformance/conformance.test.ts > a part of the table and of the trials is answered as bash answers it
  `,
  `
 45  e2e/away.spec.ts
     components/live/server-reach.test.ts > a server that is away is asked at growing, uneven pauses of at most five seconds, until it answers
 36  e2e/desk.spec.ts
     e2e/life.spec.ts > a revival at the desk takes its reason from the keyboard at once, and its form moves nothing
 34  e2e/bulk.spec.ts
     lib/http/tests/jobs.test.ts > a dry run says how many, by which hops, at what cost, and why others are passed over
 30  e2e/live.spec.ts
     lib/http/tests/changes.test.ts > a client that follows with changes gets the present rows and counts
 14  e2e/thresholds.spec.ts
     lib/http/tests/thresholds.test.ts > what other thresholds would do within a minute is counted, and setting them does that
 10  e2e/environment.spec.ts
     e2e/secrets.spec.ts > no secret is in a page, an answer, the log or the code that browsers get
 71  e2e/alone-api.test.ts
     e2e/alone.test.ts > requests that Next itself decides get the answers of the list, and touch no data
 40  lib/storage/object-store/faults.test.ts
     lib/storage/object-store/s3-driver.test.ts > a killed upload leaves parts, which purging its name removes and purging another does not
 36  scripts/package.test.ts
     e2e/readme.test.ts > its JavaScript is built, signed in for, and prints what it says, from a folder like this one
 31  e2e/faults-even.test.ts
     e2e/random-life.test.ts > a minute of kills, full disks and clock jumps among concurrent requests loses nothing that was answered
 28  lib/copies/copies.test.ts
     lib/http/tests/snapshots.test.ts > a restored sandbox costs its row, is read from its snapshot, and is on its own from its first resume
 26  lib/guest/shell/bash-truncation.test.ts
     lib/guest/testing/conformance/conformance.test.ts > a part of the table and of the trials is answered as bash answers it, the rest is listed, and nothing is empty success
 22  lib/http/tests/hostile-runs.test.ts
     lib/http/tests/runs.test.ts > endless output is bounded in memory, holds nobody up, and ends with a stop
 17  e2e/registry-lost.test.ts
     lib/doctor/repair.test.ts > taking back that fails at any effect may be run again, and until it is done a start is refused
 14  lib/sandboxes/moves/restore.test.ts
     lib/http/tests/snapshots.test.ts > a snapshot outlives its source, and its file outlives the snapshot while a clone needs it
 12  lib/sandboxes/admission/make-space.test.ts
     lib/sandboxes/sandboxes.test.ts > when all places are taken, a wake suspends the sandbox used longest ago; there are never more
 10  lib/http/tests/mcp-hostile.test.ts
     lib/http/tests/mcp.test.ts > an error says what to do, in words and as a problem
 10  e2e/drawers-elsewhere.test.ts
     lib/storage/disk.test.ts > freezing and thawing on one filesystem keep the inode
  9  testing/frameworks/tests/openai-agents.test.ts
     lib/client/sandbox.test.ts > making a sandbox of an id twice makes one, and never takes another for it
  9  lib/host/object-drawers.test.ts
     lib/storage/object-drawer.test.ts > a drawer of objects
  7  lib/bundles/hostile-database.test.ts
     lib/http/tests/import.test.ts > 29. a refused import leaves no file and no row, whatever is wrong with it
  7  lib/guest/worker/heap-trim.test.ts
     lib/workers/pause.test.ts > an interpreter that holds no state is dropped before the pause, and works again after it
 42  lib/backup/migrate-killed.test.ts
     lib/backup/postgres-registry.test.ts > a registry is carried to it and back, proved; the one that it left starts no server until it is told to
  `,
  `
 38  e2e/files.spec.ts
     lib/http/tests/files.test.ts > a file is new, then replaced, then deleted, and each write has another ETag
 38  e2e/terminal.spec.ts
     lib/http/tests/terminals.test.ts > scrollback, directory and a running line stay when a browser leaves, and another one shows the same
 35  e2e/settings.spec.ts
     lib/http/tests/people.test.ts > an invitation lets one person in, once, with the role and the tenants that it says
 31  e2e/access.spec.ts
     lib/http/tests/people.test.ts > a changed role applies at once: to the next request, and an open stream is reopened
 23  e2e/palette.spec.ts
     e2e/list.spec.ts > a filter is typed and followed, says what is wrong, is saved as a link, and rows are chosen by ranges
  6  e2e/forget.spec.ts
     lib/http/tests/forget.test.ts > a tenant is forgotten: no file holds its word, others have what they had, and the ledger is proved
 53  lib/http/tests/fallen-worker.test.ts
     lib/workers/walls/walls.test.ts > each sandbox has a user of its own, always the same, in all threads and processes
 41  e2e/power-cut.test.ts
     e2e/durability.test.ts > kill -9 with ten sandboxes being written to loses no answered write, leaves nothing stuck and no process behind
 33  lib/sandboxes/slow-registry.test.ts
     lib/sandboxes/sandboxes.test.ts > twenty concurrent requests wake a sleeping sandbox once
 29  e2e/doctor.test.ts
     lib/doctor/repair.test.ts > without a registry and a head every file gets a row by its key, in the state of its drawer
 27  lib/sandboxes/recovery/kill.test.ts
     lib/sandboxes/recovery/settle.test.ts > an interrupted freeze is rolled back whether or not it had moved the file, and the ledger names the actor
 23  e2e/hostile-requests.test.ts
     lib/http/tests/hostile.test.ts > a request that is not HTTP gets an answer that tells nothing, and the server lives
 21  lib/guest/python/python-files.test.ts
     lib/guest/python/python-modules.test.ts > functions that name a path by its root reach the sandbox
 15  lib/guest/javascript/javascript-bridge.test.ts
     lib/guest/javascript/javascript.test.ts > a script that awaits runs once, and what it throws before and after is its error
 12  testing/frameworks/tests/deepagents.test.ts
     lib/client/sandbox.test.ts > output is told as it comes, with no character cut, and is whole at the end
 11  lib/network/pip.test.ts
     lib/network/broker.test.ts > gets what an allowed host answers, with its status, headers and bytes
 10  e2e/bench-pages.test.ts
     scripts/bench/check.test.ts > every bar belongs to a part, and no goal is easier than its limit
  9  lib/bundles/kill.test.ts
     lib/http/tests/import.test.ts > 29. an upload that breaks off leaves no file
  8  lib/bundles/hostile-zip.test.ts
     lib/http/tests/import.test.ts > 29. a refused import leaves no file and no row, whatever is wrong with it
  8  lib/sandboxes/recovery/lost-files.test.ts
     lib/sandboxes/moves/rest.test.ts > a missing file is a fault, never an empty sandbox; restoring the file and a forced wake clear it
  6  lib/runs/kill.test.ts
     lib/http/tests/runs.test.ts > a run outlives its request, is listed, and keeps its output and its end
  6  lib/network/python.test.ts
     lib/network/broker.test.ts > follows redirects, each of which is asked about again
 28  lib/backup/rows-on-s3.test.ts
     lib/backup/store-target.test.ts > a store that speaks S3 takes backups, pages of lists included, and gives everything back
 12  e2e/replica-refusals.test.ts
     e2e/replica-disks.test.ts > a replica that is read-only for a while has everything afterwards
  `,
];

const ENTRY = /^ *(\d+) {2}(\S+)\n {5}(\S+) > (.+)$/gm;

export const TABLES: readonly (readonly SecondLevel[])[] = LISTED.map((listed) =>
  [...listed.matchAll(ENTRY)].map(([, seconds, file = '', daily = '', title = '']) => ({
    file,
    seconds: Number(seconds),
    daily,
    title,
  })),
);

/** The files that a run leaves out, relative to the root of the repository. */
export function filesLeftOut(environment: Readonly<Record<string, string | undefined>>): string[] {
  if (environment[TEST_FILES] !== OF_THE_DAY || DRAWS_ALL) return [];
  return TABLES.filter((_, day) => day !== DAY % FILE_DAYS).flatMap((table) => table.map(({ file }) => file));
}
