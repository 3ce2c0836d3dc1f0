/**
 * Thousands of sandboxes that sleep, made of one that does while their server is stopped: its row, its file, where its
 * replica ends, and what the replica has of it. Putting each to sleep would take a process of its own.
 */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stampOf } from '../../lib/storage/files.ts';

/**
 * So many more with their ids. `folder`: the data folder, `replica`: the folder of the replica, which has all of
 * `model`; both absolute.
 */
export function makeSleepers(folder: string, replica: string, model: string, count: number): string[] {
  const ids = Array.from({ length: count }, (_, n) => `asleep-${String(n).padStart(5, '0')}`);
  const db = new DatabaseSync(join(folder, 'registry.sqlite'));
  try {
    const columns = db
      .prepare('PRAGMA table_info(instances)')
      .all()
      .map(({ name }) => String(name));
    const changed: Record<string, string> = { id: ':id', vfs_path: ':path', file: ':file', name: 'NULL' };
    const insert = db.prepare(
      `INSERT INTO instances (${columns}) SELECT ${columns.map((name) => changed[name] ?? name)} FROM instances WHERE id = :model`,
    );
    const row = db.prepare('SELECT vfs_path, file FROM instances WHERE id = ?').get(model);
    const [path, record] = [String(row?.vfs_path), JSON.parse(String(row?.file))];
    const positions = join(folder, 'replica', 'positions');
    const position = JSON.parse(readFileSync(join(positions, `${model}.json`), 'utf8'));
    const [series = ''] = readdirSync(join(replica, 'replica', model));
    if (!position.isShipped) throw new Error(`The replica lacks something of ${model}.`);
    db.exec('BEGIN');
    for (const id of ids) {
      const own = path.replace(model, id);
      mkdirSync(join(folder, 'live', id), { mode: 0o700 });
      copyFileSync(join(folder, path), join(folder, own));
      const stamp = stampOf(join(folder, own));
      if (stamp === null) throw new Error(`There is no file of ${id}.`);
      const file = { ...record, ...stamp };
      insert.run({ id, path: own, file: JSON.stringify(file), model });
      writeFileSync(
        join(positions, `${id}.json`),
        JSON.stringify({ ...position, file: { ...stamp, sha256: position.file.sha256 } }),
      );
      cpSync(join(replica, 'replica', model, series), join(replica, 'replica', id, series), { recursive: true });
    }
    db.exec('COMMIT');
  } finally {
    db.close();
  }
  return ids;
}
