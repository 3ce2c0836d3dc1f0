import { registryContract } from './testing/contract-suite.ts';
import { delayedRegistry } from './testing/delayed-registry.ts';
import { sqliteDriver } from './testing/sqlite-driver.ts';

registryContract('a registry that answers late', sqliteDriver(delayedRegistry));
