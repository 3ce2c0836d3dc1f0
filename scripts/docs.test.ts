import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Every document that people read. */
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** A heading's anchor, as forges make it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

function anchorsOf(text: string): string[] {
  return [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    anchorOf(heading),
  );
}

test('every link and picture of the documents leads to a file, and to a heading of it', () => {
  const lost: string[] = [];
  for (const document of DOCUMENTS) {
    const prose = read(document).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');
    for (const [, link = ''] of prose.matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)\s"]+)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      const isThere = existsSync(join(ROOT, target));
      if (!isThere || (anchor !== undefined && !anchorsOf(read(target)).includes(anchor))) {
        lost.push(`${document}: ${link}`);
      }
    }
  }
  expect(lost).toEqual([]);
});

test('docs/settings.md names every setting that the server reads, and no other', () => {
  const named = (text: string) =>
    [...new Set(text.match(/\bWB_[A-Z_]+\b/g))].filter((name) => name !== 'WB_').toSorted();
  const inConfig = /z\.object\(\{([\s\S]*?)\n\}\)/.exec(read('lib/base/config.ts'))?.[1] ?? '';
  const ofStore = /STORE_SETTINGS = \{([\s\S]*?)\n\};/.exec(read('lib/base/store-settings.ts'))?.[1] ?? '';
  const ofHost = /HOST_SETTINGS = \{([\s\S]*?)\n\};/.exec(read('lib/base/host-settings.ts'))?.[1] ?? '';
  const ofLogs = /LOG_SETTINGS = \{([\s\S]*?)\n\};/.exec(read('lib/base/log-settings.ts'))?.[1] ?? '';
  const ofNative = /NATIVE_SETTINGS = \{([\s\S]*?)\n\};/.exec(read('lib/base/native-settings.ts'))?.[1] ?? '';
  const schema = `${inConfig}\n${ofStore}\n${ofHost}\n${ofLogs}\n${ofNative}`;
  const known = named([...schema.matchAll(/^\s+(WB_[A-Z_]+):/gm)].map(([, name]) => name).join(' '));
  expect(known.length).toBeGreaterThan(15);
  expect(named(read('docs/settings.md'))).toEqual(known);
});
