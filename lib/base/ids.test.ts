import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, expectTypeOf, test } from 'vitest';
import type { Operations } from '../operations/operations.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { type InstanceId, isInstanceId, newId, parseInstanceId } from './ids.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Where the id of a sandbox comes in: from requests, addresses, forms, command lines, files of others. */
const BORDERS = [
  'app/archive/actions.ts',
  'app/archive/revived.tsx',
  'app/form-values.ts',
  'app/guests/owners.ts',
  'app/moment-actions.ts',
  'app/palette-actions.ts',
  'app/retry.ts',
  'app/sandboxes/[id]/actions.ts',
  'app/sandboxes/[id]/exec-actions.ts',
  'app/sandboxes/[id]/file-actions.ts',
  'app/sandboxes/[id]/network-actions.ts',
  'app/sandboxes/[id]/page.tsx',
  'app/sandboxes/[id]/past/move-actions.ts',
  'app/sandboxes/[id]/plan/actions.ts',
  'app/sandboxes/[id]/plan/page.tsx',
  'app/sandboxes/[id]/repair-actions.ts',
  'app/sandboxes/[id]/run-actions.ts',
  'app/sandboxes/[id]/schedule-actions.ts',
  'app/sandboxes/[id]/settings-actions.ts',
  'app/sandboxes/[id]/ship/route.ts',
  'app/sandboxes/[id]/snapshot-actions.ts',
  'app/sandboxes/[id]/sql-actions.ts',
  'app/sandboxes/[id]/upload/route.ts',
  'app/sandboxes/[id]/workbook-actions.ts',
  'lib/backup/manifest.ts',
  'lib/backup/rows-from-store.ts',
  'lib/backup/rows-in-store.ts',
  'lib/contract/schema.ts',
  'lib/contract/schema/backups.ts',
  'lib/contract/schema/bundles.ts',
  'lib/contract/schema/copies.ts',
  'lib/contract/schema/ids.ts',
  'lib/contract/schema/jobs.ts',
  'lib/contract/schema/repairs.ts',
  'lib/contract/schema/stream.ts',
  'lib/doctor/adopt-copy.ts',
  'lib/doctor/adopt-file.ts',
  'lib/front/page-hop.ts',
  'lib/host/replica-retention.ts',
  'lib/host/replica.ts',
  'lib/http/mcp/sandbox-tools.ts',
  'lib/http/routes/instances.ts',
  'lib/http/routes/mcp.ts',
  'lib/http/routes/volumes.ts',
  'lib/http/session-api/routes.ts',
  'lib/http/session-api/session-id.ts',
  'lib/network/broker.ts',
  'scripts/restore.ts',
];

/** Where the name of a file stands for an id, or types are erased. */
const UNPARSED = [
  'lib/contract/schema/ids.ts',
  'lib/copies/copies.ts',
  'lib/doctor/repair.ts',
  'lib/jobs/tenant-files.ts',
  'lib/logs/log-files.ts',
  'lib/logs/log-line.ts',
  'lib/operations/guard.ts',
  'lib/operations/held-operations.ts',
  'lib/replication/replicator.ts',
  'lib/replication/resting-replicas.ts',
  'lib/sandboxes/files/listing.ts',
  'lib/sandboxes/recovery/orphan-search.ts',
  'lib/sandboxes/store/cache.ts',
  'lib/sandboxes/store/row-document.ts',
];

function usersOf(names: RegExp): string[] {
  return ['app', 'components', 'lib', 'scripts']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.test.'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/testing/') && file !== 'lib/base/ids.ts')
    .filter((file) => names.test(readFileSync(join(ROOT, file), 'utf8')))
    .sort();
}

test('the id of a sandbox is one of its form, a new one too', () => {
  expect(parseInstanceId('sb-1_a')).toBe('sb-1_a');
  expect(isInstanceId(newId('sb'))).toBe(true);
  expect(isInstanceId('a'.repeat(63))).toBe(true);
});

test.each(['', 'A', '-a', '_a', 'a b', 'a/b', '../a', 'ä', 'a'.repeat(64)])('%j is no id of a sandbox', (text) => {
  expect(isInstanceId(text)).toBe(false);
  expect(() => parseInstanceId(text)).toThrow('1 to 63');
});

test('a text that nobody parsed does not compile where an id is asked for', () => {
  const text: string = 'a';
  // @ts-expect-error A text is no id before it is parsed.
  const id: InstanceId = text;
  expect(id).toBe('a');
  expectTypeOf<string>().not.toExtend<Parameters<Operations['getInstance']>[1]>();
  expectTypeOf<string>().not.toExtend<Parameters<Sandboxes['resume']>[0]>();
  expectTypeOf<string>().not.toExtend<Parameters<Registry['instances']['get']>[0]>();
  expectTypeOf<InstanceRow['id']>().toEqualTypeOf<InstanceId>();
});

test('the id of a sandbox is parsed at the borders alone: no file below them asks a second time', () => {
  expect(usersOf(/\b(parseInstanceId|isInstanceId|boundInstanceId|instanceIdSchema)\b/)).toEqual(BORDERS);
});

test('few files take a text for an id unparsed', () => {
  expect(usersOf(/\binstanceIdOfFile\b|\bas InstanceId\b|ZodType<InstanceId\b/)).toEqual(UNPARSED);
});
