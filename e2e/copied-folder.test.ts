/**
 * A stopped data folder that was copied by an ordinary tool, which keeps no inodes and cuts times, is a data folder.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Instance, Snapshot } from '../lib/contract/schema.ts';
import { orphansIn } from '../lib/testing/orphans.ts';
import { spawnServer } from '../lib/testing/process.ts';

const STATES = ['active', 'suspended', 'frozen', 'archived'] as const;

const TOOLS: [name: string, copy: (from: string, to: string) => string[]][] = [
  ['cp -r', (from, to) => ['cp', '-r', `${from}/.`, to]],
  ['tar', (from, to) => ['sh', '-c', `tar -C "${from}" -cf - . | tar -C "${to}" -xf -`]],
];

test('every sandbox of a copied folder wakes with its work, and snapshots are restored', async () => {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-copied-'));
  try {
    const folder = join(root, 'data');
    mkdirSync(folder);
    const first = await spawnServer({ folder });
    const ids = STATES.flatMap((state) => [`one-${state}`, `two-${state}`]);
    for (const id of ids) {
      const state = id.slice(4);
      await first.call('POST', '/api/instances', { id, tenant: id.slice(0, 3) });
      await first.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, `work of ${id}`);
      if (state !== 'active') await first.call('POST', `/api/instances/${id}/plan`, { to: state });
    }
    const { json: snapshot } = await first.call<Snapshot>('POST', '/api/instances/one-frozen/snapshots', {});
    const { json: clones } = await first.call<Instance[]>('POST', `/api/snapshots/${snapshot.id}/restore`, {
      count: 2,
    });
    expect(await first.end('SIGTERM')).toBe(0);

    for (const [name, copy] of TOOLS) {
      const copied = join(root, name.replace(/\W/g, ''));
      mkdirSync(copied);
      const [command = '', ...args] = copy(folder, copied);
      expect(spawnSync(command, args, { encoding: 'utf8' }).stderr, name).toBe('');
      const server = await spawnServer({ folder: copied });
      try {
        const work = new Map(ids.map((id) => [id, `work of ${id}`]));
        for (const { id } of clones) work.set(id, 'work of one-frozen');
        const { json: more } = await server.call<Instance[]>('POST', `/api/snapshots/${snapshot.id}/restore`, {});
        work.set(more[0]?.id ?? '', 'work of one-frozen');
        for (const [id, text] of work) {
          const read = await server.call('GET', `/api/instances/${id}/volumes/workspace/kept`);
          expect([read.status, read.text], `${name}: ${id}`).toEqual([200, text]);
          const woke = await server.call('POST', `/api/instances/${id}/resume`, {});
          expect(woke.status, `${name}: ${id}: ${woke.text}`).toBe(200);
          const ran = await server.call<{ stdout: string }>('POST', `/api/instances/${id}/exec`, {
            command: 'cat kept',
          });
          expect(ran.json.stdout, `${name}: ${id}`).toBe(text);
        }
        expect(orphansIn(copied), name).toEqual([]);
      } finally {
        await server.end('SIGTERM');
      }
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
