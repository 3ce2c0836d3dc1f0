/** Names the build of the console that answers: a page of another one is not mixed with it. Knows no page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PageHandler } from './page-adapter.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HEADER = 'x-winterdock-build';

/** A handler whose requests and answers name the build; with `dev` there is none. Throws when there is no build. */
export function withBuild(next: PageHandler, { dev }: { dev: boolean }): PageHandler {
  const build = dev ? null : readFileSync(join(ROOT, '.next', 'BUILD_ID'), 'utf8');
  return (req, res) => {
    delete req.headers[HEADER];
    if (build !== null) {
      req.headers[HEADER] = build;
      res.setHeader(HEADER, build);
    }
    return next(req, res);
  };
}
