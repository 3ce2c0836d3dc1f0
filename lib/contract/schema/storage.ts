/** Contract schemas of the health of the store. Safe for the browser. */
import { z } from 'zod';
import { WALLS } from '../../base/walls.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const count = z.int().min(0);
const bytes = z.int().min(0);

/** The slow checks, which run on request. */
export const STORAGE_CHECKS = ['registry', 'drawers'] as const;

const KEPT = [
  'ledger',
  'sandbox_hours',
  'tenant_hours',
  'network_hours',
  'cpu_days',
  'wake_times',
  'jobs',
  'job_results',
  'runs',
  'schedule_runs',
  'webhook_deliveries',
  'workbook_versions',
] as const;
const KEPT_UNITS = ['days', 'rows', 'each'] as const;

/** `files` compared so far, their `bytes` as stored, and how many of them were `rotten`. */
const scrubPassSchema = z.object({ begun: epoch, files: count, bytes, rotten: count });

/** What has been more behind than promised for a minute: since when, how many, whether the registry, how far. */
const replicaLatenessSchema = z.object({
  since: epoch,
  sandboxes: count,
  registry: z.boolean(),
  most_s: z.number().min(0),
});
export type ReplicaLate = z.infer<typeof replicaLatenessSchema>;

export const storageSchema = z
  .object({
    registry: z.object({
      /** Name of the file, or of the database that it is in (`postgres://…`); null when it is in memory. */
      file: z.string().nullable(),
      /** Whether it lies in the data folder. */
      inside_data: z.boolean(),
      bytes,
      wal_bytes: bytes,
      /** Of `bytes`: free pages, used before the file grows. */
      free_bytes: bytes,
      /** When a checkpoint last wrote to the file; null without one. */
      checkpointed: epoch.nullable(),
      /** The last `quick_check`; null before the first. `says` is `ok` or its first complaint. */
      check: z.object({ time: epoch, took_ms: count, ok: z.boolean(), says: z.string() }).nullable(),
    }),
    ledger: z.object({
      /** Number of the last line. */
      seq: count,
      /** Sealed months, and those of them whose lines were dropped. */
      sealed: count,
      dropped: count,
      /** The last sealed month, like `2026-10`. */
      last_sealed: z.string().nullable(),
      /** Lines since. */
      open_lines: count,
    }),
    /** Sizes by the rows; an archived file counts with its uncompressed size. */
    drawers: z.array(
      z.object({
        drawer: z.enum(['live', 'cold', 'archive']),
        rows: count,
        bytes,
        /** Whether files can be written there now. */
        writable: z.boolean(),
        /** Whether it is on the disk of the live drawer: filing there is a rename then, and a copy otherwise. */
        same_disk: z.boolean(),
      }),
    ),
    /** The last measurement of the data folder; null before the first. */
    measured: z
      .object({
        time: epoch,
        took_ms: count,
        drawers: z.array(z.object({ drawer: z.string(), files: count, bytes })),
        /** Rows that had a file in the drawer when the measurement ended. */
        rows: z.object({ live: count, cold: count, archive: count }),
      })
      .nullable(),
    /** The scrub, which compares files at rest with their checksums; nulls before the first. Restarts do not end it. */
    scrub: z.object({
      /** The one under way. */
      walk: scrubPassSchema.nullable(),
      /** The last whole one. */
      last: z.object({ begun: epoch, ended: epoch, files: count, bytes, rotten: count }).nullable(),
      /** When the next one begins; null while one is under way. */
      next: epoch.nullable(),
    }),
    /** The object store that files at rest go to; null: they stay on this machine. */
    store: z
      .object({
        /** As in the settings, without credentials. */
        url: z.string(),
        /** When freezing and archiving answer: once the file is stored, or once its upload is queued. */
        ack: z.enum(['stored', 'queued']),
        /** Since when it cannot be used, and why; null: it can be. What is local works meanwhile. */
        away: z.object({ since: epoch, why: z.string() }).nullable(),
        /** What the store does not keep of what it was asked for, in words; null: it was not asked yet. */
        lacks: z.array(z.string()).nullable(),
        /** Sandboxes whose file is in the store. */
        rows: count,
        /** Uploads that wait and that run, and since when the oldest waits. */
        uploads: z.object({ queued: count, running: count, since: epoch.nullable() }),
        /** Local copies of stored files, and how much they may take. */
        cache: z.object({ bytes, limit_bytes: bytes }),
        /**
         * How far the server is that brings every file back to this machine: `left` of the most that was, of
         * `sandboxes`, of `copies` (snapshots and blueprints, each content once) and of the `bytes` of these sandboxes;
         * what `stays` and why, the first of them; and whether all is here. Null: it stores what rests.
         */
        leaving: z
          .object({
            since: epoch,
            sandboxes: z.object({ left: count, of: count }),
            copies: z.object({ left: count, of: count }),
            bytes: z.object({ left: bytes, of: bytes }),
            stays: z.array(z.object({ name: z.string(), why: z.string() })),
            done: z.boolean(),
          })
          .nullable(),
      })
      .nullable(),
    disk: z.object({ bytes, free_bytes: bytes }),
    /** Processes: serving, started ahead of need, kept ahead of need, and how many may serve. */
    places: z.object({ serving: count, spare: count, ahead: count, most: count }),
    /**
     * Memory that these processes count, and how much they may take together; null: there is no budget. What is spare
     * gives way to what serves.
     */
    memory: z.object({ serving_bytes: bytes, spare_bytes: bytes, limit_bytes: bytes.nullable() }),
    /** How processor time is shared among tenants: by control groups of the kernel where the server may make them. */
    cpu: z.object({ shared_by: z.enum(['cgroup_v2', 'cgroup_v1', 'priorities']) }),
    /** What stands around the processes of sandboxes; `missing`: why it does not, null: it does. */
    walls: z.array(z.object({ wall: z.enum(WALLS), missing: z.string().nullable() })),
    /**
     * The last one that was made of this registry; null: never. `to` names the folder or file; `wrong` counts what was
     * not sound.
     */
    backup: z
      .object({ time: epoch, sandboxes: count, bytes, keys: z.boolean(), wrong: count, to: z.string() })
      .nullable(),
    /**
     * Every series and log that is kept, with how many `rows` it has (`more`: at least as many), how much of the
     * registry they take, more or less, and the settings that limit them; a null value is no limit, and without a
     * setting the limit is fixed.
     */
    kept: z.array(
      z.object({
        name: z.enum(KEPT),
        rows: count,
        more: z.boolean(),
        about_bytes: bytes,
        limits: z.array(
          z.object({ setting: z.string().nullable(), value: count.nullable(), unit: z.enum(KEPT_UNITS) }),
        ),
      }),
    ),
    /** The replica of what sandboxes commit; null: nothing replicates. */
    replication: z
      .object({
        /** As in the settings, without credentials. */
        url: z.string(),
        /** What is promised of sandboxes where nothing else is set. */
        replicate: z.string(),
        /** How long it keeps every moment, the last of each minute and hour, and the last state of each series. */
        retention: z.string(),
        /** What is written to it in a month that is as the time since the start; null: that is too short. */
        month: z.object({ requests: count, bytes }).nullable(),
        /** Since when nothing can be stored, and why; null: it can. What is committed meanwhile waits in the spool. */
        away: z.object({ since: epoch, why: z.string() }).nullable(),
        /**
         * What waits on this machine, and how much may; since when it has taken nothing of something, and why (null: it
         * takes what there is).
         */
        spool: z.object({
          bytes,
          limit_bytes: bytes,
          refused: z.object({ since: epoch, why: z.string() }).nullable(),
        }),
        /**
         * Sandboxes that are shipped as they commit; how many, with those at rest, lack something there, and for how
         * long, in seconds; and for how long the registry does.
         */
        lag: z.object({
          open: count,
          behind: count,
          max_s: z.number().min(0),
          mean_s: z.number().min(0),
          registry_s: z.number().min(0),
        }),
        /** When the history of the registry last had a gap of moments since the start, and why; null: it had none. */
        registry_gap: z.object({ at: epoch, why: z.string() }).nullable(),
        /** Sandboxes at rest that are still to be shipped. */
        waiting: count,
        /** Requests to its store since the start; `shared`: those of the object store too, which is the same. */
        requests: z.object({ count, shared: z.boolean() }),
        late: replicaLatenessSchema.nullable(),
      })
      .nullable(),
    /** What is under way now. */
    running: z.array(z.enum(STORAGE_CHECKS)),
  })
  .meta({ id: 'Storage' });
export type Storage = z.infer<typeof storageSchema>;

export const storageCheckSchema = z.strictObject({ what: z.enum(STORAGE_CHECKS) });
export type StorageCheckInput = z.infer<typeof storageCheckSchema>;
