/**
 * Which test files run a second time with the registry on Postgres: those of engine and API. `npm run test:postgres`
 * runs all of them, `npm test` the chosen ones. Tests that are SQLite's alone are listed with the reason, and no other
 * is left out. Knows nothing of how tests are run.
 */
import { filesReaching, sortTests } from './test-projects.ts';

/** What opens the registry of the engines and servers of tests. */
const SEAM = 'lib/registry/testing/registry-of-tests.ts';
/** What the tests import that start a PostgreSQL server themselves: they are on Postgres every day. */
const OWN_SERVER = 'lib/registry/testing/postgres-cluster.ts';

/** The chosen ones. */
export const CHOSEN: readonly string[] = [
  'lib/auth/auth.test.ts',
  'lib/auth/rotated-keys.test.ts',
  'lib/auth/set-back-clock.test.ts',
  'lib/claims/claims.test.ts',
  'lib/copies/seeding.test.ts',
  'lib/doctor/stored-rows.test.ts',
  'lib/http/tests/access.test.ts',
  'lib/http/tests/calls.test.ts',
  'lib/http/tests/changes.test.ts',
  'lib/http/tests/console-reads.test.ts',
  'lib/http/tests/events.test.ts',
  'lib/http/tests/files.test.ts',
  'lib/http/tests/forget.test.ts',
  'lib/http/tests/guests.test.ts',
  'lib/http/tests/hostile.test.ts',
  'lib/http/tests/instances.test.ts',
  'lib/http/tests/jobs.test.ts',
  'lib/http/tests/keys.test.ts',
  'lib/http/tests/ledger.test.ts',
  'lib/http/tests/list.test.ts',
  'lib/http/tests/moments-without-replica.test.ts',
  'lib/http/tests/network.test.ts',
  'lib/http/tests/people.test.ts',
  'lib/http/tests/refusals.test.ts',
  'lib/http/tests/runs.test.ts',
  'lib/http/tests/session-api.test.ts',
  'lib/http/tests/snapshots.test.ts',
  'lib/http/tests/system.test.ts',
  'lib/http/tests/tenants.test.ts',
  'lib/http/tests/thresholds.test.ts',
  'lib/http/tests/usage.test.ts',
  'lib/http/tests/workbooks.test.ts',
  'lib/ledger/empty-drawers.test.ts',
  'lib/ledger/life.test.ts',
  'lib/sandboxes/clock-jumps.test.ts',
  'lib/sandboxes/files/file-verification.test.ts',
  'lib/sandboxes/files/unverified.test.ts',
  'lib/sandboxes/lost-answers.test.ts',
  'lib/sandboxes/moves/ephemeral.test.ts',
  'lib/sandboxes/moves/run-plan.test.ts',
  'lib/sandboxes/moves/rest.test.ts',
  'lib/sandboxes/moves/stop.test.ts',
  'lib/sandboxes/recovery/scrub.test.ts',
  'lib/sandboxes/recovery/settle.test.ts',
  'lib/sandboxes/sandboxes.test.ts',
  'lib/sandboxes/two-hosts.test.ts',
  'lib/sandboxes/unknown-outcome.test.ts',
  'lib/schedules/declarations.test.ts',
  'lib/schedules/scheduler.test.ts',
  'lib/schedules/workbook.test.ts',
  'lib/secrets/secrets.test.ts',
  'lib/webhooks/courier.test.ts',
];

/** The driver's own tests, which have a server for each process. */
export const DRIVER_FOLDERS: readonly string[] = [
  'lib/registry/postgres/',
  'db/postgres.test.ts',
  'lib/backup/postgres-registry.test.ts',
];

const REPLICA = 'a replica is not shipped from Postgres, and a start with both is refused';

/** Whole files, and single tests as `file > title`, each with the reason. */
export const SQLITE_ALONE: Readonly<Record<string, string>> = {
  'lib/backup/damaged-replica.test.ts': REPLICA,
  'lib/backup/last-state.test.ts': 'the last state had its registry in a file, and so have its backups',
  'lib/backup/linked-registry.test.ts': 'links and hard links are of a file',
  'lib/backup/replica-begun.test.ts': REPLICA,
  'lib/backup/replica-drill.test.ts': REPLICA,
  'lib/backup/replica-restore.test.ts': REPLICA,
  'lib/cli/past.test.ts': REPLICA,
  'lib/front/lock.test.ts': 'two names of one file, its inode and its lock file',
  'lib/front/server.test.ts > a registry that is no database, or has damaged pages, is named with the way out and not with a stack':
    'the pages of a file',
  'lib/front/server.test.ts > a folder of the last state is carried over with one line and has everything; an older one is refused in one line and unchanged':
    'the last state had its registry in a file',
  'lib/host/replica-copies.test.ts': REPLICA,
  'lib/host/replica-retention.test.ts': REPLICA,
  'lib/http/tests/forget-bundles.test.ts': REPLICA,
  'lib/http/tests/forget-replica.test.ts': REPLICA,
  'lib/http/tests/moments.test.ts': REPLICA,
  'lib/http/tests/past-histories.test.ts': REPLICA,
  'lib/http/tests/past-store.test.ts': REPLICA,
  'lib/http/tests/past.test.ts': REPLICA,
  'lib/http/tests/registry-replica.test.ts': REPLICA,
  'lib/http/tests/repeated.test.ts > what was committed here alone is found under its key once the replica has it':
    REPLICA,
  'lib/http/tests/replica-lag.test.ts': REPLICA,
  'lib/http/tests/replica-refused.test.ts': REPLICA,
  'lib/http/tests/replica-replaced.test.ts': REPLICA,
  'lib/http/tests/replica-server.test.ts': REPLICA,
  'lib/http/tests/replica.test.ts': REPLICA,
  'lib/http/tests/storage.test.ts > a damaged registry does not pass, and a file that is not a registry is reported':
    'the pages of a file',
  'lib/http/tests/storage.test.ts > a copy of a stopped server’s folder, without derived files, is a complete backup':
    'a copy of the folder has its registry where that is a file',
  'lib/http/tests/sync.test.ts': REPLICA,
  'lib/sandboxes/recovery/settle.test.ts > a freeze on a disk that takes neither a commit nor a folder still returns its file':
    'the disk that takes no commit has the registry too',
  'lib/sandboxes/slow-registry.test.ts': 'its registry is one that answers late, whatever the others have',
};

/** The files that run on Postgres: those whose tests share a process, and those that have their own. */
export function filesOnPostgres(root: string): { shared: string[]; isolated: string[] } {
  const { engine, isolated } = sortTests(root);
  const own = new Set(filesReaching(root, [...engine, ...isolated], OWN_SERVER));
  const those = (files: string[]) =>
    filesReaching(
      root,
      files.filter((file) => file.startsWith('lib/') && !own.has(file) && !(file in SQLITE_ALONE)),
      SEAM,
    );
  return { shared: those(engine), isolated: those(isolated) };
}
