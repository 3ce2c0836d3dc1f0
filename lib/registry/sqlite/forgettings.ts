/**
 * Forgetting a tenant, as rows: which tenants are being forgotten, what they have, and how it goes from the tables. While one is open, triggers refuse
 * whatever would be made for its tenant. Each method is a step that may be repeated. Knows nothing of files or of the order of the steps.
 */
import type { State } from '../../lifecycle/states.ts';
import { CHAIN_START } from '../chain.ts';
import type { Forgetting, Forgettings, LineToBlank } from '../forgettings.ts';
import type { LedgerEntry } from '../registry.ts';
import { beingForgotten, type RegistryDatabase, type Value } from './database.ts';
import { chainedLineOf, type Ledger, SELECT_CHAINED } from './ledger.ts';
import type { Synchronous } from './promised.ts';

/** Who and what is looked for in lines of no tenant: ids alone. */
interface About {
  actors: string[];
  jobs: string[];
}

/** Line numbers looked at before others have their turn. */
const SPAN = 5000;
/** Sandboxes of a job to a row of `job_pages`. */
const JOB_PAGE = 1000;
const COLUMNS = 'job, tenant, actor, via, started, finished';
const AMONG = 'EXISTS (SELECT 1 FROM json_each(tenants) AS one WHERE one.value = ?)';
const ALONE = `${AMONG} AND NOT EXISTS (SELECT 1 FROM json_each(tenants) AS one WHERE one.value <> ?)`;
const TEXTS = `(reason IS NOT NULL OR error IS NOT NULL OR address IS NOT NULL OR (request_id IS NOT NULL AND request_id <> ?))`;
const OWN_TYPES = `('tenant.forgetting', 'tenant.forgotten')`;

