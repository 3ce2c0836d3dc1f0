/** The operations that only look: volumes, files, search, SQL, the ledger. None of them wakes or stamps anything. */
import { setImmediate } from 'node:timers/promises';
import { WinterdockError } from '../base/errors.ts';
import type { LedgerFilter } from '../registry/ledger.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { normalisePath } from '../vfs/paths.ts';
import type { VfsStat } from '../vfs/types.ts';
import { asVolume, VOLUME_CONTRACTS, type Volume } from '../vfs/volumes.ts';
import { etagOf } from './conditions.ts';
import type { FileContent, Operations } from './operations.ts';
import type { PrivateReads } from './private-reads.ts';
import { eventOf } from './representation.ts';

type Reading = Pick<
  Operations,
  | 'volumes'
  | 'files'
  | 'folder'
  | 'file'
  | 'fileStat'
  | 'search'
  | 'query'
  | 'instanceEvents'
  | 'events'
  | 'eventsAfter'
  | 'followEvents'
>;

/** Lines that are looked through at a time for those of some tenants. */
const LOOKED_THROUGH = 10_000;

/** The volume whose reading is told to the ledger. */
const PRIVATE: Volume = 'memory';

function tagged(stat: VfsStat): FileContent['stat'] {
  return { ...stat, etag: etagOf(stat.version) };
}

/**
 * Makes them. `rowOf` gives the row of a living sandbox or throws `not_found` or `gone`; `privateRead` tells the ledger
 * that a caller is about to read what the volume `memory` holds.
 */
export function readingOperations(parts: {
  registry: Registry;
  sessions: Sessions;
  rowOf: (id: string) => Promise<InstanceRow>;
  privateRead: PrivateReads;
}): Reading {
  const { registry, sessions, rowOf, privateRead } = parts;

  /** That there is no file, and whether what is there is a folder of files. */
  const absent = async (id: string, volume: Volume, path: string): Promise<WinterdockError> => {
    const prefix = `${path}/`;
    const { files } = await sessions.read(id, { op: 'list', volume, prefix, limit: 1 });
    const hint = `It is a folder. List what is in it: volumes/${volume}?prefix=${encodeURI(prefix)}`;
    return new WinterdockError(
      'not_found',
      `There is no file "${path}" in ${volume}.`,
      files.length > 0 ? { hint } : {},
    );
  };

  return {
    async volumes(_caller, id) {
      const { volumes } = await sessions.read(id, { op: 'volumes' });
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
      const { files, next } = await sessions.read(id, {
        op: 'list',
        volume: asVolume(volume),
        limit,
        // Paths are absolute: without its slash a prefix would fit nothing.
        ...(prefix === undefined || prefix === '' ? {} : { prefix: prefix.startsWith('/') ? prefix : `/${prefix}` }),
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items: files, next };
    },

    async folder(caller, id, volume, { path, limit, cursor }) {
      const wanted = normalisePath(path);
      if (volume === PRIVATE) await privateRead(caller, id, 'names of files');
      const { items, next, total } = await sessions.read(id, {
        op: 'folder',
        volume: asVolume(volume),
        path: wanted,
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items, next, total };
    },

    async file(caller, id, volume, path, range) {
      const wanted = normalisePath(path);
      if (volume === PRIVATE) await privateRead(caller, id, 'a file');
      const { stat, content } = await sessions.read(id, {
        op: 'get',
        volume: asVolume(volume),
        path: wanted,
        ...(range === undefined ? {} : { range }),
      });
      if (stat === null) throw await absent(id, volume, wanted);
      return { stat: tagged(stat), content: content ?? new Uint8Array() };
    },

    async fileStat(caller, id, volume, path) {
      const wanted = normalisePath(path);
      if (volume === PRIVATE) await privateRead(caller, id, 'a file');
      const { stat } = await sessions.read(id, { op: 'stat', volume: asVolume(volume), path: wanted });
      if (stat === null) throw await absent(id, volume, wanted);
      return tagged(stat);
    },

    async search(caller, id, { q, volume, in: where, limit }) {
      if (volume === undefined || volume === PRIVATE) await privateRead(caller, id, 'a search');
      const { hits, truncated } = await sessions.read(id, {
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
      const { columns, rows, truncated } = await sessions.read(id, {
        op: 'query',
        sql,
        ...(params === undefined ? {} : { params }),
      });
      return { columns, rows, truncated };
    },

    async instanceEvents(_caller, id, { type, limit, cursor }) {
      await rowOf(id);
      const page = await registry.ledger.page({ instance: id, ...(type === undefined ? {} : { type }) }, limit, cursor);
      return { items: page.rows.map(eventOf), next: page.next };
    },

    async events({ tenants }, { limit, cursor, ...query }) {
      const filter: LedgerFilter = {
        ...Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
        ...(tenants === null ? {} : { tenants }),
      };
      const page = await registry.ledger.page(filter, limit, cursor);
      return { items: page.rows.map(eventOf), next: page.next };
    },

    async eventsAfter({ tenants }, seq, limit) {
      if (tenants === null) return (await registry.ledger.after(seq, limit)).map(eventOf);
      for (let from = seq; ; from += LOOKED_THROUGH) {
        const lines = await registry.ledger.ofTenants(tenants, { from, to: from + LOOKED_THROUGH }, limit);
        if (lines.length > 0 || from + LOOKED_THROUGH >= (await registry.ledger.lastSeq())) return lines.map(eventOf);
        // Whoever has few lines among many others' looks through all of them: the server does other things in between.
        await setImmediate();
      }
    },

    followEvents: async ({ tenants }, filter) => ({ filter, tenants }),
  };
}
