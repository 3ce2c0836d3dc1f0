/** Programs for the guest's interpreters stand in files of their own, and say the same as the modules that use them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { GUARD } from './component-runner/javascript-guard.ts';
import { BOOTSTRAP, DEVICE } from './component-runner/python-bootstrap.ts';
import { FETCH_PRELUDE, LAZY_FETCH } from './javascript/javascript-fetch-prelude.ts';
import { PRELUDE } from './javascript/javascript-prelude.ts';
import { NETWORK_MODULE, NETWORK_PORT } from './python/python-network-module.ts';
import { SQLITE_PORT } from './sqlite/python-finder.ts';
import { SQLITE_MODULE } from './sqlite/python-module.ts';

const HOUSE = fileURLToPath(new URL('.', import.meta.url));
const MOST_LINES = 12;
/** Lines as Python or JavaScript has them. */
const CODE =
  /^\s*(?:def \w+\(|class \w+|import \w|from \w+ import|return\b|(?:if|for|while|elif|else|try|except)\b.*[:{]$|const |let |function\b|\}\)?;?$|.*=>)/;

test('no template string of the house has more than twelve lines of Python or JavaScript', () => {
  const found: string[] = [];
  for (const name of readdirSync(HOUSE, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || /\.test\.ts$|(?:^|\/)testing\//.test(name)) continue;
    const text = readFileSync(join(HOUSE, name), 'utf8');
    const look = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      if ('type' in node && node.type === 'TemplateLiteral') {
        const { start, end } = node as unknown as { start: number; end: number };
        const lines = text.slice(start, end).split('\n');
        if (lines.length > MOST_LINES && lines.filter((line) => CODE.test(line)).length > MOST_LINES / 4)
          found.push(`${name}: ${lines.length} lines`);
      }
      for (const child of Object.values(node)) look(child);
    };
    look(parseAst(text, { lang: 'ts' }, name));
  }
  expect(found).toEqual([]);
});

test('the programs are there whole, and open what the modules beside them name', () => {
  for (const program of [BOOTSTRAP, SQLITE_MODULE, NETWORK_MODULE, PRELUDE, FETCH_PRELUDE, LAZY_FETCH, GUARD])
    expect(program.length).toBeGreaterThan(300);
  expect(BOOTSTRAP).toContain(JSON.stringify(DEVICE));
  expect(SQLITE_MODULE).toContain(`_DEVICE = ${JSON.stringify(SQLITE_PORT)}`);
  expect(NETWORK_MODULE).toContain(`_DEVICE = ${JSON.stringify(NETWORK_PORT)}`);
});
