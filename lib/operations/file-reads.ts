/**
 * Operations that read what a sandbox holds: volumes, files, folders, search and SQL, now or as of a moment. They wake
 * nothing and leave no trace in the sandbox. A read of private contents is a line of the ledger (private-reads.ts).
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { noteUsedMoment } from '../base/used-moment.ts';
import type {
  CompareQuery,
  Comparison,
  Database,
  DatabaseQuery,
  DatabaseRows,
  DatabaseRowsQuery,
  FileInfo,
  FolderItem,
  PastQuery,
  SearchHit,
  SqlAnswer,
  SqlInput,
  VolumeInfo,
} from '../contract/schema.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { Registry } from '../registry/registry.ts';
import { MEMORY, requireInstance } from '../sandboxes/engine.ts';
import type { PastSandbox, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsPath } from '../vfs/paths.ts';
import type { VfsStat } from '../vfs/types.ts';
import { VOLUME_CONTRACTS, type Volume } from '../vfs/volumes.ts';
import { compareVolume } from './compare-volume.ts';
import { etagOf } from './conditions.ts';
import { databaseOf, databaseRowsOf } from './database-answers.ts';
import type { ListPage } from './list-page.ts';
import { endOfMoment, openPast } from './moments.ts';
import { createPrivateReads, type PrivateReads } from './private-reads.ts';
import { unknownId } from './unknown-id.ts';

export interface FileContent {
  stat: FileInfo & { version: number; etag: string };
  content: Uint8Array;
}

/**
 * With `at` each of them reads the newest moment of the replica up to then, and says which by `noteUsedMoment`. They
 * throw `moment_gone` then, and `conflict` without a replica.
 */
export interface FileReads {
  volumes(caller: Caller, id: InstanceId, past?: PastQuery): Promise<VolumeInfo[]>;
  files(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    query: { prefix?: string; limit: number; cursor?: string } & PastQuery,
  ): Promise<ListPage<FileInfo>>;
  /** A folder's own items: folders first, each kind by name. Throws `not_found`, and `conflict` for a file. */
  folder(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    query: { path: VfsPath; limit: number; cursor?: string } & PastQuery,
  ): Promise<ListPage<FolderItem> & { total: number }>;
  /** Throws `not_found` when there is no such file. `range` in bytes, end inclusive. */
  file(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    path: VfsPath,
    range?: { start: number; end: number },
    past?: PastQuery,
  ): Promise<FileContent>;
  fileStat(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    path: VfsPath,
    past?: PastQuery,
  ): Promise<FileContent['stat']>;
  /**
   * What differs between a volume and a snapshot, or an earlier moment, by the hashes of the contents. Throws
   * `not_found` for a snapshot of another tenant.
   */
  compare(caller: Caller, id: InstanceId, volume: Volume, query: CompareQuery): Promise<Comparison>;
  /**
   * The tables of a file that is a SQLite database. Throws `not_found`, `too_large`, `validation` for what is none, and
   * `conflict` for a sandbox that lives only in its process.
   */
  tables(caller: Caller, id: InstanceId, volume: Volume, query: DatabaseQuery): Promise<Database>;
  /** Rows of one of them, or of a view. Throws the same. */
  tableRows(caller: Caller, id: InstanceId, volume: Volume, query: DatabaseRowsQuery): Promise<DatabaseRows>;
  search(
    caller: Caller,
    id: InstanceId,
    query: { q: string; volume?: Volume; in: 'name' | 'content'; limit: number } & PastQuery,
  ): Promise<{ hits: SearchHit[]; truncated: boolean }>;
  query(caller: Caller, id: InstanceId, past: PastQuery, input: SqlInput): Promise<SqlAnswer>;
}

/** The volume whose reads are lines of the ledger. */
const PRIVATE: Volume = 'memory';

interface FileReadParts {
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'read' | 'past'>;
  snapshots: Pick<Snapshots, 'get' | 'read'>;
  clock: Clock;
}

/** All of them. */
const READS: Readonly<Record<keyof FileReads, true>> = {
  ...{ volumes: true, files: true, folder: true, file: true, fileStat: true },
  ...{ compare: true, tables: true, tableRows: true, search: true, query: true },
};

type Read = (caller: Caller, id: InstanceId, ...args: unknown[]) => Promise<unknown>;

/** The operations of the present; each of them asks, where its input has `at`, the same of the past. */
export function fileReads(parts: FileReadParts): FileReads {
  const privateRead = createPrivateReads({ ...parts, rowOf: (id) => requireInstance(parts, id) });
  const reads: Record<string, Read> = {};
  for (const name of Object.keys(READS) as (keyof FileReads)[]) {
    reads[name] = async (caller, id, ...args) => {
      const of = (read: PastSandbox['read'], record: PrivateReads) => readsOf(parts, read, record)[name] as Read;
      const at = timeIn(args);
      if (at === null) return of((request) => parts.sandboxes.read(id, request), privateRead)(caller, id, ...args);
      return openPast(parts.sandboxes, id, endOfMoment(at), ({ timeMs, read }) => {
        noteUsedMoment(timeMs);
        const asOf = `as of ${new Date(timeMs).toISOString()}`;
        const record: PrivateReads = (who, whose, what) => privateRead(who, whose, `${what}, ${asOf}`);
        return of(read, record)(caller, id, ...args);
      });
    };
  }
  return reads as unknown as FileReads;
}

