import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type BlockingFault, WAYS_OF, WAYS_OUT, waysOf, waysOut } from './ways-out.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The sources that people are told something by, without tests. */
function sources(): { path: string; text: string }[] {
  return ['lib', 'app', 'components'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$|(?:^|\/)testing\//.test(name))
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(ROOT, folder, name), 'utf8') })),
  );
}

/** Errors of a damaged, missing or doubted file, up to the end of their statement. */
const REFUSALS = /new WinterdockError\(\s*'(corrupt|missing_file|unknown_state)'[\s\S]*?;\n/g;

test('every hint of a damaged, missing or doubted sandbox is made from the table', () => {
  const hints = sources().flatMap(({ path, text }) =>
    [...text.matchAll(REFUSALS)].flatMap(([refusal]) =>
      /hint: (?!waysOut\()/.test(refusal) ? [`${path}: ${/hint: .*/.exec(refusal)?.[0]}`] : [],
    ),
  );
  // Those of what is no sandbox: an agent, a segment, a snapshot, the ledger. Sandboxes have the table.
  expect(hints.filter((hint) => !/^lib\/(?:ledger|backup|doctor)\//.test(hint))).toEqual([
    "lib/copies/agents.ts: hint: 'Deploy it again.',",
    "lib/replication/ltx/ltx-header.ts: hint: 'Take the segment from another copy, or restore to a time before it.',",
    "lib/replication/segment-bundles/bundle-format.ts: hint: 'Take the bundle from another copy, or restore to a time before it.',",
    "lib/sandboxes/moves/restore.ts: hint: 'Restore another one.',",
  ]);
});

test('nothing else says to repair a file or to use force on it', () => {
  const texts = sources()
    .filter(({ path }) => path !== 'lib/lifecycle/ways-out.ts' && !path.startsWith('lib/cli/'))
    .flatMap(({ path, text }) =>
      (
        text.match(
          /(?:'|`|>)[^'`<\n]*\b(?:[Rr]epair (?:it|the file)|(?:resume|wake it|revive) with force)\b[^'`<\n]*/g,
        ) ?? []
      ).map((words) => `${path}: ${words}`),
    );
  expect(texts).toEqual([]);
});

test('each fault has ways out, and each way is of some fault', () => {
  const faults = Object.keys(WAYS_OF) as BlockingFault[];
  const used = faults.flatMap((fault) => waysOf(fault, true));
  expect(new Set(used)).toEqual(new Set(Object.keys(WAYS_OUT)));
  for (const fault of faults) {
    expect(waysOut(fault)).toMatch(/^[A-Z].*, or delete it by a plan\.$/);
    expect(waysOut(fault, { isStored: true }).startsWith('Resume it from the store')).toBe(fault !== 'unknown');
  }
});
