/**
 * Triggers of a registry on Postgres, by hand: they keep the same counts and refuse the same changes as those of
 * db/migrations. One function for each event of `instances` instead of one trigger for each effect: Postgres calls a
 * function per trigger and row. A state changes only in transactions that come one after the other: their counts need
 * no order.
 */

import { LEDGER_CHAINED } from './functions.ts';

const FORGOTTEN = 'the tenant is being forgotten';

/** Tables that get no row for a tenant that is being forgotten. */
const NOT_OF_FORGOTTEN = [
  'blueprints',
  'environments',
  'instances',
  'keys',
  'network_rules',
  'runs',
  'schedules',
  'secrets',
  'seeding_chunks',
  'shares',
  'snapshots',
  'starts',
  'tenants',
  'webhooks',
  'workbook_versions',
  'workbooks',
];
/** Tables whose row is left out then, without an error. */
const LEFT_OUT_OF_FORGOTTEN = ['cpu_by_day', 'tenant_hours'];

/** A function that refuses, and its trigger. */
function refuse(name: string, when: string, table: string, condition: string, message: string): string[] {
  const answer = when.includes('DELETE') ? 'old' : 'new';
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${condition} THEN
    RAISE EXCEPTION '${message}' USING ERRCODE = 'WD002';
  END IF;
  RETURN ${answer};
END
$$`,
    `CREATE TRIGGER ${name} ${when} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ];
}

/** A function for each row that an event has changed, and its trigger. */
function after(name: string, event: string, table: string, work: string): string[] {
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  ${work}
  RETURN NULL;
END
$$`,
    `CREATE TRIGGER ${name} AFTER ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ];
}

const INSERT_LABELS = `INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
      SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key, new.tenant, new.state
      FROM json_each_text(plain_json(new.labels)::json) AS entry;`;

const AMONG_OPEN = `EXISTS (SELECT 1 FROM json_array_elements_text(new.tenants::json) AS one(tenant)
    JOIN forgettings ON forgettings.tenant = one.tenant AND finished IS NULL)`;

/** All that follows from a change of a row. */
export const INSTANCES_CHANGED = `CREATE OR REPLACE FUNCTION instances_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF old.state <> new.state THEN
    WITH of_all AS (
      INSERT INTO counts_by_state(state, n) VALUES (old.state, -1), (new.state, 1)
        ON CONFLICT (state) DO UPDATE SET n = counts_by_state.n + excluded.n)
    INSERT INTO counts_by_tenant(tenant, state, n, bytes)
      VALUES (old.tenant, old.state, -1, -coalesce(old.bytes, 0)), (new.tenant, new.state, 1, coalesce(new.bytes, 0))
      ON CONFLICT (tenant, state)
      DO UPDATE SET n = counts_by_tenant.n + excluded.n, bytes = counts_by_tenant.bytes + excluded.bytes;
  ELSIF old.bytes IS DISTINCT FROM new.bytes THEN
    UPDATE counts_by_tenant SET bytes = bytes + coalesce(new.bytes, 0) - coalesce(old.bytes, 0)
      WHERE tenant = new.tenant AND state = new.state;
  END IF;
  IF old.fault IS DISTINCT FROM new.fault OR old.tombstone <> new.tombstone THEN
    INSERT INTO counts_by_fault(fault, n)
      SELECT * FROM (VALUES (old.fault, old.tombstone - 1), (new.fault, 1 - new.tombstone)) AS change(fault, n)
      WHERE fault IS NOT NULL AND n <> 0 ORDER BY fault
      ON CONFLICT (fault) DO UPDATE SET n = counts_by_fault.n + excluded.n;
  END IF;
  IF new.tombstone = 1 AND old.tombstone = 0 THEN
    DELETE FROM labels WHERE instance_row = new.rowid;
    DELETE FROM instance_volumes WHERE instance_row = new.rowid;
  ELSIF new.tombstone = 0 THEN
    IF old.labels <> new.labels THEN
      DELETE FROM labels WHERE instance_row = new.rowid;
      ${INSERT_LABELS}
    ELSIF new.labels <> '{}' AND (old.updated, old.state, old.name_key, old.bytes_key)
        IS DISTINCT FROM (new.updated, new.state, new.name_key, new.bytes_key) THEN
      UPDATE labels SET updated = new.updated, state = new.state, name_key = new.name_key, bytes_key = new.bytes_key
        WHERE instance_row = new.rowid;
    END IF;
    IF old.workbook IS DISTINCT FROM new.workbook OR old.workbook_version IS DISTINCT FROM new.workbook_version THEN
      INSERT INTO schedule_syncs(instance) VALUES (new.id) ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  IF new.state = 'deleted' AND old.state <> 'deleted' THEN
    DELETE FROM schedules WHERE instance = new.id;
    DELETE FROM schedule_syncs WHERE instance = new.id;
    DELETE FROM runs WHERE instance = new.id;
    DELETE FROM environments WHERE kind = 'instance' AND owner = new.id;
    DELETE FROM secrets WHERE tenant = new.tenant AND instance = new.id;
    DELETE FROM network_rules WHERE kind = 'sandbox' AND id = new.id;
    DELETE FROM network_hours WHERE instance = new.id;
    INSERT INTO unclaimed_files(path)
      SELECT DISTINCT 'snapshots/' || hash || '.sqlite' FROM snapshots
      WHERE source = new.id AND moment_ms IS NOT NULL AND deleted IS NULL ON CONFLICT DO NOTHING;
    UPDATE snapshots SET deleted = new.state_since
      WHERE source = new.id AND moment_ms IS NOT NULL AND deleted IS NULL;
  ELSIF new.state = 'archived' AND old.state <> 'archived' THEN
    UPDATE schedules SET resting = 1, next_at = NULL, fire_at = NULL, backlog_until = NULL, revision = revision + 1
      WHERE instance = new.id;
  ELSIF old.state = 'archived' AND new.state <> 'archived' THEN
    UPDATE schedules SET resting = 0, revision = revision + 1,
        fire_at = CASE WHEN paused = 0 AND run IS NULL THEN 0 END
      WHERE instance = new.id;
  END IF;
  RETURN NULL;
END
$$`;

