/**
 * Operations on what a sandbox holds: volumes, files, folders, search and SQL. Reads wake nothing and leave no trace in
 * the sandbox; writes wake what sleeps. A read of private contents is a line of the ledger (private-reads.ts).
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type {
  CompareQuery,
  Comparison,
  Database,
  DatabaseQuery,
  DatabaseRows,
  DatabaseRowsQuery,
  FileInfo,
  FolderItem,
  SearchHit,
  SqlAnswer,
  SqlInput,
  VolumeInfo,
} from '../contract/schema.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { Registry } from '../registry/registry.ts';
import { MEMORY, requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsPath } from '../vfs/paths.ts';
import type { VfsStat } from '../vfs/types.ts';
import { VOLUME_CONTRACTS, type Volume } from '../vfs/volumes.ts';
import type { WriteOperation, WriteOutcome } from '../workers/protocol/instance.ts';
import { auditContextOf } from './audit-context.ts';
import { compareVolume } from './compare-volume.ts';
import { etagOf, writeConditionOf } from './conditions.ts';
import { databaseOf, databaseRowsOf } from './database-answers.ts';
import type { ListPage } from './list-page.ts';
import { createPrivateReads } from './private-reads.ts';
import { unknownId } from './unknown-id.ts';

export interface FileContent {
  stat: FileInfo & { version: number; etag: string };
  content: Uint8Array;
}

/** The headers that make a write conditional, as they were sent. */
interface WriteHeaders {
  ifMatch?: string;
  ifNoneMatch?: string;
}

export interface FileOperations {
  volumes(caller: Caller, id: InstanceId): Promise<VolumeInfo[]>;
  files(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    query: { prefix?: string; limit: number; cursor?: string },
  ): Promise<ListPage<FileInfo>>;
  /** A folder's own items: folders first, each kind by name. Throws `not_found`, and `conflict` for a file. */
  folder(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    query: { path: VfsPath; limit: number; cursor?: string },
  ): Promise<ListPage<FolderItem> & { total: number }>;
  /** Throws `not_found` when there is no such file. `range` in bytes, end inclusive. */
  file(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    path: VfsPath,
    range?: { start: number; end: number },
  ): Promise<FileContent>;
  fileStat(caller: Caller, id: InstanceId, volume: Volume, path: VfsPath): Promise<FileContent['stat']>;
  /**
   * What differs between a volume and a snapshot, by the hashes of the contents. Throws `not_found` for a snapshot of
   * another tenant.
   */
  compare(caller: Caller, id: InstanceId, volume: Volume, query: CompareQuery): Promise<Comparison>;
  /**
   * The tables of a file that is a SQLite database. Throws `not_found`, `too_large`, `validation` for what is none, and
   * `conflict` for a sandbox that lives only in its process.
   */
  tables(caller: Caller, id: InstanceId, volume: Volume, query: DatabaseQuery): Promise<Database>;
  /** Rows of one of them, or of a view. Throws the same. */
  tableRows(caller: Caller, id: InstanceId, volume: Volume, query: DatabaseRowsQuery): Promise<DatabaseRows>;
  putFile(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    path: VfsPath,
    content: Uint8Array,
    condition?: WriteHeaders,
  ): Promise<{ created: boolean; etag: string }>;
  deleteFile(caller: Caller, id: InstanceId, volume: Volume, path: VfsPath, condition?: WriteHeaders): Promise<void>;
  /** Moves a file or a whole folder. Throws `conflict` when something is at `to`. */
  moveFile(caller: Caller, id: InstanceId, volume: Volume, input: { from: VfsPath; to: VfsPath }): Promise<void>;
  /** Makes a folder and the missing ones above it. Throws `conflict` when something is there. */
  makeFolder(caller: Caller, id: InstanceId, volume: Volume, input: { path: VfsPath }): Promise<void>;
  /**
   * Removes an empty folder, or with `recursive` one with all in it. Throws `not_found`; `conflict` for the root and
   * for a folder that is not empty.
   */
  deleteFolder(
    caller: Caller,
    id: InstanceId,
    volume: Volume,
    query: { path: VfsPath; recursive?: 'true' | 'false' },
  ): Promise<void>;
  search(
    caller: Caller,
    id: InstanceId,
    query: { q: string; volume?: Volume; in: 'name' | 'content'; limit: number },
  ): Promise<{ hits: SearchHit[]; truncated: boolean }>;
  query(caller: Caller, id: InstanceId, input: SqlInput): Promise<SqlAnswer>;
}

/** The volume whose reads are lines of the ledger. */
const PRIVATE: Volume = 'memory';

