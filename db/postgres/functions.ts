/**
 * Functions of a registry on Postgres, by hand: those that statements call (SQLite's driver has them in JavaScript, or
 * SQLite has them itself), and the one that appends to the ledger. Written for PostgreSQL 15 and later.
 */

/**
 * The lock of those who have asked whose the registry is and are not ended, shared; whoever takes the registry over has
 * it alone. Any number that nobody else in the database takes.
 */
export const HOLDERS = 7_305_817;

/** Columns that number the rows of their tables. */
export const NUMBERS: readonly string[] = ['seq', 'rowid', 'number'];

/**
 * The ladder's due time (lib/lifecycle/ladder.ts) over columns, so that one statement recomputes many rows. Each
 * threshold stands once: what a statement looks up for it makes it part of the statement only then.
 */
export const DUE_AT = `CREATE OR REPLACE FUNCTION winterdock_due_at(state text, updated bigint, created bigint, keep_hot bigint,
    hold_until bigint, ephemeral bigint, fault text, to_suspend bigint, to_freeze bigint)
    RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN keep_hot = 1 OR (fault IS NOT NULL AND fault <> 'error') THEN NULL
    WHEN state IN ('active', 'suspended') OR (ephemeral = 1 AND state IN ('frozen', 'archived')) THEN
      greatest(updated + CASE
        WHEN state = 'frozen' THEN 0
        WHEN state = 'suspended' AND ephemeral = 0 THEN to_freeze
        ELSE to_suspend
      END, coalesce(hold_until, 0))
  END
$$`;

/**
 * Whether a tenant may have one more active sandbox. `verbs`: those of pending operations that count as one too. Most
 * tenants have no limit: nothing is counted for them.
 */
export const ACTIVE_LEFT = `CREATE OR REPLACE FUNCTION has_active_left(whose text, verbs text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  most bigint;
BEGIN
  SELECT max_active INTO most FROM tenants WHERE tenant = whose;
  IF most IS NULL THEN RETURN true; END IF;
  RETURN most > coalesce((SELECT n FROM counts_by_tenant WHERE tenant = whose AND state = 'active'), 0)
    + (SELECT count(*) FROM instances WHERE pending IS NOT NULL AND tenant = whose AND state <> 'active'
        AND plain_json(pending)::json ->> 'verb' = ANY(verbs));
END
$$`;

/**
 * Appends lines, each given as its columns and as its canonical text behind the number; returns the number of the
 * first. A trigger chains each behind the head (`LEDGER_CHAINED`): numbers without gaps, whoever appends besides. Call
 * it last: the head is locked from then on.
 */
export const LEDGER_APPEND = `CREATE OR REPLACE FUNCTION ledger_append(given text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  first bigint;
BEGIN
  WITH appended AS (
    INSERT INTO events (seq, time_ms, instance, tenant, type, "from", "to", "trigger", actor, via, source, took_ms,
        reason, error, request_id, address, hash)
      SELECT 0, time_ms, instance, tenant, type, "from", "to", "trigger", actor, via, source, took_ms, reason, error,
        request_id, address, rest
      FROM json_to_recordset(given::json) AS one(time_ms bigint, instance text, tenant text, type text, "from" text,
        "to" text, "trigger" text, actor text, via text, source text, took_ms double precision, reason text, error text,
        request_id text, address text, rest text)
      RETURNING seq)
  SELECT min(seq) INTO first FROM appended;
  RETURN first;
END
$$`;

/**
 * Gives a line its number and its hash, whoever inserts it: it comes as number 0 with the canonical text behind the
 * number instead of a hash, and any other is refused.
 */
export const LEDGER_CHAINED = `CREATE OR REPLACE FUNCTION events_only_appended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.seq IS DISTINCT FROM 0 OR left(new.hash, 1) IS DISTINCT FROM ',' THEN
    RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'WD002';
  END IF;
  UPDATE ledger_head
    SET seq = seq + 1, hash = encode(sha256(convert_to(hash || '{"seq":' || seq + 1 || new.hash, 'UTF8')), 'hex')
    RETURNING seq, hash INTO new.seq, new.hash;
  RETURN new;
END
$$`;

/** In the order in which they are made. */
export const REGISTRY_FUNCTIONS: readonly string[] = [
  // JSON whose texts Postgres takes: it stores no U+0000, so that and U+0001 are two characters (lib/registry/postgres/
  // plain-text.ts), here in their escaped forms. An escaped backslash before them is not part of the escape.
  String.raw`CREATE FUNCTION plain_json(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(given, '\u0000') = 0 AND strpos(given, '\u0001') = 0 THEN given
    ELSE regexp_replace(
      regexp_replace(given, '(?<!\\)((?:\\\\)*)\\u0001', '\1\\u0001\\u0002', 'g'),
      '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u0001\\u0001', 'g') END
$$`,
  `CREATE FUNCTION listed(list text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT json_array_elements_text(plain_json(list)::json))
$$`,
  `CREATE FUNCTION listed_numbers(list text) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT json_array_elements_text(list::json)::bigint)
$$`,
  DUE_AT,
  ...NUMBERS.map(
    (column) => `CREATE FUNCTION numbered_by_${column}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.${column} := nextval(tg_argv[0]::regclass);
  RETURN new;
END
$$`,
  ),
  'CREATE TABLE ledger_head (is_head boolean PRIMARY KEY DEFAULT true CHECK (is_head), seq bigint NOT NULL, hash text NOT NULL)',
  `INSERT INTO ledger_head (seq, hash) VALUES (0, '${'0'.repeat(64)}')`,
  // Who has the registry open and may write: a random word of that process. Another one that takes it over waits for
  // the transactions that have found theirs and writes its own: from then on none of the first is committed.
  'CREATE TABLE registry_holder (is_holder boolean PRIMARY KEY DEFAULT true CHECK (is_holder), token text)',
  'INSERT INTO registry_holder (token) VALUES (NULL)',
  `CREATE FUNCTION require_holder(given text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${HOLDERS});
  IF NOT EXISTS (SELECT FROM registry_holder WHERE token = given) THEN
    RAISE EXCEPTION 'another server has taken the registry over' USING ERRCODE = 'WD003';
  END IF;
END
$$`,
  ACTIVE_LEFT,
  LEDGER_APPEND,
];
