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
  // The ladder's due time (lib/lifecycle/ladder.ts) over columns, so that one statement recomputes many rows.
  `CREATE FUNCTION winterdock_due_at(state text, updated bigint, created bigint, keep_hot bigint, hold_until bigint,
    ephemeral bigint, fault text, to_suspend bigint, to_freeze bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN keep_hot = 1 OR (fault IS NOT NULL AND fault <> 'error') THEN NULL
    WHEN state = 'active' THEN greatest(updated + to_suspend, coalesce(hold_until, 0))
    WHEN state = 'suspended' THEN
      greatest(updated + CASE WHEN ephemeral = 1 THEN to_suspend ELSE to_freeze END, coalesce(hold_until, 0))
    WHEN ephemeral = 1 AND state = 'frozen' THEN greatest(updated, coalesce(hold_until, 0))
    WHEN ephemeral = 1 AND state = 'archived' THEN greatest(updated + to_suspend, coalesce(hold_until, 0))
  END
$$`,
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
  // Whether a tenant may have one more active sandbox. `verbs`: those of pending operations that count as one too.
  `CREATE FUNCTION has_active_left(whose text, verbs text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  most bigint;
BEGIN
  SELECT max_active INTO most FROM tenants WHERE tenant = whose;
  RETURN most IS NULL OR most
    > coalesce((SELECT n FROM counts_by_tenant WHERE tenant = whose AND state = 'active'), 0)
    + (SELECT count(*) FROM instances WHERE pending IS NOT NULL AND tenant = whose AND state <> 'active'
        AND plain_json(pending)::json ->> 'verb' = ANY(verbs));
END
$$`,
  // One statement takes the head, chains the lines and sets the head: numbers without gaps, whoever appends besides.
  // Each line comes as its columns and as its canonical text behind the number. Call it last: the head is locked from
  // then on. What is inserted is the head (triggers.ts).
  `CREATE FUNCTION ledger_append(given text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  line record;
  head ledger_head%ROWTYPE;
  lines bigint := 0;
BEGIN
  FOR line IN SELECT * FROM json_to_recordset(given::json) AS one(time_ms bigint, instance text, tenant text, type text,
      "from" text, "to" text, "trigger" text, actor text, via text, source text, took_ms double precision, reason text,
      error text, request_id text, address text, rest text) LOOP
    UPDATE ledger_head SET seq = seq + 1,
        hash = encode(sha256(convert_to(hash || '{"seq":' || seq + 1 || line.rest, 'UTF8')), 'hex')
      RETURNING * INTO head;
    INSERT INTO events (seq, time_ms, instance, tenant, type, "from", "to", "trigger", actor, via, source, took_ms,
        reason, error, request_id, address, hash)
      VALUES (head.seq, line.time_ms, line.instance, line.tenant, line.type, line."from", line."to", line."trigger",
        line.actor, line.via, line.source, line.took_ms, line.reason, line.error, line.request_id, line.address,
        head.hash);
    lines := lines + 1;
  END LOOP;
  RETURN head.seq - lines + 1;
END
$$`,
];
