import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Prints the addresses of all modules that loading the library loads. */
const PRINT_LOADED = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
await import(${JSON.stringify(new URL('./library.ts', import.meta.url).href)});
process.stdout.write(JSON.stringify(loaded));
`;

test('of the auth library only what is used is loaded: no query builder, for the registry keeps its records, and no way in but passwords and links', () => {
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', PRINT_LOADED], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  const loaded: string[] = JSON.parse(printed);
  expect(loaded.some((url) => url.includes('/better-auth/dist/plugins/magic-link/'))).toBe(true);
  expect(
    loaded.filter((url) => /\/node_modules\/(kysely|drizzle-orm|@better-auth\/drizzle-adapter)\//.test(url)),
  ).toEqual([]);
  const plugins = loaded.flatMap((url) => /\/better-auth\/dist\/plugins\/([^/]+)\//.exec(url)?.[1] ?? []);
  expect([...new Set(plugins)].toSorted()).toEqual(['access', 'admin', 'magic-link']);
});
