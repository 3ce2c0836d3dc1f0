import fc from 'fast-check';
import type { OrgData } from 'uniorg';
import { parse } from 'uniorg-parse/lib/parser.js';
import { expect, test } from 'vitest';
import { eventEntry } from './event-log.ts';

interface Shown {
  headings: string[];
  tags: string[];
  bodies: string[];
}

function shown(text: string): Shown {
  const found: Shown = { headings: [], tags: [], bodies: [] };
  const visit = (node: OrgData['children'][number] | OrgData): void => {
    if (node.type === 'headline') {
      found.headings.push(node.rawValue);
      found.tags.push(...node.tags);
      if (node.todoKeyword !== null || node.commented) found.tags.push('keyword');
    }
    if (node.type === 'example-block') found.bodies.push(node.value);
    if ('children' in node) for (const child of node.children) visit(child as OrgData);
  };
  visit(parse(text));
  return found;
}

test('an entry is one heading with its properties and its text', () => {
  const entry = eventEntry({
    at: 1_795_430_473,
    title: 'call count',
    properties: { took_ms: 12, actor: 'key:a', 'not a key': 'x' },
    body: 'one\n* two\n#+end_example\n,* three\n',
  });
  expect(entry).toBe(
    [
      '* [2026-11-23 Mon 10:41] call count',
      ':PROPERTIES:',
      ':TOOK_MS: 12',
      ':ACTOR: key:a',
      ':END:',
      '#+begin_example',
      'one',
      ',* two',
      ',#+end_example',
      ',,* three',
      '#+end_example',
      '',
    ].join('\n'),
  );
  expect(shown(entry).bodies).toHaveLength(1);
});

test('whatever text goes in, the log stays valid org with one heading an entry', () => {
  const nasty = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      ':a:b:',
      'TODO x',
      'COMMENT',
      '* x :component:',
      '#+end_example',
      '\n* heading\n',
      '\r* heading\r\n** two',
      ':END:\n* x',
      '[#A] [[file:/etc/passwd]]',
      '\u2028* x',
      '\ud800',
    ),
  );
  const entries = fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 4_000_000_000 }),
      title: nasty,
      properties: fc.dictionary(nasty, nasty, { maxKeys: 3 }),
      body: nasty,
    }),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(entries, (list) => {
      const { headings, tags } = shown(list.map(eventEntry).join(''));
      expect(headings).toHaveLength(list.length);
      expect(tags).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
