import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { spawnServer } from '../lib/testing/process.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function block(language: string, heading: string): string {
  const section = README.slice(README.indexOf(heading));
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1];
  if (found === undefined) throw new Error(`The README has no ${language} under "${heading}".`);
  return found;
}

/** Durations differ from run to run; everything else must be as printed. */
const timeless = (text: string) => text.replaceAll(/"took_ms":[\d.]+/g, '"took_ms":…');

test('the five lines of the README print what the README says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-readme-'));
  // Without a key of the test's own: the one that the first start makes and keeps is what the README reads.
  const server = await spawnServer({ folder, settings: { WB_ADMIN_KEY: '' } });
  try {
    const script = block('sh', '## Five lines')
      .replace('localhost:3000', server.url.replace('http://', ''))
      .replace('data/admin.key', join(folder, 'admin.key'));
    const { stdout } = await promisify(execFile)('bash', ['-c', script]);
    expect(timeless(stdout)).toBe(timeless(block('text', '## Five lines')));
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
