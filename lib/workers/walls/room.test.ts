import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildWorkerRoot } from './worker-root.ts';

/** Without privileges a namespace of users comes first. */
const flags = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const givesNamespaces = spawnSync('unshare', [...flags, '--mount', 'true']).status === 0;

test.runIf(givesNamespaces)(
  'a room shows what is named, writes where it may, and hides the rest, whatever characters are in the paths',
  async () => {
    const base = mkdtempSync(join(tmpdir(), "winterdock-a b\t#c\\d'e$f\n"));
    const at = (...names: string[]) => join(base, ...names);
    for (const name of ['read', 'data/live', 'data/spill', 'other'])
      mkdirSync(at(...name.split('/')), { recursive: true });
    for (const name of ['read/file', 'data/one', 'data/secret', 'other/file'])
      writeFileSync(at(...name.split('/')), name);
    const room = await buildWorkerRoot({
      readable: [at('read'), at('data', 'one')],
      writable: [at('data/live'), at('data/spill')],
      hidden: [at('data')],
    });
    try {
      const script = `cat "$1/read/file"; echo; echo mine > "$1/data/live/mine"; echo no > "$1/read/file"; cat "$1/data/one"; echo; echo no > "$1/data/one"
        for path in data/secret other proc/self; do [ -e "$1/$path" ] && echo "$path"; done; ls -A /; ls "$1/data"`;
      const [file = '', ...args] = [...room.enter, ...room.enterFiles];
      const { stdout, stderr } = spawnSync(file, [...args, '/bin/sh', '-c', script, 'sh', base], { encoding: 'utf8' });
      const [first, second, ...rest] = stdout.split('\n');
      expect([first, second]).toEqual(['read/file', 'data/one']);
      expect(stderr).toMatch(/Read-only file system/);
      expect(readFileSync(at('data/live/mine'), 'utf8')).toBe('mine\n');
      expect(readFileSync(at('read/file'), 'utf8')).toBe('read/file');
      expect(readFileSync(at('data/one'), 'utf8')).toBe('data/one');
      for (const name of ['data/secret', 'other', '.fstab', 'home', 'root', 'var']) expect(rest).not.toContain(name);
      expect(rest.slice(-4)).toEqual(['live', 'one', 'spill', '']);
    } finally {
      room.close();
      rmSync(base, { recursive: true });
    }
  },
);