export function openForgettings(
  database: RegistryDatabase,
  ledger: Ledger,
  wordsRemoved: () => void,
): Synchronous<Forgettings> {
  const count = (sql: string, ...params: Value[]) => database.integer(sql, ...params);
  const column = (sql: string, ...params: Value[]) =>
    database
      .sql(sql)
      .all(...params)
      .map(([value]) => String(value));
  const changed = (sql: string, ...params: Value[]) => database.sql(sql).run(...params).changes;

  const aboutOf = (job: string): About => {
    const text = database.value('SELECT about FROM forgettings WHERE job = ?', job);
    return text === null ? { actors: [], jobs: [] } : (JSON.parse(String(text)) as About);
  };
  /** Inside a transaction. */
  const keepInMind = (job: string, more: Partial<About>) => {
    const { actors, jobs } = aboutOf(job);
    const about: About = {
      actors: [...new Set([...actors, ...(more.actors ?? [])])],
      jobs: [...new Set([...jobs, ...(more.jobs ?? [])])],
    };
    changed('UPDATE forgettings SET about = ? WHERE job = ?', JSON.stringify(about), job);
  };
  const logged = (entry: LedgerEntry, work: () => void) => {
    const lines = database.write(() => {
      work();
      return ledger.append([entry]);
    });
    ledger.announce(lines);
  };

  /** Jobs that chose some of a tenant's sandboxes: at which places of the job, and whether they chose any of another's. */
  const jobsOf = (job: string, tenant: string): { seq: number; id: string; only: boolean; own: number[] }[] => {
    const rows = new Set(database.sql('SELECT rowid FROM instances WHERE tenant = ?').all(tenant).map(Number));
    const jobs = database.sql('SELECT seq, id, tenants, chosen FROM jobs WHERE id <> ?').all(job);
    return jobs.flatMap(([seq, id, tenants, chosen]) => {
      const own: number[] = [];
      for (const [page, blob] of database.sql('SELECT page, rows FROM job_pages WHERE job = ?').all(seq as number)) {
        const view = Buffer.from(blob as Uint8Array);
        for (let at = 0; at < view.length; at += 4) {
          if (rows.has(view.readUInt32LE(at))) own.push(Number(page) * JOB_PAGE + at / 4);
        }
      }
      const named = tenants === JSON.stringify([tenant]);
      const only = named || own.length === chosen;
      return named || own.length > 0 ? [{ seq: Number(seq), id: String(id), only, own }] : [];
    });
  };

  return {
    begin(forgetting, entry) {
      const { job, tenant, actor, via, started } = forgetting;
      logged(entry, () => {
        if (count('SELECT count(*) FROM forgettings WHERE tenant = ? AND finished IS NULL', tenant) > 0) {
          throw beingForgotten(tenant);
        }
        changed(`INSERT INTO forgettings(${COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL)`, job, tenant, actor, via, started);
      });
    },
    open: () =>
      database
        .sql(`SELECT ${COLUMNS} FROM forgettings WHERE finished IS NULL ORDER BY started, job`)
        .all()
        .map(forgettingOf),
    last(tenant) {
      const sql = `SELECT ${COLUMNS} FROM forgettings WHERE tenant = ? ORDER BY started DESC, rowid DESC LIMIT 1`;
      const values = database.sql(sql).get(tenant);
      return values === undefined ? null : forgettingOf(values);
    },
    requireNone(tenants) {
      const open = `SELECT tenant FROM forgettings WHERE finished IS NULL AND tenant IN (SELECT value FROM json_each(?))`;
      const tenant = database.value(open, JSON.stringify(tenants ?? []));
      if (tenant !== null) throw beingForgotten(String(tenant));
    },

    holdings(tenant, now, most) {
      const keptWhere = 'tenant = ? AND tombstone = 0 AND (keep_hot = 1 OR hold_until > ?)';
      const only = column(`SELECT id FROM user WHERE ${ALONE}`, tenant, tenant);
      return {
        snapshots: count('SELECT count(*) FROM snapshots WHERE tenant = ? AND deleted IS NULL', tenant),
        blueprints: column('SELECT name FROM blueprints WHERE tenant = ? ORDER BY name', tenant),
        shares: count('SELECT count(*) FROM shares WHERE tenant = ?', tenant),
        keys: count('SELECT count(*) FROM keys WHERE tenant = ? AND revoked IS NULL', tenant),
        people: only.length,
        sessions: count(
          'SELECT count(*) FROM session WHERE user_id IN (SELECT value FROM json_each(?))',
          JSON.stringify(only),
        ),
        limited: count(`SELECT count(*) FROM user WHERE ${AMONG}`, tenant) - only.length,
        invitations: count(`SELECT count(*) FROM invitations WHERE used IS NULL AND ${AMONG}`, tenant),
        jobs: jobsOf('', tenant).filter((job) => job.only).length,
        lines: count(
          `SELECT count(*) FROM events WHERE tenant = ? AND blanked IS NULL AND type NOT IN ${OWN_TYPES} AND ${TEXTS}`,
          tenant,
          '',
        ),
        clones: count(
          `SELECT count(*) FROM instances WHERE tombstone = 0 AND tenant <> ?
            AND (lineage_blueprint IN (SELECT name FROM blueprints WHERE tenant = ?)
              OR lineage_snapshot IN (SELECT id FROM snapshots WHERE tenant = ?))`,
          tenant,
          tenant,
          tenant,
        ),
        kept: database
          .sql(`SELECT id, name, state, keep_hot FROM instances WHERE ${keptWhere} ORDER BY rowid LIMIT ?`)
          .all(tenant, now, most)
          .map(([id, name, state, keepHot]) => ({
            id: String(id),
            name: name as string | null,
            state: state as State,
            why: keepHot === 1 ? 'keep_hot' : 'held',
          })),
        first: database.value('SELECT min(created) FROM instances WHERE tenant = ?', tenant) as number | null,
        keptCount: count(`SELECT count(*) FROM instances WHERE ${keptWhere}`, tenant, now),
      };
    },
    people: (tenant) =>
      database
        .sql(`SELECT id, tenants FROM user WHERE ${AMONG} ORDER BY rowid`)
        .all(tenant)
        .map(([id, tenants]) => ({
          id: String(id),
          others: (JSON.parse(String(tenants)) as string[]).filter((one) => one !== tenant),
        })),
    living: (tenant, limit) =>
      column(`SELECT id FROM instances WHERE tenant = ? AND tombstone = 0 ORDER BY rowid LIMIT ?`, tenant, limit),

    removeAccess: (job, tenant) =>
      database.write(() => {
        const people = database.sql(`SELECT id, email FROM user WHERE ${ALONE}`).all(tenant, tenant);
        const keys = column('SELECT id FROM keys WHERE tenant = ?', tenant);
        keepInMind(job, { actors: [...people.map(([id]) => `user:${id}`), ...keys.map((id) => `key:${id}`)] });
        let invitations = changed(`DELETE FROM invitations WHERE ${ALONE}`, tenant, tenant);
        for (const [id, email] of people) {
          invitations += changed('DELETE FROM invitations WHERE email = ?', email ?? '');
          // A sign-in link that is still open names its person.
          changed('DELETE FROM verification WHERE instr(identifier || char(10) || value, ?) > 0', email ?? '');
          changed('DELETE FROM user WHERE id = ?', id ?? '');
        }
        const rest = `(SELECT json_group_array(one.value) FROM json_each(tenants) AS one WHERE one.value <> ?)`;
        changed(`UPDATE invitations SET tenants = ${rest} WHERE ${AMONG}`, tenant, tenant);
        changed('DELETE FROM keys WHERE tenant = ?', tenant);
        return { keys: keys.length, people: people.length, invitations };
      }),

    runningJobs(job, tenant) {
      const running = new Set(column(`SELECT id FROM jobs WHERE state = 'running'`));
      return jobsOf(job, tenant).filter(({ id }) => running.has(id));
    },
    removeJobs: (job, tenant) =>
      database.write(() => {
        const found = jobsOf(job, tenant);
        keepInMind(job, { jobs: found.map(({ id }) => id) });
        for (const { seq, only, own } of found) {
          if (only) {
            for (const table of ['job_results', 'job_pages']) changed(`DELETE FROM ${table} WHERE job = ?`, seq);
            changed('DELETE FROM jobs WHERE seq = ?', seq);
          } else {
            changed(
              'UPDATE job_results SET reason = NULL WHERE job = ? AND position IN (SELECT value FROM json_each(?))',
              seq,
              JSON.stringify(own),
            );
            changed(`UPDATE jobs SET reason = NULL, labels = NULL, asked = '{"ids":0}' WHERE seq = ?`, seq);
          }
        }
        return { jobs: found.filter(({ only }) => only).length };
      }),

    snapshots: (tenant) => column('SELECT id FROM snapshots WHERE tenant = ? AND deleted IS NULL', tenant),
    blueprints: (tenant) => column('SELECT name FROM blueprints WHERE tenant = ?', tenant),
    ownersOfCopy: (hash) =>
      column(
        'SELECT tenant FROM snapshots WHERE hash = ? UNION SELECT tenant FROM blueprints WHERE hash = ?',
        hash,
        hash,
      ),

    emptyTombstones(tenant, limit) {
      const done = database.write(() =>
        changed(
          `UPDATE instances SET name = NULL, labels = '{}', words = '', workbook = NULL, fault = NULL, fault_reason = NULL,
            file = NULL, vfs_path = NULL, bytes = NULL, pending = NULL,
            lineage_blueprint = NULL, lineage_snapshot = NULL, lineage_parent = NULL
          WHERE rowid IN (SELECT rowid FROM instances WHERE tenant = ? AND tombstone = 1 AND (name IS NOT NULL OR labels <> '{}'
            OR words <> '' OR workbook IS NOT NULL OR fault_reason IS NOT NULL OR file IS NOT NULL OR bytes IS NOT NULL
            OR coalesce(lineage_blueprint, lineage_snapshot, lineage_parent) IS NOT NULL) LIMIT ?)`,
          tenant,
          limit,
        ),
      );
      wordsRemoved();
      return done > 0;
    },

    removeRecords: (tenant) =>
      database.write(() => {
        const gone = {
          snapshots: changed('DELETE FROM snapshots WHERE tenant = ?', tenant),
          shares: changed('DELETE FROM shares WHERE tenant = ?', tenant),
        };
        changed('DELETE FROM starts WHERE tenant = ?', tenant);
        changed('DELETE FROM tenants WHERE tenant = ?', tenant);
        changed('DELETE FROM volumes_by_tenant WHERE tenant = ?', tenant);
        return gone;
      }),

    toBlank(job, tenant, seq, limit) {
      const { actors, jobs } = aboutOf(job);
      const to = seq + SPAN;
      const found = column(
        `SELECT seq FROM events WHERE seq > ? AND seq <= ? AND blanked IS NULL AND type NOT IN ${OWN_TYPES} AND ${TEXTS}
          AND (tenant = ? OR (tenant IS NULL AND (request_id IN (SELECT value FROM json_each(?))
            OR actor IN (SELECT value FROM json_each(?))
            OR (type = 'job.started' AND EXISTS (SELECT 1 FROM json_each(?) AS one WHERE instr(reason, one.value) > 0))))) ORDER BY seq LIMIT ?`,
        seq,
        to,
        job,
        tenant,
        JSON.stringify(jobs),
        JSON.stringify(actors),
        // The first line of a job has its request's id, and names the job.
        JSON.stringify(jobs),
        limit,
      ).map(Number);
      const lines = found.flatMap((at): LineToBlank[] => {
        const values = database.sql(SELECT_CHAINED).get(at - 1, 1);
        const previous = at === 1 ? CHAIN_START.hash : hashOf(at - 1);
        return values === undefined || previous === null ? [] : [{ line: chainedLineOf(values), previous }];
      });
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last !== undefined) return { lines, next: last };
      return { lines, next: to >= ledger.lastSeq() ? null : to };
    },
    blank(notes) {
      database.write(() => {
        for (const { seq, note } of notes) {
          changed(
            `UPDATE events SET reason = NULL, error = NULL, request_id = NULL, address = NULL, blanked = ?
              WHERE seq = ? AND blanked IS NULL`,
            note,
            seq,
          );
        }
      });
    },
    async *notes(job) {
      yield column(
        `SELECT blanked FROM events INDEXED BY events_blanked WHERE blanked IS NOT NULL AND blanked ->> '$.by' = ? ORDER BY seq`,
        job,
      );
    },

    compact() {
      database.write(() => changed(`INSERT INTO instance_text(instance_text) VALUES ('optimize')`));
      wordsRemoved();
      database.compact();
    },
    emptyLog: () => database.emptyLog(),
    finish(job, now, entry) {
      logged(entry, () => {
        changed('UPDATE forgettings SET finished = ?, about = NULL WHERE job = ? AND finished IS NULL', now, job);
      });
    },
  };

  /** The hash of a line that is there, or that was the last of a month that was dropped. */
  function hashOf(seq: number): string | null {
    const hash =
      database.value('SELECT hash FROM events WHERE seq = ?', seq) ??
      database.value('SELECT last_hash FROM ledger_segments WHERE last_seq = ?', seq);
    return hash === null ? null : String(hash);
  }
}

function forgettingOf([job, tenant, actor, via, started, finished]: Value[]): Forgetting {
  return { job, tenant, actor, via, started, finished } as Forgetting;
}