/** The time that an input asks for, in seconds since the epoch; null: it is of the present. */
function timeIn(args: readonly unknown[]): number | null {
  for (const arg of args) {
    if (typeof arg === 'object' && arg !== null && 'at' in arg && typeof arg.at === 'number') return arg.at;
  }
  return null;
}

/** The operations on one sandbox that is read by `read`. */
function readsOf(parts: FileReadParts, read: PastSandbox['read'], recordRead: PrivateReads): FileReads {
  /** The error of a path without a file; its hint says when a folder is there. */
  const absent = async (volume: Volume, path: VfsPath): Promise<WinterdockError> => {
    const prefix = `${path}/`;
    const { files } = await read({ op: 'list', volume, prefix, limit: 1 });
    const hint = `It is a folder. List what is in it: volumes/${volume}?prefix=${encodeURI(prefix)}`;
    return new WinterdockError(
      'not_found',
      `There is no file "${path}" in ${volume}.`,
      files.length > 0 ? { hint } : {},
    );
  };

  /** A reader process opens it, so that it can be ended; the process of a sandbox without a file cannot. */
  const mayOpenDatabase = async (caller: Caller, id: InstanceId, volume: Volume): Promise<void> => {
    const { vfsPath } = await requireInstance(parts, id);
    if (vfsPath === MEMORY) {
      throw new WinterdockError(
        'conflict',
        `The sandbox "${id}" lives only in its process: its databases are not opened as tables.`,
        { hint: 'Download the file to look at it elsewhere.' },
      );
    }
    if (volume === PRIVATE) await recordRead(caller, id, 'tables of a file');
  };

  return {
    async volumes() {
      const { volumes } = await read({ op: 'volumes' });
      return volumes.map(({ volume, files, bytes }) => ({
        volume,
        files,
        bytes,
        survives_resume: VOLUME_CONTRACTS[volume].survivesResume,
        ships: VOLUME_CONTRACTS[volume].ships,
      }));
    },

    async files(caller, id, volume, { prefix, limit, cursor }) {
      if (volume === PRIVATE) await recordRead(caller, id, 'names of files');
      const { files, next } = await read({
        op: 'list',
        volume,
        limit,
        // Paths are absolute: without its slash a prefix would match nothing.
        ...(prefix === undefined || prefix === '' ? {} : { prefix: prefix.startsWith('/') ? prefix : `/${prefix}` }),
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items: files, next };
    },

    async folder(caller, id, volume, { path, limit, cursor }) {
      if (volume === PRIVATE) await recordRead(caller, id, 'names of files');
      const { items, next, total } = await read({
        op: 'folder',
        volume,
        path,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items, next, total };
    },

    async file(caller, id, volume, path, range) {
      if (volume === PRIVATE) await recordRead(caller, id, 'a file');
      const { stat, content } = await read({
        op: 'get',
        volume,
        path,
        ...(range === undefined ? {} : { range }),
      });
      if (stat === null) throw await absent(volume, path);
      return { stat: withEtag(stat), content: content ?? new Uint8Array() };
    },

    async fileStat(caller, id, volume, path) {
      if (volume === PRIVATE) await recordRead(caller, id, 'a file');
      const { stat } = await read({ op: 'stat', volume, path });
      if (stat === null) throw await absent(volume, path);
      return withEtag(stat);
    },

    async compare(caller, id, volume, { snapshot, since, limit }) {
      if (since !== undefined) {
        if (volume === PRIVATE) await recordRead(caller, id, 'a comparison with a moment');
        return openPast(parts.sandboxes, id, endOfMoment(since), ({ timeMs, read: before }) =>
          compareVolume({ snapshot: null, since: timeMs / 1000, volume, limit }, before, read),
        );
      }
      const from = snapshot ?? '';
      const { tenant } = await requireInstance(parts, id);
      const copy = await parts.snapshots.get(from);
      if (copy.tenant !== tenant) throw unknownId('snapshot', from);
      if (volume === PRIVATE) await recordRead(caller, id, 'a comparison with a snapshot');
      return compareVolume(
        { snapshot: from, since: null, volume, limit },
        (request) => parts.snapshots.read(from, request),
        read,
      );
    },

    async tables(caller, id, volume, { path, limit, cursor }) {
      await mayOpenDatabase(caller, id, volume);
      const { tables: found } = await read({
        op: 'tables',
        volume,
        path,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      if (found === null) throw await absent(volume, path);
      return databaseOf(found);
    },

    async tableRows(caller, id, volume, { path, table, limit, cursor }) {
      await mayOpenDatabase(caller, id, volume);
      const { rows: found } = await read({
        op: 'rows',
        volume,
        path,
        table,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      if (found === null) throw await absent(volume, path);
      return databaseRowsOf(found);
    },

    async search(caller, id, { q, volume, in: where, limit }) {
      if (volume === undefined || volume === PRIVATE) await recordRead(caller, id, 'a search');
      const { hits, truncated } = await read({
        op: 'search',
        text: q,
        in: where,
        limit,
        ...(volume === undefined ? {} : { volume }),
      });
      return { hits, truncated };
    },

    async query(caller, id, _, { sql, params }) {
      await recordRead(caller, id, 'a query over all volumes');
      const { columns, rows, truncated } = await read({
        op: 'query',
        sql,
        ...(params === undefined ? {} : { params }),
      });
      return { columns, rows, truncated };
    },
  };
}

function withEtag(stat: VfsStat): FileContent['stat'] {
  return { ...stat, etag: etagOf(stat.version) };
}
