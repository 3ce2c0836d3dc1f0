/** What `npm run NAME -- --help` prints, and that it does nothing else. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';

const run = promisify(execFile);
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
/** npm runs this one itself, and hands it nothing. */
const OF_NPM = 'postinstall';
/** A tool of others, with its own help. */
const OF_OTHERS: Record<string, RegExp> = { 'test:watch': /--standalone/ };

/** The words of a script; every one is a single command of the Node at hand. */
function wordsOf(name: string): string[] {
  const [node, ...words] = (scripts[name] ?? '').split(' ');
  expect(node).toBe('node');
  expect(words).not.toContain('&&');
  return words;
}

test.each(Object.keys(scripts).filter((name) => name !== OF_NPM))(
  'npm run %s -- --help says what it does, and leaves everything as it is',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-help-'));
    try {
      for (const flag of OF_OTHERS[name] === undefined ? ['--help', '-h'] : ['--help']) {
        const { stdout } = await run(process.execPath, [...wordsOf(name), flag], {
          cwd: ROOT,
          env: { ...process.env, INIT_CWD: folder, WB_DATA: join(folder, 'data'), PORT: '1' },
        });
        expect(stdout).toMatch(OF_OTHERS[name] ?? new RegExp(`npm (?:run )?${name}\\b`));
      }
      expect(readdirSync(folder)).toEqual([]);
      expect(readdirSync(ROOT).filter((entry) => entry.startsWith('-'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('a package is made in the folder that is named, and an option is not taken for one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-help-'));
  const script = join(ROOT, 'scripts', 'package.ts');
  try {
    for (const given of ['--help', '--verbose', '-x']) {
      await expect(
        run(process.execPath, [script, given], { cwd: ROOT, env: { ...process.env, INIT_CWD: folder } }),
      ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`'${given}'`) });
    }
    expect(existsSync(join(folder, '--help'))).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
