/** What left in bundles: a row per bundle, written with its ledger line before the first byte goes, never changed. Knows nothing of zips. */
import { WinterdockError } from '../../errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { Share, ShareMember, Shares } from '../shares.ts';
import type { RegistryDatabase, Value } from './database.ts';
import type { Ledger } from './ledger.ts';

const COLUMNS = `id, instance, tenant, format, volumes, private_included, issuer, members, disk_sha256, sha256, bytes, created, actor,
  request_id`;
const SELECT = `SELECT seq, ${COLUMNS} FROM shares`;
const INSERT = `INSERT INTO shares(${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING`;

/** The shares in the registry's file. */
export function openShares(database: RegistryDatabase, ledger: Ledger): Shares {
  const visible = (tenants: readonly string[] | undefined): [string, Value[]] =>
    tenants === undefined ? ['1', []] : ['tenant IN (SELECT value FROM json_each(?))', [JSON.stringify(tenants)]];

  return {
    add(share, entries) {
      const lines = database.write(() => {
        if (database.sql(INSERT).run(...valuesOf(share)).changes !== 1) throw taken(share.id);
        return ledger.append(entries);
      });
      ledger.announce(lines);
    },

    list({ tenant, tenants, instance }, limit, cursor) {
      const [where, params] = visible(tenants);
      const conditions = [where];
      if (tenant !== undefined) conditions.push('tenant = ?');
      if (instance !== undefined) conditions.push('instance = ?');
      if (cursor !== undefined) conditions.push('seq < ?');
      const after = cursor === undefined ? [] : readCursor(cursor, isPosition);
      const found = database
        .sql(`${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ?`)
        .all(...params, ...[tenant, instance].filter((value) => value !== undefined), ...after, limit + 1);
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows: rows.map(shareOf), next: found.length > limit && last ? writeCursor([last[0] as number]) : null };
    },

    find(traits, { tenants }) {
      const [where, params] = visible(tenants);
      const by: [column: string, value: string | null][] = [
        ['sha256', traits.sha256],
        ['id', traits.id],
        ['disk_sha256', traits.diskSha256],
      ];
      for (const [column, value] of by) {
        if (value === null) continue;
        const row = database
          .sql(`${SELECT} WHERE ${column} = ? AND ${where} ORDER BY seq DESC LIMIT 1`)
          .get(value, ...params);
        if (row !== undefined) return shareOf(row);
      }
      return null;
    },
  };
}

function valuesOf(share: Share): Value[] {
  return [
    share.id,
    share.instance,
    share.tenant,
    share.format,
    JSON.stringify(share.volumes),
    share.privateIncluded ? 1 : 0,
    share.issuer,
    JSON.stringify(share.members),
    share.diskSha256,
    share.sha256,
    share.bytes,
    share.created,
    share.actor,
    share.requestId,
  ];
}

/** One row of `SELECT`; the table was written here, so its words are trusted. */
function shareOf(values: Value[]): Share {
  return {
    id: values[1] as string,
    instance: values[2] as string,
    tenant: values[3] as string,
    format: values[4] as string,
    volumes: JSON.parse(values[5] as string) as string[],
    privateIncluded: values[6] === 1,
    issuer: values[7] as string | null,
    members: JSON.parse(values[8] as string) as Record<string, ShareMember>,
    diskSha256: values[9] as string,
    sha256: values[10] as string,
    bytes: values[11] as number,
    created: values[12] as number,
    actor: values[13] as string,
    requestId: values[14] as string | null,
  };
}

function isPosition(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}

function taken(id: string): WinterdockError {
  return new WinterdockError('conflict', `There is a share "${id}" already.`);
}
