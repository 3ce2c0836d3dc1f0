/** For tests: reads the rows of hosts and sandboxes again and again, past every link, for the drill of hosts. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { parsePostgresUrl } from '../../base/postgres-url.ts';
import { connect, SCHEMA } from '../../registry/postgres/connect.ts';
import type { RowHistory } from './row-history.ts';

const EVERY_MS = 100;
/** A look that takes longer has seen nothing. */
const MOST_MS = 1000;

export class RowsReader {
  readonly #url: string;
  readonly #rows: RowHistory;
  readonly #stopped = new AbortController();
  #reading: Promise<void> | null = null;

  constructor(url: string, rows: RowHistory) {
    this.#url = url;
    this.#rows = rows;
  }

  start(): void {
    this.#reading ??= this.#read();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#reading;
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const { signal } = this.#stopped;
    let sql: Sql | null = null;
    while (!signal.aborted) {
      const askedMs = performance.now();
      const connection: Sql = sql ?? (await connect(parsePostgresUrl(this.#url)));
      sql = connection;
      const end = () => connection.end({ timeout: 0 }).catch(() => undefined);
      const late = setTimeout(end, MOST_MS);
      const isSeen = await this.#look(connection, askedMs);
      clearTimeout(late);
      if (!isSeen) {
        this.#rows.sawNothing(askedMs);
        sql = null;
        void end();
      }
      await pause(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    await sql?.end({ timeout: 1 }).catch(() => undefined);
  }

  async #look(sql: Sql, askedMs: number): Promise<boolean> {
    try {
      const hosts = await sql.unsafe(`select name, term, token, renewals from ${SCHEMA}.hosts`).values();
      const sandboxes = await sql
        .unsafe(`select id, owner_host, owner_term, owner_token from ${SCHEMA}.instances`)
        .values();
      this.#rows.saw({
        askedMs,
        answeredMs: performance.now(),
        hosts: hosts.map(([name, term, token, renewals]) => ({
          ...{ name: String(name), term: Number(term), token: token as string | null, renewals: Number(renewals) },
        })),
        sandboxes: sandboxes.map(([id, owner, term, token]) => ({
          ...{ id: String(id), owner: owner as string | null, token: token as string | null },
          term: term === null ? null : Number(term),
        })),
      });
      return true;
    } catch {
      return false;
    }
  }
}
