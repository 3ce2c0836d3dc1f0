/**
 * What instrumentation.ts does in Node. The engine is loaded as it is, by its address: nothing of it may be bundled.
 */
import { runningHost } from '#lib/host/host.ts';

/** The address of a file of the repository, spelt so that the bundler sees no file in it. */
const addressOf = (path: string) => import.meta.url.replace(/[^/]*$/, path);

/** Starts the engine unless this process has one. Ends the process, with a sentence, when it cannot be started. */
export async function startEngine(): Promise<void> {
  if (process.env.NEXT_PHASE === 'phase-production-build' || runningHost() !== null) return;
  try {
    const needs = await import(/* turbopackIgnore: true */ /* webpackIgnore: true */ addressOf('bin/needs-node.cjs'));
    needs.default.orEnd();
    await import(/* turbopackIgnore: true */ /* webpackIgnore: true */ addressOf('lib/front/next-start.ts'));
  } catch (error) {
    // Next would go on and answer everything with a 500.
    process.stderr.write(`The engine cannot be loaded: ${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  }
}
