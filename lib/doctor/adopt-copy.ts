/**
 * Gives the file of a snapshot or blueprint a row again. Its file name is the hash of its bytes, so it verifies itself;
 * its own name is lost.
 */
import { epochSeconds } from '../base/clock.ts';
import type { CopyKind } from '../base/copy-paths.ts';
import { WinterdockError } from '../base/errors.ts';
import { newId, parseInstanceId } from '../base/ids.ts';
import type { CopyContent } from '../registry/copies.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { fileRecord, stampAt } from '../sandboxes/files/file-verification.ts';
import type { KeptFile } from '../storage/inventory.ts';
import type { RepairParts } from './adopt-file.ts';

/** The source of a snapshot whose source is no longer known. */
const UNKNOWN_SOURCE = parseInstanceId('unknown');
/** Hash digits in the name of an adopted blueprint. */
const NAMED_BY = 12;

/**
 * Inserts the row with its ledger line: a snapshot of `tenant`, or a blueprint for all tenants. Returns its id or name.
 * Throws `corrupt` when the bytes do not have the hash in the file name, `validation` for a snapshot without a tenant,
 * `quota_exceeded`, `conflict`.
 */
export async function adoptCopy(
  { drawers, registry, readers, clock }: RepairParts,
  { drawer, key, path }: KeptFile & { drawer: CopyKind },
  tenant: string | null,
): Promise<string> {
  const file = drawers[drawer].at(key);
  const isSnapshot = drawer === 'snapshot';
  if (isSnapshot && tenant === null) {
    throw new WinterdockError('validation', `no row says which tenant ${path} belongs to: pass --tenant NAME`);
  }
  const found = await file.read((local) => readers.check(local, { urgent: true }));
  const stamp = await stampAt(file);
  if (stamp === null || found.sha256 !== key || found.quickCheck !== 'ok') {
    throw new WinterdockError('corrupt', `The bytes of ${path} are not those of its name, or are damaged.`);
  }
  const { volumes } = await file.read((local) => readers.read({ path: local, mode: 'rest' }, { op: 'volumes' }));
  const content: CopyContent = { hash: key, bytes: stamp.size, volumes, file: fileRecord(stamp, found) };
  const made = { created: epochSeconds(clock), actor: 'doctor' };
  const cause = { ...systemAudit('operator'), actor: 'doctor' };
  const line = (type: string, name: string) =>
    ledgerEntry({ clock }, null, cause, type, { reason: `${name}, found at ${path}` });
  if (isSnapshot) {
    const id = newId('snap');
    const row = {
      ...content,
      ...made,
      id,
      tenant: tenant ?? '',
      source: UNKNOWN_SOURCE,
      tag: null,
      deleted: null,
      momentMs: null,
    };
    await registry.copies.addSnapshot(row, line('snapshot.adopted', id));
    return `snapshot ${id}`;
  }
  const name = `adopted-${key.slice(0, NAMED_BY)}`;
  await registry.copies.addBlueprint(
    { ...content, ...made, name, tenant: null, source: null, replicate: null },
    line('blueprint.adopted', name),
  );
  return `blueprint ${name}`;
}
