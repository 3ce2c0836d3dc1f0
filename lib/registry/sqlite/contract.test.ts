import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from '../registry.ts';
import { registryContract } from '../testing/contract-suite.ts';
import { THRESHOLDS } from '../testing/make.ts';
import { openSqliteRegistry } from './open.ts';

let folder = '';
let opened: Registry[] = [];

const open = async (thresholds = THRESHOLDS) => {
  const registry = openSqliteRegistry({ path: join(folder, 'registry.sqlite'), thresholds });
  opened.push(registry);
  return registry;
};

registryContract('the SQLite registry', {
  async open() {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-registry-'));
    return open();
  },
  again: open,
  async discard() {
    for (const registry of opened) await registry.close();
    opened = [];
    rmSync(folder, { recursive: true, force: true });
  },
});
