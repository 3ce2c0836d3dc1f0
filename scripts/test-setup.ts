/** Runs once before Vitest's tests: they start the workers that a server starts. */
import { ensureWorkerBundle } from './build.ts';

export default function setUp(): void {
  ensureWorkerBundle();
}
