/** For tests: one PostgreSQL server for each process, which a registry has a database of. */
import { HAS_POSTGRES, newCluster, type PostgresCluster } from './postgres-cluster.ts';

/** For what is measured: a write is on disk when it is answered, as on a server that keeps what it is given. */
const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  autovacuum: 'on',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
};

export { HAS_POSTGRES };

let started: Promise<Pick<PostgresCluster, 'url'>> | null = null;

/** The server of this process, which is started with the first call, and is durable when that says so. */
export function postgresServer({ isDurable = false } = {}): Promise<Pick<PostgresCluster, 'url'>> {
  started ??= newCluster(isDurable ? { settings: DURABLE } : {});
  return started;
}
