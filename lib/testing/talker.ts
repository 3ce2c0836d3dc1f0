/**
 * For tests: logs 40 000 lines while the disk of its stderr, the folder DISK, is full; then makes room and stays a
 * while.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../base/log.ts';

const log = createLogger('info');
const ballast = join(process.env.DISK ?? '', 'ballast');
try {
  writeFileSync(ballast, Buffer.alloc(64 * 1024 * 1024));
} catch {
  // It is full now.
}
for (let n = 0; n < 40_000; n += 1) {
  log.info({ n }, 'a line');
  if (n % 100 === 0) await new Promise(setImmediate);
}
rmSync(ballast);
setTimeout(() => {}, 20_000);
