/**
 * For tests: a PostgreSQL server and a standby that follows it, and what leads to one of the two, as an address that
 * moves does. The standby can be kept from the last commits, and be promoted without them.
 */
import { parsePostgresUrl } from '../../base/postgres-url.ts';
import { connect } from '../postgres/connect.ts';
import { newCluster, SUPERUSER } from './postgres-cluster.ts';
import { postgresProxy } from './postgres-proxy.ts';

type Which = 'primary' | 'standby';

export interface PostgresPair {
  /** Of the database, wherever that leads. */
  readonly url: string;
  /** Runs a statement in the database of one of the two. Returns the values of its rows as texts. */
  ask(which: Which, statement: string): Promise<string[][]>;
  /** Resolves when the standby has all that was committed. */
  caughtUp(): Promise<void>;
  /** The standby gets nothing more. */
  stopReplication(): void;
  /** The first server crashes, and its connections end. */
  crash(): Promise<void>;
  /** New connections lead there; those that are there stay. */
  lead(which: Which): void;
  /** The standby becomes a server that takes writes. */
  promote(): Promise<void>;
  /** All three. */
  failOver(): Promise<void>;
  /** The first server starts again, and the address leads to it. */
  failBack(): Promise<void>;
  /** See `PostgresProxy`. */
  loseAnswerTo(word: string): void;
  end(): Promise<void>;
}

/** Both, with an empty database of this name. */
export async function postgresPair(database: string): Promise<PostgresPair> {
  const primary = await newCluster({ settings: { wal_level: 'replica', synchronous_commit: 'on' } });
  const runIn = async (url: string, statement: string) => {
    const sql = await connect(parsePostgresUrl(url));
    try {
      const rows = (await sql.unsafe(statement).values()) as unknown as unknown[][];
      return rows.map((values) => values.map(String));
    } finally {
      await sql.end();
    }
  };
  await runIn(primary.url('postgres'), `create database ${database}`);
  // The standby is a copy of the files of one that is stopped.
  await primary.stop();
  const standby = await primary.copy({ settings: { wal_retrieve_retry_interval: '200ms', synchronous_commit: 'on' } });
  const replication = await postgresProxy(parsePostgresUrl(primary.url(database)));
  const [{ port = 0 } = {}] = replication.address.hosts;
  standby.write('standby.signal', '');
  standby.write('postgresql.auto.conf', `primary_conninfo = 'host=127.0.0.1 port=${port} user=${SUPERUSER}'\n`);
  await primary.start();
  await standby.start();
  const proxy = await postgresProxy(parsePostgresUrl(primary.url(database)));
  const [{ port: place = 0 } = {}] = proxy.address.hosts;
  const servers = { primary, standby };

  const pair: PostgresPair = {
    url: `postgres://${SUPERUSER}@127.0.0.1:${place}/${database}`,
    ask: (which, statement) => runIn(servers[which].url(database), statement),
    async caughtUp() {
      const [[position] = []] = await pair.ask('primary', 'select pg_current_wal_flush_lsn()');
      for (;;) {
        const is = `select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`;
        const [[reached] = []] = await pair.ask('standby', is);
        if (reached === 'true') return;
      }
    },
    stopReplication: () => replication.close(),
    crash: () => primary.stop('SIGQUIT'),
    lead: (which) => proxy.leadTo(servers[which].port),
    async promote() {
      await pair.ask('standby', 'select pg_promote()');
    },
    async failOver() {
      await pair.crash();
      await pair.promote();
      pair.lead('standby');
    },
    async failBack() {
      await primary.start();
      pair.lead('primary');
      proxy.cut();
    },
    loseAnswerTo: (word) => proxy.loseAnswerTo(word),
    async end() {
      await proxy.end();
      await replication.end();
      await standby.remove();
      await primary.remove();
    },
  };
  return pair;
}