/** In the order in which they are made. */
export const REGISTRY_TRIGGERS: readonly string[] = [
  `CREATE FUNCTION not_of_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) THEN
    IF tg_argv[0] = 'ignore' THEN RETURN NULL; END IF;
    RAISE EXCEPTION '${FORGOTTEN}' USING ERRCODE = 'WD001';
  END IF;
  RETURN new;
END
$$`,
  ...NOT_OF_FORGOTTEN.map(
    (table) =>
      `CREATE TRIGGER not_of_forgotten BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION not_of_forgotten('refuse')`,
  ),
  ...LEFT_OUT_OF_FORGOTTEN.map(
    (table) =>
      `CREATE TRIGGER not_of_forgotten BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION not_of_forgotten('ignore')`,
  ),
  `CREATE TRIGGER not_set_of_forgotten BEFORE UPDATE ON tenants FOR EACH ROW EXECUTE FUNCTION not_of_forgotten('refuse')`,
  `CREATE FUNCTION none_of_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.tenants IS NOT NULL AND ${AMONG_OPEN} THEN
    RAISE EXCEPTION '${FORGOTTEN}' USING ERRCODE = 'WD001';
  END IF;
  RETURN new;
END
$$`,
  `CREATE TRIGGER none_of_forgotten BEFORE INSERT ON invitations FOR EACH ROW EXECUTE FUNCTION none_of_forgotten()`,
  `CREATE TRIGGER none_of_forgotten BEFORE INSERT OR UPDATE OF tenants ON "user" FOR EACH ROW EXECUTE FUNCTION none_of_forgotten()`,
  `CREATE FUNCTION hours_not_of_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM forgettings WHERE finished IS NULL
      AND tenant = (SELECT tenant FROM instances WHERE rowid = new.instance_row)) THEN
    RETURN NULL;
  END IF;
  RETURN new;
END
$$`,
  `CREATE TRIGGER not_of_forgotten BEFORE INSERT ON sandbox_hours FOR EACH ROW EXECUTE FUNCTION hours_not_of_forgotten()`,

  ...after(
    'instances_inserted',
    'INSERT',
    'instances',
    `INSERT INTO counts_by_state(state, n) VALUES (new.state, 1)
    ON CONFLICT (state) DO UPDATE SET n = counts_by_state.n + 1;
  INSERT INTO counts_by_tenant(tenant, state, n, bytes) VALUES (new.tenant, new.state, 1, coalesce(new.bytes, 0))
    ON CONFLICT (tenant, state) DO UPDATE SET n = counts_by_tenant.n + 1, bytes = counts_by_tenant.bytes + excluded.bytes;
  IF new.tombstone = 0 THEN
    IF new.fault IS NOT NULL THEN
      INSERT INTO counts_by_fault(fault, n) VALUES (new.fault, 1)
        ON CONFLICT (fault) DO UPDATE SET n = counts_by_fault.n + 1;
    END IF;
    IF new.labels <> '{}' THEN
      ${INSERT_LABELS}
    END IF;
  END IF;
  IF new.workbook_version IS NOT NULL THEN
    INSERT INTO schedule_syncs(instance) VALUES (new.id) ON CONFLICT DO NOTHING;
  END IF;`,
  ),
  INSTANCES_CHANGED,
  'CREATE TRIGGER instances_changed AFTER UPDATE ON instances FOR EACH ROW EXECUTE FUNCTION instances_changed()',
  ...refuse(
    'instances_stay',
    'BEFORE DELETE',
    'instances',
    'true',
    'a row of instances is never removed: a deleted one stays as a tombstone',
  ),
  ...after(
    'labels_inserted',
    'INSERT',
    'labels',
    `INSERT INTO counts_by_label(key, value, n) VALUES (new.key, new.value, 1)
    ON CONFLICT (key, value) DO UPDATE SET n = counts_by_label.n + 1;`,
  ),
  ...after(
    'labels_deleted',
    'DELETE',
    'labels',
    `UPDATE counts_by_label SET n = n - 1 WHERE key = old.key AND value = old.value;
  DELETE FROM counts_by_label WHERE key = old.key AND value = old.value AND n = 0;`,
  ),
  ...after(
    'instance_volumes_changed',
    'INSERT OR UPDATE OR DELETE',
    'instance_volumes',
    `IF tg_op <> 'INSERT' THEN
    UPDATE volumes_by_tenant SET instances = instances - 1, workspace = workspace - old.workspace,
        memory = memory - old.memory, tmp = tmp - old.tmp
      WHERE tenant = old.tenant;
  END IF;
  IF tg_op <> 'DELETE' THEN
    INSERT INTO volumes_by_tenant AS kept (tenant, instances, workspace, memory, tmp)
      VALUES (new.tenant, 1, new.workspace, new.memory, new.tmp)
      ON CONFLICT (tenant) DO UPDATE SET instances = kept.instances + 1, workspace = kept.workspace + excluded.workspace,
        memory = kept.memory + excluded.memory, tmp = kept.tmp + excluded.tmp;
  END IF;`,
  ),

  ...refuse(
    'events_not_removed',
    'BEFORE DELETE',
    'events',
    'NOT EXISTS (SELECT 1 FROM ledger_segments WHERE dropped_ms IS NOT NULL AND old.seq BETWEEN first_seq AND last_seq)',
    'the ledger is append-only',
  ),
  LEDGER_CHAINED,
  'CREATE TRIGGER events_only_appended BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION events_only_appended()',
  ...refuse(
    'events_not_changed',
    'BEFORE UPDATE',
    'events',
    `(old.seq, old.time_ms, old.instance, old.tenant, old.type, old."from", old."to", old."trigger", old.actor, old.via,
      old.source, old.took_ms, old.hash) IS DISTINCT FROM
    (new.seq, new.time_ms, new.instance, new.tenant, new.type, new."from", new."to", new."trigger", new.actor, new.via,
      new.source, new.took_ms, new.hash)
    OR old.blanked IS NOT NULL OR new.blanked IS NULL OR num_nonnulls(new.reason, new.error, new.request_id, new.address) > 0
    OR NOT EXISTS (SELECT 1 FROM forgettings WHERE job = new.blanked::json ->> 'by' AND finished IS NULL)`,
    'the ledger is append-only',
  ),
  ...refuse(
    'ledger_segments_not_changed',
    'BEFORE UPDATE',
    'ledger_segments',
    `(old.id, old.first_seq, old.last_seq, old.lines, old.previous_hash, old.first_hash, old.last_hash, old.sealed_ms,
      old.issuer, old.signature) IS DISTINCT FROM
    (new.id, new.first_seq, new.last_seq, new.lines, new.previous_hash, new.first_hash, new.last_hash, new.sealed_ms,
      new.issuer, new.signature)
    OR (old.exported_ms IS NOT NULL AND new.exported_ms IS DISTINCT FROM old.exported_ms)
    OR (old.dropped_ms IS NOT NULL
      AND (new.dropped_ms, new.drop_signature) IS DISTINCT FROM (old.dropped_ms, old.drop_signature))
    OR (new.dropped_ms IS NOT NULL AND (new.exported_ms IS NULL OR new.drop_signature IS NULL))`,
    'a sealed segment is never changed',
  ),
  ...refuse(
    'ledger_segments_not_removed',
    'BEFORE DELETE',
    'ledger_segments',
    'true',
    'a sealed segment is never removed',
  ),
  ...refuse(
    'ledger_segments_in_order',
    'BEFORE INSERT',
    'ledger_segments',
    `new.dropped_ms IS NOT NULL OR new.exported_ms IS NOT NULL OR new.lines <> new.last_seq - new.first_seq + 1
    OR new.first_seq <> 1 + coalesce((SELECT max(last_seq) FROM ledger_segments), 0)`,
    'segments follow one another',
  ),
  ...refuse('shares_not_changed', 'BEFORE UPDATE', 'shares', 'true', 'shares are append-only'),
  ...refuse(
    'shares_not_deleted',
    'BEFORE DELETE',
    'shares',
    'NOT EXISTS (SELECT 1 FROM forgettings WHERE tenant = old.tenant AND finished IS NULL)',
    'shares are append-only',
  ),
  ...refuse(
    'forgettings_stay',
    'BEFORE DELETE',
    'forgettings',
    'true',
    'that a tenant was forgotten is never forgotten',
  ),

  ...after('schedules_removed', 'DELETE', 'schedules', 'DELETE FROM schedule_runs WHERE schedule = old.id;'),
  ...after('webhooks_removed', 'DELETE', 'webhooks', 'DELETE FROM webhook_deliveries WHERE webhook = old.id;'),
  ...after(
    'environments_of_blueprint',
    'DELETE',
    'blueprints',
    `DELETE FROM environments WHERE kind = 'blueprint' AND owner = old.name;`,
  ),
  ...after(
    'environments_of_snapshot',
    'UPDATE OF deleted',
    'snapshots',
    `IF new.deleted IS NOT NULL THEN DELETE FROM environments WHERE kind = 'snapshot' AND owner = new.id; END IF;`,
  ),
];
