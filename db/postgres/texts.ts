/**
 * The index of search texts on Postgres: of each living sandbox all runs of three bytes, as numbers. It is a table of
 * its own, so that only a change of the text writes it. `pg_trgm` is not on every server, and takes no text as it is.
 * Whether a row that has all runs of a text has it too is for the row to say.
 */

const INSERT = `INSERT INTO instance_texts (instance_row, grams) SELECT one.rowid, text_grams(one.words)`;

/** Makes the entries of all that is there, where there are none. */
export const INDEX_TEXTS = `${INSERT} FROM instances AS one WHERE one.tombstone = 0`;

/** In the order in which they are made. */
export const TEXT_INDEX: readonly string[] = [
  `CREATE FUNCTION text_grams(words text) RETURNS int[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  bytes bytea := convert_to(words, 'UTF8');
  grams int[] := '{}';
BEGIN
  FOR at IN 0 .. length(bytes) - 3 LOOP
    grams[at + 1] := get_byte(bytes, at) << 16 | get_byte(bytes, at + 1) << 8 | get_byte(bytes, at + 2);
  END LOOP;
  RETURN grams;
END
$$`,
  'CREATE TABLE instance_texts (instance_row bigint PRIMARY KEY, grams int[] NOT NULL)',
  INDEX_TEXTS,
  'CREATE INDEX instance_texts_by_gram ON instance_texts USING gin (grams)',
  `CREATE FUNCTION texts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.tombstone = 1 THEN
    DELETE FROM instance_texts WHERE instance_row = new.rowid;
  ELSE
    ${INSERT} FROM (SELECT new.rowid, new.words) AS one
      ON CONFLICT (instance_row) DO UPDATE SET grams = excluded.grams;
  END IF;
  RETURN NULL;
END
$$`,
  'CREATE TRIGGER texts_changed AFTER INSERT OR UPDATE OF words, tombstone ON instances FOR EACH ROW EXECUTE FUNCTION texts_changed()',
];
