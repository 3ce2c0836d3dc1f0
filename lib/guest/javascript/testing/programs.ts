/** Programs in JavaScript, which the sandbox's `js` and the real Node run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TableProgram {
  title: string;
  /** The file that is run. */
  main: string;
  /** Contents by path. */
  files: Readonly<Record<string, string>>;
}

/** The programs of the table, in its order. */
export function tablePrograms(): TableProgram[] {
  const text = readFileSync(join(import.meta.dirname, 'programs.txt'), 'utf8');
  return text
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      const [source = '', ...more] = part.slice(end + 1).split(/^--- /m);
      const title = part.slice(0, end);
      const others = more.map((one) => [one.slice(0, one.indexOf('\n')), one.slice(one.indexOf('\n') + 1)] as const);
      const isModule = /^(?:import|export) |^console\.log\('before'\); await/m.test(source);
      const hasManifest = others.some(([name]) => name === 'package.json') || title.startsWith('a .js file');
      const main = title.startsWith('TypeScript') ? 'main.ts' : isModule && !hasManifest ? 'main.mjs' : 'main.js';
      return { title, main, files: { [main]: source, ...Object.fromEntries(others) } };
    });
}
