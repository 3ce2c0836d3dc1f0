/**
 * Programs for an interpreter of the guest, which stand in files of their own beside the module that uses them, so that
 * editors and linters see them. Knows none of them.
 */
import { readFileSync } from 'node:fs';

/**
 * The text of a program. Write its address out, `new URL('./name', import.meta.url)`: the bundle of the workers has the
 * text in its place (scripts/worker-bundle.ts), and the package finds the file by it.
 */
export function sourceText(address: URL): string {
  return readFileSync(address, 'utf8');
}
