import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const LIB = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * The files that use the path of a row, and why a row whose path is an address in the store is right there. A new one
 * is to be thought of: nothing but lib/base/cloud-address.ts takes such an address apart, and its cached copy is found
 * by `localAddressOf`, `fileOf` and `locationOf`.
 */
const USES: Readonly<Record<string, string>> = {
  'backup/copy-row.ts': 'looks there by findFileAt, then in the store',
  'backup/copy-stored.ts': 'copies the object that it names',
  'backup/replica-backup.ts': 'leaves what is in the store to it',
  'backup/replica-begun.ts': 'compares it with the live one',
  'backup/replica-rows.ts': 'leaves what is in the store to it',
  'backup/restore-moment.ts': 'whether there is a file to keep; it is copied by copyOut',
  'backup/restore-one.ts': 'what is there by findFileAt is set aside; the new file is live',
  'backup/restore.ts': 'asks for the path of a copy',
  'backup/rows-from-store.ts': 'writes the object’s address',
  'backup/settle-row.ts': 'writes the address that the backup was unpacked to',
  'bundles/create-from-file.ts': 'makes a row in the live drawer',
  'copies/agents.ts': 'makes rows without a file',
  'copies/seeding.ts': 'makes rows of copies',
  'doctor/adopt-file.ts': 'makes rows of local files',
  'doctor/give-up-files.ts': 'gives up what is in a drawer on disk alone',
  'doctor/repair.ts': 'shows it',
  'doctor/rows.ts': 'compares local files with localAddressOf',
  'doctor/store.ts': 'asks the store for the objects that rows name',
  'host/resting-files.ts': 'leaves what is in the store to it',
  'hosts/sandbox-places.ts': 'asks isWholeInStore',
  'jobs/runner.ts': 'asks for memory',
  'ledger/empty-drawers.ts': 'looks for local files alone',
  'operations/file-reads.ts': 'asks for memory',
  'operations/instances.ts': 'makes rows in memory',
  'operations/lineage.ts': 'weighs the local copy by findFileAt',
  'operations/moves.ts': 'shows it',
  'operations/serializer.ts': 'shows it',
  'replication/resting-replicas.ts': 'asks whether it is a copy’s',
  'replication/sync-promise.ts': 'leaves what is in the store to it',
  'sandboxes/admission/make-space.ts': 'asks for memory',
  'sandboxes/engine.ts': 'has isWholeInStore',
  'sandboxes/factory.ts': 'shows it',
  'sandboxes/files/file-locations.ts': 'has localAddressOf',
  'sandboxes/files/prefetch.ts': 'fileOf; back in the drawer it names the object again',
  'sandboxes/files/raw-copy.ts': 'fileOf, brought near before',
  'sandboxes/files/reading.ts': 'fileOf, brought near before',
  'sandboxes/moves/archive.ts': 'fileOf, brought near by the filing',
  'sandboxes/moves/delete.ts': 'writes none',
  'sandboxes/moves/filing.ts': 'the intent has the local address; brings near',
  'sandboxes/moves/freeze.ts': 'writes the drawer’s',
  'sandboxes/moves/run-plan.ts': 'keeps it, with what was recorded',
  'sandboxes/moves/hand-over.ts': 'asks for memory',
  'sandboxes/moves/restore.ts': 'writes the live one',
  'sandboxes/moves/shutdown.ts': 'asks for memory',
  'sandboxes/moves/suspend.ts': 'writes the live one',
  'sandboxes/moves/ticker.ts': 'asks for memory',
  'sandboxes/moves/transition-check.ts': 'asks for memory',
  'sandboxes/moves/wake.ts': 'the intent has the local address; brings near',
  'sandboxes/recovery/background-checks.ts': 'fileOf; one that is not there is no concern',
  'sandboxes/recovery/lost-files.ts': 'asks for memory',
  'sandboxes/recovery/orphan-search.ts': 'localAddressOf; what is in the store is not missing',
  'sandboxes/recovery/process-death.ts': 'writes the live one',
  'sandboxes/recovery/process-watch.ts': 'locationOf',
  'sandboxes/recovery/reconcile.ts': 'nothing follows from a copy that is not there',
  'sandboxes/recovery/replaced-file.ts': 'localAddressOf, brought near before',
  'sandboxes/recovery/rollback.ts': 'locationOf and fileOf',
  'sandboxes/recovery/scrub.ts': 'fileOf; one that is not there is no concern',
  'sandboxes/recovery/takeover.ts': 'asks for memory; what is in the store is freed before',
  'sandboxes/sandboxes.ts': 'types',
  'sandboxes/shipping.ts': 'the address of the cached copy is told, never that of the object',
  'sandboxes/store/cache.ts': 'asks for the object’s address',
  'sandboxes/store/collector.ts': 'asks for the object’s address',
  'sandboxes/store/bring-home.ts': 'asks whether it is an object’s address, and writes the local one',
  'sandboxes/store/bring.ts': 'asks for the object’s address',
  'sandboxes/store/from-stored.ts': 'keeps it',
  'sandboxes/store/store-below.ts': 'tells rows in the store from others',
  'sandboxes/store/upload-kind.ts': 'asks for an address on disk',
  'sandboxes/store/upload-queue.ts': 'what the compare-and-set compares',
};

/** Elsewhere the word has another meaning, or it is the row's own. */
const ELSEWHERE = /^(?:vfs|workers|guest|registry|testing)\/|\/testing\/|\.test\.ts$/;

test('every use of the path of a row was thought of for a file in the store', () => {
  const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !ELSEWHERE.test(file),
  );
  const using = files.filter((file) => /\bvfsPath\b/.test(readFileSync(join(LIB, file), 'utf8')));
  expect(using.sort()).toEqual(Object.keys(USES).sort());
});

test('nothing else takes an address in the store apart', () => {
  const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !ELSEWHERE.test(file),
  );
  const found = files.filter((file) => /['"`/^]cloud:/.test(readFileSync(join(LIB, file), 'utf8')));
  expect(found.sort()).toEqual(['base/cloud-address.ts', 'sandboxes/store/collector.ts']);
});
