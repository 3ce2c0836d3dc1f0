/**
 * For tests: makes a replica of the data folder of a server that was stopped or killed, with segments as the shipper
 * makes them: a base of each file, and what lies in the log beside it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { systemClock } from '../../base/clock.ts';
import { registryDriver } from '../../registry/drivers.ts';
import { THRESHOLDS } from '../../registry/testing/fixtures.ts';
import { cutBase, cutSegment } from '../../replication/log/cut.ts';
import { BASE_LEVEL, newSeries, REGISTRY_ID, segmentName } from '../../replication/names/replica-names.ts';
import { installationId } from '../backup-settings.ts';

const MOST_LOG_BYTES = 1024 ** 3;

export interface FolderReplica {
  /** Absolute, of the store. */
  store: string;
  /** Of each file that was shipped, by its sandbox: the absolute paths of its segments in the store. */
  segments: Map<string, string[]>;
}

/**
 * Ships what a data folder (absolute) has to `store` (absolute), in the term `term` and as of `timeMs`. `but`: ids that
 * are left out; of the registry too.
 */
export async function shipFolder(
  folder: string,
  store: string,
  { term, timeMs, but = [] }: { term: number; timeMs: number; but?: readonly string[] },
): Promise<FolderReplica> {
  const segments = new Map<string, string[]>();
  mkdirSync(store, { recursive: true });
  await nameInstallation(folder, store, term);
  const ship = async (id: string, main: string) => {
    if (but.includes(id) || !existsSync(main)) return;
    const series = newSeries(term, timeMs);
    const target = (level: number, txid: number) => {
      const path = join(store, segmentName({ id, series, level, min: txid, max: txid }));
      mkdirSync(dirname(path), { recursive: true });
      return path;
    };
    const log = `${main}-wal`;
    const base = target(BASE_LEVEL, 1);
    const cut = await cutBase({ main, log, target: base, txid: 1, timeMs, sync: false });
    if (cut.kind !== 'base') throw new Error(`No base of ${id}: ${cut.why}.`);
    const path = target(0, 2);
    const { position } = cut;
    const request = { log, main, position, restartsAt: null, withFirstPage: true, mostBytes: MOST_LOG_BYTES };
    const next = await cutSegment({ ...request, target: path, txid: 2, timeMs: timeMs + 1, sync: false });
    if (next.kind === 'gap') throw new Error(`No segment of ${id}: ${next.why}.`);
    segments.set(id, next.kind === 'nothing' ? [base] : [base, path]);
  };
  await ship(REGISTRY_ID, join(folder, 'registry.sqlite'));
  for (const id of readdirSync(join(folder, 'live'))) await ship(id, join(folder, 'live', id, 'vfs.sqlite'));
  for (const name of readdirSync(join(folder, 'cold')).filter((one) => one.endsWith('.sqlite'))) {
    await ship(name.replace('.sqlite', ''), join(folder, 'cold', name));
  }
  for (const name of readdirSync(join(folder, 'archive')).filter((one) => one.endsWith('.zst'))) {
    const plain = join(store, '..', `plain-${name}`);
    writeFileSync(plain, zstdDecompressSync(readFileSync(join(folder, 'archive', name))));
    await ship(name.replace('.sqlite.zst', ''), plain);
  }
  return { store, segments };
}

/** Gives the registry an installation, as a server with a replica has one, and the store its marker. */
async function nameInstallation(folder: string, store: string, term: number): Promise<void> {
  const path = join(folder, 'registry.sqlite');
  const registry = await registryDriver({ driver: 'sqlite', path }).open({ thresholds: THRESHOLDS });
  try {
    const id = await installationId(registry.facts, systemClock);
    writeFileSync(join(store, 'winterdock.json'), JSON.stringify({ id, term }));
  } finally {
    await registry.close();
  }
}