export function fileOperations(parts: {
  registry: Registry;
  sandboxes: Sandboxes;
  snapshots: Pick<Snapshots, 'get' | 'read'>;
  clock: Clock;
}): FileOperations {
  const { sandboxes } = parts;
  const privateRead = createPrivateReads({ ...parts, rowOf: (id) => requireInstance(parts, id) });

  const write = (caller: Caller, id: InstanceId, operation: WriteOperation): Promise<WriteOutcome> =>
    sandboxes.write(id, operation, auditContextOf(caller));

  /** The error of a path without a file; its hint says when a folder is there. */
  const absent = async (id: InstanceId, volume: Volume, path: VfsPath): Promise<WinterdockError> => {
    const prefix = `${path}/`;
    const { files } = await sandboxes.read(id, { op: 'list', volume, prefix, limit: 1 });
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
    if (volume === PRIVATE) await privateRead(caller, id, 'tables of a file');
  };

  return {
    async volumes(_caller, id) {
      const { volumes } = await sandboxes.read(id, { op: 'volumes' });
      return volumes.map(({ volume, files, bytes }) => ({
        volume,
        files,
        bytes,
        survives_resume: VOLUME_CONTRACTS[volume].survivesResume,
        ships: VOLUME_CONTRACTS[volume].ships,
      }));
    },

    async files(caller, id, volume, { prefix, limit, cursor }) {
      if (volume === PRIVATE) await privateRead(caller, id, 'names of files');
      const { files, next } = await sandboxes.read(id, {
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
      if (volume === PRIVATE) await privateRead(caller, id, 'names of files');
      const { items, next, total } = await sandboxes.read(id, {
        op: 'folder',
        volume,
        path,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items, next, total };
    },

    async file(caller, id, volume, path, range) {
      if (volume === PRIVATE) await privateRead(caller, id, 'a file');
      const { stat, content } = await sandboxes.read(id, {
        op: 'get',
        volume,
        path,
        ...(range === undefined ? {} : { range }),
      });
      if (stat === null) throw await absent(id, volume, path);
      return { stat: withEtag(stat), content: content ?? new Uint8Array() };
    },

    async fileStat(caller, id, volume, path) {
      if (volume === PRIVATE) await privateRead(caller, id, 'a file');
      const { stat } = await sandboxes.read(id, { op: 'stat', volume, path });
      if (stat === null) throw await absent(id, volume, path);
      return withEtag(stat);
    },

    async compare(caller, id, volume, { snapshot, limit }) {
      const { tenant } = await requireInstance(parts, id);
      const copy = await parts.snapshots.get(snapshot);
      if (copy.tenant !== tenant) throw unknownId('snapshot', snapshot);
      if (volume === PRIVATE) await privateRead(caller, id, 'a comparison with a snapshot');
      return compareVolume(
        { snapshot, volume, limit },
        (request) => parts.snapshots.read(snapshot, request),
        (request) => sandboxes.read(id, request),
      );
    },

    async tables(caller, id, volume, { path, limit, cursor }) {
      await mayOpenDatabase(caller, id, volume);
      const { tables: found } = await sandboxes.read(id, {
        op: 'tables',
        volume,
        path,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      if (found === null) throw await absent(id, volume, path);
      return databaseOf(found);
    },

    async tableRows(caller, id, volume, { path, table, limit, cursor }) {
      await mayOpenDatabase(caller, id, volume);
      const { rows: found } = await sandboxes.read(id, {
        op: 'rows',
        volume,
        path,
        table,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      if (found === null) throw await absent(id, volume, path);
      return databaseRowsOf(found);
    },

    async putFile(caller, id, volume, path, content, condition) {
      const outcome = await write(caller, id, {
        op: 'put',
        volume,
        path,
        content,
        condition: writeConditionOf(condition ?? {}),
      });
      return { created: outcome.created, etag: etagOf(outcome.stat?.version ?? 0) };
    },

    async deleteFile(caller, id, volume, path, condition) {
      await write(caller, id, {
        op: 'delete',
        volume,
        path,
        condition: writeConditionOf(condition ?? {}),
      });
    },

    async moveFile(caller, id, volume, { from, to }) {
      await write(caller, id, {
        op: 'move',
        volume,
        from,
        to,
      });
    },

    async makeFolder(caller, id, volume, { path }) {
      await write(caller, id, { op: 'mkdir', volume, path });
    },

    async deleteFolder(caller, id, volume, { path, recursive }) {
      await write(caller, id, {
        op: 'rmdir',
        volume,
        path,
        recursive: recursive === 'true',
      });
    },

    async search(caller, id, { q, volume, in: where, limit }) {
      if (volume === undefined || volume === PRIVATE) await privateRead(caller, id, 'a search');
      const { hits, truncated } = await sandboxes.read(id, {
        op: 'search',
        text: q,
        in: where,
        limit,
        ...(volume === undefined ? {} : { volume }),
      });
      return { hits, truncated };
    },

    async query(caller, id, { sql, params }) {
      await privateRead(caller, id, 'a query over all volumes');
      const { columns, rows, truncated } = await sandboxes.read(id, {
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
