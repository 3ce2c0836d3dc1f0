/**
 * For tests: sandboxes with a fault, put together from a whole file and a row, without a process. Knows nothing of
 * HTTP.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import type { Host } from '../host/host.ts';
import { plan } from '../lifecycle/plan.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { BlockingFault } from '../lifecycle/ways-out.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { instance } from '../registry/testing/fixtures.ts';
import { livePath, systemAudit } from '../sandboxes/engine.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import { stampOf } from '../storage/files.ts';
import { instanceId } from './plain-ids.ts';

/** States in which a sandbox can have a fault that stops it, and a file. */
export const AT_REST = ['suspended', 'frozen', 'archived'] as const satisfies readonly State[];
type AtRest = (typeof AT_REST)[number];

/** The path of a sandbox's file in a state, relative to the data folder. */
function restingPath(id: string, state: AtRest): string {
  return { suspended: livePath(instanceId(id)), frozen: `cold/${id}.sqlite`, archived: `archive/${id}.sqlite.zst` }[
    state
  ];
}

/** The number of bytes that `damage` overwrites, from the first on: the header and what follows it. */
const DAMAGED_BYTES = 8192;
/** The checksum at the end of a compressed file. */
const CHECKSUM_BYTES = 4;

/**
 * Overwrites the beginning of a file, as a bad sector does; of a compressed one the end, for without its beginning
 * nothing of it is left.
 */
function damage(path: string): void {
  const bytes = readFileSync(path);
  const from = path.endsWith('.zst') ? bytes.byteLength - CHECKSUM_BYTES : 0;
  writeFileSync(path, bytes.fill(0x55, from, Math.min(from + DAMAGED_BYTES, bytes.byteLength)));
}

/** What each fault is made by: done to the file after it was filed. `elsewhere` is where one that is missing went. */
const DONE: Readonly<Record<BlockingFault, (path: string, elsewhere: string) => void>> = {
  corrupt: damage,
  missing: (path, elsewhere) => renameSync(path, elsewhere),
  unknown: () => {},
};

export interface Planted {
  id: string;
  /** Absolute. */
  path: string;
  /** Where the file of a missing one went. */
  elsewhere: string;
}

/** Puts a sandbox of the tenant `acme` with the contents of the file `whole` into a state, and raises a fault. */
export async function plant(
  host: Pick<Host, 'registry' | 'clock' | 'config'>,
  whole: string,
  { id, state, fault }: { id: string; state: AtRest; fault: BlockingFault | null },
): Promise<Planted> {
  const { registry, clock, config } = host;
  const vfsPath = restingPath(id, state);
  const path = join(config.dataFolder, vfsPath);
  const elsewhere = join(config.dataFolder, `elsewhere-${id}`);
  mkdirSync(dirname(path), { recursive: true });
  if (state === 'archived')
    writeFileSync(path, zstdCompressSync(readFileSync(whole), { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
  else copyFileSync(whole, path);
  const stamp = stampOf(path);
  if (stamp === null) throw new Error(`There is no ${path}.`);
  const row = instance(id, { tenant: 'acme' });
  const now = Math.floor(clock.now() / 1000);
  await registry.instances.create(row, now, ledgerEntry({ clock }, row, systemAudit('request'), 'instance.created'));
  await registry.instances.commit({
    id: instanceId(id),
    from: 'created',
    to: state,
    through: (plan('created', state) ?? []).slice(0, -1),
    generation: 0,
    vfsPath,
    file: fileRecord(stamp, { sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }),
    bytes: stamp.size,
    ...(fault === null ? {} : { fault: { fault, reason: 'it was planted' } }),
    now,
    ledger: [],
  });
  if (fault !== null) DONE[fault](path, elsewhere);
  return { id, path, elsewhere };
}
