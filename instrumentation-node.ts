/**
 * What instrumentation.ts does in Node. The engine is imported by its URL, because it must not be bundled.
 */
import { runningHost } from '#lib/host/host.ts';

/** The URL of a file of the repository, computed so that the bundler does not follow it. */
const urlOf = (path: string) => import.meta.url.replace(/[^/]*$/, path);

/** Starts the engine unless this process already has one. Ends the process when it cannot be loaded. */
export async function startEngine(): Promise<void> {
  if (process.env.NEXT_PHASE === 'phase-production-build' || runningHost() !== null) return;
  try {
    const supportedNode = await import(
      /* turbopackIgnore: true */ /* webpackIgnore: true */ urlOf('bin/supported-node.cjs')
    );
    supportedNode.default.requireSupportedNode();
    await import(/* turbopackIgnore: true */ /* webpackIgnore: true */ urlOf('lib/front/next-start.ts'));
  } catch (error) {
    // Next would keep running and answer everything with a 500.
    process.stderr.write(`The engine cannot be loaded: ${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  }
}
