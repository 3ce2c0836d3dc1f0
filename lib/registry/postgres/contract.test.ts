import { describe } from 'vitest';
import { registryContract } from '../testing/contract-suite.ts';
import { postgresUnderTest } from '../testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';

describe.skipIf(!HAS_POSTGRES)('with a PostgreSQL server', () => {
  registryContract('the registry on Postgres', postgresUnderTest());
});
