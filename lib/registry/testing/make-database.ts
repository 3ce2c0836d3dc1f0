/** Makes the database of the data folder that its argument names. */
import { makeDatabaseFor } from './registry-of-tests.ts';

await makeDatabaseFor(process.argv[2] ?? '');
