import { registryContract } from '../testing/contract-suite.ts';
import { sqliteDriver } from '../testing/sqlite-driver.ts';

registryContract('the SQLite registry', sqliteDriver());
