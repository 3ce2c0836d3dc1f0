/**
 * Operations on the files of a sandbox: those that read (file-reads.ts), and those that write, which wake what sleeps.
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { InstanceId } from '../base/ids.ts';
import type { TakeBackInput, TakenBack } from '../contract/schema.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsPath } from '../vfs/paths.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { WriteOperation, WriteOutcome } from '../workers/protocol/instance.ts';
import { auditContextOf } from './audit-context.ts';
import { etagOf, writeConditionOf } from './conditions.ts';
import { type FileReads, fileReads } from './file-reads.ts';
import { takeFromPast } from './take-back.ts';

/** The headers that make a write conditional, as they were sent. */
interface WriteHeaders {
  ifMatch?: string;
  ifNoneMatch?: string;
}

export interface FileOperations extends FileReads {
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
  /**
   * Puts a file or a folder that was there at a moment in the place of what is there now, with all below it and nothing
   * else. Throws `not_found` when nothing was there, `moment_gone`, `too_large`, `validation` for tmp.
   */
  takeBack(caller: Caller, id: InstanceId, volume: Volume, input: TakeBackInput): Promise<TakenBack>;
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
}

export function fileOperations(parts: {
  registry: Registry;
  sandboxes: Sandboxes;
  snapshots: Pick<Snapshots, 'get' | 'read'>;
  clock: Clock;
  config: Pick<Config, 'maxFileBytes'>;
}): FileOperations {
  const { sandboxes } = parts;
  const write = (caller: Caller, id: InstanceId, operation: WriteOperation): Promise<WriteOutcome> =>
    sandboxes.write(id, operation, auditContextOf(caller));

  return {
    ...fileReads(parts),

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

    takeBack: (caller, id, volume, input) => takeFromPast(parts, caller, id, volume, input),

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
  };
}
