/** Runs once before Vitest's tests: they start servers and scripts, and the workers that a server starts. */
import { ensureWorkerBundle } from './build.ts';
import { ensureTestBundle } from './test-bundle.ts';

export default async function setUp(): Promise<void> {
  ensureWorkerBundle();
  await ensureTestBundle();
}
